//! What is done for the sake of the data: old words are not taken for the last ones, and no hand's word for the truth.

use super::life::{Life, path};
use super::mended::annotated;
use super::promoted;
use pointsman::kinds::annotations::{ANSWER, PAUSED, PROTECTED};
use pointsman::kinds::database::Phase;
use pointsman::kinds::order::ChildKind;
use pointsman::machine::Word;
use serde_json::{Value, json};

/// One that is being deleted, and whose last dump was taken a moment ago.
fn dumped() -> Life {
    let mut life = Life::of(&json!({}));
    life.cluster.delete();
    life.until(|life| life.cluster.names(ChildKind::Job).iter().any(|job| job.contains("snapshot")));
    // Its pod ends, and then it does.
    life.cluster.settles();
    life.cluster.settles();
    assert_eq!(life.state(), Phase::SnapshottingBeforeDelete.text());
    life
}

fn dumps(life: &Life) -> usize {
    life.cluster
        .done
        .iter()
        .filter(|done| ["create Job db-snapshot", "create Job db-dump"].iter().any(|made| done.starts_with(made)))
        .count()
}

#[test]
fn after_a_protection_another_dump_is_taken() {
    let mut life = dumped();
    annotated(&mut life, PROTECTED, Some("true"));
    assert_eq!(life.after(), path(&[Phase::RemovalBlocked]));
    assert_eq!(life.status()["snapshot"], Value::Null, "what was written since is in no dump");
    annotated(&mut life, PROTECTED, None);
    assert_eq!(life.answer("retry"), path(&[Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing]));
    assert_eq!(dumps(&life), 1, "{:?}", life.cluster.done);
}

#[test]
fn a_dump_since_which_servers_have_served_for_long_is_taken_anew() {
    let mut life = dumped();
    // Nobody has looked meanwhile.
    life.cluster.now += jiff::SignedDuration::from_mins(6);
    life.after();
    assert_eq!((life.cluster.object.is_none(), dumps(&life)), (true, 1), "{:?}", life.cluster.done);
}

#[test]
fn protection_holds_against_an_answer_too() {
    let mut life = Life::of(&json!({}));
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_SPACE: the volume is full".to_owned()));
    life.delete();
    annotated(&mut life, PROTECTED, Some("true"));
    assert_eq!(life.answer("skip-snapshot"), Vec::<String>::new());
    assert!(life.cluster.done.iter().all(|done| !done.starts_with("delete")), "{:?}", life.cluster.done);
}

#[test]
fn a_primary_that_waits_to_move_keeps_nobody_from_mending_and_not_for_ever() {
    let mut life = promoted();
    life.cluster.away.insert(0);
    assert_eq!(life.edit(&json!({ "replicas": 1 })), path(&[Phase::Scaling]));
    life.cluster.remove(ChildKind::Service, "db-pods");
    assert_eq!(life.after(), Vec::<String>::new());
    assert!(life.cluster.get(ChildKind::Service, "db-pods").is_some(), "{:?}", life.cluster.done);
    life.cluster.now += jiff::SignedDuration::from_mins(16);
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life.cluster.away.clear();
    assert_eq!(life.answer("retry"), path(&[Phase::Scaling, Phase::Ready]));
    assert_eq!(life.status()["primary"], "db-0");
}

/// It would be named, and could not be made anew: nobody would be served any more.
#[test]
fn nobody_takes_over_whose_volume_goes_with_its_pod() {
    let mut life = promoted();
    life.lets_go("data-db-0");
    life.edit(&json!({ "replicas": 1 }));
    let named = life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology")["data"]["primary"].clone();
    assert_eq!((named, &life.status()["primary"]), (json!("1"), &json!("db-1")), "{:?}", life.cluster.done);
    assert!(life.cluster.get(ChildKind::Pod, "db-1").is_some_and(|pod| pod["status"]["conditions"][0]["status"] == "True"));
    // Once the pod is made anew on another volume it can take over.
    life.cluster.remove(ChildKind::PersistentVolumeClaim, "data-db-0");
    life.cluster.remove(ChildKind::Pod, "db-0");
    life.settle();
    assert_eq!((life.state(), &life.status()["primary"]), (Phase::Ready.text(), &json!("db-0")), "{:?}", life.path);
}

