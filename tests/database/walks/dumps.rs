//! A last dump speaks for the volumes for as long as it stands: where its claim goes, is gone or is another one, nothing else goes.

use super::cluster::Trouble;
use super::life::{Life, path};
use super::mended::annotated;
use kube::ResourceExt;
use pointsman::kinds::annotations::{PAUSED, PROTECTED};
use pointsman::kinds::database::Phase;
use pointsman::kinds::order::ChildKind;
use pointsman::machine::Word as _;
use serde_json::json;

const CLAIM: ChildKind = ChildKind::PersistentVolumeClaim;

/// One whose last dump is recorded, and whose servers are on their way out.
fn removing() -> Life {
    let mut life = Life::of(&json!({}));
    life.cluster.troubles.insert(Trouble::SilentNode);
    assert_eq!(life.delete(), path(&[Phase::SnapshottingBeforeDelete, Phase::Removing]));
    life
}

/// It asks, quotes this of the claim of dumps, and the data stands.
#[track_caller]
fn asks_about_its_dump(life: &Life, words: &str) {
    assert_eq!(life.state(), Phase::RemovalBlocked.text(), "{:?}", life.path);
    let question = life.status()["intervention"].clone();
    assert_eq!(question["reason"], "SnapshotFailed", "{question:#}");
    assert_eq!(question["evidence"][0]["words"], words, "{question:#}");
    assert!(life.cluster.get(CLAIM, "data-db-0").is_some(), "{:?}", life.cluster.done);
}

#[test]
fn where_the_claim_of_the_last_dump_is_gone_the_data_stays() {
    let mut life = removing();
    life.cluster.remove(CLAIM, "db-backups");
    life.after();
    life.cluster.lets_go();
    life.after();
    let words = "it is gone, and the last dump, snapshot-20260102T030405Z, was in it; no server is left that could be dumped again";
    asks_about_its_dump(&life, words);
    // An answer that is no word about the data changes nothing, and the one that keeps it is taken.
    life.answer("retry");
    asks_about_its_dump(&life, words);
    assert_eq!(life.answer("keep-volumes"), path(&[Phase::Retaining, Phase::Releasing]));
    assert_eq!(life.cluster.names(CLAIM), ["data-db-0"]);
}

#[test]
fn where_it_was_told_to_go_or_is_another_one_the_data_stays() {
    let mut life = removing();
    life.lets_go("db-backups");
    life.after();
    life.cluster.lets_go();
    life.settle();
    asks_about_its_dump(
        &life,
        "it was told to go, and the last dump, snapshot-20260102T030405Z, was in it; no server is left that could be dumped again",
    );

    let mut life = removing();
    life.cluster.edit(CLAIM, "db-backups", "/metadata/uid", json!("another"));
    life.after();
    life.cluster.lets_go();
    life.settle();
    asks_about_its_dump(
        &life,
        "it is another one now, and the last dump, snapshot-20260102T030405Z, was in it; no server is left that could be dumped again",
    );
}

#[test]
fn while_a_server_is_left_another_dump_is_taken_into_another_claim() {
    let mut life = Life::of(&json!({}));
    life.cluster.delete();
    life.until(|life| life.state() == Phase::Removing.text());
    life.lets_go("db-backups");
    life.look();
    assert_eq!(life.state(), Phase::SnapshottingBeforeDelete.text(), "{:?}", life.path);
    let first = life.cluster.get(CLAIM, "db-backups").expect("a claim")["metadata"]["uid"].clone();
    // The pod that wrote into it is done, and the claim goes.
    for _ in 0..4 {
        life.look();
        life.cluster.settles();
    }
    life.cluster.remove(CLAIM, "db-backups");
    life.after();
    assert!(life.cluster.object.is_none(), "{:?}\n{:?}", life.path, life.cluster.done);
    assert_eq!(life.cluster.names(CLAIM), ["db-backups"]);
    assert_ne!(life.cluster.get(CLAIM, "db-backups").expect("a claim")["metadata"]["uid"], first);
}

