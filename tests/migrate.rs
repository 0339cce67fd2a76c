//! What a migration of the storage decides and says, and who owns what after it; the texts are golden files.

#[path = "migrate/api_server.rs"]
mod api_server;
#[path = "support/golden.rs"]
mod golden;
#[path = "migrate/storage_version_migration.rs"]
mod storage_version_migration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use kube::Error;
use kube::core::{ApiResource, GroupVersionKind, Status};
use pointsman::migrate::migration::{Outcome, State};
use pointsman::migrate::{Found, Kind, Late, Name, Next, Passed, Version, judge, next, restated, words};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn kind() -> Kind {
    let owned = |fields: &Value, version: &str| match version {
        "v2" => Some(fields.clone()),
        // What v1 calls old, v2 calls new; of what v1 calls lost it knows nothing.
        "v1" => fields.as_object().map_or(Some(fields.clone()), |fields| {
            let known = fields.iter().filter(|(name, _)| *name != "f:lost");
            Some(known.map(|(name, value)| (name.replace("f:old", "f:new"), value.clone())).collect())
        }),
        _ => None,
    };
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("example.com", "v2", "Cache"), "caches");
    Kind { definition: "caches.example.com".to_owned(), resource, short: "mc".to_owned(), owned }
}

/// Versions in their order; `!` is stored, `-` is not served.
fn found(versions: &[&str], stored: &[&str]) -> Found {
    let version = |text: &&str| Version {
        name: text.trim_matches(['!', '-']).to_owned(),
        served: !text.ends_with('-'),
        storage: text.ends_with('!'),
    };
    Found { generation: 7, versions: versions.iter().map(version).collect(), stored: stored.iter().map(|&name| name.to_owned()).collect() }
}

fn name(number: usize) -> Name {
    Name { namespace: "shop".to_owned(), name: format!("cache-{number}") }
}

fn fault(code: u16, message: &str) -> Error {
    Error::Api(Box::new(Status { code, message: message.to_owned(), ..Status::default() }))
}

fn late(count: usize) -> Vec<Late> {
    let managers = |number: usize| BTreeSet::from([["argocd", "kubectl"][number % 2].to_owned()]);
    (0..count).map(|number| Late { name: name(number), managers: managers(number) }).collect()
}

fn refused(count: usize) -> Passed {
    let why = "Cache.example.com \"cache\" is invalid: spec.port: Invalid value: \"string\": must be of type integer";
    Passed { written: 90, unchanged: 5, gone: 1, refused: (0..count).map(|number| (name(number), why.to_owned())).collect() }
}

