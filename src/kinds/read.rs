//! An object as it is stored, however much of it can be read: the definition of another release may have let in what
//! today's types cannot hold, and a newer operator may have written words into the status that this one does not know.

use super::Served;
use super::status::Status;
use serde::Deserialize;
use serde_json::{Error, Map, Value, json};

/// The object in `stored`. What cannot be read of a status is left out, so that it is looked at afresh; a spec that cannot
/// be is left out and marked, so that nothing is made of it and a person is asked.
///
/// # Errors
/// When it is not even an object with metadata.
pub fn read<K: Served>(stored: &Value) -> Result<K::Object, Error> {
    sound::<K>(stored).or_else(|fault| {
        let mut object = sound::<K>(&without(stored, "spec", json!({})))?;
        K::unreadable(&mut object, fault.to_string());
        Ok(object)
    })
}

/// The object in `stored`, with what can be read of its status: a newer operator's words must not keep anybody from
/// editing the spec, nor make this one forget what it knows.
///
/// # Errors
/// When the spec cannot be read.
pub fn sound<K: Served>(stored: &Value) -> Result<K::Object, Error> {
    K::Object::deserialize(stored)
        .or_else(|fault| K::Object::deserialize(&without(stored, "status", legible::<K>(&stored["status"]))).map_err(|_| fault))
}

/// The fields of a status that can be read, each by itself, and of its lists the items that can.
fn legible<K: Served>(status: &Value) -> Value {
    let is_legible = |name: &str, value: Value| Status::<K::Spec>::deserialize(&json!({ name: value })).is_ok();
    let field = |name: &str, value: &Value| match value.as_array() {
        Some(items) => Some(items.iter().filter(|item| is_legible(name, json!([item]))).cloned().collect()),
        None => Some(value.clone()).filter(|value| is_legible(name, value.clone())),
    };
    let fields = || status.as_object().into_iter().flatten();
    let mut read: Map<_, _> = fields().filter_map(|(name, value)| Some((name.clone(), field(name, value)?))).collect();
    // Conditions may be somebody else's.
    if fields().any(|(name, value)| name != "conditions" && read.get(name) != Some(value)) {
        // So the status is not yet what it should be, and is written until what nobody can read is gone.
        read.remove("observedGeneration");
    }
    Value::Object(read)
}

fn without(stored: &Value, part: &str, empty: Value) -> Value {
    let mut rest = stored.clone();
    if let Some(fields) = rest.as_object_mut() {
        fields.insert(part.to_owned(), empty);
    }
    rest
}
