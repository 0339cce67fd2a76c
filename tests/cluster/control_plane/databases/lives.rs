//! From the first manifest to the first Ready, in both versions.

use super::{SOON, create, ready};
use crate::harness::{Space, eventually, repository, shared};
use pointsman::kinds::database::Phase;
use pointsman::machine::Word;
use serde_json::json;

fn example(name: &str) -> String {
    let manifest = std::fs::read_to_string(repository().join("examples").join(name)).unwrap();
    manifest.replace("  namespace: default\n", "")
}

#[test]
fn the_first_manifest_applies_as_it_stands() {
    let _turn = shared();
    let space = Space::new("first-database");
    let told = space.apply(&example("database-v1alpha1.yaml"));
    assert!(told.err.contains("v1alpha1 Database is deprecated; use stable.imaginedata.com/v1 Database"), "{}", told.text());
    told.ok();
    let base = space.db("my-first-crd-database");
    base.ready_within(SOON);
    let phases = [Phase::Pending, Phase::Probing, Phase::Provisioning, Phase::Initializing, Phase::Provisioning, Phase::Ready];
    let phases: Vec<String> = phases.iter().map(|phase| phase.text()).collect();
    let ways: Vec<&str> = phases.iter().map(String::as_str).collect();
    base.went(&ways, 1);
    let status = base.status();
    assert_eq!((&status["readyText"], &status["version"]), (&json!("3/3"), &json!("17.11")), "{status:#}");
    assert_eq!(status["endpoints"][0]["address"], format!("my-first-crd-database.{}.svc:5432", space.name));
    assert_eq!(base.condition("BackupsHealthy")["reason"], "NoSchedule");
    let columns = space.kubectl(&["get", "db"]).ok();
    let titles: Vec<&str> = columns.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(titles, ["NAME", "READY", "STATE", "REASON", "VERSION", "BACKUP", "AGE"], "{columns}");
    // As the user spelled it, in either version.
    let older = space.object("databases.v1alpha1.stable.imaginedata.com/my-first-crd-database");
    assert_eq!((&older["spec"]["storage-size"], &older["spec"]["name"]), (&json!("50G"), &json!("name-of-database")));
    assert_eq!(base.seen()["spec"]["storage"]["size"], "50G");
    let claim = space.object("pvc/data-my-first-crd-database-0");
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "50G");
    for (resource, count) in [("databases.v1.stable.imaginedata.com", 2), ("databases.v1alpha1.stable.imaginedata.com", 4)] {
        space.kubectl(&["scale", &format!("{resource}/my-first-crd-database"), &format!("--replicas={count}")]).ok();
        eventually(SOON, "the count is made so", || base.status()["readyText"] == format!("{count}/{count}"));
        base.ready_within(SOON);
    }
}

/// The manifest of the wider world names a group of its own, without the `m`: one line is edited, and nothing else.
#[test]
fn one_line_is_all_that_the_manifest_of_the_wider_world_lacks() {
    let _turn = shared();
    let space = Space::new("wider-world");
    let wider = "apiVersion: stable.imaginedata.co/v1\nkind: Database\nmetadata:\n  name: my-first-crd-database\nspec:\n  name: name-of-database\n  port: 5432\n  storage-size: 50G\n  image: postgres:17\n  replicas: 3\n";
    assert_eq!(space.apply(wider).code, 1, "a kind of another group was taken");
    let (first, rest) = wider.split_once('\n').unwrap();
    assert_eq!(first, "apiVersion: stable.imaginedata.co/v1");
    space.apply(&format!("apiVersion: stable.imaginedata.com/v1alpha1\n{rest}")).ok();
    space.db("my-first-crd-database").ready_within(SOON);
}

#[test]
fn what_most_people_set_is_taken() {
    let _turn = shared();
    let space = Space::new("most-people");
    space.apply(&example("database-v1.yaml")).ok();
    let base = space.db("shop");
    base.ready_within(SOON);
    let status = base.status();
    assert!(status["backup"]["nextTime"].as_str().is_some_and(|time| time.contains('T')), "{status:#}");
    // It serves nobody at once, so nobody waits for it.
    eventually(SOON, "there is a CronJob", || !space.object("cronjob/shop").is_null());
    let schedule = space.object("cronjob/shop");
    assert_eq!((&schedule["spec"]["timeZone"], &schedule["spec"]["concurrencyPolicy"]), (&json!("Europe/Berlin"), &json!("Forbid")));
    // Nothing of a Secret is anywhere else.
    let secret = space.object("secret/shop-app");
    let password = secret["data"]["password"].as_str().unwrap();
    assert!(password.len() >= 16, "a password of {} letters", password.len());
    let told = space.kubectl(&["get", "db,statefulsets,jobs,cronjobs,configmaps,pods,events", "--output=json"]).ok();
    assert!(!told.contains(password), "a password is told");
}

/// What serves the data stands while its owner is not there: no garbage collector takes it.
#[test]
fn what_serves_is_found_by_its_label_and_owned_by_nobody() {
    let _turn = shared();
    let space = Space::new("labelled");
    let base = ready(&space, "db", &json!({ "replicas": 2, "backup": { "schedule": "0 2 * * *" } }));
    let uid = base.seen()["metadata"]["uid"].as_str().unwrap().to_owned();
    for kept in ["statefulset/db", "service/db", "service/db-ro", "service/db-pods", "secret/db-app", "secret/db-internal"]
        .into_iter()
        .chain(["configmap/db-topology", "configmap/db-settings", "pvc/data-db-0", "pvc/data-db-1", "pvc/db-backups"])
    {
        let meta = space.object(kept)["metadata"].clone();
        assert_eq!((&meta["ownerReferences"], &meta["labels"]["pointsman.dev/owner-uid"]), (&json!(null), &json!(uid)), "{kept}");
    }
    eventually(SOON, "there is a CronJob", || !space.object("cronjob/db").is_null());
    for owned in ["poddisruptionbudget/db", "cronjob/db"] {
        assert_eq!(space.object(owned)["metadata"]["ownerReferences"][0]["uid"], uid, "{owned}");
    }
    let servers = space.object("statefulset/db");
    assert_eq!(servers["spec"]["persistentVolumeClaimRetentionPolicy"], json!({ "whenDeleted": "Retain", "whenScaled": "Retain" }));
    assert_eq!(
        (&servers["spec"]["updateStrategy"]["type"], &servers["spec"]["podManagementPolicy"]),
        (&json!("OnDelete"), &json!("Parallel"))
    );
    let replica = space.object("pod/db-1");
    assert_eq!(replica["metadata"]["labels"]["pointsman.dev/role"], "replica", "{replica:#}");
}

#[test]
fn two_that_want_one_name_do_not_share_it() {
    let _turn = shared();
    let space = Space::new("one-name");
    space.memcached("shop", "{}");
    space.ready("shop");
    let base = create(&space, "shop", &json!({}));
    base.reaches("HumanIntervention", super::ASKS);
    assert_eq!(base.status()["reason"], "ChildConflict");
    space.kubectl(&["delete", "mc/shop"]).ok();
    base.ready_within(SOON);
}
