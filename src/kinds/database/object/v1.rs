//! The stored version.

use super::fields;
use super::more::DatabaseStatus;
use super::parts::{Backup, DeletionPolicy, Extension, RestoreFrom, Service, Storage};
use super::rules::{FIXED_NAME, FIXED_PORT, name};
use crate::kinds::object_rules::{fixed, status_stays};
use crate::kinds::pod_template::{PodTemplate, Resources, Strings};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A PostgreSQL server with read replicas, and one database in it.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "stable.imaginedata.com",
    version = "v1",
    kind = "Database",
    plural = "databases",
    shortname = "db",
    category = "pointsman",
    doc = "A PostgreSQL server with read replicas, and one database in it.",
    namespaced,
    derive = "PartialEq",
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
    validation = fixed("databaseName", "databaseName", "%s", FIXED_NAME),
    validation = fixed("port", "port", "%d", FIXED_PORT),
    validation = status_stays()
)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("required" = ["databaseName", "storage"]))]
pub struct DatabaseSpec {
    /// The database that applications use; their role is always app. It cannot be changed once the database has been Ready.
    // What is required has no default; the empty ones are those of a spec that could not be read.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(schema_with = "fields::database_name")]
    pub database_name: String,
    /// The PostgreSQL image. Absent: the operator's default, kept in status.defaultImage. Another minor version restarts the
    /// servers, read replicas first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::image")]
    pub image: Option<String>,
    /// The TCP port. It cannot be changed once the database has been Ready: it is part of the address that clients hold.
    #[schemars(schema_with = "fields::port")]
    pub port: i32,
    /// How many servers: one primary, the rest read replicas.
    #[schemars(schema_with = "fields::replicas")]
    pub replicas: i32,
    /// The volume of each server.
    #[serde(skip_serializing_if = "Storage::is_unknown")]
    pub storage: Storage,
    /// Settings of PostgreSQL, each value a string. A change is loaded, or restarts the servers where the setting needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::parameters")]
    pub parameters: Option<Strings>,
    /// Extensions to create in the database. One can be added and not removed: removing it can drop data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Extension>", length(max = fields::EXTENSIONS), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub extensions: Option<Vec<Extension>>,
    /// Dumps on a schedule, and the volume that keeps them. Absent: none on a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Backup")]
    pub backup: Option<Backup>,
    /// A backup that the data comes from, before the first Ready. It cannot be changed later.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RestoreFrom")]
    pub restore_from: Option<RestoreFrom>,
    /// What deleting the object does to the data. Snapshot: a last dump is kept, the volumes go. Delete: everything goes.
    /// Retain: everything stays.
    #[schemars(schema_with = "fields::deletion_policy")]
    pub deletion_policy: DeletionPolicy,
    /// How the primary is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Service")]
    pub service: Option<Service>,
    /// Compute resources of each server. A change restarts the servers, read replicas first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Resources")]
    pub resources: Option<Resources>,
    /// What belongs to the user in the pods. A change restarts the servers, read replicas first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PodTemplate")]
    pub pod_template: Option<PodTemplate>,
    /// Why the stored spec could not be read. Then nothing of it is here, and nothing is made of it.
    #[serde(skip)]
    #[schemars(skip)]
    pub unreadable: Option<String>,
}

impl Default for DatabaseSpec {
    fn default() -> Self {
        DatabaseSpec {
            database_name: String::new(),
            image: None,
            port: 5432,
            replicas: 1,
            storage: Storage::unknown(),
            parameters: None,
            extensions: None,
            backup: None,
            restore_from: None,
            deletion_policy: DeletionPolicy::Snapshot,
            service: None,
            resources: None,
            pod_template: None,
            unreadable: None,
        }
    }
}
