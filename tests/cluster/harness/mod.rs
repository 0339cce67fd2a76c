//! What every cluster test is written with: kubectl, a namespace of its own, the audit log, the operator.

pub mod api;
pub mod audit;
pub mod carrier;
pub mod certificates;
pub mod etcd;
pub mod golden;
pub mod kills;
pub mod load;
pub mod mesh;
pub mod moves;
pub mod outage;
pub mod passwords;
pub mod policy;
pub mod pool;
pub mod processes;
pub mod rights;
pub mod rounds;
mod thing;
mod turns;
pub mod wire;

use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
pub use thing::Thing;
pub use turns::{Alone, alone, shared};

/// The definition of Memcached, as kubectl takes it.
pub const DEFINITION: &str = "customresourcedefinition/memcacheds.cache.example.com";
/// The registration of the webhook.
pub const WEBHOOK: &str = "validatingwebhookconfiguration/pointsman";

/// How long a question of a Memcached may take: its deadline as `tests/run` sets it, 15 seconds, and 30 more.
pub const ASKS: u64 = 45;

/// What a command answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error, warnings included.
    pub err: String,
}

impl Answer {
    /// Standard output of a command that must have succeeded.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// All that was printed, as a person sees it.
    pub fn text(&self) -> String {
        format!("{}{}", self.err, self.out)
    }
}

/// Runs kubectl.
pub fn kubectl(arguments: &[&str]) -> Answer {
    kubectl_with(arguments, "")
}

/// Runs kubectl with standard input.
pub fn kubectl_with(arguments: &[&str], input: &str) -> Answer {
    run(Command::new("kubectl").args(arguments), input)
}

/// Runs Helm with values as YAML on standard input.
pub fn helm(arguments: &[&str], values: &str) -> Answer {
    let values_from = if values.is_empty() { &[][..] } else { &["--values", "-"] };
    run(Command::new(repository().join("tests/packages/helm")).args(arguments).args(values_from), values)
}

