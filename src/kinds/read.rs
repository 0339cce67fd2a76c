//! An object as it is stored, however much of it can be read: the definition of another release may have let in what
//! today's types cannot hold, and a newer operator may have written words into the status that this one does not know.

use super::Served;
use serde::Deserialize;
use serde_json::{Error, Value, json};

/// The object in `stored`. A status that cannot be read is left out, so that all is looked at afresh; a spec that cannot
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

/// The object in `stored`, without its status where that one cannot be read: a newer operator's words must not keep
/// anybody from editing the spec.
///
/// # Errors
/// When the spec cannot be read.
pub fn sound<K: Served>(stored: &Value) -> Result<K::Object, Error> {
    K::Object::deserialize(stored).or_else(|fault| K::Object::deserialize(&without(stored, "status", Value::Null)).map_err(|_| fault))
}

fn without(stored: &Value, part: &str, empty: Value) -> Value {
    let mut rest = stored.clone();
    if let Some(fields) = rest.as_object_mut() {
        fields.insert(part.to_owned(), empty);
    }
    rest
}
