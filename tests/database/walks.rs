//! Whole lives of a Database in a pretend cluster: what it goes through, and what is left.

mod care;
mod chances;
mod cluster;
mod deaths;
mod dumps;
mod foresight;
mod life;
mod losses;
mod mended;
mod meshes;
mod moments;

use cluster::Trouble;
use life::{Life, path};
use pointsman::kinds::database::Phase;
use pointsman::kinds::database::children::scripts;
use pointsman::kinds::order::ChildKind;
use pointsman::machine::Word as _;
use serde_json::json;

#[test]
fn it_is_asked_provisioned_initialized_and_ready() {
    let life = Life::of(&json!({ "replicas": 2 }));
    assert_eq!(life.path, path(&[Phase::Probing, Phase::Provisioning, Phase::Initializing, Phase::Provisioning, Phase::Ready]));
    let status = life.status();
    assert_eq!(status["version"], "17.11");
    assert_eq!((&status["readyText"], &status["primary"]), (&json!("2/2"), &json!("db-0")));
    let topology = life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology");
    assert_eq!(topology["data"]["systemid"], "7300000000000000001");
    let replica = life.cluster.get(ChildKind::Pod, "db-1").expect("a replica");
    assert_eq!(replica["metadata"]["labels"]["pointsman.dev/role"], "replica");
}

#[test]
fn servers_come_and_go_and_the_volumes_stay() {
    let mut life = Life::of(&json!({ "replicas": 1 }));
    assert_eq!(life.edit(&json!({ "replicas": 3 })), path(&[Phase::Scaling, Phase::Ready]));
    assert_eq!(life.edit(&json!({ "replicas": 1 })), path(&[Phase::Scaling, Phase::Ready]));
    let claims = life.cluster.names(ChildKind::PersistentVolumeClaim);
    assert_eq!(claims, ["data-db-0", "data-db-1", "data-db-2", "db-backups"]);
}

#[test]
fn another_image_is_asked_and_restarts_the_primary_last() {
    let mut life = Life::of(&json!({ "replicas": 3, "image": "postgres:17.1" }));
    life.set(&json!({ "replicas": 3, "image": "postgres:17.2" }));
    life.until(|life| life.state() == "Probing");
    assert_eq!(life.condition("UpToDate"), ("False".to_owned(), "NotOrdered".to_owned()));
    assert_eq!(life.after(), path(&[Phase::Restarting, Phase::Ready]));
    let restarted: Vec<&String> = life.cluster.done.iter().filter(|done| done.starts_with("delete Pod db-")).collect();
    assert_eq!(restarted, ["delete Pod db-2", "delete Pod db-1", "delete Pod db-0"]);
    assert_eq!(life.status()["image"], "postgres:17.2");
}

#[test]
fn another_major_is_asked_about_and_never_applied() {
    let mut life = Life::of(&json!({ "image": "postgres:latest" }));
    life.cluster.says.insert("probe.sh".to_owned(), (true, "OK version=180000 settings= extensions=".to_owned()));
    assert_eq!(life.edit(&json!({ "image": "postgres:newest" })), path(&[Phase::Probing, Phase::HumanIntervention]));
    let status = life.status();
    assert_eq!((&status["reason"], &status["image"]), (&json!("ProbeFailed"), &json!("postgres:latest")), "{status}");
    assert!(life.cluster.done.iter().all(|done| !done.contains("StatefulSet")), "{:?}", life.cluster.done);
    assert_eq!(life.edit(&json!({ "image": "postgres:latest" })), path(&[Phase::Ready]));
}