#[test]
fn a_pod_whose_volume_would_go_with_it_is_not_restarted() {
    let mut life = Life::of(&json!({}));
    life.lets_go("data-db-0");
    assert_eq!(life.after(), path(&[Phase::Degraded]));
    assert!(life.status()["waitingFor"].to_string().contains("it is being deleted and goes, with its data"), "{}", life.status());
    assert_eq!(life.status()["message"], "data-db-0 is being deleted: its data goes with its pod; dump it now");
    let mut done = life.cluster.done.clone();
    life.edit(&json!({ "parameters": { "max_connections": "200" } }));
    done.extend(life.cluster.done.clone());
    assert!(done.iter().all(|done| !done.starts_with("delete Pod")), "{done:?}");
}

/// The primary would not learn new passwords, since it is not restarted; and to keep the volumes is not to keep its own.
#[test]
fn where_the_primarys_volume_goes_no_answer_hides_that() {
    let mut life = Life::of(&json!({}));
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_ANSWER: it knows another password".to_owned()));
    life.lets_go("data-db-0");
    life.cluster.remove(ChildKind::Secret, "db-internal");
    life.delete();
    let offers = life.status()["intervention"]["answers"].as_array().expect("answers").clone();
    let verbs: Vec<&Value> = offers.iter().map(|offer| &offer["verb"]).collect();
    assert_eq!(verbs, ["retry", "keep-volumes", "skip-snapshot"]);
    assert_eq!(offers[1]["risk"], "DataLoss");
    assert!(offers[1]["effect"].as_str().is_some_and(|effect| effect.starts_with("loses data-db-0, ")), "{}", offers[1]);
}

#[test]
fn a_volume_told_to_go_under_an_open_question_has_it_asked_anew() {
    let mut life = Life::of(&json!({}));
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_ANSWER: it knows another password".to_owned()));
    life.delete();
    let asked = life.status()["intervention"].clone();
    assert_eq!((&asked["reason"], &asked["answers"][1]["risk"]), (&json!("SnapshotFailed"), &json!("None")));
    // Both before the operator looks again.
    life.lets_go("data-db-0");
    assert_eq!(life.answer("keep-volumes"), path(&[]));
    let anew = life.status()["intervention"].clone();
    assert_ne!(anew["id"], asked["id"]);
    assert_eq!((&anew["reason"], &anew["answers"][1]["risk"]), (&json!("SnapshotFailed"), &json!("DataLoss")));
    assert!(life.status()["message"].to_string().contains(anew["id"].as_str().expect("an id")), "{}", life.status()["message"]);
    // Once.
    assert_eq!(life.after(), path(&[]));
    assert_eq!(life.status()["intervention"]["id"], anew["id"]);
    assert_eq!(life.answer("keep-volumes")[0], Phase::Retaining.text());
}

#[test]
fn a_topology_by_hand_is_not_believed() {
    let told = |life: &Life| life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology")["data"].clone();
    for (key, value) in
        [("primary", "1"), ("primary", ""), ("epoch", "5"), ("epoch", "2"), ("systemid", "123"), ("claim-0", "foo"), ("claim-x", "z")]
    {
        let mut life = Life::of(&json!({ "replicas": 2 }));
        let (before, system) = (told(&life), life.status()["system"].clone());
        let mut data = before.clone();
        data[key] = json!(value);
        life.cluster.edit(ChildKind::ConfigMap, "db-topology", "/data", data);
        life.after();
        assert_eq!((life.state().as_str(), told(&life)), ("Ready", before.clone()), "{key}={value}: {:?}", life.cluster.done);
        assert_eq!(life.status()["system"], system, "{key}={value}");
        assert!(life.cluster.done.iter().all(|done| !done.starts_with("delete Pod")), "{key}={value}: {:?}", life.cluster.done);
    }
}

