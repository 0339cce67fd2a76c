//! Ways through the lifecycle, each a user's day; together they take every move.

use crate::harness::pool::Pool;
use crate::harness::{Space, eventually, eventually_or};
use serde_json::Value;

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
    ("pausing", pausing),
    ("paused-at-work", paused_at_work),
    ("back", back),
    ("back-fought", back_fought),
    ("back-at-work", back_at_work),
    ("back-ends", back_ends),
    ("fought", fought),
    ("adopted", adopted),
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
    space.mc("cache").went(ways, 30);
}

/// Deletes a running pod of a Memcached.
#[track_caller]
pub fn lose_a_pod(space: &Space, name: &str) {
    let runs = |pod: &Value| pod["metadata"]["labels"]["app.kubernetes.io/instance"] == name && pod["status"]["phase"] == "Running";
    let pod = space.object_list(&["pods"]).into_iter().find(runs).expect("a pod runs");
    space.kubectl(&["delete", "pod", pod["metadata"]["name"].as_str().unwrap(), "--wait=false"]).ok();
}

fn disown_the_service(space: &Space) -> String {
    // A state is stored before its orders are carried out.
    eventually(30, "there is a Service", || !space.object("service/cache").is_null());
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
    went(space, &["Stopped", "Scaling", "Stopped", "Scaling", "Stopped"]);
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

fn pause(space: &Space) {
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/paused=true"]).ok();
}

fn resume(space: &Space) {
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/paused-"]).ok();
}

fn pausing(space: &Space) {
    let manifest = crate::harness::memcached("cache", &format!("{{image: {NONE}}}"));
    let marks = "metadata: {finalizers: [example.com/hold], annotations: {pointsman.dev/paused: \"true\"}, ";
    space.apply(&manifest.replace("metadata: {", marks)).ok();
    went(space, &["Pending", "Paused"]);
    resume(space);
    went(space, &["Paused", "Creating"]);
    pause(space);
    went(space, &["Creating", "Paused"]);
    space.patch("cache", r#"{"image":null}"#).ok();
    resume(space);
    went(space, &["Paused", "Creating", "Ready"]);
    for (held, way) in [(r#"{"replicas":2}"#, "Scaling"), (r#"{"maxConnections":2048}"#, "Updating")] {
        pause(space);
        went(space, &["Ready", "Paused"]);
        space.patch("cache", held).ok();
        resume(space);
        went(space, &["Paused", way, "Ready"]);
    }
    pause(space);
    went(space, &["Ready", "Paused"]);
    resume(space);
    went(space, &["Paused", "Ready"]);
    pause(space);
    went(space, &["Ready", "Paused"]);
    space.kubectl(&["delete", "service/cache"]).ok();
    resume(space);
    went(space, &["Paused", "Degraded", "Ready"]);
    space.patch("cache", r#"{"replicas":0}"#).ok();
    went(space, &["Scaling", "Stopped"]);
    pause(space);
    went(space, &["Stopped", "Paused"]);
    resume(space);
    went(space, &["Paused", "Stopped"]);
    space.patch("cache", r#"{"replicas":1}"#).ok();
    went(space, &["Scaling", "Ready"]);
    space.patch("cache", &image(NONE)).ok();
    went(space, &["Ready", "Updating"]);
    pause(space);
    went(space, &["Updating", "Paused"]);
    resume(space);
    went(space, &["Paused", "Updating"]);
    asks(space);
    pause(space);
    went(space, &["HumanIntervention", "Paused"]);
    space.delete_held("cache");
}

fn paused_at_work(space: &Space) {
    let pool = Pool::new(space);
    space.memcached("cache", &format!("{{replicas: 2, {}}}", pool.field()));
    space.reaches("cache", "Ready", 30);
    pool.close();
    space.patch("cache", r#"{"replicas":3}"#).ok();
    went(space, &["Ready", "Scaling"]);
    pause(space);
    went(space, &["Scaling", "Paused"]);
    disown_the_service(space);
    resume(space);
    went(space, &["Paused", "HumanIntervention"]);
    space.kubectl(&["delete", "service/cache"]).ok();
    pool.open();
    went(space, &["HumanIntervention", "Degraded", "Ready"]);
    pool.close();
    lose_a_pod(space, "cache");
    went(space, &["Ready", "Degraded"]);
    pause(space);
    went(space, &["Degraded", "Paused"]);
    pool.open();
}

/// Leads to a question that `rollback` answers.
fn rolls_out_what_fails(space: &Space) {
    space.reaches("cache", "Ready", 30);
    space.patch("cache", &image(NONE)).ok();
    asks(space);
}

fn back(space: &Space) {
    let pool = Pool::new(space);
    space.held_memcached("cache", &format!("{{replicas: 2, {}}}", pool.field()));
    rolls_out_what_fails(space);
    space.answer("cache", "rollback").ok();
    went(space, &["HumanIntervention", "RollingBack", "RolledBack"]);
    pause(space);
    went(space, &["RolledBack", "Paused"]);
    resume(space);
    went(space, &["Paused", "RollingBack", "RolledBack"]);
    space.patch("cache", r#"{"replicas":0}"#).ok();
    went(space, &["RolledBack", "RollingBack", "RolledBack"]);
    space.patch("cache", r#"{"replicas":2}"#).ok();
    went(space, &["RolledBack", "RollingBack", "RolledBack", "RollingBack", "RolledBack"]);
    // A pod that was there again at once might not have been missed.
    pool.close();
    lose_a_pod(space, "cache");
    went(space, &["RollingBack", "RolledBack", "RollingBack"]);
    pool.open();
    went(space, &["RolledBack", "RollingBack", "RolledBack"]);
    disown_the_service(space);
    went(space, &["RolledBack", "HumanIntervention"]);
    space.kubectl(&["delete", "service/cache"]).ok();
    went(space, &["HumanIntervention", "RollingBack", "RolledBack"]);
    space.patch("cache", r#"{"image":null}"#).ok();
    went(space, &["RolledBack", "Ready"]);
    space.patch("cache", &image(NEITHER)).ok();
    asks(space);
    space.answer("cache", "rollback").ok();
    went(space, &["RollingBack", "RolledBack"]);
    space.delete_held("cache");
}

/// Scales the Deployment by hand until that is a question. What is changed while something else is mended is no move of its
/// own, and does not count.
pub fn fight(space: &Space, rests: &str) {
    for round in 0..12 {
        if space.object("mc/cache")["status"]["state"] == "HumanIntervention" {
            break;
        }
        space.reaches("cache", rests, 60);
        let count = if round % 2 == 0 { "--replicas=3" } else { "--replicas=4" };
        space.kubectl(&["scale", "deployment/cache", count]).ok();
        let seen = || {
            let asks = space.object("mc/cache")["status"]["state"] == "HumanIntervention";
            asks || ![3, 4].contains(&space.object("deployment/cache")["spec"]["replicas"].as_i64().unwrap_or_default())
        };
        eventually_or(60, seen, || format!("the count was neither mended nor asked about: {:?}", space.history("cache")));
    }
    went(space, &[rests, "HumanIntervention"]);
}

fn back_fought(space: &Space) {
    space.memcached("cache", "{replicas: 2}");
    rolls_out_what_fails(space);
    space.answer("cache", "rollback").ok();
    went(space, &["HumanIntervention", "RollingBack", "RolledBack"]);
    fight(space, "RolledBack");
    space.answer("cache", "retry").ok();
    went(space, &["HumanIntervention", "RollingBack", "RolledBack"]);
}

/// Going back takes its time, since the pods that were good are lost meanwhile.
fn goes_back_slowly(space: &Space, pool: &Pool) {
    space.held_memcached("cache", &format!("{{{}}}", pool.field()));
    rolls_out_what_fails(space);
    pool.close();
    lose_a_pod(space, "cache");
    space.answer("cache", "rollback").ok();
    went(space, &["HumanIntervention", "RollingBack"]);
}

fn back_at_work(space: &Space) {
    let pool = Pool::new(space);
    goes_back_slowly(space, &pool);
    asks(space);
    went(space, &["RollingBack", "HumanIntervention"]);
    space.answer("cache", "retry").ok();
    went(space, &["HumanIntervention", "RollingBack"]);
    pause(space);
    went(space, &["RollingBack", "Paused"]);
    resume(space);
    went(space, &["Paused", "RollingBack"]);
    disown_the_service(space);
    went(space, &["RollingBack", "HumanIntervention"]);
    space.kubectl(&["delete", "service/cache"]).ok();
    went(space, &["HumanIntervention", "RollingBack"]);
    space.patch("cache", r#"{"image":null}"#).ok();
    went(space, &["RollingBack", "Degraded"]);
    pool.open();
    went(space, &["RollingBack", "Degraded", "Ready"]);
}

fn back_ends(space: &Space) {
    let pool = Pool::new(space);
    goes_back_slowly(space, &pool);
    space.delete_held("cache");
}

fn fought(space: &Space) {
    space.memcached("cache", "{}");
    fight(space, "Ready");
    space.answer("cache", "yield").ok();
    space.reaches("cache", "Ready", 60);
}

fn adopted(space: &Space) {
    space.kubectl(&["create", "service", "clusterip", "cache", "--clusterip=None"]).ok();
    space.memcached("cache", "{}");
    asks(space);
    space.answer("cache", "adopt").ok();
    went(space, &["HumanIntervention", "Creating", "Ready"]);
}