#[test]
fn settings_are_reloaded_where_that_will_do() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    let way = life.edit(&json!({ "replicas": 2, "parameters": { "work_mem": "8MB" } }));
    assert_eq!(way, path(&[Phase::Probing, Phase::Restarting, Phase::Ready]));
    let done = &life.cluster.done;
    assert!(done.contains(&"create Job db-generation".to_owned()) && !done.iter().any(|done| done.contains("delete Pod")), "{done:?}");
    let way = life.edit(&json!({ "replicas": 2, "parameters": { "work_mem": "8MB", "max_connections": "200" } }));
    assert_eq!(way, path(&[Phase::Probing, Phase::Restarting, Phase::Ready]));
    assert!(life.cluster.done.contains(&"delete Pod db-0".to_owned()), "{:?}", life.cluster.done);
    // A value that the image refuses is asked about, and no server hears of it.
    let refusal =
        "OK version=170011 settings=poi,,1,262143;usi,kB,64,2147483647 extensions= wrong=invalid value for parameter \"work_mem\": \"8XB\"";
    life.cluster.says.insert("probe.sh".to_owned(), (true, refusal.to_owned()));
    life.cluster.done.clear();
    let way = life.edit(&json!({ "replicas": 2, "parameters": { "work_mem": "8XB", "max_connections": "200" } }));
    assert_eq!(way, path(&[Phase::Probing, Phase::HumanIntervention]));
    let asked = life.status()["intervention"]["message"].to_string();
    assert!(asked.contains("does not take these parameters: invalid value for parameter"), "{asked}");
    assert!(!life.cluster.done.iter().any(|done| done.contains("settings") || done.contains("delete Pod")), "{:?}", life.cluster.done);
    // What the image took before, it takes.
    let way = life.edit(&json!({ "replicas": 2, "parameters": { "work_mem": "8MB", "max_connections": "200" } }));
    assert_eq!(way, path(&[Phase::Ready]));
}

#[test]
fn an_older_rendering_stands_until_a_setting_restarts_the_servers() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    let rendering = |life: &Life| life.status()["applied"]["renderer"].clone();
    life.settings.renderer += 1;
    // Another release has other scripts: they are there for its Jobs, and no server misses them.
    life.cluster.remove(ChildKind::ConfigMap, scripts::name());
    assert_eq!(life.after(), Vec::<String>::new());
    assert!(life.cluster.get(ChildKind::ConfigMap, scripts::name()).is_some(), "{:?}", life.cluster.done);
    for fields in
        [json!({ "replicas": 2, "parameters": { "work_mem": "8MB" } }), json!({ "replicas": 3, "parameters": { "work_mem": "8MB" } })]
    {
        life.edit(&fields);
        assert_eq!((life.state(), rendering(&life)), (Phase::Ready.text(), json!(1)), "{fields}");
        assert_eq!(life.condition("UpToDate"), ("False".to_owned(), "NewerRendering".to_owned()), "{fields}");
    }
    life.edit(&json!({ "replicas": 3, "parameters": { "work_mem": "8MB", "max_connections": "200" } }));
    assert_eq!((life.state(), rendering(&life)), (Phase::Ready.text(), json!(2)));
    assert_eq!(life.condition("UpToDate"), ("True".to_owned(), "UpToDate".to_owned()));
}

#[test]
fn an_extension_of_a_library_is_made_under_an_older_rendering_too() {
    let mut life = Life::of(&json!({}));
    life.settings.renderer += 1;
    life.cluster.says.insert("probe.sh".to_owned(), (true, "OK version=170011 settings= extensions=p".to_owned()));
    life.edit(&json!({ "extensions": [{ "name": "pg_stat_statements" }] }));
    assert_eq!((life.state(), &life.status()["applied"]["renderer"]), (Phase::Ready.text(), &json!(2)), "{:?}", life.cluster.done);
    assert!(life.cluster.done.contains(&"delete Pod db-0".to_owned()), "{:?}", life.cluster.done);
}

#[test]
fn an_extension_more_is_made() {
    let mut life = Life::of(&json!({}));
    let way = life.edit(&json!({ "extensions": [{ "name": "pg_trgm" }] }));
    assert_eq!(way, path(&[Phase::Probing, Phase::Initializing, Phase::Ready]));
}

#[test]
fn volumes_grow_where_they_can() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    let way = life.edit(&json!({ "replicas": 2, "storage": { "size": "2Gi" } }));
    // The log of writes may take more of a larger volume, which is reloaded.
    assert_eq!(way, path(&[Phase::ExpandingStorage, Phase::Restarting, Phase::Ready]));
    let claim = life.cluster.get(ChildKind::PersistentVolumeClaim, "data-db-1").expect("a claim");
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "2Gi");
}

