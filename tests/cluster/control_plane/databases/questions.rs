//! Every question of a Database but those about its end and its passwords: how it comes about, and that its answer ends well.

use super::{ASKS, SOON, create, ready, saying};
use crate::harness::pool::Pool;
use crate::harness::{Space, Thing, eventually_or, shared};
use pointsman::kinds::Served;
use pointsman::kinds::database::Database;
use pointsman::kinds::reason::Reason;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const NONE: &str = "example.com/postgres:17-no-such";

/// How a question comes about, what it says, the verb that answers it, what makes that succeed, and where it ends.
struct Case {
    reason: Reason,
    asks: fn(&Space),
    says: &'static str,
    mends: fn(&Space),
    verb: &'static str,
    rests: &'static str,
}

const CASES: &[Case] = &[
    Case { reason: Reason::ChildConflict, asks: stranger, says: "nobody controls it", mends: nothing, verb: "adopt", rests: "Ready" },
    Case { reason: Reason::ProvisioningStuck, asks: no_place, says: "Unschedulable", mends: tried_then_place, verb: "", rests: "Ready" },
    Case {
        reason: Reason::ProbeFailed,
        asks: unknown_setting,
        says: "knows no setting unknown_one",
        mends: known_setting,
        verb: "",
        rests: "Ready",
    },
    Case { reason: Reason::InitJobFailed, asks: init_fails, says: "no such thing", mends: init_goes_well, verb: "", rests: "Ready" },
    Case {
        reason: Reason::RestoreFailed,
        asks: restore_fails,
        says: "no backup there",
        mends: restore_goes_well,
        verb: "",
        rests: "Ready",
    },
    Case {
        reason: Reason::RolloutStuck,
        asks: no_place_to_restart,
        says: "Unschedulable",
        mends: nothing,
        verb: "rollback",
        rests: "RolledBack",
    },
    Case { reason: Reason::PodsUnavailable, asks: pods_lost, says: "Unschedulable", mends: place, verb: "", rests: "Ready" },
    Case { reason: Reason::DriftFought, asks: fought, says: "replicas", mends: nothing, verb: "yield", rests: "Ready" },
    Case {
        reason: Reason::TopologyBehind,
        asks: put_back,
        says: "its volume was used as the primary in epoch 4; the last primary that is known is db-0 of epoch 1",
        mends: nothing,
        verb: "believe-volumes",
        rests: "Ready",
    },
    Case { reason: Reason::ReplicaDiverged, asks: diverged, says: "DIVERGED", mends: diverged_no_more, verb: "", rests: "Ready" },
    Case { reason: Reason::NodeLost, asks: node_lost, says: "does not say that it is", mends: node_gone, verb: "", rests: "Ready" },
    Case {
        reason: Reason::StorageNotExpandable,
        asks: never_grows,
        says: "it has 1Gi of 2Gi",
        mends: grows,
        verb: "retry",
        rests: "Ready",
    },
];

/// Driven beside: a spec that no write can make (`invalid.rs`), a move of the primary that only servers can refuse (the walks), and
/// what is asked of one that goes or that lost its passwords or its volume.
const APART: [Reason; 8] = [
    Reason::SpecInvalid,
    Reason::SwitchoverStuck,
    Reason::CredentialsLost,
    Reason::PrimaryVolumeLost,
    Reason::Protected,
    Reason::SnapshotFailed,
    Reason::DumpIncomplete,
    Reason::RemovalStuck,
];

fn base(space: &Space) -> Thing<'_> {
    space.db("db")
}

fn nothing(_: &Space) {}

fn stranger(space: &Space) {
    space.kubectl(&["create", "service", "clusterip", "db-ro", "--tcp=5432"]).ok();
    create(space, "db", &json!({}));
}

fn selected(pool: &Pool) -> Value {
    let field: Value = serde_json::from_str(&pool.json()).unwrap();
    json!({ "podTemplate": field })
}

/// Jobs find their place before servers have to.
fn no_place(space: &Space) {
    let pool = Pool::new(space);
    let base = create(space, "db", &selected(&pool));
    base.reaches("Provisioning", SOON);
    pool.close();
    space.kubectl(&["delete", "pod/db-0", "--wait=false", "--ignore-not-found"]).ok();
}

