//! What a user may say of the pods: the parts of a pod template that we hand through.

use super::pod_labels;
use super::quantity::Quantity;
use k8s_openapi::api::core::v1::{Affinity, Toleration, TopologySpreadConstraint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A map of strings.
pub type Strings = BTreeMap<String, String>;

/// The part of a pod template that belongs to the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PodTemplate {
    /// Labels and annotations of the pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PodMetadata")]
    pub metadata: Option<PodMetadata>,
    /// Where the pods run, and as whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PodPlacement")]
    pub spec: Option<PodPlacement>,
}

/// Labels and annotations of the pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PodMetadata {
    /// Labels; those of Kubernetes' own domains, of its controllers and of this operator are not a user's to set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "pod_labels::schema")]
    pub labels: Strings,
    /// Annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub annotations: Strings,
}

/// Where the pods run, and as whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PodPlacement {
    /// Labels that a node must have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "node_labels")]
    pub node_selector: Strings,
    /// Taints that the pods tolerate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = super::prose::strip)]
    pub tolerations: Vec<Toleration>,
    /// Node and pod affinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Affinity", transform = super::prose::strip)]
    pub affinity: Option<Affinity>,
    /// How the pods spread over nodes and zones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = super::prose::strip, extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["topologyKey", "whenUnsatisfiable"]))]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
    /// The pods' priority class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 253), regex(pattern = NAME))]
    pub priority_class_name: Option<String>,
    /// Secrets for pulling the image.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub image_pull_secrets: Vec<SecretName>,
    /// The pods' service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 253), regex(pattern = NAME))]
    pub service_account_name: Option<String>,
    /// The pods' runtime class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 253), regex(pattern = NAME))]
    pub runtime_class_name: Option<String>,
}

/// The name of a Secret in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecretName {
    /// The name.
    #[schemars(length(min = 1, max = 253), regex(pattern = NAME))]
    pub name: String,
}

/// Compute resources of the container.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Resources {
    /// The most that the container may use.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16))]
    pub limits: BTreeMap<String, Quantity>,
    /// What the container is guaranteed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16))]
    pub requests: BTreeMap<String, Quantity>,
}

impl PodTemplate {
    /// The same template, its empty parts left out.
    #[must_use]
    pub fn trimmed(self) -> Self {
        PodTemplate {
            metadata: self.metadata.filter(|metadata| *metadata != PodMetadata::default()),
            spec: self.spec.filter(|spec| *spec != PodPlacement::default()),
        }
    }

    /// The pod template with these labels and with `ours` in its spec; where the user says the same, ours is what counts.
    pub fn around(&self, renderer: i64, labels: Strings, ours: Value) -> Value {
        let metadata = self.metadata.clone().unwrap_or_default();
        let mut all = metadata.labels;
        all.extend(labels);
        let mut annotations = metadata.annotations;
        if cfg!(feature = "next-rendering") {
            annotations.insert("pointsman.dev/renderer".to_owned(), renderer.to_string());
        }
        let mut spec = json!(self.spec.clone().unwrap_or_default());
        // The API server keeps the old name of this field too, and from a field that nobody owns it would bring the new one back.
        if let Some(account) = spec.get("serviceAccountName").cloned() {
            spec["serviceAccount"] = account;
        }
        if let (Value::Object(spec), Value::Object(ours)) = (&mut spec, ours) {
            spec.extend(ours);
        }
        json!({ "metadata": { "labels": all, "annotations": annotations }, "spec": spec })
    }
}

/// The name of an object: a DNS subdomain.
const NAME: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

fn node_labels(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "description": "Labels that a node must have.",
        "maxProperties": 64,
        "additionalProperties": pod_labels::value(),
    })
}