#[test]
fn a_failed_job_is_a_question_and_retry_makes_another() {
    let mut life = Life::unborn(&json!({}));
    life.cluster.says.insert("init.sh".to_owned(), (false, "FAILED: psql: error: no".to_owned()));
    life.settle();
    let status = life.status();
    assert_eq!((life.state().as_str(), &status["reason"]), ("HumanIntervention", &json!("InitJobFailed")));
    assert!(status["intervention"]["message"].as_str().is_some_and(|said| said.contains("psql: error: no")), "{status}");
    life.cluster.says.clear();
    assert_eq!(life.answer("retry"), path(&[Phase::Initializing, Phase::Provisioning, Phase::Ready]));
    let id = status["intervention"]["id"].as_str().expect("an id");
    assert!(life.cluster.done.contains(&format!("create Job db-init-{id}")), "{:?}", life.cluster.done);
}

/// As after a promotion: the second pod is the primary.
fn promoted() -> Life {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    is_promoted(&mut life);
    life
}

/// The second pod becomes the primary.
fn is_promoted(life: &mut Life) {
    for (key, value) in [("primary", "1"), ("epoch", "2")] {
        life.cluster.edit(ChildKind::ConfigMap, "db-topology", &format!("/data/{key}"), json!(value));
    }
    life.cluster.remove(ChildKind::Pod, "db-0");
    life.cluster.remove(ChildKind::Pod, "db-1");
    life.settle();
    assert_eq!((life.state().as_str(), &life.status()["primary"]), ("Ready", &json!("db-1")));
}

#[test]
fn the_primary_moves_before_its_pod_goes() {
    let mut life = promoted();
    let way = life.edit(&json!({ "replicas": 1 }));
    assert_eq!(way, path(&[Phase::Scaling, Phase::Ready]), "{:?}", life.cluster.done);
    assert_eq!((&life.status()["primary"], life.cluster.names(ChildKind::Pod).contains(&"db-1".to_owned())), (&json!("db-0"), false));
    let topology = life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology");
    assert_eq!(topology["data"]["epoch"], "3");
}

#[test]
fn a_primary_that_crashed_on_its_way_out_is_named_again_before_another_is() {
    let mut life = promoted();
    life.cluster.troubles.insert(Trouble::Crash);
    life.cluster.done.clear();
    let way = life.edit(&json!({ "replicas": 1 }));
    assert_eq!(way, path(&[Phase::Scaling, Phase::Ready]), "{:?}", life.cluster.done);
    let named = life.cluster.done.iter().filter(|done| done.contains("db-topology")).count();
    assert!(named >= 4 && !life.cluster.has(Trouble::Crash), "it was not named again: {:?}", life.cluster.done);
    assert_eq!(life.status()["primary"], "db-0");
    let topology = life.cluster.get(ChildKind::ConfigMap, "db-topology").expect("a topology");
    assert_eq!(topology["data"]["epoch"], "3");
}

#[test]
fn a_volume_that_is_gone_is_never_replaced_by_an_empty_one() {
    let mut life = Life::of(&json!({}));
    life.cluster.remove(ChildKind::PersistentVolumeClaim, "data-db-0");
    life.cluster.remove(ChildKind::Pod, "db-0");
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    assert_eq!(life.status()["reason"], "PrimaryVolumeLost");
    assert_eq!(life.cluster.done, Vec::<String>::new());
}

#[test]
fn passwords_that_are_gone_are_made_anew_only_by_a_persons_word() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.remove(ChildKind::Secret, "db-app");
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    assert_eq!(life.status()["reason"], "CredentialsLost");
    let way = life.answer("reset-passwords");
    assert_eq!(way, path(&[Phase::Restarting, Phase::Initializing, Phase::Ready]), "{:?}", life.cluster.done);
    assert!(life.cluster.get(ChildKind::Secret, "db-app").is_some());
}

