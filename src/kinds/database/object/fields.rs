//! The schema of every field, with its bounds and rules: v1 and the carrier of v1alpha1 share them.

use crate::kinds::cel::{forbids_saying, in_line};
use crate::kinds::image;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

/// The longest name of a database: PostgreSQL cuts longer ones.
pub const DATABASE_NAME_LENGTH: usize = 63;
/// The pattern of a database's name.
pub const DATABASE_NAME: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";
/// Databases that every server has, and that are the server's own.
pub const RESERVED_NAMES: [&str; 3] = ["postgres", "template0", "template1"];
/// Bounds of `replicas`.
pub const REPLICAS: (i32, i32) = (1, 16);
/// Bounds of `port`.
pub const PORT: (i32, i32) = (1024, 65_535);
/// Bounds of a volume's size: a fresh server takes some 200 MB with its log of writes.
pub const SIZE: (&str, &str) = ("256Mi", "1Pi");
/// Bounds of `backup.retain`.
pub const RETAIN: (i32, i32) = (1, 365);
/// `backup.retain` where the spec names none.
pub const DEFAULT_RETAIN: i32 = 7;
/// The most settings.
pub const PARAMETERS: usize = 100;
/// The longest value of a setting.
pub const PARAMETER_LENGTH: usize = 1024;
/// The most extensions.
pub const EXTENSIONS: usize = 64;
/// The longest name of an extension.
pub const EXTENSION_LENGTH: usize = 63;
/// The longest name of a backup.
pub const FILE_LENGTH: usize = 255;
/// The pattern of an extension's name: PostgreSQL takes no other in the names of its files.
pub const EXTENSION: &str = "^[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*$";
/// The pattern of a backup's name on its volume.
pub const FILE: &str = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$";
/// The pattern of an object's name: a DNS subdomain.
pub const OBJECT_NAME: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
/// The image where neither the spec nor a setting names one.
pub const DEFAULT_IMAGE: &str = "docker.io/library/postgres:17";

/// What a database's name may be.
pub const DATABASE_NAME_TEXT: &str = "is no name for a database; write 1 to 63 letters, digits, '_' and '-', the first a letter or '_'";
/// What the name of an extension may be.
pub const EXTENSION_TEXT: &str =
    "is no name of an extension; write letters, digits, '_' and single '-' between them, as pg_trgm or uuid-ossp";
/// What the name of a StorageClass may be.
pub const CLASS_TEXT: &str = "is no name of a StorageClass; kubectl get storageclasses lists them";
/// What the name of a claim may be.
pub const CLAIM_TEXT: &str = "is no name of a PersistentVolumeClaim; kubectl get pvc lists those of this namespace";
/// What the name of a backup may be.
pub const FILE_TEXT: &str = "is no name of a backup; write its name on the volume, without a folder, or leave it out for the newest";
/// What a range of addresses may be.
pub const RANGE_TEXT: &str = "is no range of addresses; write one as 203.0.113.0/24 or 2001:db8::/32";
/// Why some names are taken.
pub const RESERVED_TEXT: &str = "is a database of the server itself; choose another name";

/// `spec.databaseName`, `spec.name` in v1alpha1.
pub fn database_name(_: &mut SchemaGenerator) -> Schema {
    let mut schema = named(DATABASE_NAME, DATABASE_NAME_LENGTH, DATABASE_NAME_TEXT);
    let reserved = forbids_saying(format!("!(self in {RESERVED_NAMES:?})"), format!("self + ' {RESERVED_TEXT}'"));
    if let Some(rules) = schema.get_mut("x-kubernetes-validations").and_then(Value::as_array_mut) {
        rules.push(json!(reserved));
    }
    schema
}

/// `spec.image`.
pub fn image(_: &mut SchemaGenerator) -> Schema {
    image::schema(DEFAULT_IMAGE)
}

/// `spec.port`.
pub fn port(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32", "minimum": PORT.0, "maximum": PORT.1 })
}

/// `spec.replicas`.
pub fn replicas(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32", "minimum": REPLICAS.0, "maximum": REPLICAS.1 })
}

/// `spec.storage.size`, `spec.storage-size` in v1alpha1, `spec.backup.storage.size`.
pub fn size(_: &mut SchemaGenerator) -> Schema {
    let ((least, most), value) = (SIZE, "quantity(string(self))");
    let within = format!("{value}.compareTo(quantity('{least}')) >= 0 && {value}.compareTo(quantity('{most}')) <= 0");
    let rule = forbids_saying(
        format!("isQuantity(string(self)) && {within}"),
        format!("'%s is not a quantity from {least} to {most}'.format([{}])", in_line("string(self)")),
    );
    json_schema!({ "x-kubernetes-int-or-string": true, "nullable": false, "maxLength": 32, "x-kubernetes-validations": [rule] })
}

/// `spec.storage.storageClassName` and `spec.backup.storage.storageClassName`.
pub fn storage_class(_: &mut SchemaGenerator) -> Schema {
    named(OBJECT_NAME, 253, CLASS_TEXT)
}

/// `spec.parameters`.
pub fn parameters(_: &mut SchemaGenerator) -> Schema {
    let value = json_schema!({ "type": "string", "maxLength": PARAMETER_LENGTH });
    json_schema!({ "type": "object", "maxProperties": PARAMETERS, "additionalProperties": value })
}

/// `spec.extensions[].name`.
pub fn extension(_: &mut SchemaGenerator) -> Schema {
    named(EXTENSION, EXTENSION_LENGTH, EXTENSION_TEXT)
}

/// `spec.backup.retain`.
pub fn retain(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "format": "int32", "minimum": RETAIN.0, "maximum": RETAIN.1 })
}

/// `spec.restoreFrom.claimName`.
pub fn claim_name(_: &mut SchemaGenerator) -> Schema {
    named(OBJECT_NAME, 253, CLAIM_TEXT)
}

/// `spec.restoreFrom.file`.
pub fn file(_: &mut SchemaGenerator) -> Schema {
    named(FILE, FILE_LENGTH, FILE_TEXT)
}

/// `spec.deletionPolicy`.
pub fn deletion_policy(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["Snapshot", "Delete", "Retain"] })
}

/// `spec.service.type`.
pub fn service_type(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["ClusterIP", "NodePort", "LoadBalancer"] })
}

/// `spec.service.annotations`.
pub fn service_annotations(_: &mut SchemaGenerator) -> Schema {
    let value = json_schema!({ "type": "string", "maxLength": 4096 });
    json_schema!({ "type": "object", "maxProperties": 64, "additionalProperties": value })
}

/// `spec.service.loadBalancerSourceRanges`.
pub fn source_ranges(_: &mut SchemaGenerator) -> Schema {
    let rule = forbids_saying("isCIDR(self)", format!("'\"%s\" {RANGE_TEXT}'.format([{}])", in_line("self")));
    let range = json_schema!({ "type": "string", "maxLength": 43, "x-kubernetes-validations": [rule] });
    json_schema!({ "type": "array", "maxItems": 64, "items": range })
}

/// A text that matches a pattern.
fn named(pattern: &str, length: usize, text: &str) -> Schema {
    let (pattern, text) = (pattern.replace('\\', r"\\"), text.replace('\'', r"\'"));
    let rule = forbids_saying(format!("self.matches('{pattern}')"), format!("'\"%s\" {text}'.format([{}])", in_line("self")));
    json_schema!({ "type": "string", "maxLength": length, "x-kubernetes-validations": [rule] })
}
