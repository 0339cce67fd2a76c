//! What others take away or write over comes back, or is asked about where data is at stake.

use super::{ASKS, SOON, asked, ready, saying};
use crate::harness::{Space, Thing, eventually, eventually_or, shared};
use serde_json::json;

#[track_caller]
fn comes_back(space: &Space, base: &Thing<'_>, what: &str) {
    eventually_or(SOON, || !space.object(what).is_null(), || format!("{what} is not there"));
    let uid = space.object(what)["metadata"]["uid"].clone();
    space.kubectl(&["delete", what, "--wait=false"]).ok();
    let is_back = || {
        let meta = space.object(what)["metadata"].clone();
        meta["uid"].is_string() && meta["uid"] != uid
    };
    eventually_or(SOON, is_back, || format!("{what}: {:?}\n{:#}", base.history(), base.status()));
    base.ready_within(SOON);
}

#[test]
fn what_is_deleted_comes_back() {
    let _turn = shared();
    let space = Space::new("deleted");
    // One whose children were taken away four times in an hour is fought over.
    let taken = [
        &["service/NAME", "service/NAME-ro", "service/NAME-pods", "cronjob/NAME"][..],
        &["configmap/NAME-settings", "configmap/NAME-topology", "statefulset/NAME", super::SCRIPTS],
        &["poddisruptionbudget/NAME", "configmap/NAME-config-", "pod/NAME-1", "pod/NAME-0"],
    ];
    let fields = json!({ "replicas": 2, "backup": { "schedule": "0 2 * * *" } });
    for (children, name) in taken.iter().zip(["one", "two", "three"]) {
        let base = ready(&space, name, &fields);
        let maps = super::names(&space, "configmaps");
        for what in *children {
            let named = what.replace("NAME", name);
            // A digest follows.
            let whole = maps.iter().find(|map| named.ends_with('-') && map.starts_with(&named));
            comes_back(&space, &base, whole.unwrap_or(&named));
        }
        let topology = space.object(&format!("configmap/{name}-topology"));
        assert_eq!(topology["data"]["systemid"], "7500000000000000001", "who the data is was forgotten");
    }
}

#[test]
fn what_is_written_over_is_mended() {
    let _turn = shared();
    let space = Space::new("written-over");
    let fields = json!({ "replicas": 2, "backup": { "schedule": "0 2 * * *" } });
    for name in ["db", "other"] {
        ready(&space, name, &fields);
    }
    for (what, patch, pointer) in [
        ("statefulset/db", json!({ "spec": { "replicas": 4 } }), "/spec/replicas"),
        // Which the API server leaves out, or fills in, where nobody says anything.
        ("statefulset/other", json!({ "spec": { "ordinals": { "start": 1 } } }), "/spec/ordinals/start"),
        ("service/other", json!({ "spec": { "publishNotReadyAddresses": true } }), "/spec/publishNotReadyAddresses"),
        ("cronjob/db", json!({ "spec": { "schedule": "1 1 * * *" } }), "/spec/schedule"),
        ("service/db", json!({ "spec": { "selector": { "pointsman.dev/role": "none" } } }), "/spec/selector"),
        ("configmap/other-topology", json!({ "data": { "peers": "0=elsewhere" } }), "/data/peers"),
        ("configmap/other-settings", json!({ "data": { "reloaded.conf": "work_mem = 1" } }), "/data/reloaded.conf"),
    ] {
        eventually_or(SOON, || !space.object(what).is_null(), || format!("{what} is not there"));
        let before = space.object(what).pointer(pointer).cloned();
        space.kubectl(&["patch", what, "--type=merge", "--patch", &patch.to_string()]).ok();
        let is_mended = || space.object(what).pointer(pointer).cloned() == before;
        eventually_or(SOON, is_mended, || format!("{what}: {:#}\n{:#}", space.object(what), space.db("db").status()));
    }
    for name in ["db", "other"] {
        space.db(name).ready_within(SOON);
    }
}

/// Taken off a pod by hand: clients of the replicas find it by that label.
#[test]
fn a_role_is_put_back() {
    let _turn = shared();
    let space = Space::new("role");
    let base = ready(&space, "db", &json!({ "replicas": 2 }));
    let role = || space.object("pod/db-1")["metadata"]["labels"]["pointsman.dev/role"].clone();
    space.kubectl(&["label", "pod/db-1", "pointsman.dev/role-"]).ok();
    eventually_or(SOON, || role() == "replica", || format!("{:#}", base.status()));
}

