//! Changes that are not made, each with its text.

use super::{golden, plan, said};
use pointsman::kinds::database::change::change_rules::{Before, ROWS, unsupported};
use pointsman::kinds::database::plan::volume::{Size, Volume};
use pointsman::kinds::quantity::Quantity;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn volume(size: &str, class: Option<&str>) -> Volume {
    Volume { size: Size::of(&Quantity::from(size)).expect("a size"), class: class.map(str::to_owned) }
}

/// A database that was ready, with two volumes of which one has grown already.
fn ready() -> Before {
    let good = plan(&json!({
        "storage": { "size": "50G" }, "extensions": [{ "name": "pg_trgm" }, { "name": "postgis" }],
        "restoreFrom": { "claimName": "older-backups" }, "image": "docker.io/library/postgres:17.2",
    }));
    let data = vec![volume("50G", Some("standard")), volume("60G", Some("standard"))];
    Before { applied: Some(good.clone()), good: Some(good), data, backups: Some(volume("50G", Some("standard"))), backups_are_bound: true }
}

/// The spec of `ready`, with some fields in place of its own.
fn wanted(fields: &Value) -> Value {
    let mut all = json!({
        "storage": { "size": "60G" }, "extensions": [{ "name": "postgis" }, { "name": "pg_trgm" }],
        "restoreFrom": { "claimName": "older-backups" }, "image": "docker.io/library/postgres:17.2",
    });
    for (name, value) in fields.as_object().expect("fields") {
        all[name] = value.clone();
    }
    all
}

fn cases() -> Vec<(&'static str, Value)> {
    let backup = |storage: Value| json!({ "backup": { "storage": storage } });
    vec![
        ("backup-class-before-the-first-dump", backup(json!({ "storageClassName": "fast" }))),
        ("backup-class", backup(json!({ "storageClassName": "fast" }))),
        ("backup-size", backup(json!({ "size": "10Gi" }))),
        (
            "class",
            json!({ "storage": { "size": "60G", "storageClassName": "fast" }, "backup": { "storage": { "storageClassName": "standard" } } }),
        ),
        ("database-name", json!({ "databaseName": "store" })),
        ("extension", json!({ "extensions": [{ "name": "postgis" }, { "name": "hstore" }] })),
        ("extensions-all", json!({ "extensions": [] })),
        ("image", json!({ "image": "docker.io/library/postgres:18" })),
        ("port", json!({ "port": 6432 })),
        ("restore-from", json!({ "restoreFrom": { "claimName": "older-backups", "file": "a" } })),
        ("restore-from-removed", json!({ "restoreFrom": null })),
        ("size", json!({ "storage": { "size": "45G" } })),
    ]
}

#[test]
fn what_is_not_made_reads_as_in_the_golden_files() {
    let mut fields = BTreeSet::new();
    let texts: Vec<(&str, String)> = cases()
        .into_iter()
        .map(|(name, fields_wanted)| {
            let before = if name.ends_with("before-the-first-dump") { before_the_first_dump() } else { ready() };
            let faults = unsupported(&before, &plan(&wanted(&fields_wanted)));
            assert!(!faults.is_empty(), "{name} is made");
            fields.extend(faults.iter().map(|fault| fault.field.clone()));
            (name, said(&faults))
        })
        .collect();
    golden::compare("database/unsupported", texts.iter().map(|(name, text)| (*name, text.as_str())));
    assert_eq!(fields, ROWS.iter().map(|row| row.field.to_owned()).collect(), "each row is driven");
}

/// The claim of the backups has got no volume.
fn before_the_first_dump() -> Before {
    Before { backups_are_bound: false, ..ready() }
}

#[test]
fn what_is_supported_is_not_refused() {
    let more = json!([{ "name": "postgis" }, { "name": "pg_trgm" }, { "name": "hstore" }]);
    let made = [
        json!({}),
        json!({ "replicas": 3, "parameters": { "work_mem": "8MB" }, "extensions": more }),
        json!({ "storage": { "size": "100Gi" }, "deletionPolicy": "Delete" }),
        json!({ "storage": { "size": "60G", "storageClassName": "standard" } }),
        json!({ "image": "docker.io/library/postgres:17.3" }),
        json!({ "image": "docker.io/library/postgres:16-that-says-nothing".replace(":16", ":b16") }),
        json!({ "backup": { "schedule": "0 2 * * *", "storage": { "size": "60G" } }, "service": { "type": "NodePort" } }),
    ];
    for fields in made {
        assert_eq!(unsupported(&ready(), &plan(&wanted(&fields))), [], "{fields}");
    }
}

#[test]
fn before_the_first_ready_all_can_be_mended_but_what_volumes_fix() {
    let begun = Before { good: None, applied: Some(plan(&wanted(&json!({})))), ..ready() };
    let fields = json!({ "databaseName": "store", "port": 6432, "restoreFrom": null, "extensions": [], "image": "postgres:18" });
    assert_eq!(unsupported(&begun, &plan(&wanted(&fields))), []);
    let shrunk = unsupported(&begun, &plan(&wanted(&json!({ "storage": { "size": "55G" } }))));
    assert_eq!(shrunk.len(), 1, "{shrunk:?}");
    let backup = json!({ "storage": { "storageClassName": "standard" } });
    let other = json!({ "storage": { "size": "60G", "storageClassName": "fast" }, "backup": backup });
    let said = said(&unsupported(&begun, &plan(&wanted(&other))));
    assert!(said.contains("was never Ready and has served nobody: delete it"), "{said}");
    assert_eq!(unsupported(&Before::default(), &plan(&json!({ "storage": { "size": "256Mi", "storageClassName": "fast" } }))), []);
}

#[test]
fn a_class_that_was_named_is_not_given_up_for_the_default() {
    let mut before = ready();
    before.applied = Some(plan(&wanted(&json!({ "storage": { "size": "60G", "storageClassName": "standard" } }))));
    let faults = unsupported(&before, &plan(&wanted(&json!({}))));
    // That of the backups follows, and nobody wrote it.
    assert_eq!(faults.iter().map(|fault| fault.field.as_str()).collect::<Vec<_>>(), ["spec.storage.storageClassName"]);
}
