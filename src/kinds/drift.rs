//! Does a child still say what we wrote? Only the fields that we own are compared.

use super::prose::beginning;
use json_patch::{Patch, PatchOperation, TestOperation};
use serde_json::Value;
use std::collections::BTreeSet;

/// Fields that have one owner as a whole: what stands in them beside ours is drift as well.
const WHOLE: [&str; 7] = [
    "selector",
    "nodeSelector",
    "labelSelector",
    "namespaceSelector",
    "tolerations",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
];

/// Fields that the API server leaves out where they are as by default: an absent one is the same as one of false or zero.
const LEFT_OUT: [&str; 4] = ["minReadySeconds", "ordinals", "paused", "publishNotReadyAddresses"];

/// What would have to change in `live` for every field of `wanted` to stand there; empty when it does.
pub fn differences(live: &Value, wanted: &Value) -> Patch {
    json_patch::diff(&projection(live, wanted), wanted)
}

/// The fields in which `live` differs from `wanted`, as pointers into `wanted`: the innermost that have one owner.
pub fn differing(live: &Value, wanted: &Value) -> BTreeSet<String> {
    let patch = json_patch::diff(&projection(live, wanted), wanted);
    patch.0.iter().map(|operation| owned(operation.path().as_ref(), wanted)).collect()
}

/// The field at `pointer`, or the one around it that has one owner as a whole.
fn owned(pointer: &str, wanted: &Value) -> String {
    let (mut field, mut at) = (String::new(), wanted);
    for token in pointer.split('/').skip(1) {
        let atomic = at.as_array().is_some_and(|items| items.iter().any(|item| name(item).is_none()));
        let whole = field.rsplit('/').next().is_some_and(|last| WHOLE.contains(&last));
        if atomic || whole {
            break;
        }
        field = format!("{field}/{token}");
        at = wanted.pointer(&field).unwrap_or(&Value::Null);
    }
    field
}

/// The first difference, in a few words, as evidence.
pub fn in_words(live: &Value, wanted: &Value) -> Option<String> {
    let seen = projection(live, wanted);
    let patch = json_patch::diff(&seen, wanted);
    patch.0.first().map(|operation| said(operation, operation.path().resolve(&seen).ok()))
}

/// The same of a patch that is yet to be made: what it changes, by its own tests, from what.
pub fn of_patch(patch: &Patch) -> Option<String> {
    fn tested(operation: &PatchOperation) -> Option<&TestOperation> {
        if let PatchOperation::Test(test) = operation { Some(test) } else { None }
    }
    let change = patch.0.iter().find(|operation| tested(operation).is_none())?;
    let before = patch.0.iter().filter_map(tested).find(|test| test.path == *change.path());
    Some(said(change, before.map(|test| &test.value)))
}

fn said(operation: &PatchOperation, before: Option<&Value>) -> String {
    match (operation, before) {
        (PatchOperation::Replace(replace), Some(before)) => format!("{} is {}, not {}", replace.path, cut(before), cut(&replace.value)),
        (PatchOperation::Replace(replace), None) => format!("{} should be {}", replace.path, cut(&replace.value)),
        (PatchOperation::Add(add), _) => format!("{} is missing, it should be {}", add.path, cut(&add.value)),
        (PatchOperation::Remove(_) | PatchOperation::Move(_) | PatchOperation::Copy(_) | PatchOperation::Test(_), _) => {
            format!("{} should not be there", operation.path())
        }
    }
}

/// A value, or the beginning of a long one.
fn cut(value: &Value) -> String {
    beginning(&value.to_string(), 60)
}

