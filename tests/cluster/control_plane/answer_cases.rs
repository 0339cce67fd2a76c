//! How each question comes about, what is answered, and where that leads.

use super::drives::{fight, lose_a_pod};
use crate::harness::pool::Pool;
use crate::harness::{ASKS, Space, eventually};
use pointsman::kinds::reason::{Reason, Verb};
use serde_json::{Value, json};

/// An image that is nowhere.
pub const NONE: &str = "example.com/no-such:1";

/// How a question comes about, and what makes its answer succeed.
pub struct Case {
    /// What is asked.
    pub reason: Reason,
    /// What is answered.
    pub verb: Verb,
    /// Leads to the question.
    pub asks: fn(&Space),
    /// Mends what the answer alone cannot, after it was given.
    pub mends: fn(&Space),
    /// Where the answer leads in the end.
    pub rests: &'static str,
}

/// Those that come about while every write is judged. Where nothing mends, nothing but the answer ends the question well.
pub const CASES: &[Case] = &[
    Case { reason: Reason::ProvisioningStuck, verb: Verb::Retry, asks: never_provisioned, mends: image_appears, rests: "Ready" },
    Case { reason: Reason::ProvisioningStuck, verb: Verb::Retry, asks: first_pod_never_starts, mends: nothing, rests: "Ready" },
    Case { reason: Reason::RolloutStuck, verb: Verb::Retry, asks: bad_image, mends: image_appears, rests: "Ready" },
    Case { reason: Reason::RolloutStuck, verb: Verb::Retry, asks: next_pod_never_starts, mends: nothing, rests: "Ready" },
    Case { reason: Reason::RolloutStuck, verb: Verb::Rollback, asks: bad_image, mends: nothing, rests: "RolledBack" },
    Case { reason: Reason::PodsUnavailable, verb: Verb::Retry, asks: no_place, mends: place, rests: "Ready" },
    Case { reason: Reason::PodsUnavailable, verb: Verb::Retry, asks: pod_never_starts_again, mends: nothing, rests: "Ready" },
    Case { reason: Reason::PodsUnavailable, verb: Verb::Rollback, asks: robbed_amid_a_roll_out, mends: nothing, rests: "RolledBack" },
    Case { reason: Reason::ChildConflict, verb: Verb::Retry, asks: strangers, mends: strangers_go, rests: "Ready" },
    Case { reason: Reason::ChildConflict, verb: Verb::Adopt, asks: strangers, mends: nothing, rests: "Ready" },
    Case { reason: Reason::DriftFought, verb: Verb::Retry, asks: fought, mends: nothing, rests: "Ready" },
    Case { reason: Reason::DriftFought, verb: Verb::Yield, asks: fought, mends: nothing, rests: "Ready" },
];

/// The one that comes about only where nobody judges: see `answers`.
pub const UNJUDGED: Case = Case { reason: Reason::SpecInvalid, verb: Verb::Retry, asks: invalid, mends: valid, rests: "Ready" };

fn nothing(_: &Space) {}

fn never_provisioned(space: &Space) {
    space.memcached("cache", &format!("{{image: {NONE}}}"));
}

