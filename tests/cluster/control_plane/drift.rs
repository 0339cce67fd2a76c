//! Children that were changed by hand are mended, once; a stranger's are not.

use crate::harness::{Space, audit, eventually, moves, shared};
use serde_json::{Value, json};
use std::time::Duration;

/// Makes an edit, waits until the object has been Degraded and is Ready again, and expects one
/// write of the operator, on that child. What drifts again and again is mended ever more seldom, so
/// an object of these tests is given a few edits only.
#[track_caller]
fn mended(space: &Space, child: &str, edit: &[&str]) {
    // The status' own history keeps ten moves; the audit log keeps all.
    let made = || -> (Vec<moves::Triple>, bool) {
        let entries = space.audited();
        let made = moves::stored(&entries);
        let told = moves::told(&entries) == moves::to_tell(&made);
        (made.into_iter().map(|one| one.arrow).collect(), told)
    };
    space.ready("cache");
    eventually(10, "every move has its Event", || made().1);
    let (start, before) = (audit::mark(), made().0.len());
    space.kubectl(edit).ok();
    let ways = [("Ready", "ChildrenDrifted", "Degraded"), ("Degraded", "ChildrenReady", "Ready")];
    let ways = ways.map(|(from, cause, to)| (from.to_owned(), cause.to_owned(), to.to_owned()));
    eventually(30, &format!("{edit:?} is mended"), || made().0[before..].starts_with(&ways));
    // Whatever comes of it has half a back-off's time to show.
    std::thread::sleep(Duration::from_secs(1));
    let writes = audit::writes(start, &space.name);
    let on_children: Vec<String> =
        writes.iter().map(audit::Entry::what).filter(|what| !what.contains("memcacheds") && !what.contains("events")).collect();
    assert_eq!(on_children, [format!("patch {child}")], "{edit:?}");
    // Pods that the edit asked for may still come and go: that is told too.
    eventually(10, &format!("{edit:?}: every move has its Event"), || made().1);
}

#[test]
fn a_deployment_that_was_changed_by_hand_is_mended_once() {
    let _turn = shared();
    let space = Space::new("drift");
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    mended(&space, "deployments", &["set", "image", "deployment/cache", "memcached=example.com/other:1"]);
    mended(&space, "deployments", &["scale", "deployment/cache", "--replicas=5"]);
    mended(&space, "deployments", &["label", "deployment/cache", "app.kubernetes.io/component=other", "--overwrite"]);
    mended(&space, "deployments", &["label", "deployment/cache", "app.kubernetes.io/managed-by-"]);
    let deployment = space.object("deployment/cache");
    assert_eq!(deployment["spec"]["replicas"], 2);
    assert_eq!(deployment["spec"]["template"]["spec"]["containers"][0]["image"], "docker.io/library/memcached:1.6");
    assert_eq!(deployment["metadata"]["labels"]["app.kubernetes.io/managed-by"], "pointsman");
}

#[test]
fn a_service_and_a_budget_that_were_deleted_are_mended_once() {
    let _turn = shared();
    let space = Space::new("deleted");
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    mended(&space, "services", &["delete", "service/cache"]);
    mended(&space, "poddisruptionbudgets", &["delete", "poddisruptionbudget/cache"]);
    mended(&space, "services", &["label", "service/cache", "app.kubernetes.io/managed-by-"]);
    // Of a Deployment that is paused no change reaches a pod.
    mended(&space, "deployments", &["rollout", "pause", "deployment/cache"]);
    assert_eq!(space.object("deployment/cache")["spec"]["paused"], Value::Null);
}

#[test]
fn a_service_and_a_budget_that_were_changed_by_hand_are_mended_once() {
    let _turn = shared();
    let space = Space::new("changed");
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    let ports = r#"[{"op":"replace","path":"/spec/ports/0/port","value":80}]"#;
    mended(&space, "services", &["patch", "service/cache", "--type=json", "--patch", ports]);
    assert_eq!(space.object("service/cache")["spec"]["ports"][0]["port"], 11211);
    // Maps that have one owner as a whole: with a key of somebody else's they find no pod at all.
    let track = r#"{"spec":{"selector":{"track":"canary"}}}"#;
    mended(&space, "services", &["patch", "service/cache", "--type=merge", "--patch", track]);
    assert_eq!(space.object("service/cache")["spec"]["selector"]["track"], Value::Null);
    let track = r#"{"spec":{"selector":{"matchLabels":{"track":"canary"}}}}"#;
    mended(&space, "poddisruptionbudgets", &["patch", "poddisruptionbudget/cache", "--type=merge", "--patch", track]);
    assert_eq!(space.object("pdb/cache")["spec"]["selector"]["matchLabels"]["track"], Value::Null);
    let elsewhere = r#"{"spec":{"type":"ExternalName","externalName":"example.com","clusterIP":"","clusterIPs":null}}"#;
    mended(&space, "services", &["patch", "service/cache", "--type=merge", "--patch", elsewhere]);
    assert_eq!(space.object("service/cache")["spec"]["clusterIP"], "None");
}

