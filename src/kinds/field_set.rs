//! Sets of fields, as `managedFields` writes them: a tree of names.

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
