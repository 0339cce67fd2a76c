//! v1alpha1 <-> v1: total, never refuses, emits no undeclared field.
//!
//! What v1alpha1 cannot say travels in `spec.v1`, where it differs from v1's default. The way to v1
//! writes every default itself, since the API server defaults nothing that it has converted; so the
//! defaults of v1 are frozen.

use super::v1::MemcachedSpec;
use serde_json::{Map, Value, json};

/// A field that v1alpha1 carries: its name, and v1's default if it has one.
pub type Carried = (&'static str, Option<fn() -> Value>);

/// Every field of v1 that v1alpha1 does not know.
pub const CARRIED: &[Carried] = &[
    ("image", None),
    ("memory", Some(|| default("memory"))),
    ("maxItemSize", Some(|| default("maxItemSize"))),
    ("maxConnections", Some(|| default("maxConnections"))),
    ("port", Some(|| default("port"))),
    ("resources", Some(|| default("resources"))),
    ("podTemplate", None),
];

const DEFAULT_SIZE: i32 = 1;

fn default(field: &str) -> Value {
    serde_json::to_value(MemcachedSpec::default()).unwrap_or_default()[field].clone()
}

/// The spec of v1 that says what `spec` of v1alpha1 says.
pub fn to_v1(spec: &Value) -> Value {
    let mut new = Map::new();
    new.insert("replicas".to_owned(), present(spec, "size").unwrap_or_else(|| json!(DEFAULT_SIZE)));
    let carrier = &spec["v1"];
    for (field, default) in CARRIED {
        if let Some(value) = present(carrier, field).or_else(|| default.map(|default| default())) {
            new.insert((*field).to_owned(), value);
        }
    }
    Value::Object(new)
}

/// The spec of v1alpha1 that says what `spec` of v1 says.
pub fn to_v1alpha1(spec: &Value) -> Value {
    let mut new = Map::new();
    new.insert("size".to_owned(), present(spec, "replicas").unwrap_or_else(|| json!(DEFAULT_SIZE)));
    let mut carrier = Map::new();
    for (field, default) in CARRIED {
        if let Some(value) = present(spec, field)
            && Some(&value) != default.map(|default| default()).as_ref()
        {
            carrier.insert((*field).to_owned(), value);
        }
    }
    if !carrier.is_empty() {
        new.insert("v1".to_owned(), Value::Object(carrier));
    }
    Value::Object(new)
}

fn present(spec: &Value, field: &str) -> Option<Value> {
    spec.get(field).filter(|value| !value.is_null()).cloned()
}
