//! What nobody gets past: each refusal word for word, by `apply`, `patch` and `scale`, through both versions; and nothing
//! changed after it.

use super::super::attempts::{Attempt, Verb};
use super::super::refusal_cases::{Case as Generic, Says};
use super::super::wrong_answers::wrong_answers;
use super::refused::{Refused, faults, spec};
use super::{ASKS, SOON, create, saying};
use crate::harness::carrier::DATABASE;
use crate::harness::{Space, golden, shared};
use pointsman::kinds::Served;
use pointsman::kinds::database::Database;
use pointsman::kinds::database::change::change_rules;
use serde_json::{Value, json};

const OBJECTS: [&str; 6] = ["db", "fixed", "going", "asking", "unready", "classless"];
const NONE: &str = "new";
const FOLDER: &str = "database-refusals";

/// A write that is refused: the golden file, the object, the change of its spec, and words that the refusal has to have.
struct Case(&'static str, &'static str, Value, &'static [&'static str]);

/// Fields of the object `db` beside those that every one has.
fn rich() -> Value {
    json!({
        "replicas": 2, "image": "postgres:17.11", "extensions": [{ "name": "pg_trgm" }],
        "backup": { "schedule": "0 2 * * *", "storage": { "size": "2Gi" } },
    })
}

fn changes() -> Vec<Case> {
    vec![
        Case("port", "db", json!({ "port": 5433 }), &["spec.port", "unsupported: 5432 -> 5433", "Create a second Database"]),
        Case("name-of-the-database", "db", json!({ "databaseName": "other" }), &["unsupported: shop -> other", "restoreFrom"]),
        Case("another-major", "db", json!({ "image": "postgres:18.1" }), &["spec.image", "unsupported: postgres:17.11 -> postgres:18.1"]),
        Case(
            "smaller",
            "db",
            json!({ "storage": { "size": "512Mi" } }),
            &["spec.storage.size", "unsupported: 1Gi -> 512Mi", "cannot shrink"],
        ),
        Case("another-class", "db", json!({ "storage": { "storageClassName": "played-fixed" } }), &["unsupported: played -> played-fixed"]),
        Case("an-extension-less", "db", json!({ "extensions": [] }), &["spec.extensions", "pg_trgm"]),
        Case("backups-smaller", "db", json!({ "backup": { "storage": { "size": "1Gi" } } }), &["spec.backup.storage.size", "2Gi -> 1Gi"]),
        Case(
            "backups-in-another-class",
            "db",
            json!({ "backup": { "storage": { "size": "2Gi", "storageClassName": "played-fixed" } } }),
            &["spec.backup.storage.storageClassName", "unsupported: played -> played-fixed"],
        ),
        Case(
            "backups-in-another-class-before-they-have-a-volume",
            "classless",
            json!({ "backup": { "storage": { "size": "1Gi", "storageClassName": "played" } } }),
            &["spec.backup.storage.storageClassName", "unsupported: nowhere -> played", "holds nothing"],
        ),
        Case(
            "another-class-before-the-first-ready",
            "unready",
            json!({ "storage": { "storageClassName": "played-fixed" } }),
            &["spec.storage.storageClassName", "unsupported: played -> played-fixed"],
        ),
        Case("restored-later", "db", json!({ "restoreFrom": { "claimName": "old" } }), &["spec.restoreFrom", "unsupported: (none) -> old"]),
        Case(
            "several-at-once",
            "db",
            json!({ "image": "postgres:16", "storage": { "size": "512Mi" } }),
            &["spec.image", "spec.storage.size"],
        ),
        Case("cannot-grow", "fixed", json!({ "storage": { "size": "2Gi" } }), &["spec.storage.size", "allowVolumeExpansion"]),
        Case("busy-going", "going", json!({ "replicas": 2 }), &["busy", "the object was deleted at"]),
    ]
}

