//! What goes wrong on the way, and is put right without a loss: servers that do not come back, Secrets, names, sizes, schedules.

use super::cluster::{Trouble, container};
use super::life::{Life, path};
use super::{is_promoted, promoted};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use pointsman::kinds::annotations::{PAUSED, PROTECTED};
use pointsman::kinds::database::Phase;
use pointsman::kinds::database::children::scripts;
use pointsman::kinds::order::ChildKind;
use pointsman::machine::Word as _;
use serde_json::{Value, json};

pub fn annotated(life: &mut Life, key: &str, value: Option<&str>) {
    let annotations = life.cluster.object.as_mut().expect("an object").annotations_mut();
    match value {
        Some(value) => drop(annotations.insert(key.to_owned(), value.to_owned())),
        None => drop(annotations.remove(key)),
    }
}

#[test]
fn where_no_pod_can_be_made_one_server_is_missed_and_no_more() {
    let mut life = Life::of(&json!({ "replicas": 3 }));
    life.cluster.troubles.insert(Trouble::Quota);
    let way = life.edit(&json!({ "replicas": 3, "podTemplate": { "spec": { "priorityClassName": "no-such" } } }));
    assert_eq!(way, path(&[Phase::Restarting]));
    let gone: Vec<&String> = life.cluster.done.iter().filter(|done| done.starts_with("delete Pod db-")).collect();
    assert_eq!(gone, ["delete Pod db-2"]);
    life.cluster.now += jiff::SignedDuration::from_mins(11);
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life.cluster.troubles.remove(&Trouble::Quota);
    assert_eq!(life.edit(&json!({ "replicas": 3 })), path(&[Phase::Restarting, Phase::Ready]));
}

/// Nobody watches Secrets, and what is shared or finished needs no label.
#[test]
fn a_label_that_was_lost_comes_back_alone_whichever_size_the_volumes_have_by_then() {
    let fields = |size: &str| json!({ "replicas": 2, "backup": { "schedule": "30 2 * * *" }, "storage": { "size": size } });
    let mut life = Life::of(&fields("1Gi"));
    life.edit(&fields("2Gi"));
    let is_watched = |kind, name: &str| ![ChildKind::Pod, ChildKind::Job, ChildKind::Secret].contains(&kind) && name.contains("db");
    let things: Vec<_> = life.cluster.things.keys().filter(|(kind, name)| is_watched(*kind, name)).cloned().collect();
    assert_eq!(things.len(), 12, "{things:?}");
    for (kind, name) in things {
        life.cluster.now += jiff::SignedDuration::from_hours(1);
        life.cluster.loses_its_label(kind, &name);
        life.after();
        assert!(
            matches!(&*life.cluster.done, [one] if one.ends_with(&format!("{kind:?} {name}"))),
            "{kind:?} {name}: {:?}",
            life.cluster.done
        );
        assert_eq!(life.state(), Phase::Ready.text());
    }
}

#[test]
fn a_finalizer_that_is_taken_off_is_put_on_again() {
    let mut life = Life::of(&json!({}));
    life.cluster.object.as_mut().expect("an object").metadata.finalizers = None;
    assert_eq!(life.after(), Vec::<String>::new());
    assert_eq!(life.cluster.object.as_ref().expect("an object").finalizers(), ["pointsman.dev/database"]);
    assert_eq!(life.cluster.done, ["patch the object"]);
}

#[test]
fn new_passwords_do_not_keep_what_is_missing_from_being_made() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    for (kind, name) in [(ChildKind::Secret, "db-app"), (ChildKind::StatefulSet, "db"), (ChildKind::Service, "db")] {
        life.cluster.remove(kind, name);
    }
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life.answer("reset-passwords");
    assert_eq!(life.state(), Phase::Ready.text(), "{:?}", life.cluster.done);
}

#[test]
fn a_name_that_is_mended_before_anybody_was_served_is_the_name_that_serves() {
    let bound = |life: &Life| {
        let uri = life.cluster.get(ChildKind::Secret, "db-app").expect("a Secret")["data"]["uri"].clone();
        String::from_utf8(serde_json::from_value::<k8s_openapi::ByteString>(uri).expect("base64").0).expect("a text")
    };
    // Before the database is made, and after.
    for (until, inits) in [(Phase::Provisioning, 1), (Phase::Initializing, 2)] {
        let mut life = Life::unborn(&json!({ "replicas": 2, "databaseName": "shpo" }));
        life.cluster.away.insert(1);
        life.until(|life| life.state() == until.text());
        life.until(|life| until != Phase::Initializing || life.state() != until.text());
        let password = bound(&life).split('@').next().expect("a password").to_owned();
        life.set(&json!({ "replicas": 2, "databaseName": "shop", "port": 5433 }));
        life.cluster.away.clear();
        life.settle();
        assert_eq!((life.state(), &life.status()["database"]), (Phase::Ready.text(), &json!("shop")), "{:?}", life.path);
        assert_eq!(bound(&life), format!("{password}@db.shop.svc:5433/shop"));
        let made = life.cluster.done.iter().filter(|done| *done == "create Job db-init").count();
        assert_eq!(made, inits, "{:?}", life.cluster.done);
    }
}

#[test]
fn a_growth_that_failed_can_be_taken_back() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.troubles.insert(Trouble::StuckGrowth);
    assert_eq!(life.edit(&json!({ "replicas": 2, "storage": { "size": "2Gi" } })), path(&[Phase::ExpandingStorage]));
    life.cluster.now += jiff::SignedDuration::from_mins(31);
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life.edit(&json!({ "replicas": 2 }));
    assert_eq!(life.state(), Phase::Ready.text(), "{}", life.status());
    // The volumes grow after all: nobody has asked for smaller ones.
    life.cluster.troubles.remove(&Trouble::StuckGrowth);
    life.edit(&json!({ "replicas": 1 }));
    assert_eq!(life.state(), Phase::Ready.text(), "{}", life.status());
}

