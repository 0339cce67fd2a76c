//! Objects that were stored under an older definition, one that knew v1alpha1 alone and bound nothing.

use super::certificates::unready;
use crate::harness::api::minor;
use crate::harness::outage::NoOperator;
use crate::harness::{DEFINITION, Space, alone, eventually, eventually_or, kubectl, kubectl_with, repository, scraped_value};
use serde_json::{Value, json};

fn older_definition() -> String {
    let spec = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": { "size": { "type": "integer" } } });
    let status = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "memcacheds.cache.example.com" },
        "spec": {
            "group": "cache.example.com", "scope": "Namespaced",
            "names": { "kind": "Memcached", "listKind": "MemcachedList", "plural": "memcacheds", "singular": "memcached", "shortNames": ["mc"] },
            "versions": [{ "name": "v1alpha1", "served": true, "storage": true, "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": spec, "status": status } } } }],
        },
    })
    .to_string()
}

fn stored(name: &str, spec: &str) -> String {
    format!("apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {{name: {name}}}\n{spec}")
}

/// Every object goes with the definition: the test holds the cluster for itself. What is given back is the definition of
/// this release, with the port that this cluster calls the operator at.
#[track_caller]
pub fn replaced_by_the_older_one() -> String {
    let port = "jsonpath=port: {.spec.conversion.webhook.clientConfig.service.port}";
    let port = kubectl(&["get", DEFINITION, "--output", port]).ok();
    let release = std::fs::read_to_string(repository().join("crds/memcacheds.cache.example.com.yaml")).unwrap();
    assert!(release.contains("port: 9443"), "the definition names another port");
    kubectl(&["annotate", DEFINITION, "pointsman.dev/deletable=true"]).ok();
    kubectl(&["delete", DEFINITION, "--timeout=60s"]).ok();
    kubectl_with(&["create", "--filename", "-"], &older_definition()).ok();
    kubectl(&["wait", "--for=condition=Established", DEFINITION, "--timeout=30s"]).ok();
    release.replace("port: 9443", &port)
}

/// The state, empty while the conversion cannot be asked yet: the bundle of the new definition is still to come.
fn state(space: &Space, name: &str) -> String {
    space.kubectl(&["get", &format!("mc/{name}"), "--output", "jsonpath={.status.state}"]).out
}

#[test]
fn objects_of_an_older_definition_are_all_read_and_the_bad_ones_are_asked_about() {
    upgraded();
}

