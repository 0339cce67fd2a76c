//! The processes of pods, as the host of a node sees them.

use super::bash;
use std::fs;
use std::path::{Path, PathBuf};

/// As long as a uid.
const UID: usize = 36;

fn all() -> impl Iterator<Item = PathBuf> {
    let is_process = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes()[0].is_ascii_digit());
    fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).filter(is_process)
}

/// What a file of a process says; nothing where it has ended meanwhile.
fn said(process: &Path, file: &str) -> String {
    fs::read(process.join(file)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The uid of the pod that a process is of.
fn pod(process: &Path) -> Option<String> {
    Some(said(process, "cgroup").split_once("/pod")?.1.get(..UID)?.to_owned())
}

/// The process of a pod that runs this command, and that no other of this command began.
#[track_caller]
pub fn first_of(uid: &str, command: &str) -> String {
    let runs = |process: &Path| said(process, "comm").trim() == command;
    let is_first = |process: &PathBuf| {
        let status = said(process, "status");
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        parent.is_some_and(|parent| !runs(&Path::new("/proc").join(parent.trim())))
    };
    let its = all().filter(|process| runs(process) && pod(process).as_deref() == Some(uid));
    let found: Vec<PathBuf> = its.filter(is_first).collect();
    assert_eq!(found.len(), 1, "the first {command} of pod {uid}: {found:?}");
    found[0].file_name().unwrap().to_string_lossy().into_owned()
}

/// Ends it as the kernel does that needs memory.
#[track_caller]
pub fn kill(process: &str) {
    bash(&format!("kill -KILL {process}")).ok();
}

/// The command line of each process of a pod, after the pod's uid.
pub fn command_lines() -> Vec<(String, String)> {
    all().filter_map(|process| Some((pod(&process)?, said(&process, "cmdline").replace('\0', " ")))).collect()
}
