//! The schema of every field, with its bounds and rules: v1 and the carrier of v1alpha1 share them.

use crate::kinds::cel::{forbids_saying, forbids_unless, in_line};
use crate::kinds::image;
use crate::kinds::pod_template::Resources;
use kube::core::Rule;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;

/// Bounds of `replicas`.
pub const REPLICAS: (i32, i32) = (0, 100);
/// Bounds of `maxConnections`. memcached opens no more files than that, and about 25 for itself.
pub const CONNECTIONS: (i32, i32) = (64, 65_535);
/// Bounds of `port`.
pub const PORT: (i32, i32) = (1024, 65_535);
/// Bounds of `memory`.
pub const MEMORY: (&str, &str) = ("8Mi", "256Gi");
/// Bounds of `maxItemSize`.
pub const ITEM: (&str, &str) = ("512Ki", "128Mi");
/// `memory` where the spec names none.
pub const DEFAULT_MEMORY: &str = "64Mi";
/// `maxItemSize` where the spec names none.
pub const DEFAULT_ITEM: &str = "1Mi";
/// What `maxItemSize` is a multiple of, in bytes: memcached refuses other values.
pub const ITEM_STEP: i64 = 512 * 1024;
/// The image where neither the spec nor a setting names one.
pub const DEFAULT_IMAGE: &str = "docker.io/library/memcached:1.6";

/// `spec.replicas`, `spec.size` in v1alpha1.
pub fn replicas(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32", "minimum": REPLICAS.0, "maximum": REPLICAS.1 })
}

/// `spec.image`.
pub fn image(_: &mut SchemaGenerator) -> Schema {
    image::schema(DEFAULT_IMAGE)
}

/// `spec.memory`.
pub fn memory(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-int-or-string": true, "nullable": false, "maxLength": 32,
        "x-kubernetes-validations": [bounds(MEMORY)] })
}

/// `spec.maxItemSize`.
pub fn max_item_size(_: &mut SchemaGenerator) -> Schema {
    let step = forbids_saying(
        format!(
            "!isQuantity(string(self)) || !quantity(string(self)).isInteger() || quantity(string(self)).asInteger() % {ITEM_STEP} == 0"
        ),
        format!("'%s is no multiple of 512Ki; memcached takes no other size'.format([{}])", in_line("string(self)")),
    );
    json_schema!({ "x-kubernetes-int-or-string": true, "nullable": false, "maxLength": 32,
        "x-kubernetes-validations": [bounds(ITEM), step] })
}

/// `spec.maxConnections`.
pub fn max_connections(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32", "minimum": CONNECTIONS.0, "maximum": CONNECTIONS.1 })
}

/// `spec.port`.
pub fn port(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32", "minimum": PORT.0, "maximum": PORT.1 })
}

/// `spec.resources`.
pub fn resources(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = generator.subschema_for::<Resources>();
    let ours = "(!has(self.requests) || !('memory' in self.requests)) && (!has(self.limits) || !('memory' in self.limits))";
    let text = "the container's memory follows from spec.memory and spec.maxConnections; change those instead";
    schema.insert("x-kubernetes-validations".into(), json!([forbids_unless(ours, text)]));
    schema
}

/// The rules between fields, for `spec` in v1 and for the carrier in v1alpha1: one for new objects,
/// one for changes, since a rule on an object does not ratchet by itself.
pub fn half_of_memory() -> [Rule; 2] {
    let value = |of: &str, field: &str, default: &str| format!("(has({of}.{field}) ? string({of}.{field}) : '{default}')");
    let (item, memory) = (value("self", "maxItemSize", DEFAULT_ITEM), value("self", "memory", DEFAULT_MEMORY));
    let (old_item, old_memory) = (value("oldSelf", "maxItemSize", DEFAULT_ITEM), value("oldSelf", "memory", DEFAULT_MEMORY));
    // What is wrong with memory itself is said there, and not blamed on the item.
    let unreadable = format!("!isQuantity({item}) || !isQuantity({memory}) || quantity({memory}).compareTo(quantity('{}')) < 0", MEMORY.0);
    let holds = format!("{unreadable} || quantity({item}).add(quantity({item})).compareTo(quantity({memory})) <= 0");
    let same = format!("{item} == {old_item} && {memory} == {old_memory}");
    let says = format!("'%s is over half of memory %s'.format([{}, {}])", in_line(&item), in_line(&memory));
    [
        forbids_saying(format!("oldSelf.hasValue() || {holds}"), says.clone()).optional_old_self(true),
        forbids_saying(format!("({same}) || {holds}"), says),
    ]
    .map(|rule| rule.field_path(".maxItemSize"))
}

fn bounds((least, most): (&str, &str)) -> Rule {
    let value = "quantity(string(self))";
    let within = format!("{value}.compareTo(quantity('{least}')) >= 0 && {value}.compareTo(quantity('{most}')) <= 0");
    forbids_saying(
        format!("isQuantity(string(self)) && {within}"),
        format!("'%s is not a quantity from {least} to {most}'.format([{}])", in_line("string(self)")),
    )
}