#[test]
fn scripts_of_somebody_else_are_run_by_nobody() {
    let mut life = Life::unborn(&json!({}));
    let mut others = scripts::config_map("shop");
    others.object["data"]["start.sh"] = json!("cat /pointsman/internal/*");
    life.cluster.insert(&others.child, &others.object);
    assert_eq!(life.after().last(), path(&[Phase::HumanIntervention]).last(), "{:?}", life.path);
    assert_eq!(life.status()["reason"], "ChildConflict");
    let message = life.status()["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains(scripts::name()) && message.contains("is not ours; delete it"), "{message}");
    assert_eq!(life.cluster.names(ChildKind::Job), [""; 0]);
    life.cluster.remove(ChildKind::ConfigMap, scripts::name());
    life.answer("retry");
    assert_eq!(life.state(), Phase::Ready.text());
}

/// Whoever puts other scripts in their place would say himself that a last dump was taken.
#[test]
fn no_last_dump_is_taken_by_scripts_of_somebody_else() {
    let mut life = Life::of(&json!({ "backup": { "schedule": "0 2 * * *" } }));
    life.cluster.remove(ChildKind::ConfigMap, scripts::name());
    let mut others = scripts::config_map("shop");
    others.object["data"]["dump.sh"] = json!("echo OK folder=snapshot-20260102T030405Z");
    life.cluster.insert(&others.child, &others.object);
    life.settle();
    assert_eq!((life.state(), &life.status()["reason"]), (Phase::HumanIntervention.text(), &json!("ChildConflict")));
    assert_eq!(life.delete().last(), path(&[Phase::RemovalBlocked]).last(), "{:?}", life.path);
    let question = life.status()["intervention"].clone();
    assert_eq!(question["reason"], "SnapshotFailed");
    assert!(question["evidence"].to_string().contains("it does not hold this release's scripts"), "{question:#}");
    assert!(life.cluster.get(ChildKind::Job, "db-snapshot").is_none(), "{:?}", life.cluster.done);
    life.cluster.remove(ChildKind::ConfigMap, scripts::name());
    life.answer("retry");
    assert!(life.cluster.object.is_none(), "{}", life.status());
    assert_eq!(life.cluster.names(ChildKind::PersistentVolumeClaim), ["db-backups"]);
}

#[test]
fn a_node_that_grows_a_file_system_is_waited_for() {
    let mut life = Life::of(&json!({}));
    life.cluster.troubles.extend([Trouble::OfflineGrowth, Trouble::StuckGrowth]);
    life.edit(&json!({ "storage": { "size": "2Gi" } }));
    for state in ["NodeResizeInProgress", "NodeResizeInfeasible"] {
        life.cluster.things.get_mut(&(ChildKind::PersistentVolumeClaim, "data-db-0".to_owned())).expect("a claim")["status"]["allocatedResourceStatuses"] =
            json!({ "storage": state });
        life.cluster.now += jiff::SignedDuration::from_mins(4);
        assert_eq!(life.after(), path(&[]));
        assert!(!life.cluster.done.iter().any(|done| done == "delete Pod db-0"), "{state}: {:?}", life.cluster.done);
    }
}

#[test]
fn servers_restart_one_by_one_where_a_file_system_grows_only_at_a_start() {
    let mut life = Life::of(&json!({ "replicas": 3 }));
    life.cluster.troubles.insert(Trouble::OfflineGrowth);
    assert_eq!(life.edit(&json!({ "replicas": 3, "storage": { "size": "2Gi" } })), path(&[Phase::ExpandingStorage]));
    let restarted = |life: &Life| life.cluster.done.iter().filter(|done| done.starts_with("delete Pod ")).cloned().collect::<Vec<_>>();
    assert_eq!(restarted(&life), [""; 0], "the node may do it under the pods yet");
    life.cluster.now += jiff::SignedDuration::from_mins(4);
    assert_eq!(life.after(), path(&[Phase::Restarting, Phase::Ready]));
    assert_eq!(restarted(&life), ["delete Pod db-2", "delete Pod db-1", "delete Pod db-0"]);
}

#[test]
fn a_volume_that_does_not_grow_at_a_start_either_restarts_its_server_once() {
    let mut life = Life::of(&json!({}));
    life.cluster.troubles.extend([Trouble::OfflineGrowth, Trouble::StuckGrowth]);
    assert_eq!(life.edit(&json!({ "storage": { "size": "2Gi" } })), path(&[Phase::ExpandingStorage]));
    let restarts = [0; 3].map(|_| {
        life.cluster.now += jiff::SignedDuration::from_mins(4);
        assert_eq!(life.after(), path(&[]));
        life.cluster.done.iter().filter(|done| *done == "delete Pod db-0").count()
    });
    assert_eq!(restarts, [1, 0, 0]);
    life.cluster.now += jiff::SignedDuration::from_mins(31);
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    let evidence = life.status()["intervention"]["evidence"].to_string();
    assert!(evidence.contains("FileSystemResizePending: Waiting for user to (re-)start a pod"), "{evidence}");
}

#[test]
fn a_backup_is_not_missing_before_its_schedule_asked_for_it() {
    let mut life = Life::of(&json!({}));
    let healthy = ("True".to_owned(), "OnSchedule".to_owned());
    for (backup, days) in [
        (json!({ "schedule": "0 2 * * 0" }), 5),
        (json!({ "schedule": "0 2 * * *" }), 1),
        (json!({ "schedule": "0 2 * * *", "suspend": true }), 9),
        (json!({ "schedule": "0 2 * * *" }), 0),
    ] {
        life.edit(&json!({ "backup": backup }));
        if backup["suspend"].is_null() {
            assert_eq!(life.condition("BackupsHealthy"), healthy, "{backup}");
        }
        life.cluster.now += jiff::SignedDuration::from_hours(24 * days);
        life.settle();
    }
    life.cluster.now += jiff::SignedDuration::from_hours(50);
    life.settle();
    assert_eq!(life.condition("BackupsHealthy").1, "Missed");
}

#[test]
fn a_dump_counts_for_as_long_as_nobody_can_write() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.troubles.insert(Trouble::SilentNode);
    assert_eq!(life.delete(), path(&[Phase::SnapshottingBeforeDelete, Phase::Removing]));
    life.cluster.now += jiff::SignedDuration::from_mins(11);
    assert_eq!(life.after(), path(&[Phase::RemovalBlocked]));
    annotated(&mut life, PROTECTED, Some("true"));
    life.answer("retry");
    assert_eq!((life.state(), &life.status()["reason"]), (Phase::RemovalBlocked.text(), &json!("Protected")));
    annotated(&mut life, PROTECTED, None);
    assert!(life.status()["snapshot"].is_object(), "the dump is forgotten");
    life.cluster.lets_go();
    assert_eq!(life.after(), path(&[Phase::Removing, Phase::Releasing]), "{:?}", life.cluster.done);
}