/// What no apply can mend: the API server would see ours beside what excludes it, and refuse both.
#[test]
fn what_excludes_a_field_of_ours_is_put_back() {
    let _turn = shared();
    let space = Space::new("renumbered");
    space.memcached("cache", "{replicas: 2, resources: {requests: {cpu: 50m}}}");
    space.ready("cache");
    let renumbered = r#"[{"op":"replace","path":"/spec/template/spec/containers/0/ports/0/containerPort","value":80}]"#;
    mended(&space, "deployments", &["patch", "deployment/cache", "--type=json", "--patch", renumbered]);
    let deployment = space.object("deployment/cache");
    assert_eq!(deployment["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"], 11211);
    let probed = r#"[{"op":"remove","path":"/spec/template/spec/containers/0/readinessProbe/tcpSocket"},
        {"op":"add","path":"/spec/template/spec/containers/0/readinessProbe/httpGet","value":{"port":80}}]"#;
    mended(&space, "deployments", &["patch", "deployment/cache", "--type=json", "--patch", probed]);
    let probe = &space.object("deployment/cache")["spec"]["template"]["spec"]["containers"][0]["readinessProbe"];
    assert_eq!((&probe["httpGet"], &probe["tcpSocket"]["port"]), (&Value::Null, &json!(11211)));
    mended(&space, "deployments", &["set", "resources", "deployment/cache", "--limits=cpu=10m", "--requests=cpu=10m"]);
    let resources = &space.object("deployment/cache")["spec"]["template"]["spec"]["containers"][0]["resources"];
    assert_eq!((&resources["limits"]["cpu"], &resources["requests"]["cpu"]), (&Value::Null, &json!("50m")));
}

/// The same of settings that take each other's place.
#[test]
fn what_takes_the_place_of_a_field_of_ours_is_put_back() {
    let _turn = shared();
    let space = Space::new("replaced");
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    let profile =
        r#"{"spec":{"template":{"spec":{"securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"p.json"}}}}}}"#;
    mended(&space, "deployments", &["patch", "deployment/cache", "--type=merge", "--patch", profile]);
    let least = r#"{"spec":{"maxUnavailable":null,"minAvailable":1}}"#;
    mended(&space, "poddisruptionbudgets", &["patch", "poddisruptionbudget/cache", "--type=merge", "--patch", least]);
    assert_eq!(space.object("pdb/cache")["spec"]["minAvailable"], Value::Null);
}

/// A label or an annotation that we do not own is its owner's.
#[test]
fn what_others_add_to_a_child_is_left_alone() {
    let _turn = shared();
    let space = Space::new("others");
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    space.all_told("cache");
    let mark = audit::mark();
    space.kubectl(&["label", "deployment/cache", "service/cache", "poddisruptionbudget/cache", "example.com/team=payments"]).ok();
    space.kubectl(&["annotate", "deployment/cache", "example.com/note=hands"]).ok();
    std::thread::sleep(Duration::from_secs(2));
    space.unwritten(mark, "what others add was answered");
    assert_eq!(space.object("service/cache")["metadata"]["labels"]["example.com/team"], "payments");
}

/// Without our owner reference an object may be anybody's: it is asked about and not written.
#[test]
fn a_child_whose_owner_reference_is_taken_away_is_a_strangers() {
    let _turn = shared();
    let space = Space::new("disowned");
    space.memcached("cache", "{}");
    space.ready("cache");
    let mark = audit::mark();
    space.kubectl(&["patch", "service/cache", "--type=merge", "--patch", r#"{"metadata":{"ownerReferences":null}}"#]).ok();
    space.reaches("cache", "HumanIntervention", 20);
    let question = space.object("mc/cache")["status"]["intervention"].clone();
    assert_eq!(question["reason"], "ChildConflict", "{question}");
    assert_eq!(question["evidence"][0]["kind"], "Service", "{question}");
    let version = space.object("service/cache")["metadata"]["resourceVersion"].clone();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(space.object("service/cache")["metadata"]["resourceVersion"], version);
    let writes = audit::writes(mark, &space.name);
    assert!(!writes.iter().any(|entry| entry.resource() == "services"), "{writes:?}");
    space.kubectl(&["delete", "service/cache"]).ok();
    space.ready("cache");
    assert_eq!(space.object("service/cache")["metadata"]["ownerReferences"][0]["kind"], "Memcached");
}

#[test]
fn names_and_namespaces_are_kept_apart() {
    let _turn = shared();
    let (here, there) = (Space::new("here"), Space::new("there"));
    here.memcached("one", "{replicas: 2}");
    here.memcached("two", "{replicas: 3}");
    there.memcached("one", "{replicas: 1}");
    for (space, name, count) in [(&here, "one", 2), (&here, "two", 3), (&there, "one", 1)] {
        space.ready(name);
        let selector = format!("app.kubernetes.io/instance={name}");
        eventually(20, "the pods of a deleted roll-out are gone", || space.object_list(&["pods", "--selector", &selector]).len() == count);
        let owner = space.object(&format!("mc/{name}"))["metadata"]["uid"].clone();
        for child in ["deployment", "service"] {
            assert_eq!(space.object(&format!("{child}/{name}"))["metadata"]["ownerReferences"][0]["uid"], owner, "{child} {name}");
        }
    }
    let mark = audit::mark();
    here.kubectl(&["delete", "mc/one"]).ok();
    eventually(30, "the children of the deleted one are gone", || {
        here.object_list(&["deployments,services,poddisruptionbudgets"]).len() == 3
    });
    here.ready("two");
    there.ready("one");
    there.unwritten(mark, "the other namespace was written to");
}
