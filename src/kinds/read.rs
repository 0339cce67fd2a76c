//! An object as it is stored, however much of it can be read: the definition of another release may have let in what
//! today's types cannot hold, and a newer operator may have written words into the status that this one does not know.

use super::Served;
use serde::Deserialize;
use serde_json::{Error, Value, json};
use std::slice;

/// The object in `stored`. A status that cannot be read is left out, so that all is looked at afresh; a spec that cannot
/// be is left out and marked, so that nothing is made of it and a person is asked.
///
/// # Errors
/// When it is not even an object with metadata.
pub fn read<K: Served>(stored: &Value) -> Result<K::Object, Error> {
    K::Object::deserialize(stored).or_else(|fault| {
        let without = |parts: &[(&str, Value)]| {
            let mut rest = stored.clone();
            for (part, empty) in parts {
                rest[*part] = empty.clone();
            }
            K::Object::deserialize(&rest)
        };
        let (spec, status) = (("spec", json!({})), ("status", Value::Null));
        let marked = |mut object: K::Object| {
            K::unreadable(&mut object, fault.to_string());
            object
        };
        without(slice::from_ref(&status)).or_else(|_| without(slice::from_ref(&spec)).or_else(|_| without(&[spec, status])).map(marked))
    })
}
