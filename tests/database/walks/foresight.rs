//! What a user is told of a change at the prompt, before it is made.

use super::cluster::{Things, Trouble, View};
use super::life::Life;
use super::promoted;
use crate::{golden, spec};
use kube::ResourceExt;
use pointsman::kinds::annotations::{ANSWER, PAUSED, PROTECTED};
use pointsman::kinds::database::Database;
use pointsman::kinds::database::object::v1;
use pointsman::kinds::judge::judge;
use pointsman::kinds::review::Review;
use pointsman::kinds::verdict::Verdict;
use pointsman::kinds::{Kind, Served};
use serde_json::{Value, json};

/// What is said of another spec of this object; `.` where it may pass without a word.
pub fn told(life: &Life, fields: &Value) -> String {
    said(life, fields, false)
}

/// The same, of one that is only tried.
fn tried(life: &Life, fields: &Value) -> String {
    said(life, fields, true)
}

fn said(life: &Life, fields: &Value, dry_run: bool) -> String {
    let old = life.cluster.object.as_ref().expect("an object");
    judged(life, &v1::Database { spec: spec(fields), ..old.clone() }, dry_run)
}

/// What is said of an annotation, tried or not.
fn marked(life: &Life, key: &str, value: &str, dry_run: bool) -> String {
    let mut new = life.cluster.object.clone().expect("an object");
    new.annotations_mut().insert(key.to_owned(), value.to_owned());
    judged(life, &new, dry_run)
}

/// What is said of an answer to the open question.
fn answered(life: &Life, verb: &str, dry_run: bool) -> String {
    let id = life.status()["intervention"]["id"].as_str().expect("an open question").to_owned();
    marked(life, ANSWER, &format!("{verb}-{id}"), dry_run).replace(&id, "ID")
}

fn judged(life: &Life, new: &v1::Database, dry_run: bool) -> String {
    let old = life.cluster.object.as_ref().expect("an object");
    let ground = Some(Database::ground(&Database::children(&Things(&life.cluster, View::Live), old)));
    let review = Review::<Database> { old: Some(old), new, settings: &life.settings, ground, dry_run, watched: true };
    match judge(&review) {
        Verdict::Allow(lines) if lines.is_empty() => ".\n".to_owned(),
        Verdict::Allow(lines) => lines.join("\n") + "\n",
        Verdict::Deny(faults) => crate::said(&faults),
    }
}

/// Its volume is so large that the log of writes is as large as it gets.
fn large() -> Life {
    Life::of(&json!({ "storage": { "size": "100Gi" } }))
}

#[test]
fn a_change_is_told_as_in_the_golden_files() {
    let mut life = Life::of(&json!({ "replicas": 3 }));
    let settings = |parameters: Value| json!({ "replicas": 3, "parameters": parameters });
    let unknown = told(&life, &settings(json!({ "work_mem": "8MB" })));
    life.edit(&settings(json!({ "work_mem": "8MB", "max_connections": "200" })));
    let moved = promoted();
    let fixed = {
        let mut life = Life::of(&json!({}));
        life.cluster.troubles.insert(Trouble::RigidClass);
        life
    };
    let old = Life::of(&json!({ "image": "postgres:17.11" }));
    let lines = [
        ("growth", tried(&old, &json!({ "image": "postgres:17.11", "storage": { "size": "2Gi" } }))),
        ("growth-that-the-log-of-writes-does-not-follow", tried(&large(), &json!({ "storage": { "size": "200Gi" } }))),
        ("an-older-image", told(&old, &json!({ "image": "postgres:17.2" }))),
        ("an-extension", told(&old, &json!({ "image": "postgres:17.11", "extensions": [{ "name": "pg_trgm" }] }))),
        ("settings-that-are-not-known", unknown),
        ("settings-that-are-reloaded", told(&life, &settings(json!({ "work_mem": "16MB", "max_connections": "200" })))),
        ("settings-that-restart", told(&life, &settings(json!({ "work_mem": "16MB", "max_connections": "300" })))),
        ("image", told(&life, &json!({ "replicas": 3, "image": "postgres:17.2", "parameters": { "work_mem": "8MB" } }))),
        ("fewer", told(&life, &json!({ "replicas": 1, "parameters": { "work_mem": "8MB", "max_connections": "200" } }))),
        ("more", told(&life, &json!({ "replicas": 4, "parameters": { "work_mem": "8MB", "max_connections": "200" } }))),
        ("fewer-and-the-primary", told(&moved, &json!({ "replicas": 1 }))),
        ("policy", told(&moved, &json!({ "replicas": 2, "deletionPolicy": "Delete" }))),
        ("growth-that-cannot-be", told(&fixed, &json!({ "storage": { "size": "9Gi" } }))),
        ("growth-of-backups-that-cannot-be", told(&fixed, &json!({ "backup": { "storage": { "size": "9Gi" } } }))),
    ];
    golden::compare("database/plans", lines.iter().map(|(name, line)| (*name, line.as_str())));
}

