//! A router to ask, and the objects and reviews that it is asked about.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use futures::FutureExt;
use pointsman::admission::Webhooks;
use pointsman::kinds::memcached::{Memcached, v1};
use pointsman::kinds::{Kind, Settings};
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

/// Where conversions are asked for.
pub const CONVERT: &str = "/convert/secret";

/// A router that knows the given objects.
pub fn router(known: Vec<Value>, watched: &[&str]) -> Router {
    let known: Vec<Arc<<Memcached as Kind>::Object>> =
        known.into_iter().map(|object| Arc::new(serde_json::from_value(object).expect("an object"))).collect();
    let find = move |namespace: String, name: String| {
        assert_ne!(name, "panic", "a bug");
        let is = |object: &&Arc<v1::Memcached>| {
            (object.metadata.namespace.as_ref(), object.metadata.name.as_ref()) == (Some(&namespace), Some(&name))
        };
        std::future::ready(known.iter().find(is).cloned()).boxed()
    };
    let watched: Vec<String> = watched.iter().map(|name| (*name).to_owned()).collect();
    let mut webhooks = Webhooks::new(&watched);
    let survey = |_: &v1::Memcached| Some(());
    webhooks.kind::<Memcached>(Settings::of::<Memcached>(), Arc::new(find), Arc::new(survey));
    webhooks.router(Arc::new(|path| std::future::ready(path.ends_with("/secret")).boxed()))
}

/// Status and text of the answer to one request.
pub async fn ask(router: Router, method: &str, path: &str, kind: &str, body: Vec<u8>) -> (StatusCode, String) {
    let request = Request::builder().method(method).uri(path).header("content-type", kind).body(Body::from(body)).expect("a request");
    let response = router.oneshot(request).await.expect("a router always answers");
    let status = response.status();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.expect("the answer is read");
    (status, String::from_utf8(bytes.to_vec()).expect("the answer is text"))
}

/// The response of a review, which must be one.
pub async fn review(router: Router, path: &str, review: &Value) -> Value {
    let (status, text) = ask(router, "POST", path, "application/json", review.to_string().into_bytes()).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&answer["apiVersion"], &answer["kind"]), (&review["apiVersion"], &review["kind"]));
    assert_eq!(answer["response"]["uid"], review["request"]["uid"]);
    answer["response"].clone()
}

/// A stored object that was ready with `replicas` pods on port 11211.
pub fn ready(name: &str, replicas: i32) -> Value {
    let spec = json!({
        "replicas": replicas, "memory": "64Mi", "maxItemSize": "1Mi", "maxConnections": 1024, "port": 11211,
        "resources": { "requests": { "cpu": "50m" } },
    });
    let mut kept = spec.clone();
    kept["image"] = json!("docker.io/library/memcached:1.6");
    json!({
        "apiVersion": "cache.example.com/v1", "kind": "Memcached",
        "metadata": { "name": name, "namespace": "shop", "uid": "6f1c", "generation": 1 },
        "spec": spec,
        "status": {
            "state": "Ready", "replicas": replicas, "readyReplicas": replicas,
            "image": "docker.io/library/memcached:1.6",
            "applied": { "generation": 1, "renderer": 1, "spec": kept },
            "lastGood": { "generation": 1, "spec": kept },
        },
    })
}

/// The same object with something set.
pub fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').expect("a path starts with /");
    object.pointer_mut(parent).expect("the parent is there")[name] = value;
    object
}

/// A review of a write, as the API server sends it.
pub fn write(operation: &str, version: &str, old: &Value, new: &Value) -> Value {
    let kind = |version: &str| json!({ "group": "cache.example.com", "version": version, "kind": "Memcached" });
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind("v1"), "requestKind": kind(version),
            "resource": { "group": "cache.example.com", "version": "v1", "resource": "memcacheds" },
            "name": new["metadata"]["name"], "namespace": "shop",
            "operation": operation, "userInfo": { "username": "ann", "groups": ["system:authenticated"] },
            "object": new, "oldObject": old, "dryRun": false,
            "options": { "kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1" },
        },
    })
}

/// A review of a scale.
pub fn scale(name: &str, replicas: Option<i32>) -> Value {
    let spec = replicas.map_or(json!({}), |replicas| json!({ "replicas": replicas }));
    let scale = json!({ "group": "autoscaling", "version": "v1", "kind": "Scale" });
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "kind": scale, "requestKind": scale, "subResource": "scale", "name": name, "namespace": "shop", "operation": "UPDATE",
            "userInfo": { "username": "system:serviceaccount:kube-system:horizontal-pod-autoscaler" },
            "object": { "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": { "name": name, "namespace": "shop" }, "spec": spec },
        },
    })
}

/// A review of a conversion.
pub fn conversion(to: &str, objects: &[Value]) -> Value {
    json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": { "uid": "2", "desiredAPIVersion": to, "objects": objects } })
}