#[test]
fn every_text_is_the_golden_one() {
    let (kind, both) = (kind(), found(&["v2!", "v1"], &["v1", "v2"]));
    let conversion = "conversion webhook for example.com/v1, Kind=Cache failed: Post \"https://pointsman.pointsman-system.svc:9443/convert?timeout=30s\": dial tcp 10.96.3.4:9443: connect: connection refused";
    let forbidden =
        "caches.example.com is forbidden: User \"jane\" cannot list resource \"caches\" in API group \"example.com\" at the cluster scope";
    let not_created = "storageversionmigrations.storagemigration.k8s.io is forbidden: User \"jane\" cannot create resource \"storageversionmigrations\" in API group \"storagemigration.k8s.io\" at the cluster scope";
    let denied =
        "12/1000 not yet migrated. migration encountered unhandled error: admission webhook \"policy.example.com\" denied the request: no";
    let passed = Passed { written: 700, unchanged: 300, ..Passed::default() };
    let stopped = |fault: &Error| words::stopped(&kind, &both, (250, 1000), &name(250), fault);
    let cases = [
        ("no-definition", words::no_definition(&kind)),
        ("no-definitions", words::no_definitions(&[&kind, &kind])),
        ("stores-another", judge(&kind, found(&["v2", "v1!"], &["v1"])).expect_err("another")),
        ("not-listed-forbidden", words::not_read(&kind, "list caches.example.com", &fault(403, forbidden))),
        ("not-listed-conversion", words::not_read(&kind, "list caches.example.com", &fault(500, conversion))),
        ("stopped", stopped(&fault(500, "etcdserver: request timed out"))),
        ("stopped-conversion", stopped(&fault(500, conversion))),
        ("refused-one", words::refused(&kind, &both, &refused(1))),
        ("refused-many", words::refused(&kind, &both, &refused(25))),
        (
            "not-shrunk-changed",
            words::not_shrunk(&kind, &both, &fault(422, "the server rejected our request due to an error in our request")),
        ),
        (
            "not-shrunk-forbidden",
            words::not_shrunk(&kind, &both, &fault(403, "customresourcedefinitions \"caches.example.com\" is forbidden")),
        ),
        ("cluster-asked", words::asked(&kind, false) + "\n"),
        ("cluster-asked-by-earlier-run", words::asked(&kind, true) + "\n"),
        ("cluster-pending", words::waited(&kind, 10, &State::Pending) + "\n"),
        ("cluster-running", words::waited(&kind, 120, &State::Running("The migration is running".to_owned())) + "\n"),
        ("cluster-ending", words::waited(&kind, 130, &State::Ending(Outcome::Succeeded)) + "\n"),
        ("cluster-succeeded", words::asked_for(&kind, &Outcome::Succeeded) + "\n"),
        ("cluster-failed", words::asked_for(&kind, &Outcome::Failed(denied.to_owned())) + "\n"),
        ("cluster-not-begun", words::asked_for(&kind, &Outcome::NotBegun(60)) + "\n"),
        ("cluster-quiet", words::asked_for(&kind, &Outcome::Quiet(300, "The migration is running".to_owned())) + "\n"),
        ("cluster-unwanted", words::asked_for(&kind, &Outcome::Unwanted) + "\n"),
        ("cluster-deleted", words::asked_for(&kind, &Outcome::Deleted) + "\n"),
        ("cluster-not-asked", words::not_asked(&kind, &fault(403, not_created)) + "\n"),
        ("cluster-of-another", words::of_another(&kind, "widgets.example.com") + "\n"),
        ("cluster-not-deleted", words::not_deleted(&kind, &fault(403, &not_created.replace("create", "delete"))) + "\n"),
        ("cluster-not-put-back", words::not_put_back(&kind, &found(&["v2!", "v1"], &["v2"]), &fault(500, "etcdserver: request timed out"))),
        ("progress", words::progress(&kind, 250, 1000) + "\n"),
        ("finished-served", words::finished(&kind, &both, &passed, &[])),
        ("finished-unserved", words::finished(&kind, &found(&["v2!", "v1-"], &["v2"]), &passed, &[])),
        ("finished-alone", words::finished(&kind, &found(&["v2!"], &["v2"]), &Passed { gone: 2, ..passed.clone() }, &[])),
        ("finished-late-one", words::finished(&kind, &both, &passed, &late(1))),
        ("finished-late-many", words::finished(&kind, &both, &passed, &late(25))),
    ];
    golden::compare("migrate", cases.iter().map(|(name, text)| (*name, text.as_str())));
}