/// Looks until the servers are told so.
fn is_told(life: &mut Life, key: &str, value: &str) {
    let told = |life: &Life| life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology")["data"][key].clone();
    for _ in 0..50 {
        if told(life) == value {
            return;
        }
        life.look();
        life.cluster.settles();
    }
    panic!("{key} is {}, not {value:?}: {:?}", told(life), life.cluster.done);
}

/// One whose primary was told to go.
pub fn moving() -> Life {
    let mut life = promoted();
    life.set(&json!({ "replicas": 1 }));
    is_told(&mut life, "fenced", "1");
    life
}

/// The last of three times comes when it has served for a minute, and no fourth one before a person has said so.
#[test]
fn a_move_that_nobody_can_complete_is_asked_about_after_three_fences() {
    fn fences(life: &Life) -> Value {
        life.status()["fences"]["count"].clone()
    }
    fn asked(mut life: Life) -> Life {
        for _ in 0..3 {
            life.settle();
            life.cluster.now += jiff::SignedDuration::from_mins(1);
        }
        life.settle();
        assert_eq!((life.state(), &life.status()["reason"]), (Phase::HumanIntervention.text(), &json!("SwitchoverStuck")));
        assert_eq!(life.status()["primary"], "db-1", "it serves");
        life
    }
    let mut life = promoted();
    life.cluster.behind.insert(0);
    life.set(&json!({ "replicas": 1 }));
    life.settle();
    assert_eq!((fences(&life), life.state()), (json!(2), Phase::Scaling.text()), "{:?}", life.path);
    let mut life = asked(life);
    assert_eq!(fences(&life), 3);
    let evidence = life.status()["intervention"]["evidence"].to_string();
    assert!(evidence.contains("it ended 3 times so that another could take over") && evidence.contains("spec.replicas of 2"), "{evidence}");
    // It is tried three more times where a person says so.
    life.answer("retry");
    assert_eq!(fences(&life), 2);
    let mut life = asked(life);
    // And once somebody holds all that it wrote, another one takes over.
    life.cluster.behind.clear();
    life.answer("retry");
    assert_eq!((life.state(), &life.status()["primary"]), (Phase::Ready.text(), &json!("db-0")), "{:?}", life.path);
    assert_eq!(fences(&life), Value::Null);

    let mut life = promoted();
    life.cluster.behind.insert(0);
    life.set(&json!({ "replicas": 1 }));
    let mut life = asked(life);
    // Whoever lets it stay what it is has answered.
    life.set(&json!({ "replicas": 2 }));
    life.settle();
    assert_eq!((life.state(), &life.status()["primary"]), (Phase::Ready.text(), &json!("db-1")), "{:?}", life.path);
    // And the next move is another one.
    life.cluster.behind.clear();
    life.set(&json!({ "replicas": 1 }));
    life.settle();
    assert_eq!((life.state(), &life.status()["primary"]), (Phase::Ready.text(), &json!("db-0")), "{:?}", life.path);
}

/// One whose primary was told to go, and whose heir went away meanwhile.
fn without_an_heir() -> Life {
    let mut life = moving();
    life.cluster.away.insert(0);
    life
}

#[test]
fn who_lacks_what_the_primary_wrote_last_does_not_follow_it() {
    let mut life = promoted();
    life.cluster.behind.insert(0);
    life.set(&json!({ "replicas": 1 }));
    is_told(&mut life, "fenced", "1");
    let epoch = life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology")["data"]["epoch"].clone();
    is_told(&mut life, "primary", "1");
    is_told(&mut life, "epoch", epoch.as_str().expect("a number"));
    life.cluster.behind.clear();
    assert_eq!(life.after().last(), path(&[Phase::Ready]).last());
    assert_eq!(life.status()["primary"], "db-0");
}

#[test]
fn without_an_heir_the_old_primary_serves_on() {
    let mut life = without_an_heir();
    life.settle();
    assert_eq!(life.status()["primary"], "db-1", "{:?}", life.cluster.done);
    assert_eq!(life.cluster.get(ChildKind::Pod, "db-1").expect("a pod")["status"]["conditions"][0]["status"], "True");
    life.cluster.away.clear();
    assert_eq!(life.after(), path(&[Phase::Ready]));
    assert_eq!(life.status()["primary"], "db-0");
}

#[test]
fn a_pause_waits_until_somebody_takes_writes() {
    let mut life = without_an_heir();
    annotated(&mut life, PAUSED, Some("true"));
    life.look();
    assert_eq!(life.condition("Paused"), ("False".to_owned(), "Deferred".to_owned()));
    assert!(life.status()["conditions"].to_string().contains("not paused yet: the operator first ends"), "{}", life.status());
    assert_eq!(life.after().last(), path(&[Phase::Paused]).last());
    assert_ne!(life.status()["primary"], Value::Null, "nobody takes writes");
}

/// The pod that writers are led to, and the one that is named.
fn led_and_named(life: &Life) -> (Value, String) {
    let service = life.cluster.get(ChildKind::Service, "db").expect("a Service");
    let topology = life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology");
    let named = topology["data"]["primary"].as_str().expect("an ordinal");
    (service["spec"]["selector"]["statefulset.kubernetes.io/pod-name"].clone(), format!("db-{named}"))
}

#[test]
fn a_pause_at_any_moment_of_a_move_leaves_writers_with_a_primary() {
    let mut moved = 0;
    for looks in 0..20 {
        let mut life = promoted();
        life.set(&json!({ "replicas": 1 }));
        for _ in 0..looks {
            life.look();
            life.cluster.settles();
        }
        annotated(&mut life, PAUSED, Some("true"));
        life.settle();
        assert_eq!(life.state(), Phase::Paused.text());
        let (led, named) = led_and_named(&life);
        assert_eq!(led, named.as_str(), "after {looks} looks: {:?}", life.cluster.done);
        let writer = life.cluster.get(ChildKind::Pod, &named).expect("a pod");
        assert_eq!(writer["metadata"]["labels"]["pointsman.dev/role"], Value::Null, "after {looks} looks it serves readers");
        moved += usize::from(named == "db-0");
    }
    assert!((1..20).contains(&moved), "{moved} of 20 had moved");
}

