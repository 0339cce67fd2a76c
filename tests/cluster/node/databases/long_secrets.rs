//! What is secret is where it has to be, and nowhere else: over a whole life, a restore, a reset and the last dump among it.

use super::{Base, SOON};
use crate::harness::passwords::{self, sent, telling};
use crate::harness::{Space, eventually_or, operator, processes, shared};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Where the kubelet keeps what containers say: a folder for each pod, and a file for each start.
const LOGS: &str = "/var/lib/pointsman-bed/pod-logs";
/// No life that is watched takes longer.
const LONGEST: Duration = Duration::from_mins(15);

/// What is seen of a namespace from its node while somebody lives there; pods that are gone said it before.
struct Watch {
    over: Arc<AtomicBool>,
    watcher: JoinHandle<Told>,
}

#[derive(Default)]
struct Told {
    /// By its file.
    logs: BTreeMap<PathBuf, String>,
    /// After the pod's uid.
    lines: BTreeSet<(String, String)>,
}

impl Watch {
    fn on(space: &Space) -> Self {
        let (over, folder) = (Arc::new(AtomicBool::new(false)), format!("{}_", space.name));
        let ends = Arc::clone(&over);
        let watcher = thread::spawn(move || {
            let (mut told, began) = (Told::default(), Instant::now());
            while !ends.load(Ordering::Relaxed) && began.elapsed() < LONGEST {
                told.lines.extend(processes::command_lines());
                told.reads(&folder);
                thread::sleep(Duration::from_millis(50));
            }
            told
        });
        Watch { over, watcher }
    }

    /// What every container said, and the command line of every process.
    fn ends(self) -> (Vec<String>, Vec<String>) {
        self.over.store(true, Ordering::Relaxed);
        let Told { logs, lines } = self.watcher.join().unwrap();
        let uid = |file: &PathBuf| {
            file.strip_prefix(LOGS).unwrap().iter().next().unwrap().to_string_lossy().rsplit('_').next().map(str::to_owned)
        };
        let pods: BTreeSet<String> = logs.keys().filter_map(uid).collect();
        let lines = lines.into_iter().filter(|(pod, _)| pods.contains(pod)).map(|(_, line)| line);
        (logs.into_values().collect(), lines.collect())
    }
}

