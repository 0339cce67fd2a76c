//! The older served version: `size` instead of `replicas`, and one carrier for all that it cannot say.

use super::fields;
use super::v1::MemcachedStatus;
use crate::kinds::carrier::{self, LEAVE_OUT};
use crate::kinds::cel::forbids_unless;
use crate::kinds::pod_template::{PodTemplate, Resources};
use crate::kinds::quantity::Quantity;
use kube::CustomResource;
use kube::core::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A set of memcached pods, as version v1alpha1 knows it.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    kind = "Memcached",
    plural = "memcacheds",
    shortname = "mc",
    category = "all",
    category = "pointsman",
    doc = "A set of memcached pods behind one headless Service.",
    namespaced,
    storage = false,
    deprecated = "cache.example.com/v1alpha1 Memcached is deprecated; use cache.example.com/v1 Memcached",
    status = "MemcachedStatus",
    scale(spec_replicas_path = ".spec.size", status_replicas_path = ".status.replicas", label_selector_path = ".status.selector"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.readyText", description = "Ready pods of wanted pods."),
    printcolumn(name = "State", type_ = "string", json_path = ".status.state", description = "Where the object is in its lifecycle."),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.reason", description = "What brought it there."),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Image", type_ = "string", json_path = ".status.image", priority = 1),
    printcolumn(name = "Endpoint", type_ = "string", json_path = ".status.endpoints[0].address", priority = 1),
    printcolumn(name = "Paused", type_ = "string", json_path = r#".status.conditions[?(@.type=="Paused")].status"#, priority = 1),
    printcolumn(name = "Protected", type_ = "string", json_path = r#".status.conditions[?(@.type=="Protected")].status"#, priority = 1),
    printcolumn(name = "Message", type_ = "string", json_path = ".status.message", priority = 1),
    validation = super::rules::name(),
    validation = crate::kinds::object_rules::status_stays()
)]
#[serde(default)]
#[schemars(extend("default" = json!({ "size": 1 }), "x-kubernetes-validations" = [carrier::unchanged("cache.example.com")]))]
pub struct MemcachedSpec {
    /// How many pods; 0 stops the cache.
    #[schemars(schema_with = "fields::replicas")]
    pub size: i32,
    /// The fields of v1 that v1alpha1 does not know, where they differ from v1's defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FieldsOfV1")]
    pub v1: Option<FieldsOfV1>,
}

impl Default for MemcachedSpec {
    fn default() -> Self {
        MemcachedSpec { size: 1, v1: None }
    }
}

/// The fields of v1 that v1alpha1 carries unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("minProperties" = 1, "x-kubernetes-validations" = rules()))]
pub struct FieldsOfV1 {
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::image")]
    pub image: Option<String>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::memory")]
    pub memory: Option<Quantity>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::max_item_size")]
    pub max_item_size: Option<Quantity>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::max_connections")]
    pub max_connections: Option<i32>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::port")]
    pub port: Option<i32>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::resources")]
    pub resources: Option<Resources>,
    /// As in v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PodTemplate")]
    pub pod_template: Option<PodTemplate>,
}

/// What equals v1's default is left out, so that an object reads back as it was written.
fn rules() -> Vec<Rule> {
    super::convert::FIELDS.left_out().into_iter().chain([other_resources()]).chain(fields::half_of_memory()).collect()
}

/// The same for the one default that is more than a word.
fn other_resources() -> Rule {
    let Resources { limits: _, requests } = super::v1::MemcachedSpec::default().resources;
    let each = requests
        .iter()
        .map(|(name, amount)| format!("'{name}' in self.resources.requests && string(self.resources.requests['{name}']) == '{amount}'"));
    let same = [format!("self.resources.requests.size() == {}", requests.len())].into_iter().chain(each).collect::<Vec<_>>().join(" && ");
    forbids_unless(format!("!has(self.resources) || has(self.resources.limits) || !has(self.resources.requests) || !({same})"), LEAVE_OUT)
        .field_path(".resources")
}