#[test]
fn passwords_that_are_lost_are_asked_about_and_made_anew_only_when_told_so() {
    let _turn = shared();
    let space = Space::new("passwords");
    let base = ready(&space, "db", &json!({ "replicas": 2 }));
    let password = || space.object("secret/db-app")["data"]["password"].clone();
    let (before, whole) = (password(), crate::harness::anew(space.object("secret/db-app")));
    space.kubectl(&["delete", "secret/db-app"]).ok();
    // Nobody watches Secrets: they are read when a person says something.
    base.annotate("example.com/looked=once");
    let question = asked(&base, "CredentialsLost");
    assert!(question["evidence"].to_string().contains("db-app"), "{question:#}");
    // Put back as it was, nothing has to be reset, and nothing has to be answered.
    space.apply(&whole.to_string()).ok();
    base.annotate("example.com/looked=back");
    base.ready_within(SOON);
    assert_eq!(password(), before);
    space
        .kubectl(&["patch", "secret/db-internal", "--type=json", "--patch", r#"[{"op":"remove","path":"/data/superuser-password"}]"#])
        .ok();
    base.annotate("example.com/looked=twice");
    asked(&base, "CredentialsLost");
    let pod = space.object("pod/db-0")["metadata"]["uid"].clone();
    base.answer("reset-passwords").ok();
    base.ready_within(SOON);
    assert_ne!(password(), before);
    assert_ne!(space.object("pod/db-0")["metadata"]["uid"], pod, "the primary has not read the new ones");
}

#[test]
fn a_volume_that_is_lost_is_never_replaced_by_an_empty_one() {
    let _turn = shared();
    let space = Space::new("volume-lost");
    let base = ready(&space, "db", &json!({ "replicas": 2 }));
    let uid = space.object("pvc/data-db-0")["metadata"]["uid"].clone();
    space.kubectl(&["delete", "pvc/data-db-0", "--wait=false"]).ok();
    space.kubectl(&["patch", "pvc/data-db-0", "--type=merge", "--patch", r#"{"metadata":{"finalizers":null}}"#]).ok();
    let question = asked(&base, "PrimaryVolumeLost");
    assert!(question["evidence"].to_string().contains(uid.as_str().unwrap()), "{question:#}");
    space.kubectl(&["delete", "pod/db-0", "--wait=false"]).ok();
    // The StatefulSet's controller makes an empty claim of that name; nobody calls it the data.
    let another = || space.object("pvc/data-db-0")["metadata"]["uid"].as_str().is_some_and(|now| *now != uid);
    eventually(SOON, "an empty claim is made", another);
    base.answer("retry").ok();
    let id = question["id"].clone();
    eventually_or(ASKS, || base.status()["intervention"]["id"] != id, || format!("{:#}", base.status()));
    asked(&base, "PrimaryVolumeLost");
    assert_eq!(space.object("configmap/db-topology")["data"]["claim-0"], uid);
    assert_ne!(base.condition("Ready")["status"], "True");
}

#[test]
fn a_volume_of_a_replica_is_made_anew() {
    let _turn = shared();
    let space = Space::new("replica-volume");
    let base = ready(&space, "db", &json!({ "replicas": 2 }));
    space.kubectl(&["delete", "pvc/data-db-1", "--wait=false"]).ok();
    space.kubectl(&["delete", "pod/db-1", "--wait=false"]).ok();
    base.ready_within(SOON);
    let claim = space.object("pvc/data-db-1")["metadata"]["uid"].clone();
    let told = || space.object("configmap/db-topology")["data"]["claim-1"] == claim;
    eventually_or(SOON, told, || format!("{:#}", space.object("configmap/db-topology")));
    base.ready_within(SOON);
}

/// A Job that was told to go on is told to stop by nobody: paused, its end is only looked at.
#[test]
fn a_pause_leaves_a_running_job_alone() {
    let _turn = shared();
    let space = Space::new("paused-db");
    let base = super::create(&space, "db", &json!({ "podTemplate": saying("init", "wait") }));
    base.reaches("Initializing", SOON);
    base.annotate("pointsman.dev/paused=true");
    base.reaches("Paused", SOON);
    let goes_on = || {
        let job = space.object("job/db-init");
        (&job["status"]["active"], &job["spec"]["suspend"]) == (&json!(1), &json!(false))
    };
    eventually_or(SOON, goes_on, || format!("{:#}", space.object("job/db-init")));
    let pod = || super::names(&space, "pods").into_iter().find(|name| name.contains("init"));
    eventually(SOON, "it has a pod", || pod().is_some());
    space.kubectl(&["annotate", &pod().expect("its pod"), "example.com/init-"]).ok();
    base.annotate("pointsman.dev/paused-");
    base.ready_within(SOON);
}
