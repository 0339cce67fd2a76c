//! Ways through the lifecycle, each a user's day; together they take every move.

use crate::harness::pool::Pool;
use crate::harness::{Space, eventually_or};

/// One way.
pub type Drive = fn(&Space);

/// Every way, with the name of its namespace.
pub const ALL: &[(&str, Drive)] = &[
    ("life", life),
    ("first", first),
    ("stillborn", stillborn),
    ("rollout", rollout),
    ("rollout-end", rollout_ends),
    ("scaling", scaling),
    ("scaling-stuck", scaling_stuck),
    ("lost", lost),
    ("lost-ends", lost_ends),
    ("stranger", stranger),
    ("strangers", strangers_at_work),
    ("stopped", stopped),
    ("stray", stray),
];

const NONE: &str = "example.com/no-such:1";
const NEITHER: &str = "example.com/no-such:2";

/// Where questions are waited for: the deadlines of `tests/run`, and some.
const ASKS: u64 = 60;

fn asks(space: &Space) {
    space.reaches("cache", "HumanIntervention", ASKS);
}

fn image(image: &str) -> String {
    format!(r#"{{"image":"{image}"}}"#)
}

/// Waits until the history's last moves are these.
#[track_caller]
fn went(space: &Space, ways: &[&str]) {
    let arrows: Vec<String> = ways.windows(2).map(|pair| format!("{} -> {}", pair[0], pair[1])).collect();
    // The cause stands between the two.
    let moved = |one: &String| one.split(' ').step_by(2).collect::<Vec<_>>().join(" -> ");
    let so = || space.history("cache").iter().map(moved).collect::<Vec<_>>().ends_with(&arrows);
    eventually_or(30, so, || format!("cache went {ways:?}; it went {:?}", space.history("cache")));
}

/// Deletes a running pod of a Memcached.
#[track_caller]
pub fn lose_a_pod(space: &Space, name: &str) {
    let its = format!("--selector=app.kubernetes.io/instance={name}");
    let pod = space.kubectl(&["get", "pods", "--output=name", "--field-selector=status.phase=Running", &its]).ok();
    let pod = pod.lines().next().expect("a pod runs").to_owned();
    space.kubectl(&["delete", &pod, "--wait=false"]).ok();
}

fn disown_the_service(space: &Space) -> String {
    let owners = space.object("service/cache")["metadata"]["ownerReferences"].to_string();
    space.kubectl(&["patch", "service/cache", "--type=merge", "--patch", r#"{"metadata":{"ownerReferences":null}}"#]).ok();
    owners
}

fn life(space: &Space) {
    space.held_memcached("cache", "{replicas: 2}");
    went(space, &["Pending", "Creating", "Ready"]);
    space.patch("cache", r#"{"maxConnections":2048}"#).ok();
    went(space, &["Ready", "Updating", "Ready"]);
    space.patch("cache", r#"{"replicas":3}"#).ok();
    went(space, &["Ready", "Scaling", "Ready"]);
    space.kubectl(&["delete", "service/cache"]).ok();
    went(space, &["Ready", "Degraded", "Ready"]);
    space.patch("cache", r#"{"replicas":0}"#).ok();
    went(space, &["Ready", "Scaling", "Stopped"]);
    space.patch("cache", r#"{"maxConnections":4096}"#).ok();
    went(space, &["Stopped", "Updating", "Stopped"]);
    space.patch("cache", r#"{"replicas":1}"#).ok();
    went(space, &["Stopped", "Scaling", "Ready"]);
    space.delete_held("cache");
}

fn first(space: &Space) {
    space.memcached("cache", &format!("{{image: {NONE}}}"));
    space.reaches("cache", "Creating", 30);
    space.patch("cache", &image(NEITHER)).ok();
    went(space, &["Pending", "Creating", "Creating"]);
    asks(space);
    space.patch("cache", r#"{"image":null}"#).ok();
    went(space, &["Creating", "HumanIntervention", "Creating", "Ready"]);
}

fn stillborn(space: &Space) {
    space.held_memcached("cache", &format!("{{image: {NONE}}}"));
    space.reaches("cache", "Creating", 30);
    space.delete_held("cache");
    space.kubectl(&["wait", "--for=delete", "mc/cache", "--timeout=30s"]).ok();
    space.held_memcached("cache", "{replicas: 0}");
    went(space, &["Pending", "Creating", "Stopped"]);
    space.delete_held("cache");
}

fn rollout(space: &Space) {
    space.memcached("cache", "{replicas: 2}");
    space.reaches("cache", "Ready", 30);
    space.patch("cache", &image(NONE)).ok();
    space.reaches("cache", "Updating", 30);
    space.patch("cache", &image(NEITHER)).ok();
    went(space, &["Ready", "Updating", "Updating"]);
    asks(space);
    space.answer("cache", "retry").ok();
    went(space, &["Updating", "HumanIntervention", "Updating"]);
    asks(space);
    space.patch("cache", r#"{"image":null}"#).ok();
    went(space, &["Updating", "HumanIntervention", "Updating", "Ready"]);
}

fn rollout_ends(space: &Space) {
    space.held_memcached("cache", "{}");
    space.reaches("cache", "Ready", 30);
    space.patch("cache", &image(NONE)).ok();
    space.reaches("cache", "Updating", 30);
    space.delete_held("cache");
}

fn scaling(space: &Space) {
    let pool = Pool::new(space);
    space.memcached("cache", &format!("{{{}}}", pool.field()));
    space.reaches("cache", "Ready", 30);
    pool.close();
    space.patch("cache", r#"{"replicas":2}"#).ok();
    space.reaches("cache", "Scaling", 30);
    space.patch("cache", r#"{"replicas":3}"#).ok();
    went(space, &["Ready", "Scaling", "Scaling"]);
    space.patch("cache", r#"{"maxConnections":2048}"#).ok();
    went(space, &["Scaling", "Scaling", "Updating"]);
    pool.open();
    went(space, &["Scaling", "Updating", "Ready"]);
}

fn scaling_stuck(space: &Space) {
    let pool = Pool::new(space);
    space.held_memcached("cache", &format!("{{{}}}", pool.field()));
    space.reaches("cache", "Ready", 30);
    pool.close();
    space.patch("cache", r#"{"replicas":2}"#).ok();
    asks(space);
    space.patch("cache", r#"{"replicas":3}"#).ok();
    space.answer("cache", "retry").ok();
    went(space, &["Scaling", "HumanIntervention", "Scaling"]);
    space.delete_held("cache");
}

fn lost(space: &Space) {
    let pool = Pool::new(space);
    space.memcached("cache", &format!("{{replicas: 2, {}}}", pool.field()));
    space.reaches("cache", "Ready", 30);
    pool.close();
    lose_a_pod(space, "cache");
    asks(space);
    space.answer("cache", "retry").ok();
    went(space, &["Degraded", "HumanIntervention", "Degraded"]);
    asks(space);
    pool.open();
    went(space, &["Degraded", "HumanIntervention", "Ready"]);
}

fn lost_ends(space: &Space) {
    let pool = Pool::new(space);
    space.held_memcached("cache", &format!("{{replicas: 2, {}}}", pool.field()));
    space.reaches("cache", "Ready", 30);
    pool.close();
    lose_a_pod(space, "cache");
    space.reaches("cache", "Degraded", 30);
    space.patch("cache", r#"{"replicas":1}"#).ok();
    went(space, &["Ready", "Degraded", "Scaling", "Ready"]);
    lose_a_pod(space, "cache");
    space.reaches("cache", "Degraded", 30);
    space.patch("cache", r#"{"maxConnections":2048}"#).ok();
    went(space, &["Ready", "Degraded", "Updating"]);
    pool.open();
    went(space, &["Degraded", "Updating", "Ready"]);
    pool.close();
    lose_a_pod(space, "cache");
    space.reaches("cache", "Degraded", 30);
    space.delete_held("cache");
}

fn stranger(space: &Space) {
    space.kubectl(&["create", "service", "clusterip", "cache", "--tcp=80"]).ok();
    space.held_memcached("cache", "{}");
    asks(space);
    space.answer("cache", "retry").ok();
    went(space, &["Pending", "HumanIntervention", "HumanIntervention"]);
    space.kubectl(&["delete", "service/cache"]).ok();
    went(space, &["HumanIntervention", "Creating", "Ready"]);
    disown_the_service(space);
    went(space, &["Ready", "HumanIntervention"]);
    space.delete_held("cache");
}

/// A name is taken while the operator creates, scales, repairs and updates.
fn strangers_at_work(space: &Space) {
    let pool = Pool::new(space);
    pool.close();
    space.memcached("cache", &format!("{{replicas: 2, {}}}", pool.field()));
    went(space, &["Pending", "Creating"]);
    disown_the_service(space);
    went(space, &["Creating", "HumanIntervention"]);
    pool.open();
    space.kubectl(&["delete", "service/cache"]).ok();
    went(space, &["HumanIntervention", "Creating", "Ready"]);
    pool.close();
    space.patch("cache", r#"{"replicas":3}"#).ok();
    went(space, &["Ready", "Scaling"]);
    disown_the_service(space);
    went(space, &["Scaling", "HumanIntervention"]);
    pool.open();
    space.kubectl(&["delete", "service/cache"]).ok();
    went(space, &["HumanIntervention", "Degraded", "Ready"]);
    pool.close();
    lose_a_pod(space, "cache");
    went(space, &["Ready", "Degraded"]);
    disown_the_service(space);
    went(space, &["Degraded", "HumanIntervention"]);
    pool.open();
    space.kubectl(&["delete", "service/cache"]).ok();
    went(space, &["HumanIntervention", "Degraded", "Ready"]);
    space.patch("cache", &image(NONE)).ok();
    went(space, &["Ready", "Updating"]);
    disown_the_service(space);
    went(space, &["Updating", "HumanIntervention"]);
}

fn stopped(space: &Space) {
    space.memcached("cache", "{}");
    space.reaches("cache", "Ready", 30);
    space.patch("cache", r#"{"replicas":0}"#).ok();
    space.reaches("cache", "Stopped", 30);
    let owners = disown_the_service(space);
    went(space, &["Stopped", "HumanIntervention"]);
    let back = format!(r#"{{"metadata":{{"ownerReferences":{owners}}}}}"#);
    space.kubectl(&["patch", "service/cache", "--type=merge", "--patch", &back]).ok();
    went(space, &["Stopped", "HumanIntervention", "Stopped"]);
    disown_the_service(space);
    went(space, &["Stopped", "HumanIntervention"]);
    space.kubectl(&["delete", "service/cache"]).ok();
    went(space, &["Stopped", "HumanIntervention", "Degraded", "Stopped"]);
    comes_and_goes(space);
}

fn stray(space: &Space) {
    space.memcached("cache", "{replicas: 0}");
    space.reaches("cache", "Stopped", 30);
    comes_and_goes(space);
    space.kubectl(&["scale", "deployment/cache", "--replicas=1"]).ok();
    went(space, &["Stopped", "Scaling", "Stopped"]);
}

/// A pod that nobody ordered, labelled as if it were the stopped cache's.
fn comes_and_goes(space: &Space) {
    let selector = space.object("mc/cache")["status"]["selector"].as_str().unwrap().to_owned();
    let labels = format!("--labels={selector},app.kubernetes.io/managed-by=pointsman");
    space.kubectl(&["run", "stray", "--image=example.com/any:1", &labels]).ok();
    went(space, &["Stopped", "Scaling"]);
    space.kubectl(&["delete", "pod/stray", "--wait=false"]).ok();
    went(space, &["Stopped", "Scaling", "Stopped"]);
}
