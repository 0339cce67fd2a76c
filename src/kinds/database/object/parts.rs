//! The parts of a spec, as users write them: the carrier of v1alpha1 holds the same.

use super::fields;
use crate::kinds::pod_template::Strings;
use crate::kinds::quantity::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The volume of each server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// How large, at least 256Mi. It can grow where the StorageClass can, and never shrink.
    #[schemars(schema_with = "fields::size")]
    pub size: Quantity,
    /// The StorageClass. Absent: the cluster's default. It cannot be changed once a claim exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::storage_class")]
    pub storage_class_name: Option<String>,
}

impl Storage {
    /// That of a spec that could not be read.
    pub fn unknown() -> Self {
        Storage { size: Quantity::Number(0), storage_class_name: None }
    }

    /// Is it that?
    pub fn is_unknown(&self) -> bool {
        *self == Storage::unknown()
    }
}

/// An extension to create in the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extension {
    /// Its name, as CREATE EXTENSION takes it.
    #[schemars(schema_with = "fields::extension")]
    pub name: String,
}

/// Dumps on a schedule, and the volume that keeps them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Backup {
    /// When, as a CronJob takes it: minute, hour, day of the month, month, day of the week. Absent: only before deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 100))]
    pub schedule: Option<String>,
    /// The time zone of the schedule, as Europe/Berlin. Absent: UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 64))]
    pub time_zone: Option<String>,
    /// How many dumps are kept. Absent: 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::retain")]
    pub retain: Option<i32>,
    /// Are dumps on the schedule left out for now?
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub suspend: Option<bool>,
    /// The volume that keeps the dumps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BackupStorage")]
    pub storage: Option<BackupStorage>,
}

/// The volume that keeps the dumps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BackupStorage {
    /// How large, at least 256Mi. Absent: as large as a server's. It can grow, and never shrink.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::size")]
    pub size: Option<Quantity>,
    /// The StorageClass. Absent: that of the servers' volumes. It cannot be changed once the claim exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::storage_class")]
    pub storage_class_name: Option<String>,
}

/// A backup that the data comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreFrom {
    /// The claim that keeps the backup, in the same namespace.
    #[schemars(schema_with = "fields::claim_name")]
    pub claim_name: String,
    /// Which backup on it. Absent: the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::file")]
    pub file: Option<String>,
}

/// What deleting the object does to the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletionPolicy {
    /// A last dump is kept, the volumes go.
    Snapshot,
    /// Everything goes.
    Delete,
    /// Everything stays.
    Retain,
}

/// How the primary is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Service {
    /// The type of the Service. Absent: ClusterIP.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::service_type")]
    pub type_: Option<ServiceType>,
    /// Annotations of the Service, as load balancers take them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::service_annotations")]
    pub annotations: Option<Strings>,
    /// Who may come through the load balancer, as CIDRs. Absent: everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::source_ranges")]
    pub load_balancer_source_ranges: Option<Vec<String>>,
}

/// The type of a Service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServiceType {
    /// Reached inside the cluster.
    #[default]
    #[serde(rename = "ClusterIP")]
    ClusterIp,
    /// Reached on a port of every node.
    NodePort,
    /// Reached through a load balancer.
    LoadBalancer,
}

impl ServiceType {
    /// Its name in the API.
    pub fn name(self) -> &'static str {
        match self {
            ServiceType::ClusterIp => "ClusterIP",
            ServiceType::NodePort => "NodePort",
            ServiceType::LoadBalancer => "LoadBalancer",
        }
    }
}
