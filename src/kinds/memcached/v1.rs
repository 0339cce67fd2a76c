//! The stored version.

use super::fields;
use crate::kinds::pod_template::{PodTemplate, Resources};
use crate::kinds::quantity::Quantity;
use crate::kinds::status::{Kept, NoMore, Status};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A set of memcached pods behind one headless Service.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "cache.example.com",
    version = "v1",
    kind = "Memcached",
    plural = "memcacheds",
    shortname = "mc",
    category = "all",
    category = "pointsman",
    doc = "A set of memcached pods behind one headless Service.",
    namespaced,
    derive = "PartialEq",
    status = "MemcachedStatus",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas", label_selector_path = ".status.selector"),
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
    validation = super::rules::port(),
    validation = crate::kinds::object_rules::status_stays()
)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("default" = full_default(), "x-kubernetes-validations" = fields::half_of_memory()))]
pub struct MemcachedSpec {
    /// How many pods; 0 stops the cache.
    #[schemars(schema_with = "fields::replicas")]
    pub replicas: i32,
    /// The memcached image. Absent: the operator's default, kept in status.defaultImage. A change restarts one pod at a time, each
    /// starts empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::image")]
    pub image: Option<String>,
    /// Memory for items, 8Mi to 256Gi; the container gets more than that. A change restarts one pod at a time, each starts empty.
    #[schemars(schema_with = "fields::memory")]
    pub memory: Quantity,
    /// The largest item, 512Ki to 128Mi, a multiple of 512Ki, at most half of memory. A change restarts one pod at a time, each
    /// starts empty.
    #[schemars(schema_with = "fields::max_item_size")]
    pub max_item_size: Quantity,
    /// Simultaneous connections to one pod; memcached takes about 25 of them for itself. A change restarts one pod at a time, each starts empty.
    #[schemars(schema_with = "fields::max_connections")]
    pub max_connections: i32,
    /// The TCP port. It cannot be changed once the cache has been Ready: it is part of the address that clients hold.
    #[schemars(schema_with = "fields::port")]
    pub port: i32,
    /// Compute resources of the container, memory aside: that follows from memory and maxConnections.
    #[schemars(schema_with = "fields::resources")]
    pub resources: Resources,
    /// What belongs to the user in the pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PodTemplate")]
    pub pod_template: Option<PodTemplate>,
    /// Why the stored spec could not be read. Then nothing of it is here, and nothing is made of it.
    #[serde(skip)]
    #[schemars(skip)]
    pub unreadable: Option<String>,
}

/// The status of a Memcached.
pub type MemcachedStatus = Status<KeptSpec>;

impl Default for MemcachedSpec {
    fn default() -> Self {
        let requests = [("cpu".to_owned(), Quantity::from("50m"))].into();
        MemcachedSpec {
            replicas: 1,
            image: None,
            memory: fields::DEFAULT_MEMORY.into(),
            max_item_size: fields::DEFAULT_ITEM.into(),
            max_connections: 1024,
            port: 11211,
            resources: Resources { requests, ..Resources::default() },
            pod_template: None,
            unreadable: None,
        }
    }
}

fn full_default() -> serde_json::Value {
    serde_json::to_value(MemcachedSpec::default()).unwrap_or_default()
}

/// A spec as the status keeps it: the shape of v1 without its bounds, since it was judged before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeptSpec(pub MemcachedSpec);

impl From<&Memcached> for KeptSpec {
    fn from(object: &Memcached) -> Self {
        KeptSpec(object.spec.clone())
    }
}

impl Kept for KeptSpec {
    type Machine = super::Memcached;
    type More = NoMore;
}

impl JsonSchema for KeptSpec {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "KeptSpec".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let free = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        let quantity = json!({ "x-kubernetes-int-or-string": true, "nullable": false });
        let count = json!({ "type": "integer", "format": "int32" });
        schemars::json_schema!({ "type": "object", "properties": {
            "replicas": count, "image": { "type": "string" }, "memory": quantity, "maxItemSize": quantity,
            "maxConnections": count, "port": count, "resources": free, "podTemplate": free,
        } })
    }
}
