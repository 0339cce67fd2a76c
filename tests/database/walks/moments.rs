//! What comes at a bad moment: a volume that has not grown yet, a deletion in a move, a source that is mended too late.

use super::cluster::Trouble;
use super::life::{Life, path};
use super::mended::moving;
use pointsman::kinds::database::Phase;
use pointsman::kinds::order::ChildKind;
use pointsman::machine::Word as _;
use serde_json::json;

fn log_of_writes(life: &Life) -> String {
    let map = life.cluster.get(ChildKind::ConfigMap, "db-settings").expect("settings");
    let text = map["data"]["reloaded.conf"].as_str().expect("a text");
    text.lines().find(|line| line.starts_with("wal_keep_size")).expect("a line").to_owned()
}

#[test]
fn a_log_of_writes_is_no_larger_than_its_volume_is_already() {
    let mut life = Life::of(&json!({ "storage": { "size": "1Gi" } }));
    assert_eq!(log_of_writes(&life), "wal_keep_size = '128MB'");
    life.cluster.troubles.insert(Trouble::StuckGrowth);
    assert_eq!(life.edit(&json!({ "storage": { "size": "8Gi" } })), path(&[Phase::ExpandingStorage]));
    assert_eq!(log_of_writes(&life), "wal_keep_size = '128MB'", "the volume may be full before it has grown");
    life.cluster.troubles.remove(&Trouble::StuckGrowth);
    assert_eq!(life.after(), path(&[Phase::Restarting, Phase::Ready]));
    assert_eq!(log_of_writes(&life), "wal_keep_size = '1024MB'");
}

#[test]
fn the_last_dump_is_taken_of_who_took_over() {
    let mut life = moving();
    life.cluster.delete();
    for _ in 0..50 {
        life.look();
        if life.cluster.get(ChildKind::Job, "db-snapshot").is_some() {
            break;
        }
        life.cluster.settles();
    }
    assert!(life.cluster.get(ChildKind::Job, "db-snapshot").is_some(), "{:?}", life.cluster.done);
    let address = life.cluster.get(ChildKind::Service, "db").expect("the address");
    assert_eq!(address["spec"]["selector"]["statefulset.kubernetes.io/pod-name"], "Nobody");
    let job = life.cluster.get(ChildKind::Job, "db-snapshot").expect("a Job").to_string();
    assert!(job.contains("\"db-0.db-pods."), "{job}");
    let primary = life.cluster.get(ChildKind::Pod, "db-0").expect("a pod");
    assert_eq!(primary["metadata"]["annotations"]["test/told"], "0", "it was made a primary by a start");
    life.settle();
    assert!(life.cluster.object.is_none(), "{:?}: {:?}", life.path, life.cluster.done);
}

#[test]
fn what_was_brought_back_is_not_taken_for_what_is_asked_for_since() {
    let from = |claim: &str| json!({ "replicas": 2, "restoreFrom": { "claimName": claim } });
    let mut life = Life::unborn(&from("old-backups"));
    life.cluster.away.insert(1);
    life.until(|life| !life.status()["restored"].is_null());
    life.settle();
    life.cluster.says.insert("restore.sh".to_owned(), (false, "RESTORED: the server holds what was brought back before".to_owned()));
    let way = life.edit(&from("new-backups"));
    assert_eq!(way.last(), path(&[Phase::HumanIntervention]).last(), "{way:?}");
    assert_eq!(life.status()["reason"], "RestoreFailed");
    life.cluster.away.clear();
    let way = life.edit(&from("old-backups"));
    assert_eq!(way.last(), path(&[Phase::Ready]).last(), "{way:?}");
}

#[test]
fn passwords_are_reset_while_a_rollback_stands() {
    let mut life = Life::of(&json!({ "image": "postgres:17.1" }));
    life.cluster.away.insert(0);
    life.edit(&json!({ "image": "postgres:17.2" }));
    life.cluster.now += jiff::SignedDuration::from_mins(11);
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life.cluster.away.clear();
    // The pod that waits is made anew where somebody says what is to become of it.
    let way = life.answer("rollback");
    assert_eq!(way.last(), path(&[Phase::RolledBack]).last(), "{way:?}");
    life.cluster.remove(ChildKind::Secret, "db-internal");
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    let way = life.answer("reset-passwords");
    assert_eq!(way, path(&[Phase::RollingBack, Phase::Initializing, Phase::RollingBack, Phase::RolledBack]));
    assert_eq!(life.status()["image"], "postgres:17.1");
}

#[test]
fn servers_that_outlive_their_last_dump_are_dumped_again() {
    let mut life = Life::of(&json!({}));
    life.cluster.delete();
    let tombstones = |life: &Life| {
        let maps = life.cluster.names(ChildKind::ConfigMap);
        maps.into_iter().filter(|name| name.starts_with("db-tombstone-")).collect::<Vec<_>>()
    };
    life.until(|life| !tombstones(life).is_empty());
    assert_eq!(life.state(), Phase::Removing.text());
    // The operator is away, and whoever is connected writes on.
    life.cluster.now += jiff::SignedDuration::from_mins(6);
    let way = life.after();
    let dumped_again = [Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing];
    assert_eq!(way, path(&dumped_again));
    assert!(life.cluster.object.is_none(), "{:?}", life.cluster.done);
    assert_eq!(tombstones(&life), ["db-tombstone-00000", "db-tombstone-00000-2"]);
}

