//! What a user is told of a change at the prompt, before it is made.

use super::cluster::Trouble;
use super::life::Life;
use super::promoted;
use crate::{golden, spec};
use pointsman::kinds::database::{Database, v1};
use pointsman::kinds::judge::{Verdict, judge};
use pointsman::kinds::review::Review;
use pointsman::kinds::{Kind, Served};
use serde_json::{Value, json};

/// What is said of another spec of this object; `.` where it may pass without a word.
fn told(life: &Life, fields: &Value) -> String {
    let old = life.cluster.object.as_ref().expect("an object");
    let new = v1::Database { spec: spec(fields), ..old.clone() };
    let ground = Some(Database::ground(&Database::children(&super::cluster::Things(&life.cluster), old)));
    let review = Review::<Database> { old: Some(old), new: &new, settings: &life.settings, ground, dry_run: false, watched: true };
    match judge(&review) {
        Verdict::Allow(lines) if lines.is_empty() => ".\n".to_owned(),
        Verdict::Allow(lines) | Verdict::AllowAtRisk(lines, _) => lines.join("\n") + "\n",
        Verdict::Deny(faults) => crate::said(&faults),
    }
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
    let lines = [
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
