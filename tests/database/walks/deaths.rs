//! The operator dies in the middle of what it does, again and again: what comes of it is what comes of a life without deaths.

use super::life::{Death, Life};
use super::promoted;
use pointsman::kinds::order::ChildKind;
use serde_json::{Value, json};

/// The life of a database, as on the clusters: a user creates it, wants more replicas, other pods, and deletes it.
const STEPS: [&str; 4] = ["create", "scale", "restart", "delete"];

fn fields(replicas: u32, cpu: &str) -> Value {
    json!({ "replicas": replicas, "backup": { "schedule": "0 2 1 1 *" }, "resources": { "requests": { "cpu": cpu } } })
}

/// What a step leads to, and leaves.
#[derive(Debug, PartialEq)]
struct Left {
    path: Vec<String>,
    /// Every Job that was made; an order that was cut off is given once more, and makes none anew.
    jobs: Vec<String>,
    /// Pods that were told to go.
    restarts: Vec<String>,
    /// Everything that stands, by its kind.
    things: Vec<(ChildKind, String)>,
}

/// Lives the whole life: what each step left, and how much each look had to write.
fn lives(death: Death) -> (Vec<Left>, Vec<usize>) {
    let mut life = Life::dying(&fields(2, "10m"), death);
    let (mut all, mut claims) = (Vec::new(), Vec::new());
    for step in STEPS {
        let path = match step {
            "create" => life.after(),
            "scale" => life.edit(&fields(3, "10m")),
            "restart" => life.edit(&fields(3, "20m")),
            _ => life.delete(),
        };
        let done = |what: &str| life.cluster.done.iter().filter(|done| done.starts_with(what)).cloned().collect::<Vec<_>>();
        let things = life.cluster.things.keys().cloned().collect();
        all.push(Left { path, jobs: done("create Job"), restarts: done("delete Pod"), things });
        let now = life.claims();
        assert!(step == "delete" || claims.iter().all(|claim| now.contains(claim)), "{step}: a claim was replaced: {claims:?}, {now:?}");
        claims = now;
    }
    assert!(life.cluster.object.is_none(), "{:?}", life.path);
    (all, life.writes)
}

#[track_caller]
fn come_to_the_same_end(calm: &[Left], death: Death, what: &str) {
    let (left, _) = lives(death);
    for ((step, calm), left) in STEPS.iter().zip(calm).zip(left) {
        assert_eq!(left, *calm, "{step}, dying {what}");
    }
}

#[test]
fn dying_within_each_look_it_comes_to_the_same_end() {
    let (calm, writes) = lives(Death::Never);
    let busiest = writes.into_iter().max().unwrap_or_default();
    assert!(busiest > 10, "no look has much to write: {busiest}");
    for most in 1..busiest {
        come_to_the_same_end(&calm, Death::Within(most), &format!("after {most} writes of each look"));
    }
}

#[test]
fn dying_once_after_any_write_it_comes_to_the_same_end() {
    let (calm, writes) = lives(Death::Never);
    let all: usize = writes.into_iter().sum();
    assert!(all > 60, "a life has {all} writes");
    let step = if std::env::var_os("POINTSMAN_LONG").is_some() { 1 } else { 12 };
    for write in (1..all).step_by(step) {
        come_to_the_same_end(&calm, Death::After(write), &format!("after write {write}"));
    }
}

/// A primary that moves: what it left, and how much it had to write.
fn moves(death: Death) -> (Left, usize) {
    let mut life = promoted();
    life.death = death;
    life.writes.clear();
    let path = life.edit(&json!({ "replicas": 1 }));
    assert_eq!(life.status()["primary"], "db-0", "{:?}", life.cluster.done);
    let done = |what: &str| life.cluster.done.iter().filter(|done| done.starts_with(what)).cloned().collect::<Vec<_>>();
    let left =
        Left { path, jobs: done("create Job"), restarts: done("delete Pod "), things: life.cluster.things.keys().cloned().collect() };
    (left, life.writes.iter().sum())
}

#[test]
fn dying_after_any_write_of_a_move_the_primary_comes_to_the_same_end() {
    let (calm, writes) = moves(Death::Never);
    assert!(writes > 8 && !calm.restarts.is_empty(), "{writes} writes: {calm:?}");
    for write in 1..writes {
        assert_eq!(moves(Death::After(write)).0, calm, "dying after write {write}");
    }
}
