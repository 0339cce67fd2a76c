//! What a spec means, and every text that refuses one.

use super::refusals::refusals;
use super::{IMAGE, golden, plan, said, spec};
use pointsman::kinds::database::object::convert::FIELDS;
use pointsman::kinds::database::object::parts::ServiceType;
use pointsman::kinds::database::object::v1::DatabaseSpec;
use pointsman::kinds::database::plan::parse;
use serde_json::{Value, json};

/// The manifest that this group published first, through the conversion.
#[test]
fn the_flat_form_means_what_it_says() {
    let flat = json!({ "name": "name-of-database", "port": 5432, "storage-size": "50G", "image": "postgres:17", "replicas": 3 });
    let stored = FIELDS.convert(&flat, "v1").expect("a known version");
    let written: DatabaseSpec = serde_json::from_value(stored.clone()).expect("a spec");
    let plan = parse(&written, IMAGE).expect("a legal spec");
    assert_eq!((plan.database.as_str(), plan.port, plan.replicas), ("name-of-database", 5432, 3));
    assert_eq!((plan.storage.size.bytes, plan.template.image.as_str()), (50_000_000_000, "postgres:17"));
    assert_eq!(plan.backup.storage, plan.storage, "the backups' volume is like a server's");
    assert_eq!((plan.backup.retain, plan.service.type_), (7, ServiceType::ClusterIp));
    assert_eq!(FIELDS.convert(&stored, "v1alpha1"), Some(flat), "it comes back as it was written");
}

#[test]
fn sizes_are_read_exactly_and_another_spelling_is_no_change() {
    let size = |text: &str| plan(&json!({ "storage": { "size": text } }));
    assert_eq!(size("1.5Gi").storage.size.bytes, 1_610_612_736);
    assert_eq!(size("256Mi").storage.size.bytes, 268_435_456);
    assert_eq!(size("268435456.5").storage.size.bytes, 268_435_457, "a part of a byte is one");
    assert_eq!(size("50G"), size("50000000000"));
    assert_ne!(size("50G"), size("50Gi"));
    let written = size("50G").spec().storage.size.to_string();
    assert_eq!(written, "50G");
}

fn full() -> Value {
    json!({
        "image": "docker.io/library/postgres:17.2", "port": 6432, "replicas": 3,
        "storage": { "size": "50G", "storageClassName": "fast" },
        "parameters": { "work_mem": "8MB", "pg_stat_statements.track": "all" },
        "extensions": [{ "name": "uuid-ossp" }, { "name": "pg_trgm" }],
        "backup": { "schedule": "30 2 * * mon-fri", "timeZone": "Europe/Berlin", "retain": 14, "suspend": true,
            "storage": { "size": "100Gi", "storageClassName": "slow" } },
        "restoreFrom": { "claimName": "older-backups", "file": "20260101T000000Z" },
        "deletionPolicy": "Retain",
        "service": { "type": "LoadBalancer", "annotations": { "example.com/a": "b" },
            "loadBalancerSourceRanges": ["203.0.113.0/24", "2001:db8::/32"] },
        "resources": { "requests": { "cpu": "0.5", "memory": "1Gi" }, "limits": { "memory": "1Gi" } },
        "podTemplate": { "spec": { "nodeSelector": { "disk": "ssd" } } },
    })
}

/// What the status keeps is parsed anew at every look.
#[test]
fn a_plan_that_was_kept_is_the_same_plan() {
    for fields in [json!({}), full(), json!({ "backup": { "retain": 3 }, "service": { "type": "NodePort" } })] {
        let plan = plan(&fields);
        let kept = serde_json::to_value(plan.spec()).expect("JSON");
        let read: DatabaseSpec = serde_json::from_value(kept).expect("a spec");
        assert_eq!(parse(&read, ""), Ok(plan), "{fields}");
    }
}

#[test]
fn a_spec_that_cannot_be_read_is_the_one_violation() {
    let unreadable = DatabaseSpec { unreadable: Some("missing field `size`".to_owned()), ..DatabaseSpec::default() };
    let faults = parse(&unreadable, IMAGE).expect_err("it says nothing");
    assert_eq!(said(&faults), "spec: the stored one cannot be read: missing field `size`; write one that can\n");
    let empty: DatabaseSpec = serde_json::from_value(json!({})).expect("an object whose spec is left out can be read");
    assert_eq!(empty, DatabaseSpec::default());
}

#[test]
fn refusals_read_as_in_the_golden_files() {
    let texts: Vec<(&str, String)> =
        refusals().into_iter().map(|(name, fields)| (name, said(&parse(&spec(&fields), IMAGE).expect_err(name)))).collect();
    golden::compare("database/refusals", texts.iter().map(|(name, text)| (*name, text.as_str())));
}
