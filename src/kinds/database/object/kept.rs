//! The spec as a status keeps it.

use super::more::More;
use super::v1::{Database, DatabaseSpec};
use crate::kinds::status::Kept;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;

/// A spec as the status keeps it: the shape of v1 without its bounds, since it was judged before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeptSpec(pub DatabaseSpec);

impl From<&Database> for KeptSpec {
    fn from(object: &Database) -> Self {
        KeptSpec(object.spec.clone())
    }
}

impl Kept for KeptSpec {
    type Machine = crate::kinds::database::Database;
    type More = More;
}

impl JsonSchema for KeptSpec {
    fn schema_name() -> Cow<'static, str> {
        "KeptSpec".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let free = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        let count = json!({ "type": "integer", "format": "int32" });
        // Its rules compare these two with what was good, and a rule wants to know how long a text can be.
        let name = json!({ "type": "string", "maxLength": crate::kinds::database::object::fields::DATABASE_NAME_LENGTH });
        json_schema!({ "type": "object", "properties": {
            "databaseName": name, "port": count, "image": { "type": "string" }, "replicas": count, "storage": free, "parameters": free,
            "extensions": { "type": "array", "items": free }, "backup": free, "restoreFrom": free, "deletionPolicy": { "type": "string" },
            "service": free, "resources": free, "podTemplate": free,
        } })
    }
}
