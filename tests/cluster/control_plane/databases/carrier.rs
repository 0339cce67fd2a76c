//! What v1alpha1 cannot say of a Database is kept on every way through it. The objects are paused: what they ask for is
//! stored and not made.

use crate::harness::carrier::{Versions, Way};
use crate::harness::{Space, bash, shared};
use serde_json::{Value, json};

const OLD: &str = "databases.v1alpha1.stable.imaginedata.com";
const KIND: Versions = Versions { short: "db", old: OLD };

/// Fields that between them are all that v1 has.
fn fixtures() -> Vec<(&'static str, Value)> {
    let placed = json!({ "nodeSelector": { "disk": "ssd" }, "tolerations": [{ "key": "disk", "operator": "Exists" }],
        "priorityClassName": "system-cluster-critical", "imagePullSecrets": [{ "name": "pull" }], "serviceAccountName": "default" });
    vec![
        ("defaults", json!({})),
        ("named", json!({ "port": 6432, "image": "docker.io/library/postgres:17.2" })),
        ("class", json!({ "storage": { "size": "1536Mi", "storageClassName": "played" } })),
        (
            "settings",
            json!({ "parameters": { "work_mem": "8MB", "max_connections": "200" }, "extensions": [{ "name": "pg_trgm" }, { "name": "hstore" }] }),
        ),
        (
            "backup",
            json!({ "backup": { "schedule": "30 2 * * 1-5", "timeZone": "Europe/Berlin", "retain": 14, "suspend": true, "storage": { "size": "5Gi", "storageClassName": "played" } } }),
        ),
        (
            "restored",
            json!({ "restoreFrom": { "claimName": "old-backups", "file": "snapshot-20260102T030405Z" }, "deletionPolicy": "Retain" }),
        ),
        (
            "service",
            json!({ "service": { "type": "LoadBalancer", "annotations": { "example.com/a": "b" }, "loadBalancerSourceRanges": ["203.0.113.0/24"] } }),
        ),
        (
            "pods",
            json!({ "resources": { "requests": { "cpu": "100m", "memory": "256Mi" }, "limits": { "memory": "1Gi" } },
            "podTemplate": { "metadata": { "labels": { "example.com/a": "b" }, "annotations": { "example.com/c": "d" } }, "spec": placed } }),
        ),
    ]
}

/// The export as v1alpha1 shows it, with another count.
fn recounted(export: &Value, replicas: i64) -> String {
    let mut object = export.clone();
    object["spec"]["replicas"] = json!(replicas);
    object.to_string()
}

fn flat(name: &str, export: &Value, replicas: i64) -> String {
    let spec = json!({ "name": "shop", "storage-size": export["spec"]["storage-size"], "replicas": replicas });
    json!({ "apiVersion": "stable.imaginedata.com/v1alpha1", "kind": "Database", "metadata": { "name": name }, "spec": spec }).to_string()
}

/// An apply of an export comes last: from then on the carrier is what that user applies.
const WAYS: [Way; 9] = [
    ("label", None, |space, name, _| space.kubectl(&["label", &format!("{OLD}/{name}"), "example.com/team=payments"])),
    ("annotate", None, |space, name, _| space.kubectl(&["annotate", &format!("{OLD}/{name}"), "example.com/note=hands"])),
    ("patch", Some(4), |space, name, _| {
        space.kubectl(&["patch", &format!("{OLD}/{name}"), "--type=merge", "--patch", r#"{"spec":{"replicas":4}}"#])
    }),
    ("scale", Some(3), |space, name, _| space.kubectl(&["scale", &format!("{OLD}/{name}"), "--replicas=3"])),
    ("edit", Some(6), |space, name, _| {
        let editor = "sed -i 's/^  replicas: .*/  replicas: 6/'";
        bash(&format!("KUBE_EDITOR=\"{editor}\" kubectl --namespace {} edit {OLD}/{name}", space.name))
    }),
    ("apply", Some(4), |space, name, export| space.apply(&flat(name, export, 4))),
    ("server-side apply by another manager", Some(2), |space, name, export| {
        space.kubectl_with(
            &["apply", "--server-side", "--field-manager=other", "--force-conflicts", "--filename", "-"],
            &flat(name, export, 2),
        )
    }),
    ("replace by an export", Some(2), |space, _, export| space.kubectl_with(&["replace", "--filename", "-"], &recounted(export, 2))),
    ("apply of an export", Some(1), |space, _, export| space.apply(&recounted(export, 1))),
];

#[track_caller]
fn create(space: &Space, name: &str, fields: &Value) {
    let mut spec = json!({ "databaseName": "shop", "storage": { "size": "1Gi" } });
    json_patch::merge(&mut spec, fields);
    let metadata = json!({ "name": name, "annotations": { "pointsman.dev/paused": "true" } });
    let manifest = json!({ "apiVersion": "stable.imaginedata.com/v1", "kind": "Database", "metadata": metadata, "spec": spec });
    space.kubectl_with(&["create", "--filename", "-"], &manifest.to_string()).ok();
}

#[test]
fn every_way_through_v1alpha1_keeps_what_it_cannot_say() {
    let _turn = shared();
    let space = Space::new("db-carrier");
    for (name, fixture) in fixtures() {
        create(&space, name, &fixture);
        KIND.walked(&space, name, &WAYS);
    }
}

#[test]
fn every_fixture_survives_an_export_through_either_version() {
    let _turn = shared();
    let space = Space::new("db-fixtures");
    for (name, fixture) in fixtures() {
        create(&space, name, &fixture);
        let before = KIND.spec(&space, name);
        for (field, value) in fixture.as_object().unwrap() {
            let mut kept = before[field].clone();
            json_patch::merge(&mut kept, value);
            assert_eq!(before[field], kept, "{name}: {field} is not stored as it was written");
        }
        KIND.survives_its_export(&space, name);
    }
}