#[test]
fn a_last_dump_is_taken_and_written_down_before_anything_goes() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    let way = life.delete();
    assert_eq!(way, path(&[Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing]), "{:?}", life.cluster.done);
    assert!(life.cluster.object.is_none());
    assert_eq!(life.cluster.names(ChildKind::PersistentVolumeClaim), ["db-backups"]);
    let mut maps = life.cluster.names(ChildKind::ConfigMap);
    // Other Databases of the namespace may need it.
    maps.retain(|map| map != scripts::name());
    assert_eq!(maps.len(), 1, "{maps:?}");
    let tombstone = life.cluster.get(ChildKind::ConfigMap, &maps[0]).expect("a tombstone");
    assert_eq!(tombstone["data"]["folder"], "snapshot-20260102T030405Z");
    assert!(tombstone["data"]["restore.yaml"].as_str().is_some_and(|yaml| yaml.contains("claimName: db-backups")), "{tombstone}");
    let mut left: Vec<_> = life.cluster.things.keys().filter(|(kind, _)| *kind != ChildKind::PersistentVolumeClaim).collect();
    left.retain(|(_, name)| name != scripts::name());
    assert_eq!(left.len(), 1, "{left:?}");
    let order = |what: &str| {
        life.cluster.done.iter().position(|done| done.starts_with(what)).unwrap_or_else(|| panic!("{what}: {:?}", life.cluster.done))
    };
    assert!(order("create ConfigMap db-tombstone") < order("delete StatefulSet"));
    assert!(order("delete StatefulSet") < order("delete PersistentVolumeClaim data-db-0"));
}

#[test]
fn each_policy_keeps_what_it_says() {
    for (policy, left) in [("Delete", &[][..]), ("Retain", &["data-db-0"])] {
        let mut life = Life::of(&json!({ "deletionPolicy": policy }));
        life.delete();
        assert!(life.cluster.object.is_none(), "{policy}: {:?}", life.path);
        assert_eq!(life.cluster.names(ChildKind::PersistentVolumeClaim), left, "{policy}");
        assert_eq!(life.cluster.names(ChildKind::Secret), Vec::<String>::new());
    }
}

#[test]
fn a_dump_that_fails_keeps_everything_and_asks() {
    let mut life = Life::of(&json!({}));
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_SPACE: the volume is full".to_owned()));
    assert_eq!(life.delete(), path(&[Phase::SnapshottingBeforeDelete, Phase::RemovalBlocked]));
    assert!(life.status()["intervention"]["message"].as_str().is_some_and(|said| said.contains("the volume is full")));
    assert!(life.cluster.done.iter().all(|done| !done.starts_with("delete")), "{:?}", life.cluster.done);
    life.cluster.says.clear();
    assert_eq!(life.answer("retry"), path(&[Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing]));
}

#[test]
fn two_backups_that_are_missing_are_told() {
    let mut life = Life::of(&json!({ "backup": { "schedule": "0 2 * * *" } }));
    let healthy = ("True".to_owned(), "OnSchedule".to_owned());
    assert_eq!(life.condition("BackupsHealthy"), healthy);
    life.cluster.now += jiff::SignedDuration::from_hours(24);
    life.settle();
    assert_eq!(life.condition("BackupsHealthy"), healthy);
    life.cluster.now += jiff::SignedDuration::from_hours(26);
    life.settle();
    assert_eq!(life.condition("BackupsHealthy"), ("False".to_owned(), "Missed".to_owned()));
    assert_eq!(life.state(), "Ready");
    assert_eq!(life.edit(&json!({ "backup": { "schedule": "0 2 * * *", "suspend": true } })), Vec::<String>::new());
    assert_eq!(life.condition("BackupsHealthy"), ("True".to_owned(), "NoSchedule".to_owned()));
}

#[test]
fn a_newer_default_image_is_told_and_never_taken() {
    let mut life = Life::of(&json!({ "image": "postgres:17.11" }));
    let current = ("True".to_owned(), "UpToDate".to_owned());
    for (default, expected) in [
        ("registry.example.com/library/postgres:17.12", ("False".to_owned(), "OlderThanDefault".to_owned())),
        ("docker.io/library/postgres:17.11", current.clone()),
        ("docker.io/library/postgres:18.1", current.clone()),
        ("docker.io/postgis/postgis:17.12", current.clone()),
        ("docker.io/library/postgres:17", current.clone()),
    ] {
        life.settings.default_image = default.to_owned();
        assert_eq!(life.after(), Vec::<String>::new(), "{default}");
        assert_eq!(life.condition("UpToDate"), expected, "{default}");
        assert_eq!(life.status()["image"], "postgres:17.11");
    }
}