impl Told {
    /// Reads what was added to the logs of the pods whose folders begin so.
    fn reads(&mut self, folder: &str) {
        let inside = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
        let pods = inside(Path::new(LOGS))
            .into_iter()
            .filter(|pod| pod.file_name().is_some_and(|name| name.to_string_lossy().starts_with(folder)));
        for file in pods.flat_map(|pod| inside(&pod)).flat_map(|container| inside(&container)) {
            let length = std::fs::metadata(&file).ok().and_then(|file| usize::try_from(file.len()).ok()).unwrap_or_default();
            if self.logs.get(&file).is_none_or(|known| known.len() < length) {
                let bytes = std::fs::read(&file).unwrap_or_default();
                self.logs.insert(file, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
}

/// Everything that can be asked for in the namespace, but Secrets.
fn objects(space: &Space) -> String {
    space.kubectl(&["get", "db,statefulsets,jobs,cronjobs,configmaps,pods,services,pvc,poddisruptionbudgets,events", "--output=json"]).ok()
}

/// A role of the user's own, whose password a dump keeps; and rows that take a while to be dumped. The server's log tells every
/// statement, but the one that the user wants nobody to read.
const MADE: &str = "SET log_statement = 'none';
CREATE ROLE reader LOGIN PASSWORD 'told to nobody but this test';
SET log_statement = 'all';
CREATE TABLE kept AS SELECT n, sha512(n::text::bytea) AS what FROM generate_series(1, 200000) AS n;
GRANT SELECT ON kept TO app;";

/// Plants a word where a secret might be: on a command line, and in what a container says.
#[track_caller]
fn plant(base: &Base<'_>, word: &str) {
    base.as_superuser(0, &format!("sleep 1; ./psql -Xqc \"SELECT '{word}'\" >/dev/null"), "").ok();
}

/// Each database of the life as it comes and goes: what was secret of it, and what could be asked for meanwhile.
#[track_caller]
fn lives(space: &Space) -> (Vec<String>, Vec<String>) {
    let settings = json!({ "log_statement": "all" });
    let base = Base::ready(space, "db", &json!({ "replicas": 2, "parameters": settings, "backup": { "schedule": "0 2 * * *" } }));
    let mut secrets = passwords::of(space, "db");
    base.becomes(r#"{"parameters":{"work_mem":"8MB"}}"#);
    base.as_superuser(0, "./psql -Xq -d shop -v ON_ERROR_STOP=1 -f -", MADE).ok();
    let verifier = base.as_superuser(0, "./psql -XAtc \"SELECT rolpassword FROM pg_authid WHERE rolname = 'reader'\"", "").ok();
    assert!(verifier.starts_with("SCRAM-SHA-256$"), "a verifier of another kind");
    secrets.extend([verifier.trim().to_owned(), "told to nobody but this test".to_owned()]);
    plant(&base, &format!("planted-{}", space.name));
    eventually_or(60, || !space.object("cronjob/db").is_null(), || base.thing.status().to_string());
    space.kubectl(&["create", "job", "--from=cronjob/db", "by-hand"]).ok();
    let is_made = || base.thing.status()["backup"]["lastSuccess"].is_string();
    eventually_or(120, is_made, || format!("{:#}", base.thing.status()));

    let fields = json!({ "restoreFrom": { "claimName": "db-backups" }, "deletionPolicy": "Delete", "parameters": settings });
    let other = Base::ready(space, "other", &fields);
    other.answers("other", "SELECT count(*) FROM kept", "200000");
    secrets.extend(passwords::of(space, "other"));
    let mut told = vec![objects(space)];
    other.goes();

    base.loses_passwords();
    told.push(objects(space));
    base.thing.answer("reset-passwords").ok();
    eventually_or(SOON, || base.thing.is_ready_as_asked(), || format!("{:?}\n{:#}", base.thing.history(), base.thing.status()));
    let reset = passwords::of(space, "db");
    assert!(reset.iter().filter(|secret| secrets.contains(secret)).count() < reset.len() / 2, "nothing was reset");
    secrets.extend(reset);
    told.push(objects(space));
    base.goes();
    told.push(objects(space));
    (secrets, told)
}

#[test]
fn no_secret_is_told_anywhere() {
    let _turn = shared();
    let space = Space::restricted("secrets");
    let watch = Watch::on(&space);
    let (secrets, mut told) = lives(&space);
    let (logs, lines) = watch.ends();
    let planted = format!("planted-{}", space.name);
    for (what, seen) in [("logs", &logs), ("command lines", &lines)] {
        assert!(seen.iter().any(|text| text.contains(&planted)), "a planted word is not found in the {what}");
    }
    for program in ["postgres", "psql", "pg_dump", "pg_restore", "pg_basebackup"] {
        assert!(lines.iter().any(|line| line.contains(program)), "nobody ran {program}");
    }
    for script in ["init.sh", "dump.sh", "restore.sh", "generation.sh"] {
        assert!(lines.iter().any(|line| line.contains(script)), "no Job ran {script}");
    }
    let sent: Vec<String> = space.audited().iter().filter(|entry| entry.by_operator()).filter_map(sent).collect();
    assert!(sent.iter().any(|body| body.contains("systemid")), "what was sent is not in the log of requests");
    println!("{} secrets in {} logs, {} command lines and {} bodies", secrets.len(), logs.len(), lines.len(), sent.len());
    told.extend(logs.into_iter().chain(lines).chain(sent));
    told.push(operator(&["all-logs"]));
    let found: Vec<&str> = told.iter().flat_map(|text| telling(text, &secrets)).collect();
    assert_eq!(found.len(), 0, "a secret is told in a text of {:?} letters", found.iter().map(|line| line.len()).collect::<Vec<_>>());
}
