//! `deploy/install.yaml`: everything that a cluster needs, in the order in which it is applied.

use super::manifests::{self, NAMESPACE, PORT, labels, yaml};
use pointsman::kinds::order::ChildKind;
use pointsman::kinds::{Served, Visitor, visit};
use serde_json::{Value, json};

const METRICS: u16 = 8080;

/// The whole file.
pub fn install() -> String {
    let mut documents = vec![namespace(), service_account(), cluster_role(), binding("ClusterRole"), role(), binding("Role")];
    documents.extend(definitions());
    documents.extend([manifests::service(), deployment(), manifests::webhooks()]);
    let documents: Vec<String> = documents.iter().map(yaml).collect();
    documents.join("---\n")
}

fn definitions() -> Vec<Value> {
    struct Definitions(Vec<Value>);
    impl Visitor for Definitions {
        fn kind<K: Served>(&mut self) {
            self.0.push(manifests::definition::<K>());
        }
    }
    let mut definitions = Definitions(Vec::new());
    visit(&mut definitions);
    definitions.0
}

fn namespace() -> Value {
    let mut labels = labels();
    for mode in ["enforce", "audit", "warn"] {
        labels[format!("pod-security.kubernetes.io/{mode}")] = json!("restricted");
    }
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE, "labels": labels } })
}

fn service_account() -> Value {
    json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "pointsman", "namespace": NAMESPACE, "labels": labels() } })
}

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({ "apiGroups": groups, "resources": resources, "verbs": verbs })
}

fn named(mut rule: Value, names: &[String]) -> Value {
    rule["resourceNames"] = json!(names);
    rule
}

/// What the operator may do everywhere: its kinds, their children, events, and its own two bundles.
fn cluster_role() -> Value {
    let mut rules = kinds();
    for kind in ChildKind::ALL {
        let verbs: &[&str] = match kind {
            ChildKind::Pod => &["list", "watch", "delete"],
            ChildKind::Deployment | ChildKind::Service => &["list", "watch", "create", "patch"],
            ChildKind::PodDisruptionBudget => &["list", "watch", "create", "patch", "delete"],
        };
        rules.push(rule(&[kind.group()], &[kind.plural()], verbs));
    }
    rules.push(rule(&["events.k8s.io"], &["events"], &["create"]));
    let names: Vec<String> =
        definitions().iter().filter_map(|definition| Some(definition["metadata"]["name"].as_str()?.to_owned())).collect();
    let bundles = ["get", "list", "watch", "patch"];
    rules.push(named(rule(&["apiextensions.k8s.io"], &["customresourcedefinitions"], &bundles), &names));
    rules.push(named(rule(&["admissionregistration.k8s.io"], &["validatingwebhookconfigurations"], &bundles), &["pointsman".to_owned()]));
    json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": "pointsman", "labels": labels() }, "rules": rules })
}

/// Of its kinds the operator writes the status alone; `finalizers` is what owner references need.
fn kinds() -> Vec<Value> {
    struct Rules(Vec<Value>);
    impl Visitor for Rules {
        fn kind<K: Served>(&mut self) {
            let spec = K::definition().spec;
            let (group, plural) = (spec.group.as_str(), spec.names.plural);
            self.0.push(rule(&[group], &[&plural], &["get", "list", "watch"]));
            self.0.push(rule(&[group], &[&format!("{plural}/status")], &["patch"]));
            self.0.push(rule(&[group], &[&format!("{plural}/finalizers")], &["update"]));
        }
    }
    let mut rules = Rules(Vec::new());
    visit(&mut rules);
    rules.0
}

/// What the operator may do in its own namespace: keep its certificates.
fn role() -> Value {
    let secret = named(rule(&[""], &["secrets"], &["get", "list", "watch", "update", "patch"]), &["pointsman-certificates".to_owned()]);
    let rules = vec![secret, rule(&[""], &["secrets"], &["create"])];
    json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": "pointsman", "namespace": NAMESPACE, "labels": labels() }, "rules": rules })
}

fn binding(role: &str) -> Value {
    let mut metadata = json!({ "name": "pointsman", "labels": labels() });
    if role == "Role" {
        metadata["namespace"] = json!(NAMESPACE);
    }
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{role}Binding"),
        "metadata": metadata,
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": "pointsman" },
        "subjects": [{ "kind": "ServiceAccount", "name": "pointsman", "namespace": NAMESPACE }],
    })
}

/// One replica, replaced and not rolled: there is no lease yet that could tell two of them apart.
fn deployment() -> Value {
    let mut pod_labels = labels();
    pod_labels["app.kubernetes.io/component"] = json!("operator");
    let selector = json!({ "app.kubernetes.io/name": "pointsman", "app.kubernetes.io/component": "operator" });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "pointsman", "namespace": NAMESPACE, "labels": pod_labels },
        "spec": {
            "replicas": 1,
            "strategy": { "type": "Recreate" },
            "selector": { "matchLabels": selector },
            "template": {
                "metadata": { "labels": pod_labels },
                "spec": {
                    "serviceAccountName": "pointsman",
                    "securityContext": { "runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "seccompProfile": { "type": "RuntimeDefault" } },
                    "containers": [container()],
                },
            },
        },
    })
}

fn container() -> Value {
    let from = |path: &str| json!({ "fieldRef": { "fieldPath": path } });
    json!({
        "name": "pointsman",
        "image": format!("ghcr.io/pointsman/pointsman:{}", env!("CARGO_PKG_VERSION")),
        "imagePullPolicy": "IfNotPresent",
        "env": [
            { "name": "POD_NAMESPACE", "valueFrom": from("metadata.namespace") },
            { "name": "POD_NAME", "valueFrom": from("metadata.name") },
            { "name": "POINTSMAN_LOG_FORMAT", "value": "json" },
        ],
        "ports": [
            { "name": "webhooks", "containerPort": PORT, "protocol": "TCP" },
            { "name": "metrics", "containerPort": METRICS, "protocol": "TCP" },
        ],
        "livenessProbe": { "httpGet": { "scheme": "HTTPS", "path": "/healthz", "port": PORT }, "periodSeconds": 10 },
        "readinessProbe": { "httpGet": { "scheme": "HTTPS", "path": "/readyz", "port": PORT }, "periodSeconds": 2 },
        "resources": { "requests": { "cpu": "50m", "memory": "64Mi" }, "limits": { "memory": "512Mi" } },
        "securityContext": { "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] } },
    })
}
