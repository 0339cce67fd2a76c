//! How many writes an object costs, counted in the API server's audit log.

use super::databases;
use crate::harness::outage::NoControllers;
use crate::harness::{Space, alone, audit, bash, eventually, memcached, moves, operator, scraped};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// How often the operator asked for what in the namespace since `mark`.
fn writes(mark: audit::Mark, space: &Space) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in audit::writes(mark, &space.name) {
        *counts.entry(entry.what()).or_default() += 1;
    }
    counts
}

fn counted(counts: &[(&str, usize)]) -> BTreeMap<String, usize> {
    counts.iter().map(|(what, count)| ((*what).to_owned(), *count)).collect()
}

/// Does what Kubernetes' controllers do for a Deployment: its pods, then its status in one write.
#[track_caller]
fn finish(space: &Space, name: &str) {
    let deployment = space.object(&format!("deployment/{name}"));
    let labels = deployment["spec"]["template"]["metadata"]["labels"].as_object().unwrap();
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap())).collect();
    let wanted = usize::try_from(deployment["spec"]["replicas"].as_u64().unwrap()).unwrap();
    for number in space.object_list(&["pods"]).len()..wanted {
        let (pod, labels) = (format!("{name}-{number}"), format!("--labels={},pod-template-hash=1", labels.join(",")));
        // Without one of the Deployment's it would be a stray, and told as such.
        let owner = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{name}-1"), "uid": "1", "controller": true });
        let overrides = format!("--overrides={}", json!({ "metadata": { "ownerReferences": [owner] } }));
        space.kubectl(&["run", &pod, "--image=example.com/any:1", &labels, &overrides]).ok();
    }
    space.kubectl(&["wait", "--for=condition=Ready", "pods", "--all", "--timeout=30s"]).ok();
    let (generation, count) = (&deployment["metadata"]["generation"], &deployment["spec"]["replicas"]);
    let status = format!(
        r#"{{"status":{{"observedGeneration":{generation},"replicas":{count},"updatedReplicas":{count},"readyReplicas":{count},"availableReplicas":{count}}}}}"#
    );
    space.kubectl(&["patch", &format!("deployment/{name}"), "--subresource=status", "--type=merge", "--patch", &status]).ok();
}

#[test]
fn from_create_to_ready_and_from_three_to_four_nothing_is_written_twice() {
    let turn = alone();
    let space = Space::new("counts");
    operator(&["restart"]);
    let _held = NoControllers::held(&turn);
    let started = audit::mark();
    space.memcached("cache", "{replicas: 3}");
    space.reaches("cache", "Creating", 20);
    let children = ["patch deployments", "patch poddisruptionbudgets", "patch services"];
    eventually(20, "the children are made", || children.iter().all(|child| writes(started, &space).contains_key(*child)));
    quiet();
    finish(&space, "cache");
    space.ready("cache");
    quiet();
    let once = [(children[0], 1), (children[1], 1), (children[2], 1), ("create events", 2), ("patch memcacheds/status", 2)];
    assert_eq!(writes(started, &space), counted(&once), "from create to Ready");
    let scaled = audit::mark();
    space.patch("cache", r#"{"replicas":4}"#).ok();
    eventually(20, "the Deployment is scaled", || space.object("deployment/cache")["spec"]["replicas"] == 4);
    quiet();
    finish(&space, "cache");
    space.ready("cache");
    quiet();
    let once = [("patch deployments", 1), ("create events", 2), ("patch memcacheds/status", 2)];
    assert_eq!(writes(scaled, &space), counted(&once), "from 3 to 4");
    let entries = audit::since(started);
    let gets: Vec<String> = entries
        .iter()
        .filter(|entry| entry.by_operator() && entry.verb() == "get" && entry.namespace() == space.name)
        .map(audit::Entry::what)
        .collect();
    assert_eq!(gets, Vec::<String>::new(), "the operator reads what its caches hold");
    let mine: Vec<audit::Entry> = entries.into_iter().filter(|entry| entry.namespace() == space.name).collect();
    assert_eq!(moves::told(&mine), moves::to_tell(&moves::stored(&mine)), "one Event for each stored move");
}

/// Time for a write that should not come.
fn quiet() {
    std::thread::sleep(Duration::from_millis(1500));
}

/// Creates this many settled objects.
#[track_caller]
pub fn settled(space: &Space, count: usize) {
    let manifest: Vec<String> = (0..count).map(|number| memcached(&format!("cache-{number}"), "{}")).collect();
    space.kubectl_with(&["create", "--filename", "-"], &manifest.join("---\n")).ok();
    space.kubectl(&["wait", "--for=condition=Ready", "mc", "--all", "--timeout=300s"]).ok();
    quiet();
}

/// How many databases rest beside the caches.
const BASES: usize = 3;

/// Nothing is written after a restart, and nothing is asked for `rest`.
#[track_caller]
pub fn rests(space: &Space, count: usize, rest: Duration) {
    bases(space, BASES);
    settled(space, count);
    all_bases_are_ready(space, BASES);
    let mark = audit::mark();
    started_anew(count + BASES);
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(writes(mark, space), BTreeMap::new(), "after a restart with {count} settled objects");
    nothing_is_asked(space, rest);
}

/// Creates so many databases.
#[track_caller]
pub fn bases(space: &Space, count: usize) {
    for number in 0..count {
        databases::create(space, &format!("db-{number}"), &json!({ "replicas": 2, "backup": { "schedule": "0 2 1 1 *" } }));
    }
}

/// Waits for them, and until nothing more is written.
#[track_caller]
pub fn all_bases_are_ready(space: &Space, count: usize) {
    space.kubectl(&["wait", "--for=condition=Ready", "db", "--all", "--timeout=540s"]).ok();
    // A schedule is kept by a child that nobody waits for.
    eventually(20, "every schedule is kept", || space.object_list(&["cronjobs"]).len() == count);
    quiet();
}

/// For `rest` the operator asks the API server for nothing but what it watches, and its Lease. What it tidies up meanwhile after
/// tests in other namespaces is not of these objects.
#[track_caller]
pub fn nothing_is_asked(space: &Space, rest: Duration) {
    let is_of_it = |namespace: &str| ["", "pointsman-system", &space.name].contains(&namespace);
    let mark = audit::mark();
    std::thread::sleep(rest);
    let asked: Vec<String> = audit::since(mark)
        .iter()
        .filter(|entry| entry.by_operator() && entry.verb() != "watch" && entry.resource() != "leases" && is_of_it(&entry.namespace()))
        .map(|entry| format!("{} {}/{}", entry.what(), entry.namespace(), entry.name()))
        .collect();
    assert_eq!(asked, Vec::<String>::new(), "at rest for {rest:?}");
}

/// Restarts the operator, and waits until it leads and has looked at so many objects.
#[track_caller]
pub fn started_anew(count: usize) {
    operator(&["restart"]);
    let looks = || -> usize {
        let page = scraped();
        let lines = page.lines().filter(|line| line.starts_with("controller_runtime_reconcile_total{"));
        lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok()).sum()
    };
    eventually(60, "every object was looked at", || looks() >= count);
}

