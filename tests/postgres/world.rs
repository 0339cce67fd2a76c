//! A database's claims, `ConfigMaps`, Secret and Services, as folders and addresses.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::pods::{Job, Server};

/// The ordinal, and the address, at which no pod ever runs.
const NOBODY: usize = 3;

/// The operator's ids in the pods.
const POSTGRES: Option<u32> = Some(999);

/// What a rendered `postgresql.conf` begins with; small, so that many servers fit. Processes are killed here, and no machine
/// loses its power: what was written stays without waiting for a disk.
const SETTINGS: &str = "fsync = off\nshared_buffers = 16MB\nmax_connections = 20\nmax_wal_size = 64MB\nmin_wal_size = 32MB\nwal_keep_size = 64MB\n\
    password_encryption = scram-sha-256\nlog_timezone = UTC\npointsman.generation = 'g1'\n";

/// The fixed lines of `pg_hba.conf`.
const ACCESS: &str = "local all postgres peer\nhost replication,postgres pointsman_replication all scram-sha-256\n\
    host all pointsman_replication all reject\nhost all all all scram-sha-256\n";

/// Passwords with every character that a file, a shell or SQL could trip over.
pub const SUPERUSER_PASSWORD: &str = r#"su'per:us\er"$$ %I;--"#;
pub const REPLICATION_PASSWORD: &str = r"re:pli\ca'tion";
pub const APP_PASSWORD: &str = r"ap'p:pass\word$x$";

/// One database and its surroundings; gone when dropped.
pub struct World {
    pub folder: PathBuf,
    network: String,
}

/// Where the test image was unpacked.
pub fn image() -> PathBuf {
    let root = std::env::var("POINTSMAN_POSTGRES_ROOT").expect("POINTSMAN_POSTGRES_ROOT says where `bed image-root postgres-17` is");
    fs::create_dir_all(Path::new(&root).join("pointsman")).expect("a place to mount on; these tests need root");
    root.into()
}

