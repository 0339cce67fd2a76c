//! The storage is migrated while the operator is at work, then v1alpha1 leaves the definition; etcd itself is read.
//!
//! The history is that of three releases: one that knew v1alpha1 alone, one that stored v1alpha1 and served both, and this one.

use super::migrate_by_cluster::{self, asked_once, migrates_by_itself, migration};
use super::older::replaced_by_the_older_one;
use crate::harness::etcd::{self, Stored};
use crate::harness::outage::{Definition, NoOperator};
use crate::harness::{Answer, DEFINITION, Space, alone, audit, bash, eventually, kubectl, nobody_elses, repository};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};

const OLD: &str = "memcacheds.v1alpha1.cache.example.com";

#[test]
fn sixty_objects_are_migrated_and_v1alpha1_is_removed() {
    migrated(60, 1, &[]);
}

/// The whole way of `count` objects with so many pods each, a fifth of them written in each of five ways.
pub fn migrated(count: usize, pods: u8, flags: &[&str]) {
    let by_cluster = migrates_by_itself() && flags.is_empty();
    let turn = alone();
    nobody_elses();
    let outage = NoOperator::stopped(&turn);
    let definition = Definition::kept(&turn);
    replaced_by_the_older_one();
    let space = Space::new("migrate");
    written_under_the_older_one(&space, count, pods);
    definition.replace(|versions| stores(versions, "v1alpha1"));
    drop(outage);
    written_through_both(&space, count, pods);
    kubectl(&["patch", DEFINITION, "--type=json", "--patch", &storing_v1()]).ok();
    eventually(20, "v1 is stored from now on", || stored_versions(DEFINITION) == ["v1alpha1", "v1"]);
    at_rest(&space);

    let (before, bytes, mark) = (Seen::of(&space), etcd::memcacheds(&space.name), audit::mark());
    println!("etcd holds {} objects as v1alpha1, {} as v1", etcd::count(&bytes, "v1alpha1"), etcd::count(&bytes, "v1"));
    assert_eq!((etcd::count(&bytes, "v1alpha1"), etcd::count(&bytes, "v1")), (count, 0));
    // It tells of every twentieth part.
    for done in [count / 20 * 3, count / 20 * 6] {
        if by_cluster && done == count / 20 * 3 {
            killed_while_the_cluster_is_at_it(flags);
        } else {
            killed_at(&space, done, count, flags, by_cluster);
        }
    }
    let said = Run::started(flags).finished().ok();
    asked_once(mark, &space, if by_cluster { count } else { 0 }, &said);
    assert!(said.contains("status.storedVersions: v1alpha1, v1 -> v1\n"), "{said}");
    let after = etcd::memcacheds(&space.name);
    println!("etcd holds {} objects as v1alpha1, {} as v1; {}", etcd::count(&after, "v1alpha1"), etcd::count(&after, "v1"), summary(&said));
    assert_eq!((etcd::count(&after, "v1alpha1"), etcd::count(&after, "v1")), (0, count));
    assert_eq!(stored_versions(DEFINITION), ["v1"]);
    // The cluster leaves managedFields as they are: where they name v1alpha1, the object is written once more.
    let twice = |name: &String| by_cluster && before.owners[name].keys().any(|who| who.ends_with("/v1alpha1"));
    let wanted = |name: &String, stored: &Stored| stored.writes + 1 + u64::from(twice(name));
    let wrong: Vec<&String> =
        bytes.iter().filter(|(name, stored)| after[*name].writes != wanted(name, stored)).map(|(name, _)| name).collect();
    assert_eq!(wrong, Vec::<&String>::new(), "written more or less often than it has to be");
    let seen = Seen::of(&space);
    before.is_as_before(&seen, &space);
    space.unwritten(mark, "the operator wrote something");

    unserved_and_removed(&space, &bytes);
    nothing_is_lost(&space, &seen);
}

fn stores(versions: &mut [Value], name: &str) {
    for version in versions {
        version["storage"] = json!(version["name"] == name);
    }
}

fn storing_v1() -> String {
    let set = |at: usize, name: &str, storage: bool| {
        let path = format!("/spec/versions/{at}");
        [
            json!({ "op": "test", "path": format!("{path}/name"), "value": name }),
            json!({ "op": "replace", "path": format!("{path}/storage"), "value": storage }),
        ]
    };
    json!([set(0, "v1", true), set(1, "v1alpha1", false)].concat()).to_string()
}

