//! Pods: a server that runs, and a Job that ends.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::world::{World, image, said};

const PATIENCE: Duration = Duration::from_secs(40);

/// What is said of a pod whose first process is gone.
const ENDED: &str = "the pod has ended";

/// A container of the test image around `folder`.
fn container(folder: &PathBuf, environment: &[(String, String)], script: &str) -> Command {
    let pod = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/postgres/pod");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--ipc", "--fork", "--kill-child=KILL", "--propagation", "private", "bash", pod]);
    command.arg(image()).arg(folder).args(["bash", &format!("/pointsman/scripts/{script}")]);
    command.env_clear().envs(environment.iter().map(|(key, value)| (key, value)));
    command.env("PATH", search_path()).env("LANG", "C.UTF-8");
    command
}

/// As the image says it: the server's programs come last.
fn search_path() -> String {
    let programs = fs::read_dir(image().join("usr/lib/postgresql")).expect("PostgreSQL").next().expect("a version").expect("an entry");
    format!("/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/postgresql/{}/bin", programs.file_name().to_string_lossy())
}

/// A folder for one container, with links to what the world mounts there.
fn mounts(world: &World, name: &str, parts: &[(&str, PathBuf)]) -> PathBuf {
    let folder = world.folder.join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a folder");
    for (part, from) in parts {
        std::os::unix::fs::symlink(from, folder.join(part)).expect("a link");
    }
    let log = folder.join("termination-log");
    fs::write(&log, "").expect("a file");
    std::os::unix::fs::chown(&log, Some(999), Some(999)).expect("root");
    folder
}

/// A pod of the database.
pub struct Server {
    folder: PathBuf,
    log: PathBuf,
    child: Child,
    environment: Vec<(String, String)>,
}

impl Server {
    /// Pod `ordinal` with the claim of pod `claim`.
    pub fn start(world: &World, ordinal: usize, claim: usize) -> Self {
        let part = |name: &str| world.folder.join(name);
        let mut name = format!("pod-{ordinal}");
        while part(&name).exists() {
            name.push('+');
        }
        let parts =
            ["scripts", "config", "settings", "topology"].map(|name| (name, part(name))).into_iter().chain([("data", world.claim(claim))]);
        let folder = mounts(world, &name, &parts.collect::<Vec<_>>());
        std::os::unix::fs::symlink(part("server-secrets"), folder.join("internal")).expect("a link");
        std::os::unix::fs::symlink(part("hosts"), folder.join("hosts")).expect("a link");
        let environment = [
            ("POINTSMAN_POD", format!("db-{ordinal}")),
            ("POINTSMAN_PRIMARY", "db".to_owned()),
            ("POINTSMAN_LISTEN", world.address(ordinal)),
            ("POINTSMAN_PATIENCE", "2".to_owned()),
            ("POINTSMAN_DRAIN", "0".to_owned()),
        ];
        let environment: Vec<_> = environment.map(|(key, value)| (key.to_owned(), value)).into();
        let log = part(&format!("{name}.log"));
        let out = File::create(&log).expect("a log");
        let mut command = container(&folder, &environment, "start.sh");
        command.stdout(out.try_clone().expect("a file")).stderr(out);
        Self { folder, log, child: command.spawn().expect("unshare"), environment }
    }

    /// The process that is the first of the pod's own.
    fn first_process(&self) -> Option<u32> {
        let id = self.child.id();
        fs::read_to_string(format!("/proc/{id}/task/{id}/children")).ok()?.split_whitespace().next()?.parse().ok()
    }

    /// Runs a command in the pod, as `kubectl exec` does.
    pub fn exec(&self, command: &[&str]) -> Option<Output> {
        let first = self.first_process()?.to_string();
        let mut enter = Command::new("nsenter");
        enter.current_dir("/");
        enter.args(["--target", &first, "--mount", "--pid", "--ipc", "--root", "--wdns=/", "--"]);
        enter.args([
            "/usr/bin/setpriv",
            "--reuid",
            "999",
            "--regid",
            "999",
            "--clear-groups",
            "--no-new-privs",
            "--bounding-set=-all",
            "--",
        ]);
        enter.args(command).env_clear().envs(self.environment.iter().map(|(key, value)| (key, value))).env("PATH", search_path());
        enter.output().ok()
    }

    /// The readiness probe: what it says where it is not.
    pub fn ready(&self) -> Result<(), String> {
        let output = self.exec(&["bash", "/pointsman/scripts/ready.sh"]).ok_or(ENDED)?;
        let words = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() { Ok(()) } else { Err(format!("{words}{}", String::from_utf8_lossy(&output.stderr))) }
    }

    pub fn wait_until_ready(&self) {
        wait_for("the pod is ready", || self.ready());
    }

    /// Asks as the superuser, in the pod.
    pub fn sql(&self, sql: &str) -> String {
        said(self.psql("postgres", sql))
    }

