//! Sets of fields, as `managedFields` writes them: a tree of names.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value};

/// The branch of a set of fields itself.
const ITSELF: &str = ".";

/// Both sets in one: a branch that either owns as a whole stays owned, beside what the other owns of it.
pub fn unite(one: &mut Value, other: Value) {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return };
    if one.is_empty() != other.is_empty() {
        one.insert(ITSELF.to_owned(), Value::Object(Map::new()));
    }
    for (name, other) in other {
        match one.get_mut(&name) {
            Some(one) => unite(one, other),
            None => drop(one.insert(name, other)),
        }
    }
}

/// All that a field manager owns of an object, but of its subresources; nothing where nobody says who owns what.
pub fn owned_by(meta: &ObjectMeta, manager: &str) -> Option<Value> {
    let entries = meta.managed_fields.as_ref()?.iter();
    let its =
        entries.filter(|entry| entry.manager.as_deref() == Some(manager) && entry.subresource.as_deref().unwrap_or_default().is_empty());
    let mut all = Value::Object(Map::new());
    its.filter_map(|entry| entry.fields_v1.as_ref()).for_each(|fields| unite(&mut all, fields.0.clone()));
    Some(all)
}

/// What of `value` a set of fields owns: a branch without names owns all of it.
pub fn part(value: &Value, fields: &Value) -> Value {
    let Some(names) = fields.as_object().filter(|names| !names.is_empty()) else { return value.clone() };
    match value {
        Value::Object(members) => {
            let owned = names.iter().filter_map(|(name, fields)| {
                let name = name.strip_prefix("f:")?;
                Some((name.to_owned(), part(members.get(name)?, fields)))
            });
            Value::Object(owned.collect())
        }
        Value::Array(items) => {
            let owned = names.iter().filter_map(|(name, fields)| Some(part(items.iter().find(|item| is_named(item, name))?, fields)));
            Value::Array(owned.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Is this the item of a list that a set of fields names: by its keys, or by what it is?
fn is_named(item: &Value, name: &str) -> bool {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    if let Some(keys) = name.strip_prefix("k:") {
        return parsed(keys).as_object().is_some_and(|keys| keys.iter().all(|(key, value)| item.get(key) == Some(value)));
    }
    name.strip_prefix("v:").is_some_and(|value| parsed(value) == *item)
}
