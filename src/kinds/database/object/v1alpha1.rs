//! The older served version: flat, and one carrier for all that it cannot say.

use super::fields;
use super::more::DatabaseStatus;
use super::parts::{Backup, DeletionPolicy, Extension, RestoreFrom, Service};
use super::rules::{FIXED_NAME, FIXED_PORT, name};
use crate::kinds::carrier;
use crate::kinds::object_rules::{fixed, status_stays};
use crate::kinds::pod_template::{PodTemplate, Resources, Strings};
use crate::kinds::quantity::Quantity;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A PostgreSQL server and one database in it, as version v1alpha1 knows them.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "stable.imaginedata.com",
    version = "v1alpha1",
    kind = "Database",
    plural = "databases",
    shortname = "db",
    category = "pointsman",
    doc = "A PostgreSQL server with read replicas, and one database in it.",
    namespaced,
    storage = false,
    deprecated = "stable.imaginedata.com/v1alpha1 Database is deprecated; use stable.imaginedata.com/v1 Database",
    status = "DatabaseStatus",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas", label_selector_path = ".status.selector"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.readyText", description = "Ready pods of wanted pods."),
    printcolumn(name = "State", type_ = "string", json_path = ".status.state", description = "Where the object is in its lifecycle."),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.reason", description = "What brought it there."),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version", description = "The version of PostgreSQL that runs."),
    printcolumn(name = "Backup", type_ = "date", json_path = ".status.backup.lastSuccess", description = "Time since the last good backup."),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Failed Backup",
        type_ = "date",
        json_path = ".status.backup.lastFailure",
        priority = 1,
        description = "Time since a backup failed last."
    ),
    printcolumn(
        name = "Next Backup",
        type_ = "string",
        json_path = ".status.backup.nextTime",
        priority = 1,
        description = "When the schedule asks for the next one."
    ),
    printcolumn(name = "Image", type_ = "string", json_path = ".status.image", priority = 1),
    printcolumn(name = "Endpoint", type_ = "string", json_path = ".status.endpoints[0].address", priority = 1),
    printcolumn(name = "Paused", type_ = "string", json_path = r#".status.conditions[?(@.type=="Paused")].status"#, priority = 1),
    printcolumn(name = "Protected", type_ = "string", json_path = r#".status.conditions[?(@.type=="Protected")].status"#, priority = 1),
    printcolumn(name = "Message", type_ = "string", json_path = ".status.message", priority = 1),
    validation = name(),
    validation = fixed("name", "databaseName", "%s", FIXED_NAME),
    validation = fixed("port", "port", "%d", FIXED_PORT),
    validation = status_stays()
)]
#[schemars(extend("x-kubernetes-validations" = [carrier::unchanged("stable.imaginedata.com")]))]
pub struct DatabaseSpec {
    /// The database that applications use; their role is always app. It cannot be changed once the database has been Ready.
    #[schemars(schema_with = "fields::database_name")]
    pub name: String,
    /// The TCP port. It cannot be changed once the database has been Ready: it is part of the address that clients hold.
    #[serde(default = "default_port")]
    #[schemars(schema_with = "fields::port")]
    pub port: i32,
    /// How large the volume of each server is, at least 256Mi. It can grow where the StorageClass can, and never shrink.
    #[serde(rename = "storage-size")]
    #[schemars(schema_with = "fields::size")]
    pub storage_size: Quantity,
    /// The PostgreSQL image. Absent: the operator's default, kept in status.defaultImage. Another minor version restarts the
    /// servers, read replicas first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::image")]
    pub image: Option<String>,
    /// How many servers: one primary, the rest read replicas.
    #[serde(default = "default_replicas")]
    #[schemars(schema_with = "fields::replicas")]
    pub replicas: i32,
    /// The fields of v1 that v1alpha1 does not know, where they differ from v1's defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FieldsOfV1")]
    pub v1: Option<FieldsOfV1>,
}

fn default_port() -> i32 {
    crate::kinds::database::object::v1::DatabaseSpec::default().port
}

fn default_replicas() -> i32 {
    crate::kinds::database::object::v1::DatabaseSpec::default().replicas
}

/// The fields of v1 that v1alpha1 carries unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("minProperties" = 1, "x-kubernetes-validations" = crate::kinds::database::object::convert::FIELDS.left_out()))]
pub struct FieldsOfV1 {
    /// As in v1, the size aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StorageOfV1")]
    pub storage: Option<StorageOfV1>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::parameters")]
    pub parameters: Option<Strings>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Extension>", length(max = fields::EXTENSIONS), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub extensions: Option<Vec<Extension>>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Backup")]
    pub backup: Option<Backup>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RestoreFrom")]
    pub restore_from: Option<RestoreFrom>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::deletion_policy")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Service")]
    pub service: Option<Service>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Resources")]
    pub resources: Option<Resources>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PodTemplate")]
    pub pod_template: Option<PodTemplate>,
}

/// What v1 says of the volumes and v1alpha1 does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageOfV1 {
    /// As in v1.
    #[schemars(schema_with = "fields::storage_class")]
    pub storage_class_name: String,
}
