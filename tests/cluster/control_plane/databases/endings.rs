//! What a delete leaves, whatever way it was typed.

use super::super::deputy;
use super::super::protection::refused;
use super::questions::says;
use super::{ASKS, SOON, create, names, ready, saying};
use crate::harness::{Space, Thing, anew, audit, eventually, eventually_or, kubectl, operator, scraped, shared};
use serde_json::{Value, json};

/// Waits until the object is gone.
#[track_caller]
fn goes(base: &Thing<'_>) {
    eventually_or(ASKS, || base.seen().is_null(), || format!("{:?}\n{:#}", base.history(), base.status()));
}

fn tombstone(space: &Space, base: &str, uid: &str) -> Value {
    space.object(&format!("configmap/{base}-tombstone-{}", &uid[..5]))["data"].clone()
}

#[test]
fn each_policy_leaves_what_it_says() {
    let _turn = shared();
    let space = Space::new("policies");
    let backup = json!({ "schedule": "0 2 * * *" });
    // The longest name that a database may have, and a size that is no whole number of its unit.
    let (longest, size) = ("a".repeat(63), json!({ "size": "1.5Gi" }));
    for (name, policy) in [("gone", "Delete"), ("kept", "Retain")] {
        let fields = json!({ "replicas": 2, "deletionPolicy": policy, "backup": backup, "databaseName": longest, "storage": size });
        create(&space, name, &fields);
    }
    for name in ["gone", "kept"] {
        let base = space.db(name);
        base.ready_within(SOON);
        base.kubectl("delete", &["--wait=false"]).ok();
        goes(&base);
    }
    let left = || names(&space, "pvc,secrets,configmaps,services,statefulsets,jobs,cronjobs,poddisruptionbudgets,pods");
    let claims = ["data-kept-0", "data-kept-1", "kept-backups"].map(|name| format!("persistentvolumeclaim/{name}"));
    // Both had the same scripts. These may be mounted by whoever comes next.
    let is_left = |left: &[String]| left.strip_prefix(&claims).is_some_and(|rest| matches!(rest, [map] if map.starts_with(super::SCRIPTS)));
    eventually_or(SOON, || is_left(&left()), || format!("{:?}", left()));
    assert_eq!(space.object("pvc/data-kept-0")["spec"]["resources"]["requests"]["storage"], "1536Mi");
    let told = || json!(space.object_list(&["events", "--field-selector=involvedObject.name=kept"])).to_string();
    eventually_or(SOON, || told().contains("every volume stays"), told);
}

