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
fn the_last_dump_is_taken_through_the_address_of_who_took_over() {
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
    assert_eq!(address["spec"]["selector"]["statefulset.kubernetes.io/pod-name"], "db-0");
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
    while life.status()["more"]["restored"].is_null() && life.status()["restored"].is_null() {
        life.look();
        life.cluster.settles();
        assert!(life.path.len() < 20, "{}", life.status());
    }
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
    while tombstones(&life).is_empty() {
        life.look();
        life.cluster.settles();
    }
    assert_eq!(life.state(), Phase::Removing.text());
    // The operator is away, and whoever is connected writes on.
    life.cluster.now += jiff::SignedDuration::from_mins(6);
    let way = life.after();
    let dumped_again = [Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing];
    assert_eq!(way, path(&dumped_again));
    assert!(life.cluster.object.is_none(), "{:?}", life.cluster.done);
    assert_eq!(tombstones(&life), ["db-tombstone-00000", "db-tombstone-00000-2"]);
}