#[test]
fn first_pods_that_come_late_are_filled_without_an_answer() {
    let mut life = Life::unborn(&json!({ "replicas": 2 }));
    life.cluster.away.extend([0, 1]);
    life.settle();
    life.cluster.now += jiff::SignedDuration::from_mins(31);
    life.settle();
    assert_eq!((life.state(), life.status()["reason"].as_str()), ("HumanIntervention".to_owned(), Some("ProvisioningStuck")));
    life.cluster.away.remove(&0);
    assert_eq!(life.after(), path(&[]), "one of them is not ready");
    life.cluster.away.clear();
    assert_eq!(life.after(), path(&[Phase::Initializing, Phase::Provisioning, Phase::Ready]));
}

#[test]
fn a_last_dump_that_outlasts_its_time_is_waited_for() {
    let mut life = Life::of(&json!({}));
    life.cluster.troubles.insert(Trouble::MuchData);
    assert_eq!(life.delete(), path(&[Phase::SnapshottingBeforeDelete]));
    life.cluster.now += jiff::SignedDuration::from_mins(61);
    assert_eq!(life.after(), path(&[Phase::RemovalBlocked]));
    let words = life.status()["intervention"]["evidence"][0]["words"].clone();
    assert_eq!(words, "it goes on; once it has ended well, this question closes");
    // An answer gives it more time, and takes nothing of what is done.
    assert_eq!(life.answer("retry"), path(&[Phase::SnapshottingBeforeDelete]));
    life.cluster.now += jiff::SignedDuration::from_mins(61);
    assert_eq!(life.after(), path(&[Phase::RemovalBlocked]));
    let jobs = life.cluster.names(ChildKind::Job);
    assert_eq!(jobs.iter().filter(|name| name.contains("snapshot") || name.contains("dump")).collect::<Vec<_>>(), ["db-snapshot"]);
    life.cluster.troubles.remove(&Trouble::MuchData);
    assert_eq!(life.after(), path(&[Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing]));
    assert!(life.cluster.object.is_none(), "{:?}", life.cluster.done);
}

#[test]
fn a_restore_that_outlasts_its_time_is_waited_for() {
    let mut life = Life::unborn(&json!({ "restoreFrom": { "claimName": "old-backups" } }));
    life.cluster.troubles.insert(Trouble::MuchData);
    life.settle();
    assert_eq!(life.state(), Phase::Restoring.text());
    life.cluster.now += jiff::SignedDuration::from_mins(31);
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    assert_eq!(life.answer("retry"), path(&[Phase::Restoring]));
    assert_eq!(life.cluster.done, [""; 0], "it was begun anew");
    life.cluster.now += jiff::SignedDuration::from_mins(31);
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life.cluster.troubles.remove(&Trouble::MuchData);
    assert_eq!(life.after(), path(&[Phase::Restoring, Phase::Initializing, Phase::Provisioning, Phase::Ready]));
}

/// Where applications connect to is nobody's to change; what somebody else keeps there is nobody's to remove.
#[test]
fn what_applications_read_beside_the_password_is_mended() {
    let mut life = Life::of(&json!({}));
    let secret = |life: &Life| life.cluster.get(ChildKind::Secret, "db-app").expect("a secret")["data"].clone();
    let before = secret(&life);
    life.cluster.edit(ChildKind::Secret, "db-app", "/data/host", json!("ZWxzZXdoZXJl"));
    life.cluster.edit(ChildKind::Secret, "db-app", "/data/uri", json!("ZWxzZXdoZXJl"));
    let way = life.after();
    assert_eq!((way.last(), secret(&life)), (path(&[Phase::Ready]).last(), before), "{way:?}");
    let thing = life.cluster.things.get_mut(&(ChildKind::Secret, "db-app".to_owned())).expect("a secret");
    thing["data"]["theirs"] = json!("a2VwdA==");
    assert_eq!(life.after(), path(&[]));
    assert_eq!(secret(&life)["theirs"], "a2VwdA==");
}

#[test]
fn settings_are_read_without_an_answer_once_the_server_that_missed_them_is_back() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.says.insert("generation.sh".to_owned(), (false, "NO_ANSWER: db-1 does not answer".to_owned()));
    life.cluster.away.insert(1);
    life.edit(&json!({ "replicas": 2, "parameters": { "work_mem": "8MB" } }));
    life.cluster.now += jiff::SignedDuration::from_mins(31);
    life.settle();
    assert_eq!(life.status()["reason"], "RolloutStuck", "{:?}", life.path);
    life.cluster.says.clear();
    life.cluster.away.clear();
    let way = life.after();
    assert_eq!(way, path(&[Phase::Restarting, Phase::Ready]));
}

