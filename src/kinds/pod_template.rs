//! What a user may say of the pods: the parts of a pod template that we hand through.

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
    /// Labels; those of `app.kubernetes.io/` and `pointsman.dev/` are ours.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "labels")]
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
}

/// What the API server would refuse in the pods, and not in the object: the field, and what is wrong with it.
pub fn illegal_parts(template: &PodTemplate) -> impl Iterator<Item = (String, String)> {
    let (metadata, spec) = (template.metadata.as_ref(), template.spec.as_ref());
    let maps = [
        ("metadata.labels", metadata.map(|metadata| &metadata.labels)),
        ("metadata.annotations", metadata.map(|metadata| &metadata.annotations)),
        ("spec.nodeSelector", spec.map(|spec| &spec.node_selector)),
    ];
    let keys = maps.into_iter().flat_map(|(field, map)| map.into_iter().flat_map(Strings::keys).map(move |key| (field, key)));
    let keys = keys
        .filter(|(_, key)| !is_qualified(key))
        .map(|(field, key)| (field.to_owned(), format!("{key:?} is no key; write [prefix/]name of letters, digits, '-', '_' and '.'")));
    let tolerations = spec.into_iter().flat_map(|spec| spec.tolerations.iter().enumerate()).flat_map(|(place, toleration)| {
        let at = |field: &str| format!("spec.tolerations[{place}].{field}");
        [(at("operator"), toleration.operator.as_deref(), OPERATORS), (at("effect"), toleration.effect.as_deref(), EFFECTS)]
    });
    let spreads = || spec.into_iter().flat_map(|spec| spec.topology_spread_constraints.iter().enumerate());
    let when = spreads().map(|(place, spread)| {
        (format!("spec.topologySpreadConstraints[{place}].whenUnsatisfiable"), Some(spread.when_unsatisfiable.as_str()), UNSATISFIABLE)
    });
    let words = tolerations.chain(when).filter_map(|(field, word, known)| {
        let word = word.filter(|word| !known.contains(word))?;
        Some((
            field,
            format!("{word:?} is none of {}", known.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(", ")),
        ))
    });
    let topologies = spreads().filter(|(_, spread)| !is_qualified(&spread.topology_key)).map(|(place, spread)| {
        let field = format!("spec.topologySpreadConstraints[{place}].topologyKey");
        (field, format!("{:?} is no key of a node's label", spread.topology_key))
    });
    let skews = spreads().filter(|(_, spread)| spread.max_skew < 1);
    let skews = skews.map(|(place, spread)| {
        (format!("spec.topologySpreadConstraints[{place}].maxSkew"), format!("{} is not at least 1", spread.max_skew))
    });
    keys.chain(words).chain(topologies).chain(skews)
}

/// What a toleration's operator may be; empty is as absent.
const OPERATORS: &[&str] = &["", "Exists", "Equal"];
/// What its effect may be.
const EFFECTS: &[&str] = &["", "NoSchedule", "PreferNoSchedule", "NoExecute"];
/// What a spread may do when it cannot be.
const UNSATISFIABLE: &[&str] = &["DoNotSchedule", "ScheduleAnyway"];

/// Is it the key of a label or an annotation: a name, with a DNS prefix or without?
fn is_qualified(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let ends = |text: &str, legal: fn(char) -> bool| text.starts_with(legal) && text.ends_with(legal);
    let named = name.len() <= 63
        && ends(name, |c| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let lower: fn(char) -> bool = |c| c.is_ascii_lowercase() || c.is_ascii_digit();
    let label = |label: &str| ends(label, lower) && label.chars().all(|c| lower(c) || c == '-');
    named && prefix.is_none_or(|prefix| prefix.len() <= 253 && prefix.split('.').all(label))
}

/// The name of an object: a DNS subdomain.
const NAME: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

fn label_value() -> Value {
    json!({ "type": "string", "maxLength": 63, "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$" })
}

fn node_labels(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "description": "Labels that a node must have.",
        "maxProperties": 64,
        "additionalProperties": label_value(),
    })
}

fn labels(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "description": "Labels; those of app.kubernetes.io/ and pointsman.dev/ are ours.",
        "maxProperties": 64,
        "additionalProperties": label_value(),
        "x-kubernetes-validations": [{
            "rule": "self.all(key, !key.startsWith('app.kubernetes.io/') && !key.startsWith('pointsman.dev/'))",
            "reason": "FieldValueForbidden",
            "message": "labels of app.kubernetes.io/ and pointsman.dev/ are the operator's: they find its pods. Use a prefix of your own.",
        }],
    })
}