fn values() -> Vec<Case> {
    let name = |name: &str| json!({ "databaseName": name });
    let schedule = |line: &str, zone: &str| json!({ "backup": { "schedule": line, "timeZone": zone } });
    let setting = |name: &str, value: Value| json!({ "parameters": { name: value } });
    let long: &'static str = "a".repeat(64).leak();
    vec![
        Case("replicas-none", "db", json!({ "replicas": 0 }), &["spec.replicas"]),
        Case("replicas-many", "db", json!({ "replicas": 17 }), &["spec.replicas"]),
        Case("image-malformed", "db", json!({ "image": "Postgres:17:2" }), &["spec.image", "for example docker.io/library/postgres:17"]),
        Case("size-none", "db", json!({ "storage": { "size": "0" } }), &["spec.storage.size", "256Mi to 1Pi"]),
        Case("size-no-quantity", "db", json!({ "storage": { "size": "lots" } }), &["spec.storage.size", "256Mi to 1Pi"]),
        Case("called-template1", NONE, name("template1"), &["spec.databaseName", "a database of the server itself"]),
        Case("called-with-quotes", NONE, name("a\"b'c"), &["spec.databaseName", "is no name for a database"]),
        Case("called-with-blanks", NONE, name("my shop"), &["spec.databaseName", "is no name for a database"]),
        Case("called-in-unicode", NONE, name("läden"), &["spec.databaseName", "is no name for a database"]),
        Case("called-too-long", NONE, name(long), &["spec.databaseName"]),
        Case("never", "db", schedule("0 0 30 2 *", "UTC"), &["spec.backup.schedule"]),
        Case("no-such-minute", "db", schedule("61 * * * *", "UTC"), &["spec.backup.schedule", "61"]),
        Case("no-such-zone", "db", schedule("0 2 * * *", "Europe/Nowhere"), &["spec.backup.timeZone", "Europe/Nowhere"]),
        Case("the-operators-setting", "db", setting("wal_level", json!("minimal")), &["spec.parameters", "wal_level"]),
        Case("a-file-of-its-own", "db", setting("include", json!("/etc/passwd")), &["spec.parameters", "include"]),
        Case("no-name-of-a-setting", "db", setting("work mem", json!("8MB")), &["spec.parameters", "work mem"]),
        Case("an-unquoted-number", "db", setting("max_connections", json!(200)), &["spec.parameters"]),
        Case(
            "no-name-of-an-extension",
            "db",
            json!({ "extensions": [{ "name": "pg_trgm" }, { "name": "a b" }] }),
            &["is no name of an extension"],
        ),
        Case(
            "a-label-of-the-operators",
            "db",
            json!({ "podTemplate": { "metadata": { "labels": { "pointsman.dev/role": "replica" } } } }),
            &["say whose a pod is"],
        ),
    ]
}

/// Names that no object may have.
fn names() -> Vec<Generic> {
    let long = "a".repeat(53);
    let named = |case: &str, version: &str, name: &str| {
        let spec = if version == "v1" { spec(&json!({})) } else { json!({ "name": "shop", "storage-size": "1Gi" }) };
        let write = |verb: &Verb| Attempt::write(case, *verb, (&DATABASE, version, name), &spec, &json!({}));
        let says = Says::Rule("metadata.name", vec!["at most 52", "start with a letter"]);
        [Verb::Apply, Verb::ServerSide].iter().map(|verb| Generic { attempt: write(verb), says: says.clone() }).collect::<Vec<_>>()
    };
    let cases = [("name-too-long", long.as_str()), ("name-with-a-digit-first", "1st-db"), ("name-with-a-dot", "db.shop")];
    cases.into_iter().flat_map(|(case, name)| [named(case, "v1", name), named(case, "v1alpha1", name)].concat()).collect()
}

/// Objects in the states that the cases need.
fn prepared(space: &Space) {
    space.kubectl(&["create", "service", "clusterip", "asking-ro", "--tcp=5432"]).ok();
    create(space, "asking", &json!({}));
    create(space, "db", &rich());
    create(space, "fixed", &json!({ "storage": { "size": "1Gi", "storageClassName": "played-fixed" } }));
    create(space, "going", &json!({ "podTemplate": saying("snapshot", "wait") }));
    create(space, "unready", &json!({ "podTemplate": saying("init", "FAILED: no such thing") }));
    create(space, "classless", &json!({ "backup": { "storage": { "size": "1Gi", "storageClassName": "nowhere" } } }));
    for name in ["db", "fixed", "going", "classless"] {
        space.db(name).ready_within(SOON);
    }
    space.db("unready").reaches("HumanIntervention", ASKS);
    space.db("asking").reaches("HumanIntervention", ASKS);
    space.db("going").kubectl("delete", &["--wait=false"]).ok();
    space.db("going").reaches("SnapshottingBeforeDelete", SOON);
}

#[test]
fn every_refusal_says_what_to_do_and_changes_nothing() {
    let _turn = shared();
    let space = Space::new("db-refusals");
    prepared(&space);
    let specs = || OBJECTS.map(|name| space.db(name).seen()["spec"].clone());
    let before = specs();
    // What is busy is so for seconds: that first.
    let cases = changes().into_iter().rev().chain(values());
    let mut refused: Vec<Refused> = cases
        .map(|Case(name, object, change, words)| match object {
            NONE => Refused::birth(name, NONE, &change, words),
            object => Refused::change(&space, name, object, &change, words),
        })
        .collect();
    refused.extend(Refused::generic([wrong_answers(&DATABASE, "db", "fixed", "asking"), names()].concat()));
    let faults = faults(&space, FOLDER, &refused);
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert_eq!(specs(), before, "a refused write changed an object");
    assert!(space.db(NONE).seen().is_null(), "a refused object was made");
    let met: String = golden::names(FOLDER).iter().map(|file| golden::text(&format!("{FOLDER}/{file}"))).collect();
    let unmet: Vec<&str> = change_rules::ROWS.iter().map(|row| row.why).filter(|why| !met.contains(why)).collect();
    assert_eq!(unmet, Vec::<&str>::new(), "changes that are not made, and that nobody tries");
    let unsupported = Database::changes_table().iter().filter(|row| row.raises.is_err()).count();
    assert_eq!(unsupported, 3, "another row of the change table is unsupported, and nobody tries it");
}
