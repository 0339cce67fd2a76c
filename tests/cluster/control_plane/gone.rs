//! With the operator gone nothing hangs; back again, it catches up with all that it missed.

use crate::harness::outage::{NoOperator, NoWebhook};
use crate::harness::{DEFINITION, Space, alone, audit, eventually, kubectl, memcached, moves, stored};
use serde_json::{Value, json};
use std::time::Instant;

/// How long anything may take that a user starts while the operator is gone.
const LIMIT: u64 = 60;

const CHILDREN: &str = "deployments,services,poddisruptionbudgets,replicasets,pods";

#[track_caller]
fn two_ready(space: &Space) {
    for name in ["one", "two"] {
        space.memcached(name, "{replicas: 2}");
    }
    space.ready("one");
    space.ready("two");
}

#[test]
fn deletions_and_edits_of_metadata_do_not_wait_for_the_operator() {
    let turn = alone();
    let (space, whole) = (Space::new("unattended"), Space::new("whole"));
    two_ready(&space);
    two_ready(&whole);
    let outage = NoOperator::stopped(&turn);
    let started = Instant::now();
    for edit in [
        &["label", "mc/one", "example.com/team=payments"][..],
        &["annotate", "mc/one", "example.com/note=hands"],
        &["patch", "mc/one", "--type=merge", "--patch", r#"{"metadata":{"finalizers":["example.com/hold"]}}"#],
        &["patch", "mc/one", "--type=merge", "--patch", r#"{"metadata":{"finalizers":null}}"#],
    ] {
        let answer = space.kubectl(edit);
        assert_eq!(answer.code, 0, "{edit:?}: {}", answer.text());
    }
    for refused in [
        &["patch", "mc/one", "--type=merge", "--patch", r#"{"spec":{"replicas":3}}"#][..],
        &["scale", "mc/one", "--replicas=3"],
        &["annotate", "mc/one", "pointsman.dev/answer=retry-aaaaa"],
    ] {
        let answer = space.kubectl(refused);
        assert_eq!(answer.code, 1, "{refused:?} was accepted unjudged");
        assert!(answer.err.contains("failed calling webhook \"memcached.pointsman.dev\""), "{}", answer.err);
    }
    assert!(space.apply(&memcached("three", "{}")).err.contains("failed calling webhook"), "created unjudged");
    an_unconverted_write_is_judged(&space);
    space.kubectl(&["delete", "mc/one", "--timeout=60s"]).ok();
    space.kubectl(&["delete", "mc/two", "--cascade=foreground", "--timeout=60s"]).ok();
    eventually(LIMIT, "the children are gone", || space.object_list(&[CHILDREN]).is_empty());
    kubectl(&["delete", "namespace", &whole.name, "--timeout=60s"]).ok();
    let took = started.elapsed().as_secs();
    println!("everything ended in {took} s");
    assert!(took < LIMIT, "{took} s");
    drop(outage);
}

/// Where nobody converts, v1alpha1 reads an empty spec: a label that comes through it would store that.
#[track_caller]
fn an_unconverted_write_is_judged(space: &Space) {
    let conversion = stored(&[DEFINITION])["spec"]["conversion"].clone();
    let converts = |how: &Value| {
        let patch = json!([{ "op": "replace", "path": "/spec/conversion", "value": how }]);
        kubectl(&["patch", DEFINITION, "--type=json", "--patch", &patch.to_string()]).ok();
    };
    let before = space.object("mc/two")["spec"].clone();
    converts(&json!({ "strategy": "None" }));
    // The definition takes a moment to be in force; until then the conversion itself cannot be asked.
    let judged = || {
        let answer = space.kubectl(&["label", "memcacheds.v1alpha1.cache.example.com/two", "example.com/team=payments"]);
        assert_eq!(answer.code, 1, "{}", answer.text());
        answer.err.contains("failed calling webhook \"memcached.pointsman.dev\"")
    };
    eventually(30, "a label through v1alpha1 is judged", judged);
    converts(&conversion);
    assert_eq!(space.object("mc/two")["spec"], before);
}

/// The webhook is taken away too, as an administrator would in need: so specs change unseen.
#[test]
fn what_happened_meanwhile_is_caught_up() {
    let turn = alone();
    let (mark, space) = (audit::mark(), Space::new("meanwhile"));
    for name in ["scaled", "updated", "deleted", "robbed", "bent", "left"] {
        space.memcached(name, "{replicas: 2}");
    }
    for name in ["scaled", "updated", "deleted", "robbed", "bent", "left"] {
        space.ready(name);
    }
    let left = space.object("mc/left")["metadata"]["resourceVersion"].clone();
    let outage = NoOperator::stopped(&turn);
    let webhook = NoWebhook::removed(&turn);
    space.memcached("created", "{replicas: 2}");
    space.memcached("short", "{}");
    space.kubectl(&["delete", "mc/short"]).ok();
    space.patch("scaled", r#"{"replicas":4}"#).ok();
    space.patch("updated", r#"{"maxConnections":2048}"#).ok();
    space.kubectl(&["delete", "mc/deleted"]).ok();
    space.kubectl(&["delete", "service/robbed", "poddisruptionbudget/robbed", "deployment/robbed"]).ok();
    space.kubectl(&["set", "image", "deployment/bent", "memcached=example.com/other:1"]).ok();
    drop(webhook);
    drop(outage);
    for (name, count) in [("created", 2), ("scaled", 4), ("updated", 2), ("robbed", 2), ("bent", 2), ("left", 2)] {
        space.ready(name);
        eventually(30, &format!("{name} is Ready as its spec says"), || stands(&space, name, count));
    }
    let container = |name: &str| space.object(&format!("deployment/{name}"))["spec"]["template"]["spec"]["containers"][0].clone();
    assert!(container("updated")["args"].as_array().unwrap().contains(&"2048".into()), "{}", container("updated"));
    assert_eq!(container("bent")["image"], "docker.io/library/memcached:1.6");
    eventually(LIMIT, "nothing is left of what was deleted", || {
        ["deleted", "short"]
            .iter()
            .all(|name| space.object_list(&[CHILDREN, "--selector", &format!("app.kubernetes.io/instance={name}")]).is_empty())
    });
    assert_eq!(space.object("mc/left")["metadata"]["resourceVersion"], left, "an object that nobody touched was written");
    let mine = audit::within(mark, &space.name);
    let moves = moves::stored(&mine);
    for arrow in
        [("Ready", "ReplicasChanged", "Scaling"), ("Ready", "TemplateChanged", "Updating"), ("Ready", "ChildrenDrifted", "Degraded")]
    {
        let arrow = (arrow.0.to_owned(), arrow.1.to_owned(), arrow.2.to_owned());
        assert!(moves.iter().any(|one| one.arrow == arrow), "{arrow:?} is not among {moves:?}");
    }
}

fn stands(space: &Space, name: &str, count: i64) -> bool {
    let object = space.object(&format!("mc/{name}"));
    let deployment = space.object(&format!("deployment/{name}"));
    let children = ["service", "poddisruptionbudget"].iter().all(|child| space.object(&format!("{child}/{name}")) != Value::Null);
    object["status"]["state"] == "Ready"
        && deployment["spec"]["replicas"] == count
        && deployment["status"]["availableReplicas"] == count
        && children
}

/// Killed without a warning in the middle of its work, several times: nothing is lost or made twice.
#[test]
fn a_killed_operator_ends_what_it_began() {
    const COUNT: usize = 20;
    let turn = alone();
    let (mark, space) = (audit::mark(), Space::new("killed"));
    let manifest: Vec<String> = (0..COUNT).map(|number| memcached(&format!("cache-{number}"), "{replicas: 2}")).collect();
    space.kubectl_with(&["create", "--filename", "-"], &manifest.join("---\n")).ok();
    let written = || audit::writes(mark, &space.name).len();
    // The API server answers one by one, so these land between any two writes of the operator's.
    for progress in [3, 25, 60] {
        eventually(30, &format!("{progress} writes are done"), || written() >= progress);
        drop(NoOperator::killed(&turn));
    }
    for number in 0..COUNT {
        space.ready(&format!("cache-{number}"));
    }
    let entries = audit::within(mark, &space.name);
    for plural in ["deployments", "services", "poddisruptionbudgets"] {
        let made = entries.iter().filter(|entry| entry.by_operator() && entry.resource() == plural && entry.code() == 201);
        let mut made: Vec<String> = made.map(audit::Entry::name).collect();
        // An answer that found nobody to take it is not in the log, so there may be fewer; never twice the same. And what
        // was never deleted cannot have been made twice under one name.
        made.sort();
        assert!(!made.is_empty() && made.windows(2).all(|pair| pair[0] != pair[1]), "{plural}: {made:?}");
        assert!(!entries.iter().any(|entry| entry.verb().starts_with("delete") && entry.resource() == plural), "{plural} were deleted");
        assert_eq!(space.object_list(&[plural]).len(), COUNT, "{plural}");
    }
    assert_eq!(space.object_list(&["pods"]).len(), 2 * COUNT);
    let refused: Vec<_> = moves::status_writes(&entries).filter(|entry| ![200, 409, 504].contains(&entry.code())).collect();
    assert!(refused.is_empty(), "{refused:?}");
    // A status whose answer found nobody was stored all the same, and the log does not show it.
    let unanswered: Vec<String> = moves::status_writes(&entries).filter(|entry| entry.code() == 504).map(audit::Entry::name).collect();
    let answered: Vec<audit::Entry> = entries.into_iter().filter(|entry| !unanswered.contains(&entry.name())).collect();
    let declared = moves::declared();
    assert!(moves::stored(&answered).iter().all(|one| declared.contains(&one.arrow)));
}