#[test]
fn a_dump_is_not_taken_again_and_again_for_servers_that_do_not_go() {
    let mut life = Life::of(&json!({}));
    // As where a policy refuses what is to outlive the object: nothing goes before that stands.
    life.cluster.refused.insert((ChildKind::ConfigMap, "db-tombstone-".to_owned()));
    life.cluster.delete();
    for _ in 0..20 {
        for _ in 0..30 {
            life.look();
            life.cluster.settles();
        }
        life.cluster.now += jiff::SignedDuration::from_mins(6);
    }
    assert_eq!((life.state(), &life.status()["reason"]), (Phase::RemovalBlocked.text(), &json!("RemovalStuck")), "{:?}", life.path);
    assert_eq!(life.status()["dumps"], 3, "{:?}", life.path);
    let evidence = life.status()["intervention"]["evidence"].to_string();
    assert!(evidence.contains("its servers outlived 3 last dumps in a row, and may have been written to since"), "{evidence}");
    life.cluster.refused.clear();
    assert_eq!(life.answer("retry"), path(&[Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing]));
}

#[test]
fn servers_whose_stateful_set_was_removed_without_them_go_too() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    annotated(&mut life, PAUSED, Some("true"));
    life.settle();
    life.cluster.things.remove(&(ChildKind::StatefulSet, "db".to_owned())).expect("a set");
    life.delete();
    assert!(life.cluster.object.is_none(), "{:?}\n{:?}", life.path, life.cluster.done);
    assert!(!life.cluster.names(ChildKind::Pod).iter().any(|pod| pod == "db-0" || pod == "db-1"));
}

/// Who looks only now finds Jobs that have ended, and no pod that tells how.
#[test]
fn a_job_whose_pod_is_gone_is_run_again() {
    for job in ["db-probe", "db-init"] {
        let mut life = Life::unborn(&json!({}));
        life.until(|life| life.cluster.names(ChildKind::Job).iter().any(|name| name == job));
        for _ in 0..3 {
            life.cluster.settles();
        }
        life.cluster.things.remove(&(ChildKind::Pod, format!("{job}-x"))).expect("its pod");
        life.cluster.now += jiff::SignedDuration::from_secs(20);
        life.settle();
        assert_eq!(life.state(), "Ready", "{job}: {:?}\n{:?}", life.path, life.cluster.done);
        let again = life.cluster.done.iter().filter(|done| **done == format!("create Job {job}")).count();
        assert_eq!(again, 2, "{job}: {:?}", life.cluster.done);
    }
}

#[test]
fn a_dump_is_no_newer_than_the_moment_it_was_heard_of() {
    let mut life = Life::of(&json!({}));
    life.cluster.refused.insert((ChildKind::ConfigMap, "db-tombstone-".to_owned()));
    life.cluster.delete();
    life.until(|life| life.cluster.get(ChildKind::Job, "db-snapshot").is_some_and(|job| job["status"]["completionTime"].is_string()));
    let later = json!((life.cluster.now + jiff::SignedDuration::from_hours(1)).to_string());
    life.cluster.edit(ChildKind::Job, "db-snapshot", "/status/completionTime", later.clone());
    let ended = "/status/containerStatuses/0/state/terminated";
    let mut end = life.cluster.get(ChildKind::Pod, "db-snapshot-x").expect("its pod").pointer(ended).expect("its end").clone();
    end["finishedAt"] = later;
    life.cluster.edit(ChildKind::Pod, "db-snapshot-x", ended, end);
    life.until(|life| life.state() == Phase::Removing.text());
    life.cluster.now += jiff::SignedDuration::from_mins(6);
    life.look();
    assert_eq!(life.state(), Phase::SnapshottingBeforeDelete.text(), "{:?}", life.path);
}

