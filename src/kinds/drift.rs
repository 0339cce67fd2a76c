//! Does a child still say what we wrote? Only the fields that we own are compared.

use super::order::patch_of;
use json_patch::{Patch, PatchOperation, ReplaceOperation, TestOperation};
use jsonptr::PointerBuf;
use kube::Resource;
use serde::Serialize;
use serde_json::Value;

/// What the API server tells ports apart by.
const KEYS_OF_PORTS: [&str; 3] = ["port", "containerPort", "protocol"];

/// What would have to change in `live` for every field of `wanted` to stand there; empty when it does.
pub fn differences(live: &Value, wanted: &Value) -> Patch {
    json_patch::diff(&projection(live, wanted), wanted)
}

/// Ports that keep their name under another number, put back in their places; nothing where there are none.
///
/// The API server keys ports by number and lets no name repeat: an apply would set ours beside such a one, and be
/// refused.
pub fn renumbered<T: Resource + Serialize>(live: &T, wanted: &Value) -> Option<Patch> {
    let mut operations = Vec::new();
    ports(&serde_json::to_value(live).unwrap_or_default(), wanted, &PointerBuf::root(), &mut operations);
    (!operations.is_empty()).then(|| patch_of(live, operations))
}

fn ports(live: &Value, wanted: &Value, at: &PointerBuf, operations: &mut Vec<PatchOperation>) {
    let below = |token: &str| at.with_trailing_token(token);
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            for (key, wanted) in wanted {
                ports(live.get(key).unwrap_or(&Value::Null), wanted, &below(key), operations);
            }
        }
        (Value::Array(live), Value::Array(wanted)) => {
            for wanted in wanted {
                let Some(place) = live.iter().position(|other| name(wanted).is_some() && name(other) == name(wanted)) else { continue };
                let (path, before) = (below(&place.to_string()), &live[place]);
                if KEYS_OF_PORTS.iter().any(|key| wanted.get(key).is_some() && wanted.get(key) != before.get(key)) {
                    operations.push(PatchOperation::Test(TestOperation { path: path.clone(), value: before.clone() }));
                    operations.push(PatchOperation::Replace(ReplaceOperation { path, value: wanted.clone() }));
                } else {
                    ports(before, wanted, &path, operations);
                }
            }
        }
        _ => {}
    }
}

/// The first difference, in a few words, as evidence.
pub fn in_words(patch: &Patch) -> Option<String> {
    patch.0.first().map(|operation| match operation {
        PatchOperation::Replace(replace) => format!("{} should be {}", replace.path, replace.value),
        PatchOperation::Add(add) => format!("{} is missing, it should be {}", add.path, add.value),
        PatchOperation::Remove(_) | PatchOperation::Move(_) | PatchOperation::Copy(_) | PatchOperation::Test(_) => {
            format!("{} should not be there", operation.path())
        }
    })
}

/// `live`, cut down to what `wanted` names.
///
/// The API server adds defaults and other writers add fields of their own: neither is drift. An
/// empty value and an absent one are the same to it. Lists whose items have names are matched by name.
fn projection(live: &Value, wanted: &Value) -> Value {
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            let same = wanted.iter().filter_map(|(key, wanted)| {
                let seen = match live.get(key) {
                    Some(live) => projection(live, wanted),
                    None if is_empty(wanted) => wanted.clone(),
                    None => return None,
                };
                Some((key.clone(), seen))
            });
            Value::Object(same.collect())
        }
        (Value::Array(live), Value::Array(wanted)) if wanted.iter().all(|item| name(item).is_some()) => {
            let named = |item: &Value| live.iter().find(|other| name(other) == name(item));
            Value::Array(wanted.iter().filter_map(|item| Some(projection(named(item)?, item))).collect())
        }
        (Value::Array(live), Value::Array(wanted)) if live.len() == wanted.len() => {
            Value::Array(live.iter().zip(wanted).map(|(live, wanted)| projection(live, wanted)).collect())
        }
        (live, _) => live.clone(),
    }
}

/// What the API server tells the items of a list apart by: a name, or of a spread over topologies its two keys.
fn name(item: &Value) -> Option<(&str, &str)> {
    let text = |key: &str| item.get(key)?.as_str();
    text("name").map(|name| (name, "")).or_else(|| Some((text("topologyKey")?, text("whenUnsatisfiable")?)))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Service;
    use serde_json::json;

    #[test]
    fn a_renumbered_port_is_put_back_in_its_place() {
        let wanted = json!({ "spec": { "ports": [{ "name": "main", "port": 11211, "protocol": "TCP" }] } });
        let service = |port: i32| -> Service {
            let ports = json!([{ "name": "other", "port": 9, "protocol": "TCP" }, { "name": "main", "port": port, "protocol": "TCP" }]);
            serde_json::from_value(json!({ "metadata": { "uid": "u" }, "spec": { "ports": ports } })).expect("a Service")
        };
        assert_eq!(renumbered(&service(11211), &wanted), None);
        let patch = renumbered(&service(80), &wanted).expect("a patch");
        let mut live = json!(service(80));
        json_patch::patch(&mut live, &patch).expect("its tests hold");
        assert_eq!(live["spec"], json!(service(11211))["spec"]);
        assert!(json_patch::patch(&mut json!(service(81)), &patch).is_err(), "what somebody changed since is overwritten");
    }

    #[test]
    fn only_fields_that_we_own_are_drift() {
        let wanted = json!({"replicas": 3, "empty": {}, "containers": [{"name": "a", "args": ["-m", "64"]}]});
        let live =
            json!({"replicas": 3, "strategy": "x", "containers": [{"name": "sidecar"}, {"name": "a", "args": ["-m", "64"], "tty": true}]});
        assert!(differences(&live, &wanted).0.is_empty());
    }

    #[test]
    fn what_is_empty_is_absent_and_spreads_of_others_are_theirs() {
        let wanted = json!({ "tolerations": [{ "key": "", "operator": "Exists" }],
            "topologySpreadConstraints": [{ "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1 }] });
        let live = json!({ "tolerations": [{ "operator": "Exists" }], "topologySpreadConstraints": [
            { "topologyKey": "host", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1 },
            { "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1 }] });
        assert!(differences(&live, &wanted).0.is_empty());
    }

    #[test]
    fn a_changed_a_missing_and_a_surplus_value_are_each_named() {
        let wanted = json!({"replicas": 3, "labels": {"a": "b"}, "args": ["-m", "64"]});
        let words = |live: Value| in_words(&differences(&live, &wanted)).unwrap_or_default();
        assert_eq!(words(json!({"replicas": 5, "labels": {"a": "b"}, "args": ["-m", "64"]})), "/replicas should be 3");
        assert_eq!(words(json!({"replicas": 3, "labels": {}, "args": ["-m", "64"]})), "/labels/a is missing, it should be \"b\"");
        assert_eq!(words(json!({"replicas": 3, "labels": {"a": "b"}, "args": ["-m", "64", "-v"]})), "/args/2 should not be there");
    }
}
