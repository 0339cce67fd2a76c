//! The operator is killed after each single write that it makes for an object, and what comes of it is held against a life
//! in which nobody was killed.

use super::{Space, Thing, audit, eventually_or, kubectl, kubectl_with};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// How long one step may take, kills and all.
const STEP: Duration = Duration::from_mins(25);
/// Who wrote nothing for so long has nothing left to write: another acts once the Lease has run out, and writes slowly.
const QUIET: Duration = Duration::from_secs(25);

/// A step of a life: what a user does, and how it is seen that it is done.
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// What a user does.
    pub does: fn(&Space),
    /// Is it done?
    pub is_done: fn(&Thing<'_>) -> bool,
}

/// The life of the database `db`: a user creates it, wants more replicas, other pods, and deletes it.
pub const LIFE: &[Step] = &[
    Step { name: "create", does: create, is_done: |base| base.is_ready_as_asked() },
    Step { name: "scale", does: |space| drop(space.db("db").patch(r#"{"replicas":3}"#).ok()), is_done: |base| base.is_ready_as_asked() },
    Step {
        name: "restart",
        does: |space| drop(space.db("db").patch(r#"{"resources":{"requests":{"cpu":"20m"}}}"#).ok()),
        is_done: |base| base.is_ready_as_asked(),
    },
    Step {
        name: "delete",
        does: |space| drop(space.db("db").kubectl("delete", &["--wait=false"]).ok()),
        is_done: |base| base.seen().is_null(),
    },
];

fn create(space: &Space) {
    let spec = json!({ "databaseName": "shop", "replicas": 2, "storage": { "size": "512Mi" },
        "backup": { "schedule": "0 2 1 1 *" }, "resources": { "requests": { "cpu": "10m" } } });
    let manifest = json!({ "apiVersion": "stable.imaginedata.com/v1", "kind": "Database",
        "metadata": { "name": "db" }, "spec": spec });
    space.apply(&manifest.to_string()).ok();
}

/// What kind of orders a life of a database holds. What is applied is created by a patch.
const ORDERS: &[&str] = &[
    "create secrets",
    "create persistentvolumeclaims",
    "create configmaps",
    "create jobs",
    "patch configmaps",
    "patch services",
    "patch poddisruptionbudgets",
    "patch cronjobs",
    "patch statefulsets",
    "patch pods",
    "patch databases",
    "patch databases/status",
    "delete pods",
    "delete jobs",
    "delete statefulsets",
    "delete persistentvolumeclaims",
    "delete secrets",
];

/// What is stored last of an object that goes.
const GOES: [&str; 2] = ["Removing", "Releasing"];

/// What is left of a life: what can be counted, and may not depend on who was killed when.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    /// Every state that was stored of the first object, once in a row, since who was killed may store one twice. History holds
    /// ten moves, and goes with the object.
    path: Vec<String>,
    history: Vec<String>,
    /// How many were made, those that are gone too.
    jobs: usize,
    children: BTreeSet<String>,
}

/// Each write of the operator's in one namespace takes seconds: the API server asks a webhook first that never answers, and
/// goes on without. A write is over, and seen, before the next one counts.
struct SlowWrites {
    _silent: TcpListener,
}

impl SlowWrites {
    const NAME: &str = "slow-writes";

    #[track_caller]
    fn within(space: &Space) -> Self {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let by_operator = format!("request.userInfo.username == '{}' && request.resource.resource != 'events'", audit::OPERATOR);
        let webhook = json!({ "name": "slow.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": { "url": format!("https://{}/", silent.local_addr().unwrap()) },
            "failurePolicy": "Ignore", "timeoutSeconds": 2,
            "rules": [{ "apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"] }],
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": space.name } },
            "matchConditions": [{ "name": "by-the-operator", "expression": by_operator }] });
        let configuration = json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": { "name": Self::NAME }, "webhooks": [webhook] });
        kubectl_with(&["apply", "--filename", "-"], &configuration.to_string()).ok();
        SlowWrites { _silent: silent }
    }
}

impl Drop for SlowWrites {
    fn drop(&mut self) {
        kubectl(&["delete", "validatingwebhookconfiguration", Self::NAME]);
    }
}

/// Lives twice, once in peace and once killed after each write, and compares after each step. `kill` ends whoever wrote,
/// `follow` lets another act; `after` does in both lives what the test wants to see kept.
#[track_caller]
pub fn come_to_the_same_end(calm: &Space, killed: &Space, kill: impl Fn(&audit::Entry), follow: impl Fn(), after: impl Fn(&Space, &str)) {
    let _slowly = SlowWrites::within(killed);
    let (mut all, mut claims) = (BTreeMap::<String, usize>::new(), BTreeSet::new());
    for step in LIFE {
        (step.does)(calm);
        let base = calm.db("db");
        eventually_or(300, || (step.is_done)(&base), || format!("{}: {:#}", step.name, base.status()));
        after(calm, step.name);
        let writes = killed_through(killed, step, &kill, &follow);
        after(killed, step.name);
        println!("{}: killed after each of {} writes", step.name, writes.len());
        for write in writes {
            *all.entry(write).or_default() += 1;
        }
        let left = [calm, killed].map(left);
        assert_eq!(left[0], left[1], "after {}", step.name);
        assert!(step.name != "delete" || left[0].path.last().is_some_and(|state| GOES.contains(&state.as_str())), "{:?}", left[0].path);
        // A claim that was made is the claim that stays.
        let now = uids(killed);
        assert!(step.name == "delete" || claims.is_subset(&now), "a claim was replaced");
        claims = now;
    }
    println!("killed after {} writes: {all:?}", all.values().sum::<usize>());
    let missed: Vec<&&str> = ORDERS.iter().filter(|order| !all.contains_key(**order)).collect();
    assert!(missed.is_empty(), "nobody was killed after {missed:?}");
}

/// Kills the operator as soon as it has written something, until the step is done.
#[track_caller]
fn killed_through(space: &Space, step: &Step, kill: &impl Fn(&audit::Entry), follow: &impl Fn()) -> Vec<String> {
    let (base, began, mut writes) = (space.db("db"), Instant::now(), Vec::new());
    let (mut mark, mut last) = (audit::mark(), Instant::now());
    (step.does)(space);
    loop {
        if let Some(write) = written(mark, space).first() {
            kill(write);
            let written: Vec<_> = written(mark, space).iter().map(audit::Entry::what).collect();
            assert_eq!(written.len(), 1, "nobody was killed in between: {written:?}");
            mark = audit::mark();
            follow();
            writes.extend(written);
            last = Instant::now();
        } else if last.elapsed() > QUIET && (step.is_done)(&base) {
            return writes;
        }
        assert!(began.elapsed() < STEP, "{} does not end: {:?}\n{:#}", step.name, base.history(), base.status());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the operator wrote; Events tell of what was done, and follow from nothing.
fn written(mark: audit::Mark, space: &Space) -> Vec<audit::Entry> {
    audit::writes(mark, &space.name).into_iter().filter(|entry| entry.resource() != "events").collect()
}

fn left(space: &Space) -> Left {
    let name = |one: &Value| {
        let name = one["metadata"]["name"].as_str().unwrap_or_default();
        // A tombstone has the object's uid in its name.
        let name = name.split_once("-tombstone-").map_or(name.to_owned(), |(base, _)| format!("{base}-tombstone"));
        format!("{}/{name}", one["kind"].as_str().unwrap_or_default())
    };
    let children = space.object_list(&["statefulsets,services,configmaps,secrets,cronjobs,poddisruptionbudgets,pvc"]);
    Left {
        path: path(space),
        history: space.db("db").history(),
        jobs: space.audited().iter().filter(|entry| entry.by_operator() && entry.what() == "create jobs" && entry.code() == 201).count(),
        children: children.iter().map(name).collect(),
    }
}

/// The states through which the first object of the namespace went, as the API server recorded their writes.
fn path(space: &Space) -> Vec<String> {
    let stores = |entry: &audit::Entry| entry.by_operator() && entry.is_write() && entry.what() == "patch databases/status";
    let entries: Vec<audit::Entry> = space.audited().into_iter().filter(stores).collect();
    let first = entries.first().map(|entry| entry.body()["metadata"]["uid"].clone()).unwrap_or_default();
    assert!(first.is_string(), "nothing was stored of {}", space.name);
    let its = entries.iter().filter(|entry| entry.body()["metadata"]["uid"] == first);
    let mut path: Vec<String> = its.map(|entry| entry.body()["status"]["state"].as_str().unwrap_or_default().to_owned()).collect();
    path.dedup();
    path
}

fn uids(space: &Space) -> BTreeSet<String> {
    let claims = space.object_list(&["pvc"]);
    claims.iter().map(|claim| claim["metadata"]["uid"].as_str().unwrap_or_default().to_owned()).collect()
}
