//! What several tests share: a pretend cluster, dice, and the API server's own checks.
#![allow(dead_code, reason = "each test uses its part")]

pub mod apply;
pub mod components;
pub mod conditions;
pub mod dice;
pub mod people;
pub mod rule;
pub mod run;
pub mod schema;
pub mod truth;
pub mod world;
pub mod writes;

pub use pointsman::kinds::memcached::v1::Memcached as Object;
use pointsman::kinds::memcached::v1::MemcachedSpec;
use serde_json::json;

/// The image that these tests run with.
pub const IMAGE: &str = "docker.io/library/memcached:1.6";
/// An image that no node can pull.
pub const BAD_IMAGE: &str = "docker.io/library/bad:1.6";

/// A fresh object as a user writes it.
pub fn object(name: &str, spec: MemcachedSpec) -> Object {
    let mut object = Object::new(name, spec);
    object.metadata.namespace = Some("shop".to_owned());
    object.metadata.uid = Some(format!("uid-of-{name}"));
    object.metadata.generation = Some(1);
    object.metadata.resource_version = Some("1".to_owned());
    object
}

/// A typed value out of JSON.
pub fn from_json<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    serde_json::from_value(value).expect("JSON of this type")
}

/// A pod of `name`, as the kubelet reports it.
pub fn pod(name: &str, uid: &str, hash: &str, ready: bool, waiting: Option<(&str, &str)>) -> k8s_openapi::api::core::v1::Pod {
    let state = waiting.map_or_else(
        || json!({ "running": { "startedAt": "2026-01-01T00:00:00Z" } }),
        |(reason, message)| json!({ "waiting": { "reason": reason, "message": message } }),
    );
    from_json(json!({
        "metadata": {
            "name": name, "namespace": "shop", "uid": uid, "resourceVersion": "1", "labels": { "pod-template-hash": hash },
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("cache-{hash}"), "uid": "set", "controller": true }],
        },
        "status": {
            "phase": if waiting.is_some() { "Pending" } else { "Running" },
            "conditions": [{ "type": "Ready", "status": if ready { "True" } else { "False" } }],
            "containerStatuses": [{ "name": "memcached", "image": IMAGE, "imageID": "", "ready": ready, "restartCount": 0, "state": state }],
        },
    }))
}