/// An object as it could be created anew: without what the API server has set.
pub fn anew(mut object: Value) -> Value {
    for field in ["resourceVersion", "uid", "creationTimestamp", "generation", "managedFields"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    object
}

/// The object that these arguments name, as JSON.
#[track_caller]
pub fn stored(object: &[&str]) -> Value {
    serde_json::from_str(&kubectl(&[&["get", "--output=json"], object].concat()).ok()).unwrap()
}

/// What Prometheus reads of the operator. A page may be a second old: what happened before is in the one after.
#[track_caller]
pub fn scraped() -> String {
    std::thread::sleep(Duration::from_secs(1));
    bash("curl --silent --fail --max-time 10 $POINTSMAN_METRICS").ok()
}

/// A value of that, by its name with its labels; nothing where there is none.
#[track_caller]
pub fn scraped_value(series: &str) -> Option<String> {
    let value = |line: &str| line.strip_prefix(series)?.strip_prefix(' ').map(str::to_owned);
    scraped().lines().find_map(value)
}

/// Runs a line as a person would who copied it into a shell.
pub fn bash(line: &str) -> Answer {
    bash_with(line, "")
}

/// The same, with something on standard input.
pub fn bash_with(line: &str, input: &str) -> Answer {
    run(Command::new("bash").args(["-c", line]), input)
}

/// Runs the script that starts and stops the operator.
#[track_caller]
pub fn operator(arguments: &[&str]) -> String {
    run(Command::new(repository().join("tests/cluster/operator")).args(arguments), "").ok()
}

/// Runs the script of the test bed.
#[track_caller]
pub fn bed(arguments: &str) -> String {
    bash(&format!("{} {arguments}", repository().join("tests/cluster/bed").display())).ok()
}

/// The folder of the running bed.
#[track_caller]
pub fn run_folder() -> PathBuf {
    PathBuf::from(std::env::var_os("POINTSMAN_RUN").expect("no cluster: run tests/run"))
}

/// The root of the checkout.
pub fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// No command takes longer: one that hangs is a test that fails, and not a run that never ends.
const LIMIT: &str = "600";

fn run(command: &Command, input: &str) -> Answer {
    assert!(std::env::var_os("POINTSMAN_TIER").is_some(), "no cluster: run tests/run, or eval \"$(tests/cluster/bed env)\" first");
    let mut limited = Command::new("timeout");
    limited.args(["--verbose", "--kill-after=10", LIMIT]).arg(command.get_program()).args(command.get_args());
    // Most of what kubectl and Helm do is to start: without a collector they do it with two thirds of the CPU.
    limited.env("GOGC", "off").env("GOMAXPROCS", "1");
    let mut child = limited.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// Asks until it is so; fails with `what` when it is not so in time.
#[track_caller]
pub fn eventually(seconds: u64, what: &str, is_so: impl FnMut() -> bool) {
    eventually_or(seconds, is_so, || what.to_owned());
}

/// The same, with words that are found when it is not so in time.
#[track_caller]
pub fn eventually_or(seconds: u64, mut is_so: impl FnMut() -> bool, what: impl FnOnce() -> String) {
    let end = Instant::now() + Duration::from_secs(seconds);
    while !is_so() {
        assert!(Instant::now() < end, "not so after {seconds} s: {}", what());
        // Each look is a request that the API server has to answer beside all others.
        std::thread::sleep(Duration::from_millis(250));
    }
}

/// Waits for the objects of the tests before. Their namespaces go after them, pods first: those of a test with a thousand
/// objects take minutes on a slow machine.
#[track_caller]
pub fn nobody_elses() {
    // Where no kind is defined there is no object either.
    let none = |objects: Answer| objects.out.is_empty() && (objects.code == 0 || objects.err.contains("doesn't have a resource type"));
    eventually(600, "no object of another test is left", || none(kubectl(&["get", "pointsman", "--all-namespaces", "--output=name"])));
}

/// A namespace of the test's own; it goes when the test ends.
#[derive(Debug)]
pub struct Space {
    /// Its name.
    pub name: String,
    born: audit::Mark,
}

impl Space {
    /// Makes one whose name starts with `name`.
    #[track_caller]
    pub fn new(name: &str) -> Self {
        Space::labelled(name, &json!({}))
    }

    /// The same, in which the API server takes no pod that could be more than it has to be.
    #[track_caller]
    pub fn restricted(name: &str) -> Self {
        Space::labelled(name, &json!({ "pod-security.kubernetes.io/enforce": "restricted" }))
    }

    #[track_caller]
    fn labelled(name: &str, labels: &Value) -> Self {
        let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
        let (name, born) = (format!("{name}-{nanos:08x}"), audit::mark());
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": labels } });
        api::ask("POST", "/api/v1/namespaces", &namespace).unwrap();
        Space { name, born }
    }

    /// All that was asked within the namespace.
    pub fn audited(&self) -> Vec<audit::Entry> {
        audit::within(self.born, &self.name)
    }

    /// Nothing was written by the operator within the namespace since `mark`.
    #[track_caller]
    pub fn unwritten(&self, mark: audit::Mark, what: &str) {
        let writes: Vec<String> = audit::writes(mark, &self.name).iter().map(audit::Entry::what).collect();
        assert_eq!(writes, Vec::<String>::new(), "{what}");
    }

    /// Runs kubectl in the namespace.
    pub fn kubectl(&self, arguments: &[&str]) -> Answer {
        kubectl(&[&["--namespace", &self.name], arguments].concat())
    }

    /// Runs kubectl in the namespace, with standard input.
    pub fn kubectl_with(&self, arguments: &[&str], input: &str) -> Answer {
        kubectl_with(&[&["--namespace", &self.name], arguments].concat(), input)
    }

    /// Has what a manifest in YAML says applied; what kubectl prints of it is somebody else's question.
    #[track_caller]
    pub fn applied(&self, manifest: &str) {
        let object: Value = serde_saphyr::from_str(manifest).unwrap();
        if !api::applied_first(&self.name, &object) {
            self.apply(manifest).ok();
        }
    }

    /// Applies a manifest, client-side.
    pub fn apply(&self, manifest: &str) -> Answer {
        kubectl_with(&["--namespace", &self.name, "apply", "--filename", "-"], manifest)
    }

    /// Creates a v1 Memcached with these fields of the spec, in YAML's flow style.
    #[track_caller]
    pub fn memcached(&self, name: &str, spec: &str) {
        self.applied(&memcached(name, spec));
    }

    /// Creates a v1 Memcached that stays for a while when it is deleted, so that `Deleting` can be seen.
    #[track_caller]
    pub fn held_memcached(&self, name: &str, spec: &str) {
        let manifest = memcached(name, spec).replace("metadata: {", "metadata: {finalizers: [example.com/hold], ");
        self.applied(&manifest);
    }

    /// Deletes a held Memcached, waits until the operator has seen it, and lets it go.
    #[track_caller]
    pub fn delete_held(&self, name: &str) {
        self.kubectl(&["delete", &format!("mc/{name}"), "--wait=false"]).ok();
        self.reaches(name, "Deleting", 30);
        self.release(name);
    }

    /// Takes the finalizers off.
    #[track_caller]
    pub fn release(&self, name: &str) {
        self.kubectl(&["patch", &format!("mc/{name}"), "--type=merge", "--patch", r#"{"metadata":{"finalizers":null}}"#]).ok();
    }

    /// The Memcached of this name.
    pub fn mc(&self, name: &str) -> Thing<'_> {
        Thing::of(self, "mc", name)
    }

    /// The Database of this name.
    pub fn db(&self, name: &str) -> Thing<'_> {
        Thing::of(self, "db", name)
    }

    /// Changes fields of a Memcached's spec, given as JSON.
    pub fn patch(&self, name: &str, spec: &str) -> Answer {
        self.mc(name).patch(spec)
    }

    /// Runs the command that the open question offers for `verb`.
    #[track_caller]
    pub fn answer(&self, name: &str, verb: &str) -> Answer {
        self.mc(name).answer(verb)
    }

    /// An object as JSON; `Null` when there is none.
    #[track_caller]
    pub fn object(&self, what: &str) -> Value {
        if let Some(object) = api::object(&self.name, what) {
            return object;
        }
        let answer = self.kubectl(&["get", what, "--output", "json", "--ignore-not-found"]).ok();
        if answer.is_empty() { Value::Null } else { serde_json::from_str(&answer).unwrap() }
    }

    /// The objects that `kubectl get WHAT` lists.
    #[track_caller]
    pub fn object_list(&self, what: &[&str]) -> Vec<Value> {
        if let Some(objects) = api::objects(&self.name, what) {
            return objects;
        }
        let answer = self.kubectl(&[&["get", "--output=json"], what].concat()).ok();
        let list: Value = serde_json::from_str(&answer).unwrap();
        list["items"].as_array().unwrap().clone()
    }

    /// Waits until a Memcached is in `state`.
    #[track_caller]
    pub fn reaches(&self, name: &str, state: &str, seconds: u64) {
        self.mc(name).reaches(state, seconds);
    }

    /// Waits for a Memcached as a user would.
    #[track_caller]
    pub fn ready(&self, name: &str) {
        self.mc(name).ready_within(60);
    }

    /// The same, with more patience.
    #[track_caller]
    pub fn ready_within(&self, name: &str, seconds: u64) {
        self.mc(name).ready_within(seconds);
    }

    /// Waits until every move of a Memcached so far is told.
    #[track_caller]
    pub fn all_told(&self, name: &str) {
        self.mc(name).all_told();
    }

    /// The states that a Memcached went through.
    #[track_caller]
    pub fn history(&self, name: &str) -> Vec<String> {
        self.mc(name).history()
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("what was written in {}:\n{}", self.name, audit::story(self.born, &self.name));
            for what in [&["get", "pointsman,pods,jobs,pvc", "--output=wide"][..], &["describe", "pods"], &["get", "events"]] {
                eprintln!("kubectl {}:\n{}", what.join(" "), self.kubectl(what).text());
            }
        }
        // What a test that failed held, or protected, must not stay for ever.
        let freed = json!({ "metadata": { "finalizers": null, "annotations": { "pointsman.dev/protected": null } } });
        let listed = |kind| api::place(&self.name, kind).and_then(|path| Some((api::ask("GET", &path, &Value::Null).ok()?, path)));
        let (databases, memcacheds) = (listed("db"), listed("mc"));
        for (list, path) in [&databases, &memcacheds].into_iter().flatten() {
            let held = |meta: &&Value| !meta["finalizers"].is_null() || !meta["annotations"]["pointsman.dev/protected"].is_null();
            let all = list["items"].as_array().into_iter().flatten().map(|object| &object["metadata"]);
            for name in all.filter(held).filter_map(|meta| meta["name"].as_str()) {
                let _ = api::ask("PATCH", &format!("{path}/{name}"), &freed);
            }
        }
        // The end of a namespace costs the API server a hundred requests. What a Memcached has goes with it, and what else is left
        // where no node is does nothing.
        let none = databases.is_some_and(|(list, _)| list["items"] == json!([]));
        let alone = memcacheds.filter(|_| none && has_no_node()).map(|(_, path)| path);
        let _ = api::ask("DELETE", &alone.unwrap_or_else(|| format!("/api/v1/namespaces/{}", self.name)), &Value::Null);
    }
}

/// Is it a cluster that goes after the tests, and whose pods are played?
fn has_no_node() -> bool {
    std::fs::read_to_string(run_folder().join("tier")).is_ok_and(|tier| tier.trim() == "control-plane")
}

/// A v1 manifest.
pub fn memcached(name: &str, spec: &str) -> String {
    format!("apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}