/// Has a definition store a version, and waits until it says so.
pub fn stored_from_now_on(definition: &str, version: &str) {
    let set =
        |(at, name): (usize, &str)| json!({ "op": "replace", "path": format!("/spec/versions/{at}/storage"), "value": name == version });
    let names = kubectl(&["get", definition, "--output", "jsonpath={.spec.versions[*].name}"]).ok();
    let patch: Vec<Value> = names.split_whitespace().enumerate().map(set).collect();
    kubectl(&["patch", definition, "--type=json", "--patch", &json!(patch).to_string()]).ok();
    eventually(20, "it is stored so from now on", || stored_versions(definition).iter().any(|stored| stored == version));
}

/// The versions that objects may be stored in, as the definition says.
pub fn stored_versions(definition: &str) -> Vec<String> {
    let said = kubectl(&["get", definition, "--output", "jsonpath={.status.storedVersions[*]}"]).ok();
    said.split_whitespace().map(str::to_owned).collect()
}

/// How an object was written, by its number.
const WAYS: [&str; 5] = ["applied", "shared", "created", "labelled", "twin"];

fn names(count: usize, way: &str) -> Vec<String> {
    let numbers = (0..count).filter(|number| WAYS[number % WAYS.len()] == way);
    numbers.map(|number| format!("{way}-{number:04}")).collect()
}

/// A manifest for each object of a way, with what is beside the name.
fn manifests(count: usize, way: &str, version: &str, spec: &Value) -> String {
    let manifest = |name: String| json!({ "apiVersion": format!("cache.example.com/{version}"), "kind": "Memcached", "metadata": { "name": name }, "spec": spec });
    names(count, way).into_iter().map(|name| manifest(name).to_string()).collect::<Vec<_>>().join("\n---\n")
}

const CLIENT_SIDE: &[&str] = &["apply", "--filename", "-"];
const CREATE: &[&str] = &["create", "--filename", "-"];

fn server_side(manager: &'static str) -> [&'static str; 6] {
    ["apply", "--server-side", "--field-manager", manager, "--filename", "-"]
}

/// Everybody writes through v1alpha1, since there is nothing else.
#[track_caller]
fn written_under_the_older_one(space: &Space, count: usize, pods: u8) {
    let ready = manifests(5, "created", "v1alpha1", &json!({ "size": 1 }));
    eventually(20, "the older definition is served", || {
        space.kubectl_with(&["create", "--dry-run=server", "--filename", "-"], &ready).code == 0
    });
    let write = |verb: &[&str], way: &str, spec: Value| space.kubectl_with(verb, &manifests(count, way, "v1alpha1", &spec)).ok();
    write(CLIENT_SIDE, "applied", json!({ "size": pods }));
    write(&server_side("platform"), "shared", json!({ "size": pods, "v1": { "memory": "128Mi" } }));
    write(CREATE, "created", json!({ "size": scaled_to(pods) + 1 }));
    write(CREATE, "labelled", json!({ "size": pods }));
}

/// Of a count of none, the API server does not note whose it is.
fn scaled_to(pods: u8) -> u8 {
    pods.max(1)
}

/// A release that serves both and stores v1alpha1: everybody writes as they like, and the operator does its work.
#[track_caller]
fn written_through_both(space: &Space, count: usize, pods: u8) {
    let probe = manifests(5, "twin", "v1", &json!({ "replicas": 1 }));
    eventually(60, "both versions can be written", || {
        space.kubectl_with(&["create", "--dry-run=server", "--filename", "-"], &probe).code == 0 && space.kubectl(&["get", OLD]).code == 0
    });
    space.kubectl_with(&server_side("platform"), &manifests(count, "twin", "v1", &json!({ "replicas": pods, "memory": "128Mi" }))).ok();
    for way in ["shared", "twin"] {
        space.kubectl_with(&server_side("tuning"), &manifests(count, way, "v1", &json!({ "maxConnections": 2048 }))).ok();
    }
    let each = |way: &str, resource: &str| names(count, way).iter().map(|name| format!("{resource}/{name}")).collect::<Vec<_>>();
    let write = |before: &[&str], objects: &[String], after: &[&str]| {
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        space.kubectl(&[before, &objects, after].concat()).ok();
    };
    write(&["scale"], &each("created", OLD), &[&format!("--replicas={}", scaled_to(pods))]);
    write(&["label"], &each("labelled", OLD), &["example.com/team=payments"]);
    write(&["label"], &each("labelled", "mc"), &["example.com/stage=test"]);
    space.kubectl(&["wait", "--for=condition=Ready", "mc", "--all", "--timeout=600s"]).ok();
}

/// Everything is told, and nothing is written any more.
#[track_caller]
fn at_rest(space: &Space) {
    let mut last = BTreeMap::new();
    eventually(60, "nothing is written any more", || {
        let mark = audit::mark();
        std::thread::sleep(std::time::Duration::from_secs(2));
        let now: BTreeMap<String, u64> = etcd::memcacheds(&space.name).into_iter().map(|(name, stored)| (name, stored.writes)).collect();
        let rests = now == std::mem::replace(&mut last, now.clone());
        rests && audit::writes(mark, &space.name).is_empty()
    });
}

