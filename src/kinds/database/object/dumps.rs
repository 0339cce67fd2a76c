//! What the status says of dumps.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A dump that was written and read back, or brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// The claim of that volume, where it was brought back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 253))]
    pub claim: Option<String>,
    /// The uid of the claim that it was written to, where it is the last dump before the deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 64))]
    pub uid: Option<String>,
    /// Its folder on the volume.
    #[schemars(length(max = 255))]
    pub folder: String,
    /// The size of its data, in bytes.
    pub bytes: i64,
    /// The digest of its data.
    #[schemars(length(max = 64))]
    pub sha256: String,
    /// When.
    pub time: Time,
}

/// When backups were made, and when the next one will be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BackupTimes {
    /// When the last good one was finished: it was read back in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    pub last_success: Option<Time>,
    /// When one failed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    pub last_failure: Option<Time>,
    /// The schedule as it stands, with its time zone; nothing while it asks for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 256))]
    pub schedule: Option<String>,
    /// Since when it stands so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    pub since: Option<Time>,
    /// When the schedule asks for the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    pub next_time: Option<Time>,
}