#[test]
fn writers_follow_a_primary_that_comes_while_a_question_is_open() {
    let mut life = moving();
    is_told(&mut life, "primary", "0");
    life.cluster.away.insert(0);
    life.settle();
    life.cluster.now += jiff::SignedDuration::from_mins(16);
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]), "{:?}", life.cluster.done);
    // The question may have come before they were led there.
    life.cluster.edit(ChildKind::Service, "db", "/spec/selector/statefulset.kubernetes.io~1pod-name", json!("db-1"));
    assert_eq!(life.after(), Vec::<String>::new(), "it takes no writes yet");
    assert_eq!(led_and_named(&life), (json!("db-1"), "db-0".to_owned()));
    life.cluster.away.clear();
    life.settle();
    assert_eq!(led_and_named(&life), (json!("db-0"), "db-0".to_owned()), "{}: {:?}", life.state(), life.cluster.done);
}

#[test]
fn a_deletion_ends_what_was_begun_before_it_takes_the_dump() {
    let mut life = without_an_heir();
    life.delete();
    assert!(life.cluster.object.is_none(), "{:?}: {:?}", life.path, life.cluster.done);
}

impl Life {
    /// The replica's server says that it holds what the primary lacks.
    pub fn diverges(&mut self) {
        let end = json!({ "terminated": { "exitCode": 3, "message": "DIVERGED: this volume was a primary" } });
        self.cluster.away.insert(1);
        let mut status = self.cluster.get(ChildKind::Pod, "db-1").expect("a pod")["status"].clone();
        status["containerStatuses"] = container("postgresql", 1, &end);
        self.cluster.edit(ChildKind::Pod, "db-1", "/status", status);
    }
}

/// One whose replica holds what the primary lacks.
fn diverged() -> Life {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.diverges();
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    assert_eq!(life.status()["reason"], "ReplicaDiverged");
    life
}

#[test]
fn what_a_diverged_replica_alone_holds_does_not_go_with_a_dump_of_the_primary() {
    let mut life = diverged();
    let claims = life.claims();
    assert_eq!(life.delete().last(), path(&[Phase::RemovalBlocked]).last(), "{:?}", life.cluster.done);
    assert_eq!((&life.status()["reason"], life.claims()), (&json!("DumpIncomplete"), claims));
    let message = life.status()["intervention"]["message"].as_str().expect("a message").to_owned();
    let expected = "PersistentVolumeClaim data-db-1 says: its server said that it holds what the primary lacks: this volume was a primary";
    assert!(message.ends_with(expected), "{message}");
    life.answer("skip-snapshot");
    assert!(life.cluster.object.is_none(), "{:?}", life.path);
}

/// Its server is scaled away, or cannot start just now.
#[test]
fn what_a_diverged_replica_has_said_is_remembered_when_its_pod_goes() {
    for is_scaled in [true, false] {
        let mut life = diverged();
        let claims = life.claims();
        if is_scaled {
            life.set(&json!({ "replicas": 1 }));
            assert_eq!(life.answer("retry").last(), path(&[Phase::Ready]).last(), "{:?}", life.cluster.done);
        } else {
            life.cluster.remove(ChildKind::Pod, "db-1");
            life.settle();
        }
        assert_eq!(life.delete().last(), path(&[Phase::RemovalBlocked]).last(), "{is_scaled}: {:?}", life.cluster.done);
        assert_eq!((&life.status()["reason"], life.claims()), (&json!("DumpIncomplete"), claims));
        // Whoever gives it up lets the object go.
        life.cluster.remove(ChildKind::PersistentVolumeClaim, "data-db-1");
        life.settle();
        assert!(life.cluster.object.is_none(), "{is_scaled}: {:?} {:#}", life.path, life.status());
    }
}

#[test]
fn nobody_is_led_away_while_the_topology_is_made_anew() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.remove(ChildKind::ConfigMap, "db-topology");
    life.after();
    assert_eq!((life.state(), &life.cluster.done), (Phase::Ready.text(), &vec!["create ConfigMap db-topology".to_owned()]));
}

#[test]
fn one_that_has_diverged_is_tried_again_by_one_answer() {
    let mut life = diverged();
    life.cluster.away.clear();
    assert_eq!(life.answer("retry"), path(&[Phase::Degraded, Phase::Ready]), "{:?}", life.cluster.done);
}

/// As after a restore of etcd: the volumes have seen the primary move, and nobody else knows of it. With the claims of before.
fn put_back() -> (Life, Vec<(String, String)>) {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    let (then, claims) = (life.cluster.clone(), life.claims());
    is_promoted(&mut life);
    life.cluster.put_back(&then);
    (life, claims)
}

#[test]
fn a_cluster_that_was_put_back_to_before_a_move_believes_the_volumes_when_told_to() {
    let (mut life, claims) = put_back();
    assert_eq!(life.after().last(), path(&[Phase::HumanIntervention]).last(), "{:?}", life.cluster.done);
    let question = life.status()["intervention"].clone();
    assert_eq!(question["reason"], "TopologyBehind", "{question:#}");
    let evidence = question["evidence"].to_string();
    assert!(
        evidence.contains("its volume was used as the primary in epoch 2; the last primary that is known is db-0 of epoch 1"),
        "{evidence}"
    );
    life.answer("retry");
    assert_eq!(life.status()["reason"], "TopologyBehind", "{:?}", life.path);
    let effect = &life.status()["intervention"]["answers"][1]["effect"];
    let expected = "makes db-1 the primary, as the volumes of epoch 2 say; what another one took since stays on that one's volume alone";
    assert_eq!(effect, expected);
    assert_eq!(life.answer("believe-volumes").last(), path(&[Phase::Ready]).last(), "{:?}\n{:#}", life.path, life.status());
    assert_eq!(life.status()["primary"], "db-1");
    let topology = life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology");
    assert_eq!((&topology["data"]["primary"], &topology["data"]["epoch"]), (&json!("1"), &json!("2")));
    assert_eq!(life.claims(), claims);
}

/// The API server's data was put back to before all pods were ready for the first time, and fewer are wanted since.
#[test]
fn a_primary_that_was_moved_before_the_data_was_put_back_moves_again() {
    let (mut life, _) = put_back();
    life.settle();
    assert_eq!(life.status()["reason"], "TopologyBehind", "{:?}", life.path);
    life.answer("believe-volumes");
    assert_eq!((life.state(), &life.status()["primary"]), (Phase::Ready.text(), &json!("db-1")), "{:?}", life.path);
    life.set(&json!({ "replicas": 1 }));
    let status = life.cluster.object.as_mut().expect("an object").status.as_mut().expect("a status");
    (status.last_good, status.state) = (None, Some(Phase::Provisioning.text()));
    life.settle();
    assert_eq!(life.state(), Phase::Ready.text(), "{:?}\n{:#}", life.path, life.status());
    assert_eq!((&life.status()["primary"], &life.status()["readyReplicas"]), (&json!("db-0"), &json!(1)));
}

