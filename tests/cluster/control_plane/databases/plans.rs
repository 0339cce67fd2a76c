//! What is said of a write that is no edit of a field, or not of one alone: a birth, a count, a pause, an answer, and what is
//! held. Edits say theirs in `edits`.

use super::super::attempts::{Attempt, Verb};
use super::super::plans::{run, tried};
use super::refused::spec;
use super::{ASKS, SOON, create, ready};
use crate::harness::carrier::DATABASE;
use crate::harness::{Space, golden, shared};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FOLDER: &str = "database-told";

/// Writes that are only tried, of the object `db`, of `asking`, and of one that is not there.
fn attempts(question: &Value) -> Vec<Attempt> {
    let flat = json!({ "name": "shop", "storage-size": "1Gi" });
    let born = |case: &str, version: &str, spec: &Value| Attempt::write(case, Verb::Create, (&DATABASE, version, "db"), spec, &json!({}));
    let scaled = |case: &str, version: &str, count: &str| Attempt::command(case, &["scale", &DATABASE.resource(version, "db"), count]);
    let marked = |case: &str, name: &str, mark: &str| Attempt::command(case, &["annotate", name, mark]);
    let patched = |case: &str, name: &str, change: Value| {
        Attempt::command(case, &["patch", name, "--type=merge", "--patch", &json!({ "spec": change }).to_string()])
    };
    let answered = |verb: &str| {
        let answer = format!("pointsman.dev/answer={verb}-{}", question["id"].as_str().expect("the question's id"));
        marked(&format!("answer-{verb}.annotate"), "db/asking", &answer)
    };
    vec![
        born("born", "v1", &spec(&json!({}))),
        born("born-v1alpha1", "v1alpha1", &flat),
        scaled("more.scale", "v1", "--replicas=3"),
        scaled("fewer.scale", "v1", "--replicas=1"),
        scaled("fewer-v1alpha1.scale", "v1alpha1", "--replicas=1"),
        patched("much-at-once.patch", "db/db", json!({ "replicas": 3, "image": "postgres:17.12", "deletionPolicy": "Delete" })),
        patched("nothing.patch", "db/db", json!({ "replicas": 2 })),
        marked("pause.annotate", "db/db", "pointsman.dev/paused=true"),
        answered("retry"),
        answered("adopt"),
        Attempt::command("held-count.scale", &["scale", "db/asking", "--replicas=2"]),
        patched("mended.patch", "db/asking", json!({ "port": 6432 })),
    ]
}

#[test]
fn what_is_accepted_says_where_it_leads() {
    let _turn = shared();
    let (space, mut seen, mut faults) = (Space::new("db-plans"), BTreeSet::new(), Vec::new());
    space.kubectl(&["create", "service", "clusterip", "asking-ro", "--tcp=5432"]).ok();
    let asking = create(&space, "asking", &json!({}));
    let base = ready(&space, "db", &json!({ "replicas": 2, "image": "postgres:17.11" }));
    asking.reaches("HumanIntervention", ASKS);
    let specs = || [&base, &asking].map(|one| one.seen()["spec"].clone());
    let before = specs();
    for attempt in attempts(&asking.status()["intervention"]) {
        faults.extend(run(FOLDER, &tried(attempt), &space, &mut seen));
    }
    assert_eq!(specs(), before, "a dry run was stored");
    base.annotate("pointsman.dev/paused=true");
    base.reaches("Paused", SOON);
    for attempt in [
        Attempt::command("held-while-paused.scale", &["scale", "db/db", "--replicas=3"]),
        Attempt::command("resumed.annotate", &["annotate", "db/db", "pointsman.dev/paused-"]),
    ] {
        faults.extend(run(FOLDER, &tried(attempt), &space, &mut seen));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    let stale: Vec<String> = golden::names(FOLDER).difference(&seen).cloned().collect();
    assert!(stale.is_empty(), "no case prints {stale:?}");
}