/// A migration that is under way.
pub struct Run {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Run {
    pub fn started(flags: &[&str]) -> Self {
        let mut command = Command::new(repository().join("tests/cluster/operator"));
        let mut child = command.arg("migrate-storage").args(flags).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Run { child, lines }
    }

    /// Killed as soon as it says this line.
    #[track_caller]
    fn killed_at(mut self, wanted: &str) {
        assert!(self.lines.by_ref().lines().any(|line| line.unwrap() == wanted), "it ended before it said: {wanted}");
        self.child.kill().unwrap();
        assert_eq!(self.child.wait().unwrap().signal(), Some(9), "it ended by itself");
    }

    pub fn finished(mut self) -> Answer {
        let (mut out, mut err) = (String::new(), String::new());
        self.lines.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        Answer { code: self.child.wait().unwrap().code().unwrap_or(-1), out, err }
    }
}

/// What the cluster was asked for is there, and goes on.
#[track_caller]
fn killed_while_the_cluster_is_at_it(flags: &[&str]) {
    Run::started(flags).killed_at(migrate_by_cluster::ASKED);
    assert!(migration().is_some(), "what was asked for is gone");
}

/// Killed as soon as it says that it is so far.
#[track_caller]
fn killed_at(space: &Space, done: usize, count: usize, flags: &[&str], by_cluster: bool) {
    Run::started(flags).killed_at(&format!("migrated {done} of {count} memcacheds.cache.example.com"));
    let stored = etcd::count(&etcd::memcacheds(&space.name), "v1");
    println!("killed at {done} of {count}: {stored} are stored as v1");
    assert!(stored >= done && (stored == count) == by_cluster, "{stored} of {count} are stored as v1");
    assert_eq!(stored_versions(DEFINITION), ["v1alpha1", "v1"], "the definition says more than is checked");
}

/// The line that counts.
fn summary(said: &str) -> &str {
    said.lines().find(|line| line.contains("written anew")).unwrap()
}

/// Everything that can be read of the objects, and who runs for them.
struct Seen {
    v1: BTreeMap<String, Value>,
    v1alpha1: BTreeMap<String, Value>,
    owners: BTreeMap<String, BTreeMap<String, Value>>,
    operands: String,
}

impl Seen {
    #[track_caller]
    fn of(space: &Space) -> Self {
        let objects = |resource: &str| space.object_list(&[resource, "--show-managed-fields"]);
        let (v1, v1alpha1) = (objects("mc"), objects(OLD));
        let columns = "custom-columns=:.kind,:.metadata.name,:.metadata.uid,:.metadata.resourceVersion";
        let operands = ["get", "deployments,services,pods", "--sort-by=.metadata.uid", "--no-headers", "--output", columns];
        Seen {
            owners: v1.iter().map(|object| (name(object), owners(object))).collect(),
            v1: v1.into_iter().map(read).collect(),
            v1alpha1: v1alpha1.into_iter().map(read).collect(),
            operands: space.kubectl(&operands).ok(),
        }
    }