fn place(space: &Space) {
    std::mem::forget(Pool::new(space));
}

/// Once there is a place, nobody has to answer any more: the answer comes first.
fn tried_then_place(space: &Space) {
    base(space).answer("retry").ok();
    base(space).reaches("Provisioning", SOON);
    place(space);
}

fn unknown_setting(space: &Space) {
    ready(space, "db", &json!({})).patch(r#"{"parameters":{"unknown_one":"1"}}"#).ok();
}

fn known_setting(space: &Space) {
    base(space).patch(r#"{"parameters":null}"#).ok();
}

fn init_fails(space: &Space) {
    create(space, "db", &json!({ "podTemplate": saying("init", "FAILED: no such thing") }));
}

fn init_goes_well(space: &Space) {
    base(space).patch(r#"{"podTemplate":null}"#).ok();
}

/// A claim of somebody's, as one that holds dumps.
pub fn old_dumps(space: &Space) {
    let volume = json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "old" },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } } });
    space.apply(&volume.to_string()).ok();
}

fn restore_fails(space: &Space) {
    old_dumps(space);
    let fails = saying("restore", "NO_BACKUP: no backup there");
    create(space, "db", &json!({ "restoreFrom": { "claimName": "old" }, "podTemplate": fails }));
}

fn restore_goes_well(space: &Space) {
    base(space).patch(r#"{"podTemplate":null}"#).ok();
}

/// It is ready in a pool that stays open, and is to go where no node is.
pub fn no_place_to_restart(space: &Space) {
    let pool = Pool::new(space);
    let fields = selected(&pool);
    let base = ready(space, "db", &fields);
    let mut changed = fields.clone();
    changed["podTemplate"]["spec"]["nodeSelector"] = json!({ "example.com/nowhere": "true" });
    base.patch(&changed.to_string()).ok();
    std::mem::forget(pool);
}

fn pods_lost(space: &Space) {
    let pool = Pool::new(space);
    let mut fields = selected(&pool);
    fields["replicas"] = json!(2);
    ready(space, "db", &fields);
    pool.close();
    space.kubectl(&["delete", "pod/db-1", "--wait=false"]).ok();
}

const BACK_OFF: u64 = pointsman::controller::backoff::LONGEST.as_secs();

/// Somebody counts the servers otherwise, again and again.
fn fought(space: &Space) {
    let base = ready(space, "db", &json!({}));
    for round in 0..12 {
        if base.status()["state"] == "HumanIntervention" {
            break;
        }
        base.reaches("Ready", SOON);
        let count = if round % 2 == 0 { 3 } else { 4 };
        space.kubectl(&["scale", "statefulset/db", &format!("--replicas={count}")]).ok();
        let seen = || {
            let asks = base.status()["state"] == "HumanIntervention";
            asks || space.object("statefulset/db")["spec"]["replicas"] == 1
        };
        // The longest that the operator waits between two repairs of one child, and the time that one takes.
        eventually_or(BACK_OFF + SOON, seen, || format!("the count was neither mended nor asked about: {:?}", base.history()));
    }
}

/// What the kubelet writes of a server that refuses to start.
fn diverged(space: &Space) {
    ready(space, "db", &json!({ "replicas": 2 }));
    says(space, "db-1", "DIVERGED: the volume was the primary until epoch 1, and holds 0/5000028; the primary is at 0/4000028");
}

/// The same, where the primary moved three times after the moment that the cluster was put back to.
fn put_back(space: &Space) {
    ready(space, "db", &json!({ "replicas": 2 }));
    let words = "the volume has seen epoch 4 and the topology says 1; epoch=4 role=primary systemid=7500000000000000001";
    says(space, "db-1", &format!("STALE_CONFIG: {words}"));
}

/// What a server's pod tells of its last end.
pub fn says(space: &Space, pod: &str, words: &str) {
    let ended = json!({ "terminated": { "exitCode": 3, "reason": "Error", "message": words } });
    let container = json!({ "name": "postgresql", "image": "postgres:17", "imageID": "", "ready": false, "restartCount": 1,
        "state": { "waiting": { "reason": "CrashLoopBackOff" } }, "lastState": ended });
    let conditions = json!([{ "type": "Ready", "status": "False" }]);
    let patch = json!({ "status": { "containerStatuses": [container], "conditions": conditions } });
    space.kubectl(&["patch", &format!("pod/{pod}"), "--subresource=status", "--type=strategic", "--patch", &patch.to_string()]).ok();
}

fn diverged_no_more(space: &Space) {
    space.kubectl(&["delete", "pod/db-1", "--wait=false"]).ok();
    let is_ready = || space.object("pod/db-1")["status"]["conditions"].to_string().contains("True");
    eventually_or(SOON, is_ready, || space.object("pod/db-1").to_string());
}

/// A pod that was told to go, and that nobody says has gone: as where its kubelet answers no more.
fn node_lost(space: &Space) {
    let base = ready(space, "db", &json!({ "replicas": 2 }));
    space.kubectl(&["annotate", "pod/db-0", "example.com/kubelet=silent"]).ok();
    space.kubectl(&["delete", "pod/db-0", "--wait=false", "--grace-period=1"]).ok();
    base.reaches("Unavailable", SOON);
}

fn node_gone(space: &Space) {
    space.kubectl(&["annotate", "pod/db-0", "example.com/kubelet-"]).ok();
    let is_back = || space.object("pod/db-0")["status"]["phase"] == "Running";
    eventually_or(SOON, is_back, || space.object("pod/db-0").to_string());
}

fn never_grows(space: &Space) {
    let base = ready(space, "db", &json!({}));
    space.kubectl(&["annotate", "pvc/data-db-0", "example.com/grows=never"]).ok();
    base.patch(r#"{"storage":{"size":"2Gi"}}"#).ok();
}

fn grows(space: &Space) {
    space.kubectl(&["annotate", "pvc/data-db-0", "example.com/grows-"]).ok();
    let has = || space.object("pvc/data-db-0")["status"]["capacity"]["storage"] == "2Gi";
    eventually_or(SOON, has, || space.object("pvc/data-db-0").to_string());
}

fn drive(case: &Case) {
    let word = case.reason.word();
    let space = Space::new(&format!("db-{}", word.to_lowercase()));
    (case.asks)(&space);
    let base = base(&space);
    base.reaches("HumanIntervention", ASKS);
    let asked = base.status()["intervention"].clone();
    assert_eq!(asked["reason"], word.as_str(), "{asked:#}");
    let text = format!("{} {}", asked["message"], asked["evidence"]);
    assert!(text.contains(case.says) && !asked["evidence"].as_array().unwrap().is_empty(), "{asked:#}");
    let offered: BTreeSet<&str> = asked["answers"].as_array().unwrap().iter().map(|offer| offer["verb"].as_str().unwrap()).collect();
    let legal: BTreeSet<&str> = case.reason.answers().iter().map(|verb| verb.word()).collect();
    assert!(offered.contains("retry") && offered.is_subset(&legal), "{offered:?} of {legal:?}");
    (case.mends)(&space);
    if !case.verb.is_empty() {
        base.answer(case.verb).ok();
    }
    let rests = || base.status()["state"] == case.rests;
    eventually_or(ASKS, rests, || format!("{word}: {:?}\n{:#}", base.history(), base.status()));
}

#[test]
fn every_question_is_asked_in_somebodys_words_and_its_answer_ends_well() {
    let _turn = shared();
    let driven: BTreeSet<Reason> = CASES.iter().map(|case| case.reason).collect();
    let missing: Vec<_> = Database::REASONS.iter().filter(|reason| !driven.contains(reason) && !APART.contains(reason)).collect();
    assert!(missing.is_empty(), "nobody drives {missing:?}");
    std::thread::scope(|scope| {
        for case in CASES {
            scope.spawn(move || drive(case));
        }
    });
}

#[test]
fn an_image_that_is_nowhere_is_asked_about_in_the_kubelets_words() {
    let _turn = shared();
    let space = Space::new("db-nowhere");
    let base = create(&space, "db", &json!({ "image": NONE }));
    base.reaches("HumanIntervention", ASKS);
    let asked = base.status()["intervention"].clone();
    assert_eq!(asked["reason"], "ProbeFailed", "{asked:#}");
    assert!(asked["evidence"].to_string().contains("ImagePullBackOff"), "{asked:#}");
    base.patch(r#"{"image":null}"#).ok();
    base.ready_within(SOON);
}
