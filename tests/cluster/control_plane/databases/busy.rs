//! Where an edit would spoil what is under way it is refused as busy, with since when that goes on and when it gives up.

use super::questions::{no_place_to_restart, old_dumps};
use super::refused::{Refused, faults};
use super::{ASKS, SOON, create, ready, saying};
use crate::harness::pool::Pool;
use crate::harness::{Space, shared};
use serde_json::{Value, json};

/// A state, and what leads the object `db` there for as long as the state may last.
type Busy = (&'static str, fn(&Space));

const STATES: [Busy; 3] = [("Restoring", restoring), ("ExpandingStorage", growing), ("RollingBack", rolling_back)];

/// What is busy there.
fn edits() -> [(&'static str, Value, &'static str); 4] {
    [
        ("image", json!({ "image": "postgres:17.9" }), "spec.image"),
        ("storage", json!({ "storage": { "size": "3Gi" } }), "spec.storage"),
        ("parameters", json!({ "parameters": { "work_mem": "8MB" } }), "spec.parameters"),
        ("extensions", json!({ "extensions": [{ "name": "hstore" }] }), "spec.extensions"),
    ]
}

fn restoring(space: &Space) {
    old_dumps(space);
    create(space, "db", &json!({ "restoreFrom": { "claimName": "old" }, "podTemplate": saying("restore", "wait") }));
}

fn growing(space: &Space) {
    let base = ready(space, "db", &json!({}));
    space.kubectl(&["annotate", "pvc/data-db-0", "example.com/grows=never"]).ok();
    base.patch(r#"{"storage":{"size":"2Gi"}}"#).ok();
}

/// The pods that were good find no place either.
fn rolling_back(space: &Space) {
    no_place_to_restart(space);
    space.db("db").reaches("HumanIntervention", ASKS);
    // Its label is taken off the node when it is dropped.
    drop(Pool::new(space));
    space.db("db").answer("rollback").ok();
}

fn drive((state, leads): Busy) -> Vec<String> {
    let space = Space::new(&format!("busy-{}", state.to_lowercase()));
    leads(&space);
    let base = space.db("db");
    base.reaches(state, SOON);
    let before = base.seen()["spec"].clone();
    let case = |(field, change, path): &(&str, Value, &str)| {
        let words = [*path, "busy: ", &format!("not possible while {state}, since 2"), "; that gives up at 2"];
        Refused::change(&space, field, "db", change, &words)
    };
    let cases: Vec<Refused> = edits().iter().map(case).collect();
    let faults = faults(&space, &format!("database-busy/{state}"), &cases);
    assert_eq!(base.seen()["spec"], before, "a refused write changed it");
    faults
}

#[test]
fn what_is_busy_is_refused_by_every_verb_and_says_until_when() {
    let _turn = shared();
    let faults: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = STATES.into_iter().map(|state| scope.spawn(move || drive(state))).collect();
        running.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
