//! What only a Database's status says.

use super::dumps::{BackupTimes, Taken};
use super::kept::KeptSpec;
use crate::kinds::status::Status;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The status of a Database.
pub type DatabaseStatus = Status<KeptSpec>;

/// What only a Database's status says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct More {
    /// The version of PostgreSQL that runs, as the server tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 64))]
    pub version: Option<String>,
    /// The pod that takes writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 253))]
    pub primary: Option<String>,
    /// How far the state has come, where it has several steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 64))]
    pub step: Option<String>,
    /// When backups were made, and when the next one will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BackupTimes")]
    pub backup: Option<BackupTimes>,
    /// The Secret that applications connect with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Binding")]
    pub binding: Option<Binding>,
    /// Which data is this object's, as it was ordered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "System")]
    pub system: Option<System>,
    /// Epochs that volumes have seen and that are later than what the servers are told, by the uids of their claims.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub later_epochs: BTreeMap<String, u32>,
    /// What servers have said of volumes that hold what the primary lacks, by the uids of their claims.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub diverged: BTreeMap<String, String>,
    /// What images have told when they were probed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = PROBES))]
    pub probes: Vec<Probed>,
    /// The dump that the data came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Taken")]
    pub restored: Option<Taken>,
    /// Its making was begun: from then on a user may have written to it, whatever came of the Job.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub begun: bool,
    /// The name of the database that was made, or brought back, for its users.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = crate::kinds::database::object::fields::DATABASE_NAME_LENGTH))]
    pub database: Option<String>,
    /// What was made in it for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Initialized")]
    pub initialized: Option<Initialized>,
    /// Which settings were reloaded last, and whether every server has read them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Reloaded")]
    pub settings: Option<Reloaded>,
    /// The attempt of a Job that failed last, where its pod is removed because a sidecar runs on in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FailedAttempt")]
    pub failed_attempt: Option<FailedAttempt>,
    /// The uid of the pod of a replica that had diverged, which a person has had tried again: what it said counts no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 64))]
    pub retried: Option<String>,
    /// How often the primary ended for another, while it is to move and nobody took over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Fences")]
    pub fences: Option<Fences>,
    /// When a person has allowed new passwords that the primary has not learnt yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    pub reset_time: Option<Time>,
    /// The uids of the servers' pods that were made before the new ones stood; absent where an earlier release allowed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = PODS), inner(length(max = 64)))]
    pub unaware: Option<Vec<String>>,
    /// The last dump before the deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Taken")]
    pub snapshot: Option<Taken>,
    /// What was dumped until then counts no more: the object was kept, and its servers took writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    pub written_since: Option<Time>,
    /// How many such dumps were taken: each is written down for itself, since servers may have served after the one before.
    #[serde(skip_serializing_if = "is_zero")]
    pub dumps: u32,
    /// What a person has said of the volumes, when the deletion asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "LastWord")]
    pub last_word: Option<LastWord>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// How many answers of images are remembered: for the spec, for what was ordered, was good and was rolled back.
pub const PROBES: usize = 4;

/// How many pods are remembered: more than there are servers.
pub const PODS: usize = 64;

/// Which data is an object's: what the ConfigMap of the topology is made from again, should somebody remove it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct System {
    /// The ordinal of the primary.
    pub primary: u32,
    /// One more with each other primary.
    pub epoch: u32,
    /// The system identifier of the data, once a server has told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 32))]
    pub identifier: Option<String>,
    /// The uid of the primary's pod, as long as it is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 64))]
    pub pod: Option<String>,
    /// The uid of each ordinal's claim.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub claims: BTreeMap<String, String>,
}

/// What an image has told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Probed {
    /// The image.
    #[schemars(length(max = 512))]
    pub image: String,
    /// A digest of the settings' values, which it takes; absent where an earlier release did not ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 16))]
    pub values: Option<String>,
    /// Its version, as `server_version_num`.
    pub version: u32,
    /// Settings that only a start reads; those of libraries that the image does not have count as such.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub restart: Vec<String>,
    /// Settings that a running server reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub reload: Vec<String>,
    /// Extensions that it has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub extensions: Vec<String>,
    /// Those of them whose library must be loaded when the server starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub preloaded: Vec<String>,
}

/// What was made in the database for its users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Initialized {
    /// The version of the server that it was made on, as `server_version_num`.
    pub version: u32,
    /// Extensions that are there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub extensions: Vec<String>,
}

/// Settings that running servers read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reloaded {
    /// The mark of their text.
    pub mark: i64,
    /// Since when they stand.
    pub time: Time,
    /// The uids of the servers' pods that were made before: a younger one read them at its start. Absent where an earlier release
    /// wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = PODS), inner(length(max = 64)))]
    pub older: Option<Vec<String>>,
    /// Has every server read them?
    pub read: bool,
}

/// How often the primary ended for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Fences {
    /// How often.
    pub count: u32,
    /// Is nobody the primary just now?
    pub open: bool,
}

/// An attempt of a Job that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedAttempt {
    /// The uid of the Job.
    #[schemars(length(max = 64))]
    pub job: String,
    /// The last words of its container.
    #[schemars(length(max = 1024))]
    pub words: String,
}

/// What a person has said of the volumes of an object that is being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LastWord {
    /// They stay.
    KeepVolumes,
    /// They go without a last dump.
    SkipSnapshot,
}

/// The Secret that applications connect with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// Its name; it is in the same namespace.
    #[schemars(length(max = 253))]
    pub name: String,
}