/// `live`, cut down to what `wanted` names.
///
/// The API server adds defaults and other writers add fields of their own: neither is drift. An
/// empty value and an absent one are the same to it. Lists whose items have names are matched by name.
pub fn projection(live: &Value, wanted: &Value) -> Value {
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            let same = wanted.iter().filter_map(|(key, wanted)| {
                let seen = match live.get(key) {
                    Some(live) if WHOLE.contains(&key.as_str()) => {
                        if trimmed(live) == trimmed(wanted) {
                            wanted.clone()
                        } else {
                            live.clone()
                        }
                    }
                    Some(live) => projection(live, wanted),
                    None if is_empty(wanted) || (LEFT_OUT.contains(&key.as_str()) && is_zero(wanted)) => wanted.clone(),
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

/// What the API server tells the items of a list apart by: of owners the uid, else a name, or of a spread over topologies
/// its two keys.
pub fn name(item: &Value) -> Option<(&str, &str)> {
    let text = |key: &str| item.get(key)?.as_str();
    text("uid").or_else(|| text("name")).map(|name| (name, "")).or_else(|| Some((text("topologyKey")?, text("whenUnsatisfiable")?)))
}

/// A value without its empty parts.
fn trimmed(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let parts = map.iter().map(|(key, value)| (key.clone(), trimmed(value)));
            Value::Object(parts.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(trimmed).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
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

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Object(map) => map.values().all(is_zero),
        Value::Null | Value::Array(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_has_one_owner_is_compared_whole() {
        let wanted = json!({ "selector": { "app": "a" }, "nodeSelector": {} });
        assert!(differences(&json!({ "selector": { "app": "a" } }), &wanted).0.is_empty());
        let words = |live: Value| in_words(&live, &wanted).unwrap_or_default();
        assert_eq!(words(json!({ "selector": { "app": "a", "track": "canary" } })), "/selector/track should not be there");
        assert_eq!(
            words(json!({ "selector": { "app": "a" }, "nodeSelector": { "disk": "ssd" } })),
            "/nodeSelector/disk should not be there"
        );
    }

    #[test]
    fn only_fields_that_we_own_are_drift() {
        let wanted = json!({"replicas": 3, "empty": {}, "containers": [{"name": "a", "args": ["-m", "64"]}]});
        let live =
            json!({"replicas": 3, "strategy": "x", "containers": [{"name": "sidecar"}, {"name": "a", "args": ["-m", "64"], "tty": true}]});
        assert!(differences(&live, &wanted).0.is_empty());
    }

    #[test]
    fn what_is_left_out_is_as_by_default_and_anything_else_is_drift() {
        let wanted = json!({ "paused": false, "ordinals": { "start": 0 }, "automountServiceAccountToken": false });
        let words = |live: Value| in_words(&live, &wanted).unwrap_or_default();
        assert_eq!(words(json!({ "automountServiceAccountToken": false })), "");
        assert_eq!(words(json!({ "automountServiceAccountToken": false, "paused": true })), "/paused is true, not false");
        assert_eq!(words(json!({ "automountServiceAccountToken": false, "ordinals": { "start": 3 } })), "/ordinals/start is 3, not 0");
        assert_eq!(words(json!({})), "/automountServiceAccountToken is missing, it should be false");
        let headless = json!({ "publishNotReadyAddresses": true });
        assert_eq!(in_words(&json!({}), &headless).unwrap_or_default(), "/publishNotReadyAddresses is missing, it should be true");
    }

    #[test]
    fn owners_are_told_apart_by_uid() {
        let wanted = json!({ "ownerReferences": [{ "name": "cache", "uid": "ours", "controller": true }] });
        let live =
            json!({ "ownerReferences": [{ "name": "cache", "uid": "theirs" }, { "name": "cache", "uid": "ours", "controller": true }] });
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
        let words = |live: Value| in_words(&live, &wanted).unwrap_or_default();
        assert_eq!(words(json!({"replicas": 5, "labels": {"a": "b"}, "args": ["-m", "64"]})), "/replicas is 5, not 3");
        assert_eq!(words(json!({"replicas": 3, "labels": {}, "args": ["-m", "64"]})), "/labels/a is missing, it should be \"b\"");
        assert_eq!(words(json!({"replicas": 3, "labels": {"a": "b"}, "args": ["-m", "64", "-v"]})), "/args/2 should not be there");
    }
}
