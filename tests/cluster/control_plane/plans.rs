//! What is accepted says where it leads: restarts always, everything on a dry run.

use super::attempts::{Attempt, Verb};
use crate::harness::carrier::MEMCACHED;
use crate::harness::{Space, golden, shared};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FOLDER: &str = "plans";

fn base() -> Value {
    json!({ "replicas": 3, "memory": "128Mi" })
}

/// The same, only tried.
pub fn tried(mut attempt: Attempt) -> Attempt {
    attempt.arguments.push("--dry-run=server".to_owned());
    attempt
}

/// The writes that are only tried, each with every verb that can make it.
fn dry() -> Vec<Attempt> {
    let on_cache = |case: &str, verbs: &[Verb], change: Value| -> Vec<Attempt> {
        verbs.iter().map(|verb| tried(Attempt::write(case, *verb, (&MEMCACHED, "v1", "cache"), &base(), &change))).collect()
    };
    let on_classic = |case: &str, verbs: &[Verb], change: Value| -> Vec<Attempt> {
        verbs
            .iter()
            .map(|verb| tried(Attempt::write(case, *verb, (&MEMCACHED, "v1alpha1", "classic"), &json!({ "size": 3 }), &change)))
            .collect()
    };
    [
        on_cache("restart-tried", Verb::CHANGING, json!({ "maxConnections": 2048 })),
        on_cache("restart-of-more-tried", Verb::CHANGING, json!({ "maxConnections": 2048, "replicas": 5 })),
        on_cache("scale-up-tried", Verb::COUNTING, json!({ "replicas": 4 })),
        on_cache("scale-down-tried", Verb::COUNTING, json!({ "replicas": 1 })),
        on_cache("stop-tried", &[Verb::Scale], json!({ "replicas": 0 })),
        on_cache("created-tried", &[Verb::Create], json!({})),
        on_cache("same-tried", Verb::CHANGING, json!({})),
        on_classic("scale-up-tried-v1alpha1", Verb::COUNTING, json!({ "size": 4 })),
        on_classic("created-tried-v1alpha1", &[Verb::Create], json!({})),
    ]
    .concat()
}

/// Runs it; what does not succeed, or reads otherwise than its golden file, is a fault.
pub fn run(folder: &str, attempt: &Attempt, space: &Space, seen: &mut BTreeSet<String>) -> Vec<String> {
    let (answer, name) = (attempt.run(space), format!("{}.txt", attempt.name));
    assert!(seen.insert(name.clone()), "two cases are called {name}");
    let failed = (answer.code != 0).then(|| format!("{name}: exit code {}: {}", answer.code, answer.text()));
    let other = golden::difference(&format!("{folder}/{name}"), &attempt.transcript(&answer, space));
    failed.into_iter().chain(other).collect()
}

#[test]
fn what_is_accepted_says_where_it_leads() {
    let _turn = shared();
    let (space, mut seen, mut faults) = (Space::new("plans"), BTreeSet::new(), Vec::new());
    space.apply(&MEMCACHED.manifest("v1", "cache", &base()).to_string()).ok();
    space.apply(&MEMCACHED.manifest("v1alpha1", "classic", &json!({ "size": 3 })).to_string()).ok();
    space.kubectl(&["create", "service", "clusterip", "asking", "--clusterip=None"]).ok();
    space.memcached("asking", "{}");
    space.ready("cache");
    space.ready("classic");
    space.reaches("asking", "HumanIntervention", 30);
    let patch = |case: &str, name: &str, spec: Value| {
        Attempt::command(case, &["patch", &format!("mc/{name}"), "--type=merge", "--patch", &json!({ "spec": spec }).to_string()])
    };
    // Its pods never come, so it asks before long.
    space.memcached("typo", "{port: 11311, image: example.com/no-such:1}");
    space.reaches("typo", "Creating", 30);
    let early = tried(patch("port-before-the-first-ready.patch", "typo", json!({ "port": 11211 })));
    faults.extend(run(FOLDER, &early, &space, &mut seen));
    let before = [space.object("mc/cache")["spec"].clone(), space.object("mc/classic")["spec"].clone()];
    for attempt in dry() {
        faults.extend(run(FOLDER, &attempt, &space, &mut seen));
    }
    let after = [space.object("mc/cache")["spec"].clone(), space.object("mc/classic")["spec"].clone()];
    assert_eq!(before, after, "a dry run was stored");
    let question = space.object("mc/asking")["status"]["intervention"].clone();
    let answer = format!("pointsman.dev/answer=retry-{}", question["id"].as_str().expect("the question's id"));
    for attempt in [
        tried(Attempt::command("answer-tried.annotate", &["annotate", "mc/asking", &answer])),
        Attempt::command("held-count.scale", &["scale", "mc/asking", "--replicas=2"]),
        tried(patch("mended-tried.patch", "asking", json!({ "memory": "128Mi" }))),
        patch("restart.patch", "cache", json!({ "maxConnections": 2048 })),
        Attempt::command("label.label", &["label", "mc/classic", "example.com/team=payments"]),
    ] {
        faults.extend(run(FOLDER, &attempt, &space, &mut seen));
    }
    space.ready("cache");
    for attempt in [
        Attempt::command("scale-up.scale", &["scale", "mc/cache", "--replicas=4"]),
        Attempt::command("scale-down.scale", &["scale", "memcacheds.v1alpha1.cache.example.com/classic", "--replicas=1"]),
    ] {
        faults.extend(run(FOLDER, &attempt, &space, &mut seen));
    }
    space.ready("classic");
    faults.extend(run(
        FOLDER,
        &Attempt::command("pause.annotate", &["annotate", "mc/classic", "pointsman.dev/paused=true"]),
        &space,
        &mut seen,
    ));
    space.reaches("classic", "Paused", 30);
    for attempt in [
        Attempt::command("held-while-paused.scale", &["scale", "mc/classic", "--replicas=2"]),
        tried(Attempt::command("resumed-tried.annotate", &["annotate", "mc/classic", "pointsman.dev/paused-"])),
    ] {
        faults.extend(run(FOLDER, &attempt, &space, &mut seen));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    let stale: Vec<String> = golden::names(FOLDER).difference(&seen).cloned().collect();
    assert!(stale.is_empty(), "no case prints {stale:?}");
}
