//! Plan -> the objects that we own, and only the fields that we own.

use super::plan::Plan;
use super::v1::Memcached as Object;
use crate::kinds::order::Child;
use crate::kinds::pod_template::Strings;
use crate::kinds::rendered::{INSTANCE, KIND, MANAGED_BY, Rendered};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};

/// The version of this file's output. A change here that alters a pod template takes the next
/// number: what an older one rendered then stands until a change makes the pods anew.
pub const RENDERER: i64 = if cfg!(feature = "next-rendering") { 2 } else { 1 };

const MI: i64 = 1024 * 1024;
/// The official image's user: a number, since Kubernetes cannot tell whether a named one is root.
const USER: i64 = 11211;

/// The labels that find the pods. They never change.
pub fn selector(object: &Object) -> Strings {
    let labels =
        [("app.kubernetes.io/name", "memcached"), (INSTANCE, object.meta().name.as_deref().unwrap_or_default()), (KIND, "Memcached")];
    labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

/// Memory for the container, in bytes: items, the table that finds them, threads, and buffers of connections.
pub fn container_memory(plan: &Plan) -> i64 {
    let template = &plan.template;
    template.memory + template.memory / 4 + 64 * MI + 32 * 1024 * i64::from(template.max_connections)
}

/// The headless Service: its DNS name lists every pod.
pub fn service(object: &Object, plan: &Plan) -> Rendered {
    let port = json!({ "name": "memcached", "port": plan.port, "protocol": "TCP", "targetPort": plan.port });
    // Only pods that are watched: what is counted as ready is what the name leads to.
    let mut served = selector(object);
    served.insert(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned());
    finished::<Service>(
        object,
        json!({
            "spec": { "type": "ClusterIP", "clusterIP": "None", "ipFamilyPolicy": "PreferDualStack", "selector": served, "ports": [port],
                "publishNotReadyAddresses": false },
        }),
    )
}

/// The Deployment: one pod more during a roll-out, never one less.
pub fn deployment(object: &Object, plan: &Plan) -> Rendered {
    finished::<Deployment>(
        object,
        json!({
            "spec": {
                "replicas": plan.replicas,
                "selector": { "matchLabels": selector(object) },
                "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } },
                "minReadySeconds": 0,
                "paused": false,
                "template": pod_template(object, plan),
            },
        }),
    )
}

/// The `PodDisruptionBudget`, where there is more than one pod to keep.
pub fn budget(object: &Object, plan: &Plan) -> Option<Rendered> {
    (plan.replicas >= 2).then(|| finished::<PodDisruptionBudget>(object, json!({
        "spec": { "maxUnavailable": 1, "selector": { "matchLabels": selector(object) }, "unhealthyPodEvictionPolicy": "AlwaysAllow" },
    })))
}

/// Every child that the plan wants, in the order in which they are written.
pub fn all(object: &Object, plan: &Plan) -> Vec<Rendered> {
    [service(object, plan), deployment(object, plan)].into_iter().chain(budget(object, plan)).collect()
}

fn pod_template(object: &Object, plan: &Plan) -> Value {
    let ours = json!({
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": { "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "seccompProfile": { "type": "RuntimeDefault" } },
        "containers": [container(plan)],
    });
    plan.template.pod_template.around(RENDERER, common_labels(object), ours)
}

fn container(plan: &Plan) -> Value {
    let template = &plan.template;
    let memory = format!("{}Ki", container_memory(plan) / 1024);
    let memory = crate::kinds::quantity::Quantity::Text(memory).canonical();
    let mut resources = json!(template.resources);
    for list in ["requests", "limits"] {
        resources[list]["memory"] = json!(memory);
    }
    let probe = |period: i32, failures: i32| json!({ "tcpSocket": { "port": plan.port }, "periodSeconds": period, "timeoutSeconds": 3, "failureThreshold": failures });
    json!({
        "name": "memcached",
        "image": template.image,
        "args": args(plan),
        "ports": [{ "name": "memcached", "containerPort": plan.port, "protocol": "TCP" }],
        "resources": resources,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "readinessProbe": probe(5, 3),
        "livenessProbe": probe(20, 6),
        "securityContext": { "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] } },
    })
}

/// Only flags that memcached 1.4.36 knows too; no UDP.
fn args(plan: &Plan) -> Vec<String> {
    let template = &plan.template;
    let flags = [
        ("-p", plan.port.to_string()),
        ("-U", "0".to_owned()),
        ("-m", (template.memory / MI).to_string()),
        ("-I", format!("{}k", template.max_item_size / 1024)),
        ("-c", template.max_connections.to_string()),
    ];
    flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect()
}

fn finished<T: Child>(object: &Object, body: Value) -> Rendered {
    Rendered::owned::<T>(object, &object.name_any(), &common_labels(object), body)
}

fn common_labels(object: &Object) -> Strings {
    let mut labels = selector(object);
    labels.insert("app.kubernetes.io/component".to_owned(), "cache".to_owned());
    labels.insert(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned());
    labels
}