#[test]
fn nothing_is_written_unless_the_right_version_is_stored() {
    assert!(judge(&kind(), found(&["v1", "v2!"], &["v1"])).is_ok());
    for wrong in [found(&["v2", "v1!"], &["v1", "v2"]), found(&["v1!"], &["v1"]), found(&[], &[])] {
        assert!(judge(&kind(), wrong.clone()).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_version_is_served_no_more_before_it_is_removed() {
    assert_eq!(next(&found(&["v1", "v2!"], &[])), Next::Unserve(vec![(0, "v1")]));
    assert_eq!(next(&found(&["v2!", "v1", "v0-"], &[])), Next::Unserve(vec![(1, "v1")]));
    assert_eq!(next(&found(&["v2!", "v1-"], &[])), Next::Remove(vec![(1, "v1")]));
    assert_eq!(next(&found(&["v2!"], &[])), Next::Nothing);
}

fn entry(text: &str, fields: &Value) -> ManagedFieldsEntry {
    let words: Vec<&str> = text.split(' ').collect();
    let entry = json!({ "manager": words[0], "operation": words[1], "apiVersion": words[2], "time": words[3],
        "subresource": words.get(4), "fieldsType": "FieldsV1", "fieldsV1": fields });
    serde_json::from_value(entry).expect("an entry")
}

/// The entries after a migration, in a form that is easy to compare.
fn after(entries: Vec<ManagedFieldsEntry>) -> Value {
    serde_json::to_value(restated(&kind(), entries)).expect("entries")
}

fn same(entries: Vec<ManagedFieldsEntry>) -> Value {
    serde_json::to_value(entries).expect("entries")
}

const EARLY: &str = "2026-01-01T00:00:00Z";
const LATE: &str = "2026-02-01T00:00:00Z";

#[test]
fn an_entry_of_another_version_says_the_same_in_the_stored_one() {
    let old = json!({ "f:old": {}, "f:both": { "f:a": {} } });
    let new = json!({ "f:new": {}, "f:both": { "f:a": {} } });
    for who in ["jane Apply VERSION TIME", "jane Update VERSION TIME", "jane Update VERSION TIME scale"] {
        let who = |version: &str| who.replace("VERSION", version).replace("TIME", EARLY);
        assert_eq!(after(vec![entry(&who("example.com/v1"), &old)]), same(vec![entry(&who("example.com/v2"), &new)]));
    }
}

#[test]
fn what_needs_nothing_stays_as_it_is() {
    let fields = json!({ "f:old": {} });
    for version in ["example.com/v2", "example.com/v9", "elsewhere.com/v1", "v1"] {
        let entries =
            vec![entry(&format!("jane Update {version} {EARLY}"), &fields), entry(&format!("jane Apply {version} {LATE}"), &fields)];
        assert_eq!(after(entries.clone()), same(entries), "{version}");
    }
    let twice = restated(&kind(), vec![entry(&format!("jane Update example.com/v1 {EARLY}"), &fields)]);
    assert_eq!(after(twice.clone()), same(twice));
}

#[test]
fn a_manager_that_wrote_through_both_owns_what_it_owned_through_either() {
    let (early, late) = (format!("jane Update example.com/v1 {EARLY}"), format!("jane Update example.com/v2 {LATE}"));
    let (one, other) = (
        json!({ "f:old": {}, "f:b": { "f:x": {} }, "f:c": {}, "f:d": {} }),
        json!({ "f:b": { "f:y": {} }, "f:c": { "f:z": {} }, "f:d": {} }),
    );
    let both = json!({ "f:new": {}, "f:b": { "f:x": {}, "f:y": {} }, "f:c": { ".": {}, "f:z": {} }, "f:d": {} });
    assert_eq!(after(vec![entry(&early, &one), entry(&late, &other)]), same(vec![entry(&late, &both)]));
    assert_eq!(after(vec![entry(&late, &other), entry(&early, &one)]), same(vec![entry(&late, &both)]));
    // Another operation or subresource is another owner.
    let apart = vec![entry(&early, &one), entry(&late.replace("Update", "Apply"), &other), entry(&format!("{late} status"), &other)];
    assert_eq!(restated(&kind(), apart).len(), 3);
}

#[test]
fn an_owner_of_nothing_is_none() {
    assert_eq!(restated(&kind(), vec![entry(&format!("jane Update example.com/v1 {EARLY}"), &json!({ "f:lost": {} }))]), Vec::new());
    let without = ManagedFieldsEntry { fields_v1: None::<FieldsV1>, ..entry(&format!("jane Update example.com/v1 {EARLY}"), &json!({})) };
    assert_eq!(restated(&kind(), vec![without.clone()]), vec![without]);
}