    #[track_caller]
    fn is_as_before(&self, now: &Seen, space: &Space) {
        assert!(self.v1 == now.v1, "objects read otherwise through v1: {}", differing(&self.v1, &now.v1));
        assert!(self.v1alpha1 == now.v1alpha1, "objects read otherwise through v1alpha1: {}", differing(&self.v1alpha1, &now.v1alpha1));
        assert_eq!(self.operands, now.operands, "a child or a pod of {} is another, or was written", space.name);
        for (name, before) in &self.owners {
            owned_as_before(name, before, &now.owners[name]);
        }
        // What the operator owns differs with what it had to tell of each.
        let of_people = |owners: &BTreeMap<String, Value>| {
            owners
                .iter()
                .filter(|(who, _)| !who.starts_with("pointsman-"))
                .map(|(who, fields)| (who.clone(), fields.clone()))
                .collect::<Vec<_>>()
        };
        let twin = of_people(&now.owners[now.owners.keys().find(|name| name.starts_with("twin")).unwrap()]);
        assert_eq!(twin.len(), 2, "{twin:?}");
        for (name, owners) in now.owners.iter().filter(|(name, _)| name.starts_with("shared") || name.starts_with("twin")) {
            assert_eq!(of_people(owners), twin, "{name} is owned otherwise than if it had always been written through v1");
        }
    }
}

fn differing(before: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) -> String {
    let other = before.iter().find(|(name, object)| now.get(*name) != Some(object));
    other.map(|(name, object)| format!("{object}\n{}", now.get(name).unwrap_or(&Value::Null))).unwrap_or_default()
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap().to_owned()
}

/// What a reader sees of it: all but what every write changes, and who owns what.
fn read(mut object: Value) -> (String, Value) {
    for field in ["resourceVersion", "managedFields"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    (name(&object), object)
}

/// Who owns what: fields by manager, operation, subresource and version.
fn owners(object: &Value) -> BTreeMap<String, Value> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let word = |entry: &Value, key: &str| entry[key].as_str().unwrap_or("-").to_owned();
    let who = |entry: &Value| ["manager", "operation", "subresource", "apiVersion"].map(|key| word(entry, key)).join(" ");
    entries.iter().map(|entry| (who(entry), entry["fieldsV1"].clone())).collect()
}

/// Nobody is lost and nobody new came; only the versions' names for things differ.
#[track_caller]
fn owned_as_before(name: &str, before: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) {
    let managers = |owners: &BTreeMap<String, Value>| {
        owners.keys().map(|who| who.rsplit_once(' ').unwrap().0.to_owned()).collect::<BTreeSet<String>>()
    };
    assert_eq!(managers(before), managers(now), "{name}");
    assert!(now.keys().all(|who| who.ends_with(" cache.example.com/v1")), "{name}: {now:?}");
    let wanted: &[(&str, Value)] = match name.split('-').next().unwrap() {
        "created" => {
            &[("kubectl Update scale", json!({ "f:spec": { "f:replicas": {} } })), ("kubectl-create Update -", json!({ "f:spec": {} }))]
        }
        "labelled" => &[
            ("kubectl-create Update -", json!({ "f:spec": { ".": {}, "f:replicas": {} } })),
            (
                "kubectl-label Update -",
                json!({ "f:metadata": { "f:labels": {
                ".": {}, "f:example.com/team": {}, "f:example.com/stage": {} } } }),
            ),
        ],
        "shared" => &[
            ("platform Apply -", json!({ "f:spec": { "f:memory": {}, "f:replicas": {} } })),
            ("tuning Apply -", json!({ "f:spec": { "f:maxConnections": {} } })),
        ],
        _ => &[],
    };
    for (who, fields) in wanted {
        assert_eq!(now.get(&format!("{who} cache.example.com/v1")), Some(fields), "{name}: {who}: {now:?}");
    }
}

/// Types the commands that are offered, one after another.
#[track_caller]
fn unserved_and_removed(space: &Space, bytes: &BTreeMap<String, Stored>) {
    for next in ["Next: serve v1alpha1 no more.", "Next: take v1alpha1 out of the definition."] {
        let said = Run::started(&[]).finished().ok();
        assert!(said.contains(next) && said.contains(&format!("0 written anew, {} were so before", bytes.len())), "{said}");
        let command = said.lines().find(|line| line.starts_with("  kubectl patch ")).unwrap();
        bash(command).ok();
        eventually(20, "v1alpha1 is not served", || space.kubectl(&["get", OLD]).code != 0);
    }
    let said = Run::started(&[]).finished().ok();
    assert!(said.contains("status.storedVersions: v1\nNothing is left to do: v1 is the only version.\n"), "{said}");
}

/// Writes of every sort of manager, in a cluster that knows v1alpha1 no more.
#[track_caller]
fn nothing_is_lost(space: &Space, before: &Seen) {
    let first = |way: &str| before.v1.keys().find(|name| name.starts_with(way)).unwrap().clone();
    let manifest = |way: &str, spec: Value| {
        json!({ "apiVersion": "cache.example.com/v1", "kind": "Memcached", "metadata": { "name": first(way) }, "spec": spec }).to_string()
    };
    space.kubectl(&["label", "mc", "--all", "example.com/after=removal"]).ok();
    space.kubectl_with(CLIENT_SIDE, &manifest("applied", json!({ "replicas": 2 }))).ok();
    space.kubectl_with(&server_side("platform"), &manifest("shared", json!({ "replicas": 2, "memory": "128Mi" }))).ok();
    space.kubectl_with(&server_side("tuning"), &manifest("shared", json!({ "maxConnections": 2048 }))).ok();
    space.kubectl(&["scale", &format!("mc/{}", first("created")), "--replicas=2"]).ok();
    for way in ["applied", "shared", "created"] {
        space.ready(&first(way));
    }
    for object in space.object_list(&["mc", "--show-managed-fields"]) {
        let (name, mut now) = (name(&object), owners(&object));
        let mut then = before.owners[&name].clone();
        // What these own has changed with what they wrote.
        for writer in ["kubectl-label Update -", "pointsman-status Apply status"] {
            let writer = format!("{writer} cache.example.com/v1");
            assert!(now.remove(&writer).is_some(), "{writer} does not own {name}");
            then.remove(&writer);
        }
        assert_eq!(now, then, "{name} is owned otherwise after writes without v1alpha1");
    }
}