/// One whose last dump has failed.
fn undumped() -> Life {
    let mut life = Life::of(&json!({}));
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_SPACE: the volume is full".to_owned()));
    life.delete();
    life
}

#[test]
fn what_is_written_to_one_that_is_being_deleted_is_told_as_in_the_golden_files() {
    let life = undumped();
    let mut going = undumped();
    going.lets_go("data-db-0");
    going.answer("retry");
    let lines = [
        ("keep-volumes-of-which-one-goes", answered(&going, "keep-volumes", false)),
        ("retry", answered(&life, "retry", false)),
        ("retry-tried", answered(&life, "retry", true)),
        ("keep-volumes", answered(&life, "keep-volumes", false)),
        ("keep-volumes-tried", answered(&life, "keep-volumes", true)),
        ("skip-snapshot", answered(&life, "skip-snapshot", false)),
        ("skip-snapshot-tried", answered(&life, "skip-snapshot", true)),
        ("pause", marked(&life, PAUSED, "true", false)),
        ("protection", marked(&life, PROTECTED, "true", false)),
    ];
    golden::compare("database/ending", lines.iter().map(|(name, line)| (*name, line.as_str())));
}

#[test]
fn a_retry_says_that_what_failed_goes_on_to_the_primary() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.away.insert(1);
    life.edit(&json!({ "replicas": 2, "resources": { "requests": { "cpu": "2" } } }));
    life.cluster.now += jiff::SignedDuration::from_mins(61);
    life.after();
    assert_eq!(life.status()["reason"], "RolloutStuck", "{:?}", life.path);
    let both = "2 pods restart one at a time, the primary last: its connections end";
    assert!(answered(&life, "retry", false).trim_end().ends_with(both), "{}", answered(&life, "retry", false));
    life.edit(&json!({ "replicas": 1, "resources": { "requests": { "cpu": "2" } } }));
    let alone = answered(&life, "retry", false);
    assert!(alone.contains("; the server restarts: its connections end"), "{alone}");
    assert!(!answered(&life, "rollback", false).contains("restarts: its connections end"), "a rollback leaves the primary alone");
}

/// The states of the way that is foreseen.
fn way(told: &str) -> Vec<String> {
    let way = told.trim_end().split("; ").next().and_then(|first| first.split_once(": ")).map_or("", |(_, way)| way);
    way.split(" -> ").map(str::to_owned).collect()
}

#[test]
fn a_change_goes_the_way_that_was_foreseen() {
    let with = |fields: Value| {
        let mut all = json!({ "replicas": 2, "image": "postgres:17.11", "storage": { "size": "1Gi" } });
        json_patch::merge(&mut all, &fields);
        all
    };
    for fields in [
        json!({ "replicas": 4 }),
        json!({ "replicas": 1 }),
        json!({ "image": "postgres:17.12" }),
        json!({ "parameters": { "work_mem": "8MB" } }),
        json!({ "parameters": { "max_connections": "200" } }),
        json!({ "extensions": [{ "name": "pg_trgm" }] }),
        json!({ "storage": { "size": "2Gi" } }),
        json!({ "storage": { "size": "2Gi" }, "image": "postgres:17.12" }),
        json!({ "podTemplate": { "metadata": { "labels": { "team": "shop" } } }, "replicas": 3 }),
        json!({ "backup": { "schedule": "0 2 * * *" } }),
        json!({ "service": { "type": "NodePort" }, "deletionPolicy": "Retain" }),
    ] {
        let mut life = Life::of(&with(json!({})));
        let foreseen = way(&tried(&life, &with(fields.clone())));
        let mut went = vec!["Ready".to_owned()];
        went.extend(life.edit(&with(fields.clone())).into_iter().filter(|state| state != "Ready"));
        went.extend((went.len() > 1).then(|| "Ready".to_owned()));
        assert_eq!(foreseen, went, "{fields}");
    }
    let mut large = large();
    let (foreseen, went) =
        (tried(&large, &json!({ "storage": { "size": "200Gi" } })), large.edit(&json!({ "storage": { "size": "200Gi" } })));
    assert_eq!((way(&foreseen).contains(&"Restarting".to_owned()), went.contains(&"Restarting".to_owned())), (false, false), "{went:?}");
}