/// What is written while a last dump is taken goes with the volumes, so nobody is led to where it could be.
#[test]
fn a_last_dump_is_taken_where_nobody_is_led_to_write() {
    for replicas in [1, 2] {
        let mut life = Life::of(&json!({ "replicas": replicas }));
        life.cluster.says.insert("dump.sh".to_owned(), (false, "WRITTEN_TO: somebody wrote".to_owned()));
        life.cluster.delete();
        life.until(|life| life.cluster.names(ChildKind::Job).iter().any(|job| job.starts_with("db-snapshot")));
        let selector = |name: &str| life.cluster.get(ChildKind::Service, name).expect("a Service")["spec"]["selector"].clone();
        assert_eq!(selector("db")["statefulset.kubernetes.io/pod-name"], "Nobody");
        assert_eq!(selector("db-ro")["pointsman.dev/role"], "replica", "{}", selector("db-ro"));
        let when = |what: &str| life.cluster.done.iter().position(|done| done.starts_with(what));
        assert!(when("apply Service db") < when("create Job db-snapshot"), "{:?}", life.cluster.done);
        let job = life.cluster.names(ChildKind::Job).into_iter().find(|job| job.starts_with("db-snapshot")).expect("a Job");
        let job = life.cluster.get(ChildKind::Job, &job).expect("a Job");
        let environment = job["spec"]["template"]["spec"]["containers"][0]["env"].clone();
        assert!(environment.to_string().contains("db-0.db-pods."), "{environment}");
        // A hand that leads them back is undone while the Job runs.
        life.cluster.edit(ChildKind::Service, "db", "/spec/selector/statefulset.kubernetes.io~1pod-name", json!("db-0"));
        life.look();
        assert_eq!(
            life.cluster.get(ChildKind::Service, "db").expect("a Service")["spec"]["selector"]["statefulset.kubernetes.io/pod-name"],
            "Nobody"
        );
        // They are led nowhere while it is asked what is to become of the data, too.
        life.settle();
        assert_eq!(life.status()["reason"], "SnapshotFailed", "{:?}", life.path);
        let led = |life: &Life| life.cluster.get(ChildKind::Service, "db").expect("a Service")["spec"]["selector"].clone();
        assert_eq!(led(&life)["statefulset.kubernetes.io/pod-name"], "Nobody");
        // What is to stay serves.
        annotated(&mut life, PROTECTED, Some("true"));
        life.settle();
        assert_eq!(led(&life)["statefulset.kubernetes.io/pod-name"], "db-0", "{:?}", life.cluster.done);
        annotated(&mut life, PROTECTED, None);
        life.settle();
        assert_eq!(led(&life)["statefulset.kubernetes.io/pod-name"], "Nobody", "{:?}", life.cluster.done);
    }
}

#[test]
fn a_dump_that_ended_while_somebody_was_led_to_write_is_made_anew() {
    let mut life = Life::of(&json!({}));
    life.cluster.delete();
    let ended = |life: &Life| life.cluster.get(ChildKind::Job, "db-snapshot").is_some_and(|job| !job["status"]["conditions"].is_null());
    for _ in 0..20 {
        if !ended(&life) {
            life.look();
            life.cluster.settles();
        }
    }
    assert!(ended(&life), "{:?}", life.cluster.done);
    life.cluster.edit(ChildKind::Service, "db", "/spec/selector", json!({ "statefulset.kubernetes.io/pod-name": "db-0" }));
    life.after();
    assert!(life.cluster.object.is_none(), "{:?}", life.path);
    assert_eq!(life.cluster.done[..3], ["apply Service db", "delete Job db-snapshot", "create Job db-snapshot"]);
}

/// In a mesh the pod of the dump that goes is there for its grace period, beside the one that follows under its name.
#[test]
fn what_an_earlier_dump_said_is_not_believed_of_the_later_one() {
    let mut life = Life::of(&json!({}));
    life.cluster.troubles.insert(Trouble::Mesh);
    life.cluster.delete();
    life.until(|life| life.cluster.get(ChildKind::Pod, "db-snapshot-x").is_some());
    life.cluster.troubles.extend([Trouble::SilentNode, Trouble::MuchData]);
    life.cluster.edit(ChildKind::Service, "db", "/spec/selector", json!({ "statefulset.kubernetes.io/pod-name": "db-0" }));
    let claims = life.claims();
    life.cluster.done.clear();
    for _ in 0..10 {
        life.look();
        life.cluster.settles();
    }
    assert_eq!(life.cluster.done[..3], ["apply Service db", "delete Job db-snapshot", "create Job db-snapshot"]);
    assert!(life.cluster.get(ChildKind::Pod, "db-snapshot-x").is_some(), "it does not end any more");
    assert_eq!((life.state(), life.claims()), (Phase::SnapshottingBeforeDelete.text(), claims), "{:?}", life.cluster.done);
}

/// Is the first server ready?
fn is_served(life: &Life) -> bool {
    life.cluster.get(ChildKind::Pod, "db-0").is_some_and(|pod| pod["status"]["conditions"][0]["status"] == "True")
}

/// The API server's data was put back to before the database was made: nothing that is recorded speaks of data any more.
#[test]
fn a_server_that_runs_is_dumped_whatever_is_recorded_of_it() {
    let mut life = Life::unborn(&json!({}));
    life.until(is_served);
    let then = life.cluster.clone();
    assert_eq!(then.object.as_ref().and_then(|object| object.status.as_ref()).map(|status| status.more.begun), Some(false));
    life.settle();
    assert_eq!(life.state(), Phase::Ready.text());
    life.cluster.put_back(&then);
    life.cluster.settles();
    life.delete();
    assert!(life.cluster.object.is_none(), "{:?}", life.path);
    let at = |order: &str| life.cluster.done.iter().position(|done| done == order);
    assert!(at("create Job db-snapshot") < at("delete PersistentVolumeClaim data-db-0"), "{:?}", life.cluster.done);
    assert!(at("create Job db-snapshot").is_some(), "{:?}", life.cluster.done);
}