/// The only volume that holds all was lost after the question was asked: an answer that would do nothing is not offered any more.
#[test]
fn what_nobody_can_believe_any_more_is_not_offered() {
    let (mut life, _) = put_back();
    life.settle();
    let verbs = |life: &Life| {
        let offers = life.status()["intervention"]["answers"].as_array().cloned().unwrap_or_default();
        offers.iter().map(|offer| offer["verb"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(verbs(&life), ["retry", "believe-volumes"]);
    life.cluster.remove(ChildKind::PersistentVolumeClaim, "data-db-1");
    life.after();
    assert_eq!(life.state(), Phase::HumanIntervention.text(), "{:?}", life.path);
    assert_eq!(verbs(&life), ["retry"]);
}

/// Whoever was named did not start before the API server's data was put back: its replicas know it.
#[test]
fn a_primary_that_was_named_and_never_started_is_believed_by_its_replicas() {
    let (mut life, claims) = put_back();
    let volume = life.cluster.get(ChildKind::PersistentVolumeClaim, "data-db-1").expect("a claim")["metadata"]["uid"].clone();
    life.cluster.markers.insert(volume.as_str().expect("a uid").to_owned(), (1, false, "0".to_owned()));
    life.settle();
    // A server that runs for a minute has read its volume.
    life.cluster.now += jiff::SignedDuration::from_mins(2);
    life.settle();
    let question = life.status()["intervention"].clone();
    assert_eq!(question["reason"], "TopologyBehind", "{question:#}");
    assert!(question["evidence"].to_string().contains("its volume was used as a replica of db-1 in epoch 2"), "{question:#}");
    life.answer("believe-volumes");
    assert_eq!((life.state(), &life.status()["primary"]), (Phase::Ready.text(), &json!("db-1")), "{:?}", life.path);
    assert_eq!(life.claims(), claims);
}

/// The volume of whoever was named was replaced by a copy of the primary before: what was written since is not on it.
#[test]
fn a_primary_on_another_volume_than_before_is_not_believed() {
    let mut life = Life::of(&json!({ "replicas": 3 }));
    let then = life.cluster.clone();
    is_promoted(&mut life);
    life.cluster.put_back(&then);
    life.cluster.away.insert(2);
    life.settle();
    life.cluster.remove(ChildKind::PersistentVolumeClaim, "data-db-1");
    life.cluster.remove(ChildKind::Pod, "db-1");
    life.settle();
    life.cluster.away.clear();
    life.settle();
    life.cluster.now += jiff::SignedDuration::from_hours(1);
    life.settle();
    life.answer("believe-volumes");
    assert_eq!((life.state(), &life.status()["primary"]), (Phase::HumanIntervention.text(), &json!("db-0")), "{:?}", life.path);
}

/// The primary that was moved away from starts, since its volume says what it is told; the one after it does not.
#[test]
fn nobody_is_led_to_a_primary_that_another_one_has_followed() {
    let read_from =
        |life: &Life| life.cluster.get(ChildKind::Service, "db-ro").expect("a Service")["spec"]["selector"]["pointsman.dev/role"].clone();
    let mut life = promoted();
    let then = life.cluster.clone();
    assert_eq!(life.edit(&json!({ "replicas": 1 })), path(&[Phase::Scaling, Phase::Ready]));
    life.cluster.put_back(&then);
    life.settle();
    assert_eq!((life.state(), &life.status()["reason"]), (Phase::HumanIntervention.text(), &json!("TopologyBehind")), "{:?}", life.path);
    assert_eq!(life.status()["primary"], "db-1");
    assert_eq!((led_and_named(&life).0, read_from(&life)), (json!("Nobody"), json!("replica")));
    // Nor where a hand leads them there.
    life.cluster.edit(ChildKind::Service, "db", "/spec/selector", json!({ "statefulset.kubernetes.io/pod-name": "db-1" }));
    life.settle();
    assert_eq!(led_and_named(&life).0, json!("Nobody"));
    life.answer("believe-volumes");
    assert_eq!((life.state(), led_and_named(&life).0), (Phase::Ready.text(), json!("db-0")), "{:?}", life.path);
}

/// The server that knows of a later primary is drained, and starts nowhere.
fn followed_by_one_that_is_away() -> Life {
    let mut life = promoted();
    let then = life.cluster.clone();
    assert_eq!(life.edit(&json!({ "replicas": 1 })), path(&[Phase::Scaling, Phase::Ready]));
    life.cluster.put_back(&then);
    life.settle();
    assert_eq!((&life.status()["reason"], led_and_named(&life).0), (&json!("TopologyBehind"), json!("Nobody")), "{:?}", life.path);
    life.cluster.markers.retain(|_, (epoch, ..)| *epoch < 3);
    life.cluster.away.insert(0);
    life.cluster.remove(ChildKind::Pod, "db-0");
    life.settle();
    life
}

#[test]
fn what_a_volume_has_said_is_remembered_when_its_pod_goes() {
    let mut life = followed_by_one_that_is_away();
    assert_eq!(led_and_named(&life).0, json!("Nobody"), "{:#}", life.status());
    assert_eq!(life.condition("Available"), ("False".to_owned(), "PrimarySuperseded".to_owned()));
    assert_eq!(life.delete().last(), path(&[Phase::RemovalBlocked]).last(), "{:?}", life.cluster.done);
    assert_eq!(life.status()["reason"], "DumpIncomplete");
    let evidence = life.status()["intervention"]["evidence"].to_string();
    assert!(evidence.contains("it was used in epoch 3, and its server says nothing now"), "{evidence}");
}

/// An heir is there, but another one of the epoch of the volume that is away would be taken for it.
#[test]
fn the_primary_is_not_moved_while_a_volume_knows_of_a_later_one() {
    let mut life = Life::of(&json!({ "replicas": 3 }));
    for (key, value) in [("primary", "2"), ("epoch", "2")] {
        life.cluster.edit(ChildKind::ConfigMap, "db-topology", &format!("/data/{key}"), json!(value));
    }
    for pod in ["db-0", "db-2"] {
        life.cluster.remove(ChildKind::Pod, pod);
    }
    life.settle();
    assert_eq!((life.state(), &life.status()["primary"]), (Phase::Ready.text(), &json!("db-2")), "{:?}", life.path);
    let then = life.cluster.clone();
    assert_eq!(life.edit(&json!({ "replicas": 2 })), path(&[Phase::Scaling, Phase::Ready]));
    assert_eq!(life.status()["primary"], "db-0");
    life.cluster.put_back(&then);
    life.settle();
    life.cluster.away.insert(0);
    life.cluster.remove(ChildKind::Pod, "db-0");
    life.settle();
    assert_eq!((&life.status()["primary"], led_and_named(&life).0), (&json!("db-2"), json!("Nobody")), "{:?}", life.path);
    let fences = |life: &Life| life.status()["fences"].clone();
    let before = fences(&life);
    life.answer("retry");
    life.set(&json!({ "replicas": 2 }));
    life.settle();
    let topology = life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology")["data"].clone();
    assert_eq!((&topology["primary"], &topology["epoch"], fences(&life)), (&json!("2"), &json!("2"), before), "{:?}", life.path);
}

#[test]
fn what_a_volume_has_said_is_not_forgotten_while_no_watch_shows_it() {
    let mut life = followed_by_one_that_is_away();
    let before = life.status()["laterEpochs"].clone();
    life.cluster.unseen.insert((ChildKind::PersistentVolumeClaim, "data-db-0".to_owned()));
    life.settle();
    assert_eq!((&life.status()["laterEpochs"], led_and_named(&life).0), (&before, json!("Nobody")), "{:?}", life.path);
}

#[test]
fn a_volume_that_is_gone_says_no_more() {
    let mut life = followed_by_one_that_is_away();
    life.cluster.away.clear();
    life.cluster.remove(ChildKind::PersistentVolumeClaim, "data-db-0");
    life.settle();
    assert_eq!((life.state(), led_and_named(&life).0), (Phase::Ready.text(), json!("db-1")), "{:?}", life.path);
    assert!(life.status()["laterEpochs"].is_null());
}

/// Whoever was the primary ends late, when the question is open already.
#[test]
fn a_move_goes_on_although_its_time_was_over() {
    let mut life = promoted();
    life.set(&json!({ "replicas": 1 }));
    life.until(|life| life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology")["data"]["primary"] == "");
    life.cluster.troubles.insert(Trouble::Quota);
    life.cluster.remove(ChildKind::Pod, "db-1");
    life.settle();
    life.cluster.now += jiff::SignedDuration::from_hours(1);
    life.settle();
    assert_eq!((life.state(), &life.status()["reason"]), (Phase::HumanIntervention.text(), &json!("RolloutStuck")), "{:?}", life.path);
    life.cluster.troubles.remove(&Trouble::Quota);
    life.settle();
    assert_eq!((life.state(), &life.status()["primary"]), (Phase::Ready.text(), &json!("db-0")), "{:?}", life.path);
}

#[test]
fn a_primary_that_a_hand_shows_to_readers_is_not_restarted() {
    let role = |life: &Life| life.cluster.get(ChildKind::Pod, "db-0").expect("a pod")["metadata"]["labels"]["pointsman.dev/role"].clone();
    let shown = |life: &mut Life| {
        let mut labels = life.cluster.get(ChildKind::Pod, "db-0").expect("a pod")["metadata"]["labels"].clone();
        labels["pointsman.dev/role"] = json!("replica");
        life.cluster.edit(ChildKind::Pod, "db-0", "/metadata/labels", labels);
    };
    let mut life = Life::of(&json!({ "replicas": 2 }));
    shown(&mut life);
    assert_eq!(life.after(), [""; 0]);
    assert_eq!((role(&life), &life.cluster.done), (Value::Null, &vec!["patch Pod db-0".to_owned()]));
    // Nor is it shown by us while nobody knows who the primary is.
    life.cluster.remove(ChildKind::Secret, "db-app");
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life.cluster.remove(ChildKind::ConfigMap, "db-topology");
    life.after();
    assert_eq!(role(&life), Value::Null);
    life.answer("reset-passwords");
    assert_eq!(life.state(), Phase::Ready.text(), "{:?}", life.path);
}

#[test]
fn a_fight_over_what_was_rolled_back_is_asked_about() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.away.extend([0, 1]);
    life.set(&json!({ "replicas": 2, "podTemplate": { "spec": { "priorityClassName": "no-such" } } }));
    life.settle();
    life.cluster.now += jiff::SignedDuration::from_hours(1);
    life.settle();
    assert_eq!(life.state(), Phase::HumanIntervention.text(), "{:?}", life.path);
    life.cluster.away.clear();
    life.answer("rollback");
    assert_eq!(life.state(), Phase::RolledBack.text(), "{:?}", life.path);
    for _ in 0..4 {
        life.cluster.remove(ChildKind::Service, "db-pods");
        assert_eq!(life.after(), path(&[Phase::RollingBack, Phase::RolledBack]));
    }
    life.cluster.remove(ChildKind::Service, "db-pods");
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    assert_eq!(life.status()["reason"], "DriftFought");
}

/// Nobody is served by it at once, so nothing moves when it is mended; another writer is asked about all the same.
#[test]
fn a_fight_over_the_schedule_of_backups_is_asked_about() {
    let at = |schedule: &str| json!({ "backup": { "schedule": schedule } });
    let mut life = Life::of(&at("0 2 * * *"));
    for hour in ["3", "4", "5", "6", "7"] {
        assert_eq!(life.edit(&at(&format!("0 {hour} * * *"))), path(&[]), "a user's own changes are no fight");
    }
    for cpu in ["10m", "20m", "30m", "40m", "50m"] {
        life.edit(&json!({ "backup": { "schedule": "0 2 * * *" }, "resources": { "requests": { "cpu": cpu } } }));
        assert_eq!((life.state(), &life.status()["driftTimes"]), (Phase::Ready.text(), &Value::Null), "a user's own changes are no fight");
    }
    let suspended = |life: &mut Life| {
        life.cluster.edit(ChildKind::CronJob, "db", "/spec/suspend", json!(true));
        life.cluster.now += jiff::SignedDuration::from_secs(30);
        life.after()
    };
    let asked = (0..9).position(|_| suspended(&mut life) == path(&[Phase::HumanIntervention]));
    assert_eq!((asked, &life.status()["reason"]), (Some(4), &json!("DriftFought")), "{:?}", life.path);
    let subjects = life.status()["intervention"]["subjects"].clone();
    assert_eq!((&subjects[0]["kind"], &subjects[0]["field"]), (&json!("CronJob"), &json!("/spec/suspend")), "{subjects:#}");
    life.answer("yield");
    assert_eq!(suspended(&mut life), path(&[]), "{:?}", life.path);
    assert_eq!(life.cluster.get(ChildKind::CronJob, "db").expect("it is there")["spec"]["suspend"], json!(true));
}

/// The volume that knows best is not among those that say so.
#[test]
fn volumes_are_not_believed_while_that_of_the_last_primary_is_silent() {
    let (mut life, _) = put_back();
    // Its volume says nothing yet: the image is pulled.
    let markers = life.cluster.markers.clone();
    life.cluster.markers.retain(|_, (_, is_primary, _)| !*is_primary);
    life.until(|life| life.cluster.get(ChildKind::Pod, "db-1").is_some());
    let mut status = life.cluster.get(ChildKind::Pod, "db-1").expect("a pod")["status"].clone();
    status["containerStatuses"] = json!([{ "name": "postgresql", "ready": false, "restartCount": 0, "image": "", "imageID": "",
        "state": { "waiting": { "reason": "ContainerCreating" } } }]);
    life.cluster.edit(ChildKind::Pod, "db-1", "/status", status);
    life.settle();
    assert_eq!(life.state(), Phase::Unavailable.text(), "{:?}", life.path);
    life.cluster.now += jiff::SignedDuration::from_hours(1);
    life.settle();
    let offered = |life: &Life| {
        let question = life.status()["intervention"].clone();
        let answers = question["answers"].as_array().expect("answers").iter().map(|answer| answer["verb"].clone()).collect::<Vec<_>>();
        (question["reason"].clone(), answers)
    };
    assert_eq!(offered(&life), (json!("PodsUnavailable"), vec![json!("retry")]));
    life.cluster.markers = markers;
    life.answer("retry");
    assert_eq!(offered(&life), (json!("TopologyBehind"), vec![json!("retry"), json!("believe-volumes")]));
}

#[test]
fn no_volume_that_knows_more_goes_with_a_dump_of_one_that_does_not() {
    let (mut life, claims) = put_back();
    life.cluster.markers.values_mut().filter(|(_, is_primary, _)| !*is_primary).for_each(|marker| *marker = (1, true, "0".to_owned()));
    life.settle();
    assert_eq!(life.status()["reason"], "TopologyBehind", "{:?}", life.path);
    assert_eq!(life.delete().last(), path(&[Phase::RemovalBlocked]).last(), "{:?}", life.cluster.done);
    assert_eq!(life.status()["reason"], "DumpIncomplete");
    let evidence = life.status()["intervention"]["evidence"].to_string();
    assert!(evidence.contains("its volume was used as the primary in epoch 2"), "{evidence}");
    life.answer("retry");
    assert_eq!(life.status()["reason"], "DumpIncomplete", "{:?}", life.cluster.done);
    life.answer("keep-volumes");
    assert!(life.cluster.object.is_none() && claims.iter().all(|claim| life.claims().contains(claim)), "{:?}", life.cluster.done);
}

#[test]
fn a_restore_from_another_claim_begins_anew() {
    let from = |claim: &str| json!({ "restoreFrom": { "claimName": claim } });
    let mut life = Life::unborn(&from("old-backups"));
    let job = |life: &Life| life.cluster.get(ChildKind::Job, "db-restore").cloned();
    life.until(|life| job(life).is_some());
    life.set(&from("new-backups"));
    life.settle();
    assert_eq!(life.state(), Phase::Ready.text(), "{:?}", life.path);
    let of_restore: Vec<&String> = life.cluster.done.iter().filter(|done| done.contains("Job db-restore")).collect();
    assert_eq!(of_restore, ["create Job db-restore", "delete Job db-restore", "create Job db-restore"]);
    let volumes = job(&life).expect("the Job of the restore")["spec"]["template"]["spec"]["volumes"].to_string();
    assert!(volumes.contains("new-backups") && !volumes.contains("old-backups"), "{volumes}");
}

#[test]
fn the_last_dump_is_made_where_the_servers_ran() {
    let mut life = Life::of(&json!({}));
    life.cluster.away.insert(0);
    life.edit(&json!({ "image": "postgres:17.99", "podTemplate": { "spec": { "nodeSelector": { "disk": "nope" } } } }));
    assert_eq!(life.state(), Phase::Restarting.text(), "{:?}", life.path);
    life.cluster.away.clear();
    life.cluster.delete();
    life.until(|life| life.cluster.get(ChildKind::Job, "db-snapshot").is_some());
    let job = life.cluster.get(ChildKind::Job, "db-snapshot").expect("it is there");
    let pod = &job["spec"]["template"]["spec"];
    assert!(pod["nodeSelector"].is_null(), "{pod}");
    assert_ne!(pod["containers"][0]["image"], "postgres:17.99");
}

#[test]
fn an_heir_that_has_no_room_is_given_more() {
    let mut life = moving();
    is_told(&mut life, "primary", "0");
    life.cluster.crashes(0, "NO_SPACE: the promotion: No space left on device");
    life.settle();
    life.edit(&json!({ "replicas": 1, "storage": { "size": "2Gi" } }));
    let claim = life.cluster.get(ChildKind::PersistentVolumeClaim, "data-db-0").expect("a claim");
    assert_eq!(claim["status"]["capacity"]["storage"], "2Gi", "{:?}: {:?}", life.path, life.cluster.done);
    life.cluster.crashing.clear();
    assert_eq!(life.after().last(), path(&[Phase::Ready]).last(), "{:?}", life.path);
    assert_eq!(led_and_named(&life), (json!("db-0"), "db-0".to_owned()));
}

#[test]
fn a_fight_over_where_writers_are_led_is_asked_about() {
    let mut life = promoted();
    let led_astray = |life: &mut Life| {
        life.cluster.edit(ChildKind::Service, "db", "/spec/selector/statefulset.kubernetes.io~1pod-name", json!("db-0"));
        life.cluster.now += jiff::SignedDuration::from_secs(30);
        life.after()
    };
    let fight = |life: &mut Life| {
        let asked = (0..9).position(|_| led_astray(life).last() == path(&[Phase::HumanIntervention]).last());
        assert!(asked.is_some(), "{:?}", life.path);
        assert_eq!(life.status()["reason"], "DriftFought");
        led_astray(life);
        assert_eq!(led_and_named(life), (json!("db-0"), "db-1".to_owned()), "it goes on fighting while it asks");
    };
    fight(&mut life);
    let way = life.answer("retry");
    assert_eq!((way.last(), led_and_named(&life).0), (path(&[Phase::Ready]).last(), json!("db-1")), "{way:?}");
    // Nothing moves meanwhile: it may be set aside.
    fight(&mut life);
    annotated(&mut life, PAUSED, Some("true"));
    assert_eq!(life.after().last(), path(&[Phase::Paused]).last());
    annotated(&mut life, PAUSED, None);
    assert_eq!((life.after().last(), led_and_named(&life).0), (path(&[Phase::Ready]).last(), json!("db-1")));
}

#[test]
fn a_restore_that_is_no_longer_asked_for_ends_and_a_database_is_made() {
    let mut life = Life::unborn(&json!({ "restoreFrom": { "claimName": "old-backups" } }));
    life.cluster.troubles.insert(Trouble::MuchData);
    life.until(|life| life.cluster.get(ChildKind::Pod, "db-restore-x").is_some());
    life.set(&json!({}));
    assert_eq!(life.after(), path(&[Phase::Initializing, Phase::Provisioning, Phase::Ready]), "{:?}", life.cluster.done);
    let at = |what: &str| life.cluster.done.iter().position(|done| done.starts_with(what)).expect(what);
    assert!(at("delete Job db-restore") < at("create Job db-init"), "{:?}", life.cluster.done);
}

#[test]
fn a_claim_of_dumps_that_is_being_deleted_is_told() {
    let mut life = Life::of(&json!({ "backup": { "schedule": "0 2 * * *" } }));
    let claim = life.cluster.things.get_mut(&(ChildKind::PersistentVolumeClaim, "db-backups".to_owned())).expect("a claim");
    claim["metadata"]["deletionTimestamp"] = json!("2027-01-15T08:00:00Z");
    life.settle();
    assert_eq!(life.condition("BackupsHealthy"), ("False".to_owned(), "ClaimGoes".to_owned()));
}

#[test]
fn a_planned_move_is_no_fight_however_much_was_mended_before() {
    let mut life = promoted();
    let (now, object) = (life.cluster.now, life.cluster.object.as_mut().expect("an object"));
    let status = object.status.as_mut().expect("a status");
    status.drift_times = (0..4).map(|_| Time(now)).collect();
    let way = life.edit(&json!({ "replicas": 1 }));
    assert_eq!(way.last(), path(&[Phase::Ready]).last(), "{way:?}: {:?} {}", life.cluster.done, life.status());
    assert!(!way.contains(&Phase::HumanIntervention.text()), "{way:?}");
    assert_eq!(led_and_named(&life), (json!("db-0"), "db-0".to_owned()));
}

#[test]
fn a_server_that_ended_a_moment_ago_is_not_made_anew_beside_one_that_is_away() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.away.insert(1);
    life.set(&json!({ "replicas": 2, "podTemplate": { "metadata": { "annotations": { "example.com/try": "1" } } } }));
    life.until(|life| life.cluster.done.iter().any(|done| done.starts_with("delete Pod db-1")));
    life.settle();
    for state in [json!({ "terminated": { "exitCode": 137 } }), json!({ "waiting": { "reason": "ContainerCreating" } })] {
        let pod = life.cluster.things.get_mut(&(ChildKind::Pod, "db-0".to_owned())).expect("a pod");
        pod["status"]["conditions"] = json!([{ "type": "Ready", "status": "False" }]);
        pod["status"]["containerStatuses"] = container("postgresql", 1, &state);
        life.look();
    }
    assert!(!life.cluster.done.iter().any(|done| done.starts_with("delete Pod db-0")), "{:?}", life.cluster.done);
}

/// What an open question lets nobody mend keeps it from closing no longer than the pods do.
#[test]
fn a_question_about_pods_closes_once_they_are_back_whatever_else_was_removed() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.away.insert(0);
    life.settle();
    life.cluster.now += jiff::SignedDuration::from_mins(16);
    life.settle();
    assert_eq!((life.state(), &life.status()["reason"]), (Phase::HumanIntervention.text(), &json!("PodsUnavailable")));
    life.cluster.remove(ChildKind::Service, "db");
    life.cluster.away.clear();
    life.after();
    assert_eq!(life.state(), Phase::Ready.text(), "{:?}\n{:?}", life.path, life.cluster.done);
    assert!(life.cluster.get(ChildKind::Service, "db").is_some());
}

/// What it said the time before is about what it had written by then.
#[test]
fn a_primary_that_ended_without_a_word_has_named_nobody_to_follow_it() {
    let mut life = moving();
    let words = "FENCED: no primary is named at epoch 2; this server was it, and waits; complete=0";
    let server = |state: Value| {
        let before = json!({ "terminated": { "exitCode": 3, "message": words } });
        json!([{ "name": "postgresql", "ready": false, "restartCount": 2, "image": "", "imageID": "", "state": state, "lastState": before }])
    };
    let named = |life: &Life| life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology")["data"]["primary"].clone();
    let status = |state| json!({ "conditions": [{ "type": "Ready", "status": "False" }], "containerStatuses": server(state) });
    let mut pod = life.cluster.get(ChildKind::Pod, "db-1").expect("a pod").clone();
    for (state, expected) in
        [(json!({ "terminated": { "exitCode": 0 } }), ""), (json!({ "waiting": { "reason": "CrashLoopBackOff" } }), "0")]
    {
        pod["status"] = status(state);
        life.cluster.things.insert((ChildKind::Pod, "db-1".to_owned()), pod.clone());
        life.look();
        assert_eq!(named(&life), expected, "{:?}", life.cluster.done);
    }
}

#[test]
fn no_fight_is_made_of_what_a_clock_that_was_ahead_has_told() {
    let mut life = Life::of(&json!({}));
    let repaired = |life: &mut Life| {
        life.cluster.remove(ChildKind::Service, "db-ro");
        life.after();
        life.state()
    };
    for _ in 0..4 {
        assert_eq!(repaired(&mut life), Phase::Ready.text());
    }
    // Another leader, whose clock is right.
    life.cluster.now -= jiff::SignedDuration::from_hours(1);
    for _ in 0..4 {
        assert_eq!(repaired(&mut life), Phase::Ready.text(), "{:?}", life.status()["intervention"]);
    }
}
