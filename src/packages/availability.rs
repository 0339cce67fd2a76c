//! What keeps the operator there when nodes are drained, lost or full, and the API server busy: while it is away, no object of
//! its kinds can change.

use super::manifests::{NAME, NAMESPACE, labels, selector};
use serde_json::{Value, json};

/// The operator's own class. `system-cluster-critical` would be refused where a quota keeps it for `kube-system`.
pub(super) const PRIORITY_CLASS: &str = "pointsman";

/// Above pods that name no class, which have 0, and far below the system's, which begin at 2,000,000,000.
const PRIORITY: u32 = 1_000_000;

/// The class of the operator's pods: on a full node they take the place of pods that matter less.
pub(super) fn priority_class() -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": { "name": PRIORITY_CLASS, "labels": labels() },
        "value": PRIORITY,
        "globalDefault": false,
        "description": "The pointsman operator: while it is away, objects of its kinds cannot be changed.",
    })
}

/// How the API server shares its time where it is asked too much: renewals of the Lease come with those of Kubernetes' own
/// controllers, and everything else of the operator's before what service accounts ask. Both levels are Kubernetes' own.
pub(super) fn flow_schemas() -> [Value; 2] {
    let leases = json!({
        "verbs": ["get", "create", "update"],
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "namespaces": [NAMESPACE],
    });
    let all = json!({ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": true });
    [
        flow_schema("pointsman-lease", 150, "leader-election", "ByUser", &leases),
        // Just before that of the ServiceAccounts in kube-system.
        flow_schema(NAME, 850, "workload-high", "ByNamespace", &all),
    ]
}

fn flow_schema(name: &str, precedence: u16, level: &str, flows: &str, rule: &Value) -> Value {
    let operator = json!({ "kind": "ServiceAccount", "serviceAccount": { "name": NAME, "namespace": NAMESPACE } });
    json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "FlowSchema",
        "metadata": { "name": name, "labels": labels() },
        "spec": {
            "matchingPrecedence": precedence,
            "priorityLevelConfiguration": { "name": level },
            "distinguisherMethod": { "type": flows },
            "rules": [{ "subjects": [operator], "resourceRules": [rule] }],
        },
    })
}

/// One pod at a time may be drained; with a single replica that one too, or no node could ever be.
pub(super) fn budget() -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": { "name": "pointsman", "namespace": NAMESPACE, "labels": labels() },
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": { "matchLabels": selector() },
        },
    })
}

/// Replicas stand on different nodes and in different zones where there are any.
pub(super) fn spread() -> Value {
    let over = |key: &str| {
        json!({
            "topologyKey": key,
            "maxSkew": 1,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": { "matchLabels": selector() },
        })
    };
    json!([over("kubernetes.io/hostname"), over("topology.kubernetes.io/zone")])
}