#[test]
fn a_claim_that_lost_its_label_is_not_gone() {
    for claim in ["data-db-0", "data-db-1"] {
        let mut life = Life::of(&json!({ "replicas": 2 }));
        let labels =
            |life: &Life| life.cluster.get(ChildKind::PersistentVolumeClaim, claim).expect("a claim")["metadata"]["labels"].clone();
        let before = labels(&life);
        let mut fewer = before.clone();
        fewer.as_object_mut().expect("labels").remove("app.kubernetes.io/managed-by");
        life.cluster.edit(ChildKind::PersistentVolumeClaim, claim, "/metadata/labels", fewer);
        assert_eq!(life.after(), path(&[Phase::Degraded, Phase::Ready]), "{claim}");
        assert_eq!((labels(&life), life.cluster.done.len()), (before, 1), "{:?}", life.cluster.done);
    }
}

#[test]
fn what_was_asked_before_is_not_asked_again() {
    let mut life = Life::of(&json!({ "image": "postgres:17.1" }));
    // The edit is taken back while the image is asked.
    life.cluster.says.insert("probe.sh".to_owned(), (false, "FAILED: no".to_owned()));
    life.set(&json!({ "image": "postgres:17.2" }));
    life.until(|life| life.state() == Phase::Probing.text());
    assert_eq!(life.edit(&json!({ "image": "postgres:17.1" })), path(&[Phase::Ready]));
    assert!(!life.cluster.done.iter().any(|done| done.contains("create Job")), "{:?}", life.cluster.done);
}

#[test]
fn another_place_is_tried_at_once_where_an_image_is_asked() {
    let mut life = Life::of(&json!({}));
    let placed = |disk: &str| json!({ "image": "postgres:17.2", "podTemplate": { "spec": { "nodeSelector": { "disk": disk } } } });
    life.set(&placed("none"));
    life.until(|life| life.cluster.get(ChildKind::Job, "db-probe").is_some());
    // Its pod finds no node: it says nothing.
    let asked = |life: &Life| life.cluster.get(ChildKind::Job, "db-probe").map(|job| job["metadata"]["uid"].clone());
    let before = asked(&life);
    life.set(&placed("ssd"));
    for _ in 0..4 {
        life.look();
    }
    assert!(asked(&life).is_some() && asked(&life) != before, "{:?}", life.cluster.done);
}

#[test]
fn a_class_of_backups_that_does_not_exist_is_told_on_the_first_day() {
    let life = Life::of(&json!({ "backup": { "storage": { "storageClassName": "no-such" } } }));
    assert_eq!(life.condition("BackupsHealthy"), ("False".to_owned(), "NoStorageClass".to_owned()));
}

/// One whose database was begun, and whose Job has failed.
fn half_made() -> Life {
    let mut life = Life::unborn(&json!({}));
    life.cluster.says.insert("init.sh".to_owned(), (false, "FAILED: an extension cannot be made: no".to_owned()));
    life.settle();
    assert_eq!(life.status()["reason"], "InitJobFailed");
    life
}

/// One that is paused while its Job runs, which nobody reads any more.
fn made_unseen() -> Life {
    let mut life = Life::unborn(&json!({}));
    life.until(|life| life.state() == Phase::Initializing.text());
    annotated(&mut life, PAUSED, Some("true"));
    life.settle();
    assert_eq!((life.state(), &life.status()["initialized"]), (Phase::Paused.text(), &Value::Null));
    life
}

#[test]
fn what_was_begun_may_have_been_written_to_and_is_dumped_before_it_goes() {
    for mut life in [half_made(), made_unseen()] {
        life.delete();
        assert_eq!((life.cluster.object.is_none(), dumps(&life)), (true, 1), "{:?}: {:?}", life.path, life.cluster.done);
    }
}

#[test]
fn a_making_that_came_to_nothing_leaves_nothing_to_dump() {
    let nothing = || ("dump.sh".to_owned(), (false, "NO_DATABASE: there is no database shop".to_owned()));
    let mut life = half_made();
    life.cluster.says.extend([nothing()]);
    life.cluster.delete();
    life.until(|life| life.state() == Phase::Removing.text());
    let told = life.status()["conditions"].to_string();
    assert!(told.contains("there was no database to dump; removing the servers"), "{told}");
    assert_eq!(life.after(), path(&[Phase::Releasing]), "{:?}", life.cluster.done);
    // Where there was one, it is missed.
    let mut life = Life::of(&json!({}));
    life.cluster.says.extend([nothing()]);
    assert_eq!(life.delete(), path(&[Phase::SnapshottingBeforeDelete, Phase::RemovalBlocked]));
}