#[test]
fn a_server_without_a_database_keeps_no_object() {
    let mut life = Life::unborn(&json!({}));
    life.until(is_served);
    let none = "NO_DATABASE: there is no database that was made or brought back whole";
    life.cluster.says.insert("dump.sh".to_owned(), (false, none.to_owned()));
    life.delete();
    assert!(life.cluster.object.is_none(), "{:?}: {:#}", life.path, life.status());
    let dumps = life.cluster.done.iter().filter(|done| *done == "create Job db-snapshot").count();
    assert_eq!(dumps, 1, "{:?}", life.cluster.done);
}

/// While a question is open that was asked beside a dump that ran, the object is protected for a while, and is written to.
#[test]
fn a_dump_from_before_a_protection_does_not_count() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.troubles.insert(Trouble::MuchData);
    life.cluster.delete();
    life.until(|life| life.cluster.get(ChildKind::Pod, "db-snapshot-x").is_some());
    life.diverges();
    life.settle();
    assert_eq!(life.status()["reason"], "DumpIncomplete", "{:?}", life.path);
    life.cluster.troubles.clear();
    for protected in ["true", "false"] {
        let object = life.cluster.object.as_mut().expect("an object");
        object.annotations_mut().insert(PROTECTED.to_owned(), protected.to_owned());
        life.settle();
        let leads = life.cluster.get(ChildKind::Service, "db").expect("a Service")["spec"]["selector"].to_string().contains("db-0");
        assert_eq!((leads, &life.status()["reason"]), (protected == "true", &json!("DumpIncomplete")), "{:?}", life.cluster.done);
    }
    life.cluster.done.clear();
    life.cluster.remove(ChildKind::PersistentVolumeClaim, "data-db-1");
    life.cluster.away.clear();
    life.cluster.remove(ChildKind::Pod, "db-1");
    life.settle();
    assert!(life.cluster.object.is_none(), "{:?}: {:#}", life.path, life.status());
    assert!(life.cluster.done[0].starts_with("create Job db-dump-"), "{:?}", life.cluster.done);
}

/// By their names alone they could be anybody's: each gets its label back, and goes.
#[test]
fn what_has_lost_its_label_goes_too() {
    let fields = json!({ "backup": { "schedule": "0 2 * * *" } });
    let gone = |mut life: Life| {
        life.settle();
        assert!(life.cluster.object.is_none(), "{:?}\n{}", life.path, life.status());
        // Where the claim of a dump was not seen in full, another one was taken.
        let left = life.cluster.things.into_keys().filter(|(_, name)| !name.starts_with("db-tombstone"));
        left.map(|(kind, name)| format!("{kind:?} {name}")).collect::<Vec<_>>()
    };
    let mut life = Life::of(&fields);
    life.cluster.delete();
    let left = gone(life);
    for until in [Phase::Deleting, Phase::SnapshottingBeforeDelete, Phase::Removing] {
        let mut life = Life::of(&fields);
        life.cluster.delete();
        if until != Phase::Deleting {
            life.until(|life| life.state() == until.text());
        }
        let things: Vec<_> = life.cluster.things.keys().cloned().collect();
        for (kind, name) in things.into_iter().filter(|(kind, name)| *kind != ChildKind::Pod && !name.starts_with("data-")) {
            life.cluster.loses_its_label(kind, &name);
        }
        assert_eq!(gone(life), left, "{until:?}");
    }
}

/// Today's attempt has another name, and no garbage collector comes while the object waits for the pod.
#[test]
fn a_pod_goes_whose_job_of_an_earlier_attempt_nobody_sees() {
    let mut life = Life::unborn(&json!({}));
    life.cluster.says.insert("probe.sh".to_owned(), (false, "FAILED: told to".to_owned()));
    life.settle();
    life.cluster.loses_its_label(ChildKind::Job, "db-probe");
    life.answer("retry");
    assert_eq!(life.state(), Phase::HumanIntervention.text(), "{:?}", life.path);
    life.delete();
    assert!(life.cluster.object.is_none(), "{:?}\n{:?}", life.path, life.cluster.things.keys());
}
