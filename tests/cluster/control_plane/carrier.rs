//! What v1alpha1 cannot say is kept on every way through it; what would lose it is refused, see `refusals`.

use crate::harness::carrier::{MEMCACHED, Way, merged};
use crate::harness::{Space, bash, shared};
use serde_json::{Value, json};

const OLD: &str = MEMCACHED.old;

/// Specs that between them set every field of v1.
fn fixtures() -> Vec<(&'static str, Value)> {
    let placed = json!({ "nodeSelector": { "type": "kwok" }, "tolerations": [{ "key": "disk", "operator": "Exists" }],
        "priorityClassName": "system-cluster-critical", "imagePullSecrets": [{ "name": "pull" }],
        "serviceAccountName": "default", "runtimeClassName": "plain",
        "affinity": { "podAntiAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 1,
            "podAffinityTerm": { "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": { "a": "b" } } } }] } } });
    let spread = json!({ "topologySpreadConstraints": [{ "maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": { "matchLabels": { "pointsman.dev/kind": "Memcached" } } }] });
    vec![
        ("defaults", json!({})),
        ("memory", json!({ "memory": "128Mi" })),
        ("stopped", json!({ "replicas": 0, "maxItemSize": "2Mi" })),
        ("connections", json!({ "replicas": 2, "maxConnections": 2048, "port": 12000, "image": "docker.io/library/memcached:1.6.38" })),
        ("resources", json!({ "resources": { "requests": { "cpu": "20m" }, "limits": { "cpu": "1" } } })),
        (
            "labelled",
            json!({ "podTemplate": { "metadata": { "labels": { "example.com/a": "b" }, "annotations": { "example.com/c": "d" } } } }),
        ),
        ("placed", json!({ "podTemplate": { "spec": placed } })),
        ("spread", json!({ "replicas": 3, "podTemplate": { "spec": spread } })),
    ]
}

/// The export as v1alpha1 shows it, with another size.
fn resized(export: &Value, size: i64) -> String {
    let mut object = export.clone();
    object["spec"]["size"] = json!(size);
    object.to_string()
}

/// An apply of an export comes last: from then on the carrier is what that user applies.
const WAYS: [Way; 11] = [
    ("label", None, |space, name, _| space.kubectl(&["label", &format!("{OLD}/{name}"), "example.com/team=payments"])),
    ("annotate", None, |space, name, _| space.kubectl(&["annotate", &format!("{OLD}/{name}"), "example.com/note=hands"])),
    ("patch", Some(4), |space, name, _| {
        space.kubectl(&["patch", &format!("{OLD}/{name}"), "--type=merge", "--patch", r#"{"spec":{"size":4}}"#])
    }),
    ("json patch", Some(5), |space, name, _| {
        let patch = r#"[{"op":"replace","path":"/spec/size","value":5}]"#;
        space.kubectl(&["patch", &format!("{OLD}/{name}"), "--type=json", "--patch", patch])
    }),
    ("scale", Some(3), |space, name, _| space.kubectl(&["scale", &format!("{OLD}/{name}"), "--replicas=3"])),
    ("edit", Some(6), |space, name, _| {
        let editor = "sed -i 's/^  size: .*/  size: 6/'";
        bash(&format!("KUBE_EDITOR=\"{editor}\" kubectl --namespace {} edit {OLD}/{name}", space.name))
    }),
    ("apply", Some(4), |space, name, _| space.apply(&MEMCACHED.manifest("v1alpha1", name, &json!({ "size": 4 })).to_string())),
    ("server-side apply by another manager", Some(2), |space, name, _| {
        let manifest = MEMCACHED.manifest("v1alpha1", name, &json!({ "size": 2 })).to_string();
        space.kubectl_with(&["apply", "--server-side", "--field-manager=other", "--force-conflicts", "--filename", "-"], &manifest)
    }),
    ("replace by an export", Some(2), |space, _, export| space.kubectl_with(&["replace", "--filename", "-"], &resized(export, 2))),
    ("apply of an export", Some(1), |space, _, export| space.apply(&resized(export, 1))),
    ("annotations that are taken off", None, |space, name, _| {
        space.kubectl(&["patch", &format!("{OLD}/{name}"), "--type=merge", "--patch", r#"{"metadata":{"annotations":null}}"#])
    }),
];

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
    let space = Space::new("carrier");
    for (name, fixture) in fixtures {
        space.kubectl_with(&["create", "--filename", "-"], &MEMCACHED.manifest("v1", name, fixture).to_string()).ok();
        MEMCACHED.walked(&space, name, &WAYS);
    }
}

#[test]
fn every_fixture_survives_an_export_through_either_version() {
    let _turn = shared();
    let space = Space::new("fixtures");
    for (name, fixture) in fixtures() {
        space.kubectl_with(&["create", "--filename", "-"], &MEMCACHED.manifest("v1", name, &fixture).to_string()).ok();
        let before = MEMCACHED.spec(&space, name);
        for (field, value) in fixture.as_object().unwrap() {
            assert_eq!(before[field], *value, "{name}: {field} is not stored as it was written");
        }
        MEMCACHED.survives_its_export(&space, name);
    }
}
