//! The definitions and the webhooks, without a caBundle: the operator writes that, and keeps it.

use pointsman::kinds::{Served, Visitor, visit};
use serde::Serialize;
use serde_json::{Value, json};

/// The operator's namespace in the printed manifests.
pub const NAMESPACE: &str = "pointsman-system";
/// The port of the webhooks, in the pod and in the Service.
pub const PORT: u16 = 9443;

/// `value` as YAML.
pub fn yaml(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    // Every value printed here is a tree of JSON values.
    serde_saphyr::to_string(&value).expect("a JSON value is written as YAML")
}

/// Where a kind's definition is printed.
pub fn definition_file<K: Served>() -> String {
    format!("crds/{}.yaml", K::definition().metadata.name.unwrap_or_default())
}

/// The definition of a kind, with the way between its versions.
pub fn definition<K: Served>() -> Value {
    let mut definition = json!(K::definition());
    definition["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": { "clientConfig": { "service": address("/convert") }, "conversionReviewVersions": ["v1"] },
    });
    definition["metadata"]["labels"] = labels();
    definition
}

/// The labels of everything that belongs to the operator itself.
pub fn labels() -> Value {
    json!({ "app.kubernetes.io/name": "pointsman", "app.kubernetes.io/part-of": "pointsman" })
}

/// The Service that the API server calls.
pub fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "pointsman", "namespace": NAMESPACE, "labels": labels() },
        "spec": {
            "ipFamilyPolicy": "PreferDualStack",
            // A pod that still lists its objects has to convert them, or it could never list them.
            "publishNotReadyAddresses": true,
            "selector": { "app.kubernetes.io/name": "pointsman", "app.kubernetes.io/component": "operator" },
            "ports": [{ "name": "webhooks", "port": PORT, "targetPort": PORT, "protocol": "TCP" }],
        },
    })
}

/// One webhook a kind.
///
/// The rules name v1 alone: what comes in another version is converted first. Removals are not in
/// them, so that an object can always go; and the API server itself lets pass what changes neither
/// the spec nor an annotation of ours, so that labels, finalizers and owners never wait for us.
pub fn webhooks() -> Value {
    struct Webhooks(Vec<Value>);
    impl Visitor for Webhooks {
        fn kind<K: Served>(&mut self) {
            self.0.push(webhook::<K>());
        }
    }
    let mut webhooks = Webhooks(Vec::new());
    visit(&mut webhooks);
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": "pointsman", "labels": labels() },
        "webhooks": webhooks.0,
    })
}

fn webhook<K: Served>() -> Value {
    let definition = K::definition();
    let (group, plural) = (definition.spec.group, definition.spec.names.plural);
    let rule = |operations: &[&str], resource: String| json!({ "apiGroups": [group], "apiVersions": ["v1"], "operations": operations, "resources": [resource], "scope": "Namespaced" });
    json!({
        "name": format!("{}.pointsman.dev", K::PATH),
        "admissionReviewVersions": ["v1"],
        "clientConfig": { "service": address(&format!("/validate/{}", K::PATH)) },
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": 5,
        "matchConditions": [{ "name": "spec-or-annotation-changed", "expression": condition() }],
        "rules": [rule(&["CREATE", "UPDATE"], plural.clone()), rule(&["UPDATE"], format!("{plural}/scale"))],
    })
}

fn condition() -> String {
    let annotations = ["answer", "paused", "protected", "refresh"].map(|word| {
        let value = |of: &str| format!("{of}.metadata.?annotations['pointsman.dev/{word}']");
        format!("{} != {}", value("object"), value("oldObject"))
    });
    let scale = "request.?subResource.orValue('') == 'scale'";
    format!("request.operation == 'CREATE' || {scale} || object.?spec != oldObject.?spec || {}", annotations.join(" || "))
}

fn address(path: &str) -> Value {
    json!({ "name": "pointsman", "namespace": NAMESPACE, "path": path, "port": PORT })
}
