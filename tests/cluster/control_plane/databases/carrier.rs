//! What v1alpha1 cannot say of a Database is kept on every way through it. The objects are paused: what they ask for is
//! stored and not made.

use super::super::carried::Carried;
use super::refused::{Refused, faults, spec};
use crate::harness::carrier::{DATABASE, Way, merged};
use crate::harness::{Space, bash, shared};
use serde_json::{Value, json};

const OLD: &str = DATABASE.old;

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

/// What v1alpha1 has words for, without what it carries.
fn flat(name: &str, export: &Value, replicas: i64) -> String {
    let mut spec = export["spec"].clone();
    spec["replicas"] = json!(replicas);
    spec.as_object_mut().expect("a spec").remove("v1");
    DATABASE.manifest("v1alpha1", name, &spec).to_string()
}

/// An apply of an export comes last: from then on the carrier is what that user applies.
const WAYS: [Way; 11] = [
    ("label", None, |space, name, _| space.kubectl(&["label", &format!("{OLD}/{name}"), "example.com/team=payments"])),
    ("annotate", None, |space, name, _| space.kubectl(&["annotate", &format!("{OLD}/{name}"), "example.com/note=hands"])),
    ("patch", Some(4), |space, name, _| {
        space.kubectl(&["patch", &format!("{OLD}/{name}"), "--type=merge", "--patch", r#"{"spec":{"replicas":4}}"#])
    }),
    ("json patch", Some(5), |space, name, _| {
        let patch = r#"[{"op":"replace","path":"/spec/replicas","value":5}]"#;
        space.kubectl(&["patch", &format!("{OLD}/{name}"), "--type=json", "--patch", patch])
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
    ("annotations that are taken off", None, |space, name, _| {
        space.kubectl(&["patch", &format!("{OLD}/{name}"), "--type=merge", "--patch", r#"{"metadata":{"annotations":null}}"#])
    }),
];

/// Writes it through v1, with `create` or `apply`: the latter keeps what it wrote in an annotation.
#[track_caller]
fn write(space: &Space, verb: &str, name: &str, fields: &Value) {
    let mut spec = json!({ "databaseName": "shop", "storage": { "size": "1Gi" } });
    json_patch::merge(&mut spec, fields);
    let mut manifest = DATABASE.manifest("v1", name, &spec);
    manifest["metadata"]["annotations"] = json!({ "pointsman.dev/paused": "true" });
    space.kubectl_with(&[verb, "--filename", "-"], &manifest.to_string()).ok();
}

#[test]
fn every_way_through_v1alpha1_keeps_what_it_cannot_say() {
    walked(&[("defaults", json!({})), ("everything", merged(&fixtures()))]);
}

/// Each fixture by itself on every way.
pub fn each_is_walked() {
    walked(&fixtures());
}

#[track_caller]
fn walked(fixtures: &[(&str, Value)]) {
    let _turn = shared();
    let space = Space::new("db-carrier");
    for (name, fixture) in fixtures {
        write(&space, "apply", name, fixture);
        DATABASE.walked(&space, name, &WAYS);
    }
}

#[test]
fn every_fixture_survives_an_export_through_either_version() {
    let _turn = shared();
    let space = Space::new("db-fixtures");
    for (name, fixture) in fixtures() {
        write(&space, "create", name, &fixture);
        let before = DATABASE.spec(&space, name);
        for (field, value) in fixture.as_object().unwrap() {
            let mut kept = before[field].clone();
            json_patch::merge(&mut kept, value);
            assert_eq!(before[field], kept, "{name}: {field} is not stored as it was written");
        }
        DATABASE.survives_its_export(&space, name);
    }
}

/// The walks that would lose what v1alpha1 cannot say.
fn carried() -> Carried {
    let flat = json!({ "name": "shop", "storage-size": "1Gi", "image": "postgres:17.11" });
    Carried {
        kind: &DATABASE,
        plain: ("plain", flat.clone()),
        rich: ("rich", flat),
        added: json!({ "parameters": { "work_mem": "8MB" } }),
        mistyped: json!({ "parameters": { "max_connections": 200 } }),
        unknown: "paramters",
    }
}

#[test]
fn what_would_lose_it_is_refused() {
    let _turn = shared();
    let space = Space::new("db-carried");
    let image = json!({ "image": "postgres:17.11" });
    let rich = json!({ "image": "postgres:17.11", "parameters": { "work_mem": "4MB" } });
    for (name, fields) in [("plain", &image), ("rich", &rich), ("exported", &rich)] {
        write(&space, "apply", name, fields);
        // What is replaced while its first status is written is refused for that.
        space.db(name).reaches("Paused", 30);
    }
    carried().applied(&space, &spec(&rich));
    space.db("applied").annotate("pointsman.dev/paused=true");
    let exports = carried().old_exports(&space, &json!({ "parameters": { "work_mem": "8MB" } }));
    let cases = Refused::generic([carried().on_objects(), exports, vec![carried().same_manager()]].concat());
    let specs = || ["plain", "rich", "exported", "applied"].map(|name| DATABASE.spec(&space, name));
    let before = specs();
    let faults = faults(&space, "database-carrier", &cases);
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert_eq!(specs(), before, "a refused write changed an object");
    assert!(space.db("new-plain").seen().is_null(), "a refused object was made");
}