impl World {
    /// An empty database of two pods, whose first is to be the primary.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let folder = std::env::temp_dir().join(format!("pointsman-postgres-{process}-{count}"));
        let world = Self { folder, network: format!("127.{}.{}", 1 + process % 200, count) };
        for part in ["scripts", "config", "settings", "topology", "server-secrets", "job-secrets", "backups"] {
            fs::create_dir_all(world.folder.join(part)).expect("a folder");
        }
        chown(world.folder.join("backups"), POSTGRES, POSTGRES).expect("root");
        world.copy_scripts();
        world.write_secrets();
        world.configure("");
        world.topology(&[("primary", "0"), ("epoch", "1"), ("systemid", "")]);
        world.topology(&[("claim-0", "uid-0"), ("claim-1", "uid-1"), ("claim-2", "uid-2"), ("peers", "0=db-0 1=db-1 2=db-2")]);
        world.point_service(0);
        world
    }

    fn copy_scripts(&self) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kinds/database/scripts");
        for entry in fs::read_dir(from).expect("the scripts") {
            let path = entry.expect("an entry").path();
            fs::copy(&path, self.folder.join("scripts").join(path.file_name().expect("a name"))).expect("a copy");
        }
    }

    fn write_secrets(&self) {
        let secrets = [("superuser", SUPERUSER_PASSWORD), ("replication", REPLICATION_PASSWORD), ("app", APP_PASSWORD)];
        for (role, password) in secrets {
            self.secret("job-secrets", &format!("{role}-password"), password);
            let verifier = verifier(password);
            self.secret("job-secrets", &format!("{role}-verifier"), &verifier);
            self.secret("server-secrets", &format!("{role}-verifier"), &verifier);
        }
        self.secret("server-secrets", "replication-password", REPLICATION_PASSWORD);
    }

    /// Writes a key as a Secret volume with fsGroup shows it: the group may read.
    pub fn secret(&self, folder: &str, key: &str, value: &str) {
        let path = self.folder.join(folder).join(key);
        fs::write(&path, value).expect("a secret");
        chown(&path, Some(0), POSTGRES).expect("root");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).expect("root");
    }

    /// The configuration with these lines at its end: read by the next start or reload.
    pub fn configure(&self, more: &str) {
        fs::write(
            self.folder.join("config/postgresql.conf"),
            format!("{SETTINGS}{more}\ninclude_if_exists '/pointsman/settings/reloaded.conf'\n"),
        )
        .expect("a file");
        fs::write(self.folder.join("config/pg_hba.conf"), ACCESS).expect("a file");
    }

    /// Settings that are reloaded, with the mark by which a server tells which it has read.
    pub fn settings(&self, mark: &str, lines: &str) {
        let text = format!("{lines}\npointsman.generation = '{mark}'\n");
        fs::write(self.folder.join("settings/reloaded.conf"), text).expect("a file");
    }

    /// Sets keys of the topology; an empty value is one. As a kubelet does it: all of them at once, by another folder behind a link.
    pub fn topology(&self, keys: &[(&str, &str)]) {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let folder = self.folder.join("topology");
        let next = format!("..{}", COUNT.fetch_add(1, Ordering::Relaxed));
        fs::create_dir(folder.join(&next)).expect("a folder");
        for entry in fs::read_dir(folder.join("..data")).into_iter().flatten() {
            let name = entry.expect("an entry").file_name();
            fs::copy(folder.join("..data").join(&name), folder.join(&next).join(&name)).expect("a copy");
        }
        for (key, value) in keys {
            fs::write(folder.join(&next).join(key), value).expect("a key");
            if !folder.join(key).is_symlink() {
                symlink(Path::new("..data").join(key), folder.join(key)).expect("a link");
            }
        }
        symlink(&next, folder.join("..data.next")).expect("a link");
        fs::rename(folder.join("..data.next"), folder.join("..data")).expect("a link");
    }

    /// Lets the Service's name lead to one pod.
    pub fn point_service(&self, ordinal: usize) {
        self.write_hosts(&self.address(ordinal));
    }

    /// As where the Service has no endpoint: who asks for it finds nobody.
    pub fn point_service_nowhere(&self) {
        self.write_hosts(&self.address(NOBODY));
    }

    fn write_hosts(&self, service: &str) {
        let mut hosts = "127.0.0.1 localhost\n".to_owned();
        for pod in 0..NOBODY {
            writeln!(hosts, "{} db-{pod}", self.address(pod)).expect("a string");
        }
        writeln!(hosts, "{service} db").expect("a string");
        // In place, since it is bind-mounted.
        fs::write(self.folder.join("hosts"), hosts).expect("a file");
    }

    pub fn address(&self, ordinal: usize) -> String {
        format!("{}.{}", self.network, 10 + ordinal)
    }

    /// The claim of a pod, made when first asked for.
    pub fn claim(&self, ordinal: usize) -> PathBuf {
        let claim = self.folder.join(format!("claim-{ordinal}"));
        if !claim.exists() {
            fs::create_dir(&claim).expect("a folder");
            chown(&claim, Some(0), POSTGRES).expect("root");
            fs::set_permissions(&claim, fs::Permissions::from_mode(0o2775)).expect("root");
        }
        claim
    }

    /// Starts a pod; it may refuse.
    pub fn start(&self, ordinal: usize) -> Server {
        self.claim(ordinal);
        Server::start(self, ordinal, ordinal)
    }

    /// A pod that serves.
    pub fn serve(&self, ordinal: usize) -> Server {
        let server = self.start(ordinal);
        server.wait_until_ready();
        server
    }

    /// A fresh primary whose system identifier is known to the topology, as after the init Job.
    pub fn primary(&self) -> Server {
        let server = self.serve(0);
        self.topology(&[("systemid", &server.sql("SELECT system_identifier FROM pg_control_system()"))]);
        server
    }

    pub fn job(&self, script: &str) -> Job<'_> {
        Job::new(self, script)
    }

    /// psql of somebody outside, through the Service.
    pub fn client(&self, user: &str, password: &str, database: &str) -> Command {
        let service = fs::read_to_string(self.folder.join("hosts")).expect("hosts");
        let address = service.lines().last().and_then(|line| line.split(' ').next()).expect("the Service").to_owned();
        let mut command = Command::new("chroot");
        command.arg(image()).args(["sh", "-c", "exec /usr/lib/postgresql/*/bin/psql \"$@\"", "psql", "-XAtq", "-v", "ON_ERROR_STOP=1"]);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("PGHOST", address);
        command.env("PGUSER", user).env("PGPASSWORD", password).env("PGDATABASE", database).env("LANG", "C.UTF-8");
        command
    }

    /// Stops what the topology calls the primary and makes another one it, as planned.
    pub fn switch_over(&self, from: crate::pods::Server, to: usize, replica: crate::pods::Server) -> crate::pods::Server {
        self.topology(&[("primary", "")]);
        from.stop();
        let epoch: u32 = fs::read_to_string(self.folder.join("topology/epoch")).expect("a key").parse().expect("a number");
        self.topology(&[("primary", &to.to_string()), ("epoch", &(epoch + 1).to_string())]);
        replica.stop();
        self.point_service(to);
        self.serve(to)
    }

    /// What stands in a pod's marker.
    pub fn marker(&self, ordinal: usize) -> String {
        fs::read_to_string(self.claim(ordinal).join("marker")).unwrap_or_default()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
                if entry.path().extension().is_some_and(|kind| kind == "log") {
                    let text = fs::read_to_string(entry.path()).unwrap_or_default();
                    let from = text.lines().count().saturating_sub(15);
                    let tail: Vec<_> = text.lines().skip(from).collect();
                    eprintln!("--- {}\n{}", entry.path().display(), tail.join("\n"));
                }
            }
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The SCRAM verifier as the operator makes it.
pub fn verifier(password: &str) -> String {
    const MAKE: &str = "import base64, hashlib, hmac, os, sys
salt = os.urandom(16)
salted = hashlib.pbkdf2_hmac('sha256', os.environ['PASSWORD'].encode(), salt, 4096)
key = lambda word: hmac.new(salted, word, hashlib.sha256).digest()
text = lambda value: base64.b64encode(value).decode()
print('SCRAM-SHA-256$4096:%s$%s:%s' % (text(salt), text(hashlib.sha256(key(b'Client Key')).digest()), text(key(b'Server Key'))), end='')";
    said(Command::new("python3").args(["-c", MAKE]).env("PASSWORD", password).output().expect("python3"))
}

/// Standard output of a command that went well.
pub fn said(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim_end_matches('\n').to_owned()
}
