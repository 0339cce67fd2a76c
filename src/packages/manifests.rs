//! The definitions and the webhooks, without a caBundle and a path: the operator writes these, and keeps them.

use crate::kinds::{Served, annotations, of_each, paths};
use serde::Serialize;
use serde_json::{Value, json};

/// The operator's namespace in the printed manifests.
pub const NAMESPACE: &str = "pointsman-system";

/// The name of nearly everything: one installation a cluster needs no other.
pub(super) const NAME: &str = "pointsman";
/// The Secret of the operator's certificates.
pub(super) const CERTIFICATES: &str = "pointsman-certificates";
/// What stands first in a printed file that people read.
pub const PRINTED: &str = "Printed by the code: change it there, then run `cargo run --bin generate`.";
/// The port of the webhooks, in the pod and in the Service.
pub const PORT: u16 = 9443;
/// Annotations of one object that are looked through one by one.
const FEW: u16 = 1000;

/// `value` as YAML.
///
/// # Panics
/// Never: what is printed here is a tree of JSON values, and each of them can be written.
pub fn yaml(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    // Every value printed here is a tree of JSON values.
    serde_saphyr::to_string(&value).expect("a JSON value is written as YAML")
}

/// Where a kind's definition is printed.
pub fn definition_file<K: Served>() -> String {
    format!("crds/{}.yaml", K::definition().metadata.name.unwrap_or_default())
}

/// The definition of each kind.
pub(super) fn definitions() -> Vec<Value> {
    of_each!(K: Value => definition::<K>())
}

/// The definition of a kind, with the way between its versions.
pub fn definition<K: Served>() -> Value {
    let mut definition = json!(K::definition());
    name_known_formats(&mut definition["spec"]["versions"]);
    definition["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": { "clientConfig": { "service": address() }, "conversionReviewVersions": ["v1"] },
    });
    definition["metadata"]["labels"] = labels();
    // Helm leaves it where it is: with a definition goes every object of its kind.
    definition["metadata"]["annotations"] = json!({ "helm.sh/resource-policy": "keep" });
    definition
}

/// The API server knows no unsigned integers, and warns whoever applies a schema of them.
fn name_known_formats(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(format) = fields.get_mut("format").filter(|format| **format == "uint32") {
                *format = json!("int64");
            }
            fields.values_mut().for_each(name_known_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(name_known_formats),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// As whom the operator asks the API server.
pub(super) fn user() -> String {
    format!("system:serviceaccount:{NAMESPACE}:{NAME}")
}

/// The labels of everything that belongs to the operator itself.
pub fn labels() -> Value {
    json!({ "app.kubernetes.io/name": "pointsman", "app.kubernetes.io/part-of": "pointsman" })
}

/// The labels by which the operator's pods are found.
pub fn selector() -> Value {
    json!({ "app.kubernetes.io/name": "pointsman", "app.kubernetes.io/component": "operator" })
}

/// The Service that the API server calls.
pub fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": NAME, "namespace": NAMESPACE, "labels": labels() },
        "spec": {
            "ipFamilyPolicy": "PreferDualStack",
            "selector": selector(),
            "ports": [{ "name": "webhooks", "port": PORT, "targetPort": PORT, "protocol": "TCP" }],
        },
    })
}

/// One webhook a kind.
///
/// The rules name v1 alone: what comes in another version is converted first. Removals are not in
/// them, so that an object can always go; and the API server itself lets pass what changes neither
/// the spec nor an annotation of ours, so that labels, finalizers and owners that are written through v1 never wait for us.
pub fn webhooks() -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": "pointsman", "labels": labels() },
        "webhooks": of_each!(K: Value => webhook::<K>()),
    })
}

fn webhook<K: Served>() -> Value {
    let definition = K::definition();
    let (group, plural) = (definition.spec.group, definition.spec.names.plural);
    let rule = |operations: &[&str], resource: String| json!({ "apiGroups": [group], "apiVersions": ["v1"], "operations": operations, "resources": [resource], "scope": "Namespaced" });
    json!({
        "name": paths::webhook(K::PATH),
        "admissionReviewVersions": ["v1"],
        "clientConfig": { "service": address() },
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": 5,
        "matchConditions": [{ "name": "spec-or-annotation-changed", "expression": condition() }],
        "rules": [rule(&["CREATE", "UPDATE"], plural.clone()), rule(&["UPDATE"], format!("{plural}/scale"))],
    })
}

/// An annotation with our prefix that we do not know is asked about too, so that a misspelt one is told at once; but not among
/// so many that looking through them would keep a finalizer waiting.
fn condition() -> String {
    let changed = |key: &str| format!("object.metadata.?annotations[{key}] != oldObject.metadata.?annotations[{key}]");
    let known = annotations::ALL.map(|key| changed(&format!("'{key}'"))).join(" || ");
    let all = "object.metadata.?annotations.orValue({})";
    let strange = format!("{all}.size() <= {FEW} && {all}.exists(key, key.startsWith('{}') && {})", annotations::PREFIX, changed("key"));
    let scale = "request.?subResource.orValue('') == 'scale'";
    // What comes in another version was converted before it is compared; where nothing converts, both sides have lost alike.
    let converted = "request.requestKind.version != 'v1'";
    format!("request.operation == 'CREATE' || {scale} || {converted} || object.?spec != oldObject.?spec || {known} || {strange}")
}

fn address() -> Value {
    json!({ "name": "pointsman", "namespace": NAMESPACE, "port": PORT })
}