/// What an installation over an older one does to the objects that are there.
pub fn upgraded() {
    let turn = alone();
    let outage = NoOperator::stopped(&turn);
    let release = replaced_by_the_older_one();
    let space = Space::new("older");
    let objects = [
        stored("good", "spec: {size: 3}\n"),
        stored("absent", "spec: {}\n"),
        stored("bare", ""),
        stored("negative", "spec: {size: -1}\n"),
        stored("huge", "spec: {size: 2000}\n"),
        stored("endless", "spec: {size: 5000000000}\n"),
        stored("unknown", "spec: {size: 1, colour: blue}\n"),
        stored("1st-cache", "spec: {size: 1}\n"),
        stored(&"a".repeat(60), "spec: {size: 1}\n"),
        stored("ill", "spec: {size: 1, v1: {memory: 17, port: eleven, resources: [1]}}\n"),
    ];
    eventually(20, "the older definition is served", || {
        space.kubectl_with(&["create", "--dry-run=server", "--filename", "-"], &objects[0]).code == 0
    });
    space.kubectl_with(&["create", "--filename", "-"], &objects.join("---\n")).ok();
    // As an administrator installs a release over the one before.
    kubectl_with(&["replace", "--filename", "-"], &release).ok();
    drop(outage);
    for name in ["good", "absent", "bare", "unknown"] {
        eventually(60, "a good object is Ready", || state(&space, name) == "Ready");
    }
    let bad = [
        ("negative", "spec.replicas: -1 is not from 0 to "),
        ("huge", "spec.replicas: 2000 is not from 0 to "),
        ("endless", "spec: the stored one cannot be read: invalid value: integer `5000000000`"),
    ];
    for (name, field) in bad {
        eventually(60, "a bad object is asked about", || state(&space, name) == "HumanIntervention");
        let question = space.object(&format!("mc/{name}"))["status"]["intervention"].clone();
        assert_eq!(question["reason"], "SpecInvalid", "{question}");
        assert!(question["evidence"].to_string().contains(field), "{question}");
        assert_eq!(space.object(&format!("deployment/{name}")), Value::Null, "something was made of an invalid spec");
    }
    // No status can be stored beside a value of another type: the API server itself cannot take it in.
    let told = || {
        let about = "regarding.name=ill,reason=StatusRefused";
        let events = space.object_list(&["events.events.k8s.io", "--field-selector", about]);
        events.iter().any(|event| event["note"].as_str().is_some_and(|note| note.contains(".spec.port: expected numeric")))
    };
    eventually(60, "an object that can have no status is told of", told);
    // A name that would be refused today freezes nothing: it is worked on, then asked about. From Kubernetes 1.36 on a Service
    // may begin with a digit, and it becomes Ready.
    let ends = if minor() >= 36 { "Ready" } else { "HumanIntervention" };
    eventually(60, "an object with an old name ends as it should", || state(&space, "1st-cache") == ends);
    space.kubectl(&["label", "mc/1st-cache", "example.com/team=payments"]).ok();
    assert_eq!(space.object_list(&["mc"]).len(), objects.len(), "an object was lost");
    assert_eq!(space.object_list(&["memcacheds.v1alpha1.cache.example.com"]).len(), objects.len(), "an object cannot be read");
    assert_eq!(space.object("mc/good")["spec"]["replicas"], 3);
    // Both answers of a person: mend it, or let it go.
    for name in ["negative", "endless"] {
        space.patch(name, r#"{"replicas":2}"#).ok();
        space.ready(name);
    }
    space.kubectl(&["delete", "mc/huge", "mc/ill", "--timeout=30s"]).ok();
    space.kubectl(&["delete", "mc/1st-cache", "--cascade=foreground", "--timeout=30s"]).ok();
}

/// A field of a status that is taken out of a definition; in the end it is back.
struct Without {
    definition: &'static str,
    path: String,
    field: Value,
}

impl Without {
    #[track_caller]
    fn of(definition: &'static str, field: &str) -> Self {
        let stored: Value = serde_json::from_str(&kubectl(&["get", definition, "--output=json"]).ok()).unwrap();
        let version = stored["spec"]["versions"].as_array().unwrap().iter().position(|version| version["name"] == "v1").unwrap();
        let path = format!("/spec/versions/{version}/schema/openAPIV3Schema/properties/status/properties/{field}");
        let without = Without { definition, field: stored.pointer(&path).unwrap().clone(), path };
        without.patch(&json!([{ "op": "remove", "path": without.path }]));
        without
    }

    fn patch(&self, patch: &Value) {
        kubectl(&["patch", self.definition, "--type=json", "--patch", &patch.to_string()]);
    }
}

impl Drop for Without {
    fn drop(&mut self) {
        self.patch(&json!([{ "op": "add", "path": self.path, "value": self.field }]));
    }
}

#[test]
fn over_a_definition_that_lacks_something_nobody_leads_before_that_is_applied() {
    let turn = alone();
    let outage = NoOperator::stopped(&turn);
    let without = Without::of("crd/databases.stable.imaginedata.com", "backup");
    drop(outage);
    let lacks = "the definition databases.stable.imaginedata.com is of an earlier release: it lacks status.backup";
    eventually_or(20, || unready().contains(lacks), unready);
    assert_eq!(scraped_value("pointsman_leader").as_deref(), Some("0"));
    drop(without);
    eventually(60, "it leads", || scraped_value("pointsman_leader").as_deref() == Some("1"));
    assert_eq!(unready(), "");
    drop(turn);
}