/// A roll-out of an image that is nowhere.
pub fn bad_image(space: &Space) {
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    space.patch("cache", &format!(r#"{{"image":"{NONE}"}}"#)).ok();
}

/// The image that no pod could pull is there now, so to speak.
pub fn image_appears(space: &Space) {
    space.patch("cache", r#"{"image":"docker.io/library/memcached:1.6.38"}"#).ok();
}

/// Somebody takes the Service away while the roll-out is stuck: tried again, that comes first, and what was ready is another.
fn robbed_amid_a_roll_out(space: &Space) {
    bad_image(space);
    space.reaches("cache", "HumanIntervention", ASKS);
    space.kubectl(&["delete", "service/cache"]).ok();
    space.answer("cache", "retry").ok();
    space.reaches("cache", "Degraded", 30);
}

fn first_pod_never_starts(space: &Space) {
    let pool = Pool::new(space);
    pool.close();
    space.memcached("cache", &format!("{{{}}}", pool.field()));
    never_starts(space, false);
    opened_for_good(pool);
}

fn next_pod_never_starts(space: &Space) {
    let pool = Pool::new(space);
    space.memcached("cache", &format!("{{{}}}", pool.field()));
    space.ready("cache");
    pool.close();
    space.patch("cache", r#"{"maxConnections":2048}"#).ok();
    never_starts(space, false);
    opened_for_good(pool);
}

fn pod_never_starts_again(space: &Space) {
    space.memcached("cache", "{}");
    space.ready("cache");
    never_starts(space, true);
}

/// A pod in its place would start, and nobody but the operator removes it.
fn opened_for_good(pool: Pool) {
    pool.open();
    std::mem::forget(pool);
}

/// What a kubelet writes of a pod whose container cannot be made. With an address, it is nobody's to play any more.
#[track_caller]
fn never_starts(space: &Space, ran: bool) {
    let its = |pod: &Value| pod["status"]["podIP"].is_string() == ran;
    let pod = || space.object_list(&["pods"]).into_iter().find(its);
    eventually(30, "there is the pod", || pod().is_some());
    let name = pod().unwrap()["metadata"]["name"].as_str().unwrap().to_owned();
    let waiting = json!({ "reason": "CreateContainerError", "message": "no space left on device" });
    let container = json!({ "name": "memcached", "image": "docker.io/library/memcached:1.6", "imageID": "", "ready": false,
        "restartCount": 0, "state": { "running": null, "waiting": waiting } });
    let conditions = ["ContainersReady", "Ready"].map(|one| json!({ "type": one, "status": "False", "reason": "ContainersNotReady" }));
    let mut status = json!({ "containerStatuses": [container], "conditions": conditions });
    if !ran {
        status["podIP"] = json!("10.244.255.255");
    }
    let patch = json!({ "status": status }).to_string();
    space.kubectl(&["patch", &format!("pod/{name}"), "--subresource=status", "--type=strategic", "--patch", &patch]).ok();
}

fn no_place(space: &Space) {
    let pool = Pool::new(space);
    space.memcached("cache", &format!("{{replicas: 2, {}}}", pool.field()));
    space.ready("cache");
    pool.close();
    lose_a_pod(space, "cache");
}

fn place(space: &Space) {
    let _open = Pool::new(space);
    space.ready("cache");
}

/// Somebody's objects under the names that the cache needs, of a shape that can be taken over.
pub fn strangers(space: &Space) {
    let labels = "app.kubernetes.io/name: memcached, app.kubernetes.io/instance: cache, pointsman.dev/kind: Memcached";
    // Beside ours, a handler of theirs would be one too many; and so would a budget's other limit.
    let memcached = "{name: memcached, image: example.com/theirs:1, workingDir: /theirs, readinessProbe: {exec: {command: [\"true\"]}}}";
    let containers = format!("[{memcached}, {{name: theirs, image: example.com/theirs:1}}]");
    let pods = format!("metadata: {{labels: {{{labels}, of: theirs}}}}, spec: {{hostNetwork: true, containers: {containers}}}");
    let deployment = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: cache}}\nspec: {{replicas: 0, selector: {{matchLabels: {{{labels}}}}}, template: {{{pods}}}}}\n"
    );
    space.apply(&deployment).ok();
    space.kubectl(&["create", "service", "clusterip", "cache", "--clusterip=None"]).ok();
    space.kubectl(&["create", "poddisruptionbudget", "cache", "--selector=of=theirs", "--min-available=1"]).ok();
    space.memcached("cache", "{replicas: 2}");
}

fn strangers_go(space: &Space) {
    space.kubectl(&["delete", "deployment/cache", "service/cache", "poddisruptionbudget/cache"]).ok();
}

/// Somebody scales the Deployment again and again.
fn fought(space: &Space) {
    space.memcached("cache", "{}");
    fight(space, "Ready");
}

/// Stored before today's rules, so to speak.
fn invalid(space: &Space) {
    space.memcached("cache", "{}");
    space.ready("cache");
    space.patch("cache", r#"{"podTemplate":{"metadata":{"labels":{"app.kubernetes.io/name":"mine"}}}}"#).ok();
}

fn valid(space: &Space) {
    space.patch("cache", r#"{"podTemplate":null}"#).ok();
}