/// No child of objects at rest is written after a restart with another rendering.
#[track_caller]
pub fn another_rendering(space: &Space, count: usize) {
    let mark = audit::mark();
    let servers = || -> Vec<serde_json::Value> {
        let pods = space.object_list(&["pods", "--selector", "app.kubernetes.io/name=postgresql"]);
        pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect()
    };
    let before = servers();
    assert_eq!(before.len(), 2 * BASES);
    let _back = OrdinaryRendering;
    operator(&["build-next"]);
    operator(&["stop"]);
    operator(&["start-next"]);
    let newer = || {
        let objects = space.object_list(&["mc,db"]);
        let newer = |object: &serde_json::Value| object["status"]["conditions"].to_string().contains("NewerRendering");
        objects.iter().filter(|object| newer(object)).count()
    };
    eventually(60, "every object says that another rendering is due", || newer() == count + BASES);
    quiet();
    // The next dump is taken as this operator takes it.
    let once = counted(&[("patch cronjobs", BASES), ("patch databases/status", BASES), ("patch memcacheds/status", count)]);
    assert_eq!(writes(mark, space), once, "after a restart with another rendering");
    space.db("db-0").patch(r#"{"deletionPolicy":"Retain","parameters":{"work_mem":"8MB"}}"#).ok();
    space.db("db-0").ready_within(60);
    assert_eq!(servers(), before, "a server was restarted by an upgrade");
    let rendering = |name: &str| {
        let deployment = space.object(&format!("deployment/{name}"));
        deployment["spec"]["template"]["metadata"]["annotations"]["pointsman.dev/renderer"].clone()
    };
    let mark = audit::mark();
    space.patch("cache-0", r#"{"replicas":2}"#).ok();
    space.ready("cache-0");
    assert_eq!(rendering("cache-0"), serde_json::Value::Null, "a count alone rendered the pods anew");
    assert_eq!(space.object("deployment/cache-0")["spec"]["replicas"], 2);
    space.patch("cache-1", r#"{"maxConnections":2048}"#).ok();
    space.ready("cache-1");
    assert_eq!(rendering("cache-1"), "2", "a new spec is not rendered as this operator renders");
    let on_deployments = audit::writes(mark, &space.name).iter().filter(|entry| entry.what() == "patch deployments").count();
    assert_eq!(on_deployments, 2);
    assert_eq!(newer(), count + BASES - 1);
    refreshed_on_wish(space, rendering);
}

/// The command that the condition tells renders the pods anew, and no other number does.
fn refreshed_on_wish(space: &Space, rendering: impl Fn(&str) -> serde_json::Value) {
    let due = || {
        let conditions = space.object("mc/cache-2")["status"]["conditions"].as_array().unwrap().clone();
        conditions.into_iter().find(|one| one["type"] == "UpToDate" && one["reason"] == "NewerRendering")
    };
    let told = due().expect("another rendering is due")["message"].as_str().unwrap().to_owned();
    let command = told.split_once("kubectl ").unwrap_or_else(|| panic!("no command: {told}")).1;
    let wrong = space.kubectl(&["annotate", "mc/cache-2", "pointsman.dev/refresh=1"]);
    assert!(wrong.code == 1 && wrong.err.contains("pointsman.dev/refresh"), "{}", wrong.text());
    assert_eq!(rendering("cache-2"), serde_json::Value::Null);
    bash(&format!("kubectl {command}")).ok();
    eventually(60, "the pods are rendered anew, and that is all", || rendering("cache-2") == "2" && due().is_none());
    space.ready("cache-2");
}

/// The operator as it was installed, however the test ends.
struct OrdinaryRendering;

impl Drop for OrdinaryRendering {
    fn drop(&mut self) {
        crate::harness::bash(&format!("{} restart", crate::harness::repository().join("tests/cluster/operator").display()));
    }
}

#[test]
fn twelve_objects_at_rest_cost_nothing() {
    let _turn = alone();
    rests(&Space::new("rest"), 12, Duration::from_secs(20));
}