#[test]
fn a_policy_that_came_to_want_a_dump_while_nothing_was_made_gets_a_place_for_it() {
    let mut life = Life::of(&json!({ "deletionPolicy": "Delete" }));
    let claims = |life: &Life| life.cluster.names(ChildKind::PersistentVolumeClaim);
    assert_eq!(claims(&life), ["data-db-0"]);
    annotated(&mut life, PAUSED, Some("true"));
    life.settle();
    life.edit(&json!({ "deletionPolicy": "Snapshot" }));
    life.delete();
    assert_eq!((life.cluster.object.is_none(), claims(&life)), (true, vec!["db-backups".to_owned()]), "{:?}", life.cluster.done);
}

#[test]
fn what_is_made_while_a_protection_holds_is_dumped_too() {
    let mut life = half_made();
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_DATABASE: there is none".to_owned()));
    life.cluster.delete();
    life.until(|life| life.cluster.names(ChildKind::Pod).iter().any(|pod| pod.starts_with("db-dump-")));
    annotated(&mut life, PROTECTED, Some("true"));
    life.settle();
    assert_eq!(life.state(), Phase::RemovalBlocked.text());
    // Its making goes on meanwhile.
    life.cluster.says.remove("dump.sh");
    life.cluster.now += jiff::SignedDuration::from_mins(6);
    annotated(&mut life, PROTECTED, None);
    life.settle();
    assert_eq!((life.cluster.object.is_none(), dumps(&life)), (true, 2), "{:?}: {:?}", life.path, life.cluster.done);
}

#[test]
fn no_last_dump_is_written_into_a_strangers_claim() {
    let mut life = Life::of(&json!({ "deletionPolicy": "Delete" }));
    annotated(&mut life, PAUSED, Some("true"));
    life.settle();
    let claim =
        json!({ "metadata": { "name": "db-backups", "uid": "theirs" }, "spec": { "resources": { "requests": { "storage": "1Gi" } } } });
    life.cluster.things.insert((ChildKind::PersistentVolumeClaim, "db-backups".to_owned()), claim);
    life.edit(&json!({ "deletionPolicy": "Snapshot" }));
    assert_eq!(life.delete(), path(&[Phase::SnapshottingBeforeDelete, Phase::RemovalBlocked]));
    assert_eq!(life.cluster.get(ChildKind::Job, "db-snapshot"), None, "{:?}", life.cluster.done);
    let asked = life.status()["intervention"]["message"].to_string();
    assert!(asked.contains("PersistentVolumeClaim db-backups says: it is not this object's: no dump is written into it"), "{asked}");
    life.cluster.things.remove(&(ChildKind::PersistentVolumeClaim, "db-backups".to_owned()));
    life.answer("retry");
    assert_eq!((life.cluster.object.is_none(), dumps(&life)), (true, 1), "{:?}: {:?}", life.path, life.cluster.done);
}

#[test]
fn a_last_dump_that_failed_unseen_is_quoted() {
    let mut life = Life::of(&json!({}));
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_SPACE: the volume is full".to_owned()));
    life.cluster.delete();
    life.until(|life| dumps(life) == 1);
    // Nobody looks for longer than a dump may take.
    life.cluster.settles();
    life.cluster.settles();
    life.cluster.now += jiff::SignedDuration::from_mins(61);
    life.settle();
    assert_eq!((life.state(), dumps(&life)), (Phase::RemovalBlocked.text(), 1), "{:?}", life.cluster.done);
    let asked = life.status()["intervention"]["message"].to_string();
    assert!(asked.contains("NO_SPACE: the volume is full"), "{asked}");
}

#[test]
fn that_a_person_has_left_the_last_dump_out_is_what_is_told() {
    let mut life = Life::of(&json!({}));
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_SPACE: the volume is full".to_owned()));
    assert_eq!(life.delete().last(), path(&[Phase::RemovalBlocked]).last());
    let answer = format!("skip-snapshot-{}", life.status()["intervention"]["id"].as_str().expect("an open question"));
    annotated(&mut life, ANSWER, Some(&answer));
    for _ in 0..2 {
        life.look();
        let told = life.status()["conditions"].to_string();
        assert!(told.contains("without a last dump, as was answered; removing the servers"), "{told}");
    }
}
