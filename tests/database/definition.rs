//! What the API server is told: both versions, and the bounds that keep its rules cheap.

use pointsman::kinds::Served;
use pointsman::kinds::database::Database;
use pointsman::kinds::database::object::fields::DEFAULT_RETAIN;
use serde_json::{Value, json};

fn versions() -> Vec<(String, Value)> {
    let definition = serde_json::to_value(Database::definition()).expect("JSON");
    assert_eq!(definition["spec"]["names"]["categories"], json!(["pointsman"]), "kubectl delete all must not find it");
    let versions = definition["spec"]["versions"].as_array().expect("versions");
    versions.iter().map(|version| (version["name"].as_str().expect("a name").to_owned(), version.clone())).collect()
}

fn properties(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]["properties"]
}

#[test]
fn both_versions_say_what_is_required_and_default_the_rest() {
    for (name, version) in versions() {
        let (required, defaults) = match name.as_str() {
            "v1" => (json!(["databaseName", "storage"]), json!({ "deletionPolicy": "Snapshot", "port": 5432, "replicas": 1 })),
            _ => (json!(["name", "storage-size"]), json!({ "port": 5432, "replicas": 1 })),
        };
        let spec = &properties(&version)["spec"];
        assert_eq!(spec["required"], required, "{name}");
        assert_eq!(spec["default"], Value::Null, "a spec that is absent would step over the rules");
        assert_eq!(version["schema"]["openAPIV3Schema"]["required"], json!(["spec"]));
        let fields = spec["properties"].as_object().expect("fields").iter();
        let written: Value = fields
            .filter_map(|(field, schema)| Some((field.clone(), schema.get("default")?.clone())))
            .collect::<serde_json::Map<_, _>>()
            .into();
        assert_eq!(written, defaults, "{name}");
        assert_eq!(version["subresources"]["scale"]["specReplicasPath"], ".spec.replicas");
        let columns = version["additionalPrinterColumns"].as_array().expect("columns").iter();
        let shown: Vec<&str> = columns
            .filter(|column| column.get("priority").is_none_or(|priority| *priority == 0))
            .filter_map(|column| column["name"].as_str())
            .collect();
        assert_eq!(shown, ["Ready", "State", "Reason", "Version", "Backup", "Age"], "{name}");
    }
    assert_eq!(DEFAULT_RETAIN, 7, "the schema's words say so");
}

#[test]
fn the_status_is_the_same_in_both_and_holds_what_this_kind_says() {
    let all = versions();
    let status = |index: usize| properties(&all[index].1)["status"].clone();
    assert_eq!(status(0), status(1));
    for own in ["version", "primary", "step", "backup", "binding", "state", "conditions"] {
        assert!(status(0)["properties"].get(own).is_some(), "{own}");
    }
}

/// Nothing below a carrier has a default: what is absent in it is v1's.
#[test]
fn the_carrier_defaults_nothing_and_every_text_and_list_has_an_end() {
    for (name, version) in versions() {
        let spec = properties(&version)["spec"].clone();
        bounded(&spec, &format!("{name} spec"));
        if name != "v1" {
            assert!(!spec["properties"]["v1"].to_string().contains("\"default\""), "{name}");
        }
    }
}

fn bounded(schema: &Value, path: &str) {
    // Parts of core types are bounded by the size of the whole.
    if ["tolerations", "affinity", "topologySpreadConstraints"].iter().any(|core| path.ends_with(core)) {
        return;
    }
    let end = |name: &str| schema.get(name).is_some();
    match schema["type"].as_str() {
        Some("string") => assert!(end("maxLength") || end("enum"), "{path} has no end"),
        Some("array") => assert!(end("maxItems"), "{path} has no end"),
        Some("object") if end("additionalProperties") => assert!(end("maxProperties"), "{path} has no end"),
        _ => {}
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        bounded(inner, &format!("{path}.{name}"));
    }
    if end("items") {
        bounded(&schema["items"], &format!("{path}[]"));
    }
}