    pub fn psql(&self, database: &str, sql: &str) -> Output {
        let command =
            "exec \"$(dirname \"$(readlink -f \"$(command -v postgres)\")\")/psql\" -XAtq -v ON_ERROR_STOP=1 -h /pointsman/run -c \"$1\"";
        let environment = format!("PGDATABASE={database}");
        self.exec(&["env", &environment, "bash", "-c", command, "psql", sql]).expect("the pod runs")
    }

    /// Asks as the superuser in one database.
    pub fn sql_in(&self, database: &str, sql: &str) -> String {
        said(self.psql(database, sql))
    }

    /// As Kubernetes deletes a pod.
    pub fn stop(mut self) {
        let _ = self.exec(&["bash", "/pointsman/scripts/stop.sh"]);
        self.ended();
    }

    fn ended(&mut self) {
        let started = Instant::now();
        while self.child.try_wait().expect("a child").is_none() {
            assert!(started.elapsed() < PATIENCE, "the pod runs on");
            sleep(Duration::from_millis(50));
        }
    }

    /// As a node that loses power, for this pod.
    pub fn kill(mut self) {
        if let Some(first) = self.first_process() {
            Command::new("kill").args(["-KILL", &first.to_string()]).status().expect("kill");
        }
        self.child.wait().expect("it ended");
    }

    /// Waits for the pod to end by itself, and returns its last words.
    pub fn last_words(mut self) -> String {
        self.ended();
        fs::read_to_string(self.folder.join("termination-log")).expect("a termination log").trim().to_owned()
    }

    /// Asserts that the pod ends and says why.
    pub fn assert_refused(self, word: &str) -> String {
        let words = self.last_words();
        assert!(words.starts_with(&format!("{word}: ")), "{word} was expected: {words}");
        assert!(words.len() < 4096 && words.lines().count() == 1);
        words
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("a log")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Job to be run.
pub struct Job<'a> {
    world: &'a World,
    script: String,
    environment: Vec<(String, String)>,
    backups: PathBuf,
    programs: Vec<(String, String)>,
}

/// How a Job ended.
pub struct Ended {
    pub success: bool,
    pub words: String,
    /// All that it printed.
    pub log: String,
}

impl<'a> Job<'a> {
    pub fn new(world: &'a World, script: &str) -> Self {
        let job =
            Self { world, script: script.to_owned(), environment: Vec::new(), backups: world.folder.join("backups"), programs: Vec::new() };
        job.with("PGHOST", "db").with("PGPORT", "5432").with("PGSSLMODE", "prefer").with("POINTSMAN_DATABASE", "shop")
    }

    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.environment.retain(|(known, _)| known != key);
        self.environment.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Mounts another backup volume.
    pub fn backups(mut self, folder: &std::path::Path) -> Self {
        folder.clone_into(&mut self.backups);
        self
    }

    /// Hides a program of the image behind a script, which finds the real one below /pointsman/programs.
    pub fn program(mut self, name: &str, script: &str) -> Self {
        self.programs.push((name.to_owned(), format!("#!/bin/bash\n{script}\n")));
        self
    }

    pub fn run(self) -> Ended {
        let part = |name: &str| self.world.folder.join(name);
        let parts =
            [("scripts", part("scripts")), ("internal", part("job-secrets")), ("backups", self.backups.clone()), ("hosts", part("hosts"))];
        let folder = mounts(self.world, &format!("job-{}-{:?}", self.script, std::thread::current().id()), &parts);
        if !self.programs.is_empty() {
            fs::create_dir(folder.join("programs")).expect("a folder");
        }
        for (name, script) in &self.programs {
            let path = folder.join("programs").join(name);
            fs::write(&path, script).expect("a program");
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("root");
        }
        let output = container(&folder, &self.environment, &self.script).output().expect("unshare");
        let log = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let words = fs::read_to_string(folder.join("termination-log")).expect("a termination log").trim().to_owned();
        assert!(words.len() < 4096 && words.lines().count() == 1, "last words: {words}\n{log}");
        assert_eq!(output.status.success(), words.starts_with("OK"), "{words}\n{log}");
        Ended { success: output.status.success(), words, log }
    }

    /// Runs it and returns the result line.
    pub fn done(self) -> String {
        let ended = self.run();
        assert!(ended.success, "{}\n{}", ended.words, ended.log);
        ended.words
    }

    /// Runs it and asserts that it fails with a word, which is told with its sentence.
    pub fn fails(self, word: &str) -> String {
        let ended = self.run();
        assert!(ended.words.starts_with(&format!("{word}: ")), "{word} was expected: {}\n{}", ended.words, ended.log);
        ended.words
    }
}

/// Tries until it is so.
pub fn wait_for<T>(what: &str, mut so: impl FnMut() -> Result<T, String>) -> T {
    let started = Instant::now();
    loop {
        match so() {
            Ok(value) => return value,
            Err(why) => {
                let limit = if why == ENDED { Duration::from_secs(2) } else { PATIENCE };
                assert!(started.elapsed() < limit, "{what}: not so: {why}");
            }
        }
        // Each try costs some ten processes.
        sleep(Duration::from_millis(400));
    }
}