#[test]
fn a_move_is_ended_before_an_image_is_asked_or_a_volume_grows() {
    for change in [json!({ "image": "postgres:17.2" }), json!({ "storage": { "size": "2Gi" } })] {
        let mut life = moving();
        let mut fields = change.clone();
        fields["replicas"] = json!(1);
        life.set(&fields);
        let before = life.path.len();
        let leads = |life: &Life| life.cluster.get(ChildKind::Service, "db").expect("a Service")["spec"]["selector"].to_string();
        let old = leads(&life);
        life.until(|life| {
            assert!(life.path[before..].iter().all(|state| *state == Phase::Scaling.text()), "{change}: {:?}", life.path);
            leads(life) != old
        });
        life.settle();
        assert_eq!(life.state(), Phase::Ready.text(), "{change}: {:?}", life.path);
    }
}

/// What a nightly backup met weeks ago is nobody's trouble today.
#[test]
fn a_backup_that_failed_explains_nothing_else() {
    let mut life = Life::of(&json!({ "replicas": 2, "backup": { "schedule": "0 2 * * *" } }));
    let full = json!({ "terminated": { "exitCode": 3, "message": "NO_SPACE: the volume is full" } });
    let labels =
        life.cluster.get(ChildKind::CronJob, "db").expect("a schedule")["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
            .clone();
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "db-29380001-x", "uid": "b-1", "labels": labels },
        "status": { "phase": "Failed", "containerStatuses": [{ "name": "job", "ready": false, "restartCount": 0, "image": "", "imageID": "", "state": full }] } });
    life.cluster.things.insert((ChildKind::Pod, "db-29380001-x".to_owned()), pod);
    life.cluster.away.insert(1);
    life.after();
    life.cluster.now += jiff::SignedDuration::from_mins(61);
    life.settle();
    let question = life.status()["intervention"].clone();
    assert_eq!(question["reason"], "PodsUnavailable", "{:?}", life.path);
    assert!(!question.to_string().contains("NO_SPACE"), "{question:#}");
    assert!(question["evidence"].to_string().contains("db-1"), "{question:#}");
}

#[test]
fn another_major_is_asked_about_for_as_long_as_the_tag_brings_it() {
    for other in [160_000, 180_000] {
        let mut life = Life::of(&json!({ "image": "postgres:latest" }));
        life.cluster.says.insert("probe.sh".to_owned(), (true, format!("OK version={other} settings= extensions=")));
        assert_eq!(life.edit(&json!({ "image": "postgres:newest" })), path(&[Phase::Probing, Phase::HumanIntervention]));
        let number = life.status()["intervention"]["number"].clone();
        assert_eq!(life.answer("retry"), path(&[Phase::Probing, Phase::HumanIntervention]), "{other}");
        assert_eq!(life.status()["reason"], "ProbeFailed");
        assert_ne!(life.status()["intervention"]["number"], number);
        // The tag brings what it brought before.
        life.cluster.says.clear();
        let way = life.answer("retry");
        assert_eq!((way.last(), &life.status()["image"]), (path(&[Phase::Ready]).last(), &json!("postgres:newest")), "{other}: {way:?}");
    }
}

#[test]
fn a_restore_that_failed_is_tried_again_by_one_answer() {
    let mut life = Life::unborn(&json!({ "restoreFrom": { "claimName": "old-backups" } }));
    life.cluster.says.insert("restore.sh".to_owned(), (false, "NO_BACKUP: there is no dump".to_owned()));
    life.settle();
    assert_eq!(life.status()["reason"], "RestoreFailed");
    life.cluster.says.clear();
    let way = life.answer("retry");
    assert_eq!(way.last(), path(&[Phase::Ready]).last(), "{way:?}: {:?}", life.cluster.done);
}

#[test]
fn a_primary_that_does_not_start_can_be_given_a_larger_volume() {
    let mut life = Life::of(&json!({}));
    life.cluster.away.insert(0);
    life.after();
    life.cluster.now += jiff::SignedDuration::from_mins(16);
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life.edit(&json!({ "storage": { "size": "2Gi" } }));
    let claim = life.cluster.get(ChildKind::PersistentVolumeClaim, "data-db-0").expect("a claim");
    assert_eq!(claim["status"]["capacity"]["storage"], "2Gi", "{:?}: {:?}", life.path, life.cluster.done);
    life.cluster.away.clear();
    assert_eq!(life.after().last(), path(&[Phase::Ready]).last(), "{:?}", life.path);
}

#[test]
fn settings_that_let_no_server_start_are_mended_on_the_primary_too() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    for ordinal in [0, 1] {
        life.cluster.crashes(ordinal, "FATAL:  could not map anonymous shared memory: Cannot allocate memory");
    }
    assert_eq!(life.after(), path(&[Phase::Unavailable]));
    let way = life.edit(&json!({ "replicas": 2, "parameters": { "max_connections": "50" } }));
    assert_eq!(way.last(), path(&[Phase::Ready]).last(), "{way:?}: {:?}", life.cluster.done);
}