#[test]
fn however_it_is_deleted_the_last_dump_is_told_and_brings_it_back() {
    let _turn = shared();
    let space = Space::new("cascades");
    let (mark, mut told) = (audit::mark(), Vec::new());
    for cascade in ["background", "foreground"] {
        let base = ready(&space, "db", &json!({ "replicas": 2 }));
        let uid = base.seen()["metadata"]["uid"].as_str().unwrap().to_owned();
        base.kubectl("delete", &[&format!("--cascade={cascade}"), "--wait=false"]).ok();
        goes(&base);
        let mut said = tombstone(&space, "db", &uid);
        let left = names(&space, "pvc,secrets,services,statefulsets,jobs,cronjobs,pods");
        assert_eq!(left, ["persistentvolumeclaim/db-backups"], "{cascade}");
        space.apply(said["restore.yaml"].as_str().unwrap_or_else(|| panic!("{said:#}"))).ok();
        // Each object is another one, and goes at its own time.
        assert!(said["uid"].take() == uid.as_str() && said["time"].take().is_string());
        told.push((said, left));
        base.ready_within(SOON);
        base.patch(r#"{"deletionPolicy":"Retain"}"#).ok();
        eventually(SOON, "the policy is ordered", || base.status()["applied"]["spec"]["deletionPolicy"] == "Retain");
        base.kubectl("delete", &["--wait=false"]).ok();
        goes(&base);
        space.kubectl(&["delete", "pvc", "--all"]).ok();
    }
    assert_eq!(told[0], told[1], "the two ways end otherwise");
    // What is removed for good is removed as it was seen.
    let removed: Vec<audit::Entry> = audit::writes(mark, &space.name).into_iter().filter(|entry| entry.verb() == "delete").collect();
    let claims = removed.iter().filter(|entry| entry.resource() == "persistentvolumeclaims");
    for entry in claims {
        let given = &entry.body()["preconditions"];
        assert!(given["uid"].is_string() && given["resourceVersion"].is_string(), "{}", entry.0);
    }
}

#[test]
fn a_dump_that_fails_is_asked_about_and_nothing_goes() {
    let _turn = shared();
    let space = Space::new("dump-fails");
    for (verb, left) in [("keep-volumes", vec!["data-db-0", "db-backups"]), ("skip-snapshot", vec!["db-backups"])] {
        let fails = saying("snapshot", "NO_SPACE: the volume of the backups is full");
        let base = ready(&space, "db", &json!({ "podTemplate": fails }));
        base.kubectl("delete", &["--wait=false"]).ok();
        base.reaches("RemovalBlocked", ASKS);
        let question = base.status()["intervention"].clone();
        assert_eq!(question["reason"], "SnapshotFailed", "{question:#}");
        assert!(question.to_string().contains("the volume of the backups is full"), "{question:#}");
        assert_eq!(base.condition("Available")["reason"], "LedToNobody");
        let refused = base.patch(r#"{"deletionPolicy":"Delete"}"#);
        assert!(refused.code == 1 && refused.err.contains("busy"), "{}", refused.text());
        base.answer(verb).ok();
        goes(&base);
        let claims = left.iter().map(|name| format!("persistentvolumeclaim/{name}")).collect::<Vec<_>>();
        eventually_or(SOON, || names(&space, "pvc") == claims, || format!("{:?}", names(&space, "pvc")));
        space.kubectl(&["delete", "pvc", "--all"]).ok();
    }
}

#[test]
fn a_dump_that_would_lack_what_a_replica_holds_is_asked_about_and_nothing_goes() {
    let _turn = shared();
    let space = Space::new("dump-lacks");
    let base = ready(&space, "db", &json!({ "replicas": 2 }));
    says(&space, "db-1", "DIVERGED: the volume was the primary until epoch 1, and holds 0/5000028");
    base.reaches("HumanIntervention", ASKS);
    base.kubectl("delete", &["--wait=false"]).ok();
    base.reaches("RemovalBlocked", ASKS);
    let question = base.status()["intervention"].clone();
    assert_eq!(question["reason"], "DumpIncomplete", "{question:#}");
    assert!(question["evidence"].to_string().contains("the volume was the primary until epoch 1"), "{question:#}");
    let claims = ["data-db-0", "data-db-1", "db-backups"].map(|name| format!("persistentvolumeclaim/{name}"));
    assert_eq!(names(&space, "pvc"), claims);
    // Whoever gives it up has the dump of the primary taken.
    space.kubectl(&["delete", "pvc/data-db-1", "pod/db-1", "--wait=false"]).ok();
    goes(&base);
    eventually_or(SOON, || names(&space, "pvc") == [claims[2].as_str()], || format!("{:?}", names(&space, "pvc")));
}

#[test]
fn the_last_dump_is_skipped_only_by_those_who_may_lose_data() {
    let _turn = shared();
    let space = Space::new("deputy-db");
    let base = ready(&space, "db", &json!({ "podTemplate": saying("snapshot", "NO_SPACE: full") }));
    base.kubectl("delete", &["--wait=false"]).ok();
    base.reaches("RemovalBlocked", ASKS);
    let claims = || names(&space, "pvc");
    deputy::answers_only_where_allowed(&base, "databases.stable.imaginedata.com", "skip-snapshot", || {
        assert_eq!(claims(), ["persistentvolumeclaim/data-db-0", "persistentvolumeclaim/db-backups"]);
    });
    goes(&base);
    eventually_or(SOON, || claims() == ["persistentvolumeclaim/db-backups"], || format!("{:?}", claims()));
}

/// The Job that failed stays for people to look at; the next one is another.
#[test]
fn a_dump_is_tried_again_once_somebody_has_made_room() {
    let _turn = shared();
    let space = Space::new("dump-again");
    let base = ready(&space, "db", &json!({ "podTemplate": saying("snapshot", "NO_SPACE: full") }));
    base.kubectl("delete", &["--wait=false"]).ok();
    base.reaches("RemovalBlocked", ASKS);
    assert_eq!(names(&space, "jobs").iter().filter(|name| name.contains("snapshot")).count(), 1);
    // Kubernetes gives the next one this name; its pod is told that all is well.
    let id = base.status()["intervention"]["id"].as_str().unwrap().to_owned();
    base.answer("retry").ok();
    let job = format!("job/db-dump-{id}");
    eventually(SOON, "another Job is made", || !space.object(&job).is_null());
    base.reaches("RemovalBlocked", ASKS);
    base.answer("keep-volumes").ok();
    goes(&base);
}

/// The claims and the pods that serve: which they are, and whether one was told to go.
#[track_caller]
fn kept(space: &Space) -> Vec<[Value; 3]> {
    let all = space.object_list(&["pvc,pods", "--selector=!batch.kubernetes.io/job-name"]);
    let its = |one: &Value| ["name", "uid", "deletionTimestamp"].map(|field| one["metadata"][field].clone());
    all.iter().map(its).collect()
}

#[test]
fn a_protected_one_stays_and_its_namespace_too() {
    let _turn = shared();
    let space = Space::new("protected-db");
    let base = ready(&space, "db", &json!({ "replicas": 2, "deletionPolicy": "Delete" }));
    base.annotate("pointsman.dev/protected=true");
    let before = kept(&space);
    assert!(before.len() >= 4, "two claims and two pods: {before:?}");
    refused(&space, "protected-database.delete", &["delete", "db/db"]);
    let known = || kubectl(&["delete", "namespace", &space.name, "--dry-run=server"]).code == 1;
    eventually(90, "the namespace is known to hold it", known);
    refused(&space, "protected-database-namespace.delete", &["delete", "namespace", &space.name]);
    refused(&space, "definition-of-databases.delete", &["delete", "crd", "databases.stable.imaginedata.com"]);
    assert_eq!(kept(&space), before, "something went, or is going");
    base.annotate("pointsman.dev/protected-");
    base.kubectl("delete", &["--wait=false"]).ok();
    goes(&base);
}

/// It was protected while it was going: who did that is asked.
#[test]
fn protection_that_comes_late_stops_what_is_left() {
    let _turn = shared();
    let space = Space::new("late-db");
    let base = ready(&space, "db", &json!({ "podTemplate": saying("snapshot", "wait") }));
    base.kubectl("delete", &["--wait=false"]).ok();
    base.reaches("SnapshottingBeforeDelete", SOON);
    base.annotate("pointsman.dev/protected=true");
    let pod = || names(&space, "pods").into_iter().find(|name| name.contains("snapshot"));
    eventually(SOON, "its Job has a pod", || pod().is_some());
    space.kubectl(&["annotate", &pod().expect("its pod"), "example.com/snapshot-"]).ok();
    base.reaches("RemovalBlocked", ASKS);
    assert_eq!(base.status()["reason"], "Protected");
    base.annotate("pointsman.dev/protected-");
    // What was written meanwhile is in no dump: another one is taken.
    let another = || names(&space, "pods").into_iter().find(|name| name.contains("-dump-"));
    eventually(SOON, "another dump is taken", || another().is_some());
    space.kubectl(&["annotate", &another().expect("its pod"), "example.com/snapshot-"]).ok();
    goes(&base);
}

/// Whoever takes our label off a volume wants it for something else, be it seen on a watch or on a live read.
#[test]
fn a_volume_that_has_lost_its_label_stays() {
    let _turn = shared();
    let space = Space::new("unlabelled-db");
    let base = ready(&space, "db", &json!({ "deletionPolicy": "Delete", "replicas": 2 }));
    let hold = r#"{"metadata":{"finalizers":["example.com/hold"]}}"#;
    space.kubectl(&["patch", "statefulset/db", "--type=merge", "--patch", hold]).ok();
    base.kubectl("delete", &["--wait=false"]).ok();
    base.reaches("Removing", SOON);
    space.kubectl(&["label", "pvc/data-db-0", "app.kubernetes.io/managed-by-"]).ok();
    space.kubectl(&["patch", "statefulset/db", "--type=json", "--patch", r#"[{"op":"remove","path":"/metadata/finalizers/0"}]"#]).ok();
    goes(&base);
    eventually_or(SOON, || names(&space, "pvc") == ["persistentvolumeclaim/data-db-0"], || format!("{:?}", names(&space, "pvc")));
    assert_eq!(space.object("pvc/data-db-0")["metadata"]["deletionTimestamp"], Value::Null);
}

#[test]
fn what_does_not_go_is_named() {
    let _turn = shared();
    let space = Space::new("stuck-db");
    let base = ready(&space, "db", &json!({ "deletionPolicy": "Delete" }));
    let hold = r#"[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/hold"}]"#;
    space.kubectl(&["patch", "pvc/data-db-0", "--type=json", "--patch", hold]).ok();
    base.kubectl("delete", &["--wait=false"]).ok();
    base.reaches("RemovalBlocked", ASKS);
    let question = base.status()["intervention"].clone();
    assert_eq!(question["reason"], "RemovalStuck", "{question:#}");
    assert!(question.to_string().contains("held by its finalizers: example.com/hold"), "{question:#}");
    let free = r#"{"metadata":{"finalizers":null}}"#;
    space.kubectl(&["patch", "pvc/data-db-0", "--type=merge", "--patch", free]).ok();
    base.answer("retry").ok();
    goes(&base);
}

/// A namespace takes everything with it: nothing is won by holding on, and what went is told where it can be read still.
#[test]
fn a_namespace_that_goes_is_not_held_up_and_its_volumes_are_named() {
    let _turn = shared();
    let space = Space::new("going-db");
    ready(&space, "db", &json!({ "replicas": 2 }));
    let gone = |metrics: &str| {
        let count = metrics.lines().find_map(|line| line.strip_prefix("pointsman_volumes_gone_total{kind=\"Database\"} "));
        count.expect("it is counted from the beginning").parse::<u64>().unwrap()
    };
    let before = scraped();
    kubectl(&["delete", "namespace", &space.name, "--wait=false"]).ok();
    eventually(ASKS, "the namespace is gone", || kubectl(&["get", "namespace", &space.name]).code != 0);
    let about = format!("regarding.kind=Namespace,regarding.name={}", space.name);
    let told = || kubectl(&["get", "events.events.k8s.io", "--namespace=default", "--output=json", "--field-selector", &about]).ok();
    eventually_or(SOON, || told().contains("VolumesGo"), told);
    let (event, metrics, log) = (told(), scraped(), operator(&["logs"]));
    let line = log.lines().find(|line| line.contains("the namespace goes") && line.contains(&space.name)).unwrap_or_default();
    for claim in ["data-db-0", "data-db-1", "db-backups"] {
        assert!(event.contains(claim) && line.contains(claim), "{claim}: {event}\n{line}");
    }
    assert!(gone(&metrics) >= gone(&before) + 3, "{before} and {metrics}");
}

#[test]
fn a_finalizer_that_is_taken_off_by_hand_leaves_the_data_and_no_server() {
    let _turn = shared();
    let space = Space::new("by-force");
    let base = ready(&space, "db", &json!({ "replicas": 2, "podTemplate": saying("snapshot", "wait") }));
    // Copied with its labels, as people do who try something elsewhere.
    let elsewhere = Space::new("copies");
    let mut copy = anew(space.object("service/db-ro"));
    copy["metadata"]["namespace"] = elsewhere.name.clone().into();
    copy["spec"].as_object_mut().unwrap().retain(|field, _| !field.starts_with("clusterIP"));
    elsewhere.apply(&copy.to_string()).ok();
    base.kubectl("delete", &["--wait=false"]).ok();
    base.reaches("SnapshottingBeforeDelete", SOON);
    base.kubectl("patch", &["--type=merge", "--patch", r#"{"metadata":{"finalizers":null}}"#]).ok();
    goes(&base);
    let left = || names(&space, "pvc,secrets,services,statefulsets,jobs,cronjobs,poddisruptionbudgets,pods");
    let kept = ["persistentvolumeclaim/data-db-0", "persistentvolumeclaim/data-db-1", "persistentvolumeclaim/db-backups"];
    let kept: Vec<&str> = kept.into_iter().chain(["secret/db-app", "secret/db-internal"]).collect();
    // They are looked for twice a minute, and found twice.
    eventually_or(90, || left() == kept, || format!("{:?}", left()));
    let events = space.object_list(&["events"]);
    let told = events.iter().find(|event| event["reason"] == "FinalizerTakenOff").expect("an Event").to_string();
    for words in ["removed: ", "StatefulSet db", "Service db-ro", "kept, since it may hold data: PersistentVolumeClaim data-db-0"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(elsewhere.object("service/db-ro").is_object(), "the copy was removed");
}
