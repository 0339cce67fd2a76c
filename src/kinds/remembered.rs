//! What a status remembers: what was ordered, what was good, and how it came here.

use super::status::Kept;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was ordered last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound = "S: Kept")]
#[schemars(bound = "S: Kept")]
pub struct Applied<S: Kept> {
    /// The generation of the spec that it came from.
    pub generation: i64,
    /// The version of the rendering that made the children of it.
    pub renderer: i64,
    /// A digest of the pod template as the API server returned it, once it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 32))]
    pub template: Option<String>,
    /// The spec, with every default and the image filled in.
    pub spec: S,
}

/// A spec, and the generation that asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound = "S: Kept")]
#[schemars(bound = "S: Kept")]
pub struct SpecAt<S: Kept> {
    /// The generation of the spec that it came from.
    pub generation: i64,
    /// The spec, with every default and the image filled in.
    pub spec: S,
}

/// One stored move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Move {
    /// The state before.
    #[schemars(length(max = 64))]
    pub from: String,
    /// The state after.
    #[schemars(length(max = 64))]
    pub to: String,
    /// The fact that caused it.
    #[schemars(length(max = 64))]
    pub cause: String,
    /// When.
    pub time: Time,
    /// The generation that was looked at.
    pub generation: i64,
    /// The answer that was given, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 64))]
    pub answer: Option<String>,
}
