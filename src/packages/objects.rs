//! The one list of the operator's objects.

use super::manifests::{self, NAME, NAMESPACE, PORT, labels, selector};
use super::{availability, confinement, guards, protection, reserved, rights};
use serde_json::{Value, json};

const METRICS: u16 = 8080;
/// For the kubelet alone: no policy of a network keeps a node from its own pods.
const HEALTH: u16 = 8081;

/// More than the operator takes to end: 27 s at most.
const GRACE_SECONDS: u16 = 30;

/// Every object, in the order in which they are applied. A further object is one more in this list: every package has it.
pub fn objects() -> Vec<Value> {
    let mut objects = vec![namespace(), availability::priority_class()];
    objects.extend(availability::flow_schemas());
    objects.push(service_account());
    objects.extend(rights::rights());
    objects.extend(manifests::definitions());
    objects.extend([manifests::service(), lease(), deployment(), availability::budget(), network_policy(), manifests::webhooks()]);
    objects.extend(protection::policies());
    objects.extend(guards::policies());
    objects.extend(reserved::policies());
    objects.extend(confinement::policies());
    objects
}

fn namespace() -> Value {
    let mut labels = labels();
    for mode in ["enforce", "audit", "warn"] {
        labels[format!("pod-security.kubernetes.io/{mode}")] = json!("restricted");
    }
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE, "labels": labels } })
}

fn service_account() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": { "name": NAME, "namespace": NAMESPACE, "labels": labels() },
        // The operator's pod asks for its token itself; no other pod gets one by accident.
        "automountServiceAccountToken": false,
    })
}

/// Who may reach the operator's pods. The API server has no label and often no known address, so the webhooks are open to
/// all, and hear who knows the path that it was told; metrics are for pods of the cluster, and its health is for the node that it
/// runs on. What leaves the pods goes to that same API server.
fn network_policy() -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": { "name": NAME, "namespace": NAMESPACE, "labels": labels() },
        "spec": {
            "podSelector": { "matchLabels": selector() },
            "policyTypes": ["Ingress"],
            "ingress": [
                { "ports": [{ "protocol": "TCP", "port": PORT }] },
                { "from": [{ "namespaceSelector": {} }], "ports": [{ "protocol": "TCP", "port": METRICS }] },
            ],
        },
    })
}

/// The Lease, held by nobody. Who finds none makes it, and waits before it acts, since a deleted one may have a holder who
/// does not know yet; who finds this one waits only where somebody acted before.
fn lease() -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": { "name": NAME, "namespace": NAMESPACE, "labels": labels() },
    })
}

/// Two replicas, of which one acts; a new one has to be Ready before an old one goes, so that two can always be called.
fn deployment() -> Value {
    let mut pod_labels = labels();
    pod_labels["app.kubernetes.io/component"] = json!("operator");
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": NAME, "namespace": NAMESPACE, "labels": pod_labels },
        "spec": {
            "replicas": 2,
            // Until the nodes know the way to a pod that is Ready: so nobody is told too early that it is rolled out.
            "minReadySeconds": 5,
            "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } },
            "selector": { "matchLabels": selector() },
            "template": {
                "metadata": { "labels": pod_labels },
                "spec": {
                    "serviceAccountName": NAME,
                    "automountServiceAccountToken": true,
                    "terminationGracePeriodSeconds": GRACE_SECONDS,
                    "priorityClassName": availability::PRIORITY_CLASS,
                    "topologySpreadConstraints": availability::spread(),
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
        "image": format!("registry.invalid/pointsman/pointsman:{}", env!("CARGO_PKG_VERSION")),
        "imagePullPolicy": "IfNotPresent",
        "env": [
            { "name": "POD_NAMESPACE", "valueFrom": from("metadata.namespace") },
            { "name": "POD_NAME", "valueFrom": from("metadata.name") },
            { "name": "POINTSMAN_LOG_FORMAT", "value": "json" },
        ],
        "ports": [
            { "name": "webhooks", "containerPort": PORT, "protocol": "TCP" },
            { "name": "metrics", "containerPort": METRICS, "protocol": "TCP" },
            { "name": "health", "containerPort": HEALTH, "protocol": "TCP" },
        ],
        "livenessProbe": { "httpGet": { "path": "/healthz", "port": HEALTH }, "periodSeconds": 10 },
        "readinessProbe": { "httpGet": { "path": "/readyz", "port": HEALTH }, "periodSeconds": 2 },
        "resources": { "requests": { "cpu": "50m", "memory": "64Mi" }, "limits": { "memory": "512Mi" } },
        "securityContext": { "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] } },
    })
}
