//! The servers: a StatefulSet that never restarts a pod by itself, since the primary may be any of them.
//!
//! There is neither a startup nor a liveness probe. A start may take hours where much is to be recovered or cloned, and a
//! server that is busy must not be killed for it: what cannot go on ends by itself, with its last words. A startup probe would
//! find a new primary sooner, and take every server from its clients whenever a kubelet starts anew.

use super::configuration::{self, Learned};
use super::pod::{self, Mount, variable};
use super::{RENDERER, kept, labels, selector};
use super::{claims, names};
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::plan::Plan;
use crate::kinds::quantity::Quantity;
use crate::kinds::rendered::{OWNER_UID, Rendered};
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::ResourceExt;
use serde_json::{Value, json};

/// The name of the container, and of its port.
pub const CONTAINER: &str = "postgresql";
/// Seconds that a server has for its end: it writes all that is in its memory, and what is not written then is recovered.
const GRACE: i64 = 300;

/// The StatefulSet; claims that the operator has not made first are of this size.
pub fn stateful_set(object: &Object, plan: &Plan, learned: &Learned, size: &Quantity) -> Rendered {
    let name = object.name_any();
    kept::<StatefulSet>(
        object,
        &names::own(&name),
        "server",
        json!({
            "spec": {
                "replicas": plan.replicas,
                "serviceName": names::pods(&name),
                "selector": { "matchLabels": selector(object) },
                "podManagementPolicy": "Parallel",
                // A pod's ordinal names its volume, and the primary.
                "ordinals": { "start": 0 },
                "minReadySeconds": 0,
                "updateStrategy": { "type": "OnDelete" },
                "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Retain", "whenScaled": "Retain" },
                "template": pod_template(object, plan, learned),
                "volumeClaimTemplates": [volume(object, plan, size)],
            },
        }),
    )
}

/// What a claim is made from that the operator has not made first. The templates of claims never change.
fn volume(object: &Object, plan: &Plan, size: &Quantity) -> Value {
    let mut labels = labels(object, "server");
    labels.insert(OWNER_UID.to_owned(), object.uid().unwrap_or_default());
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": { "name": names::DATA, "labels": labels },
        "spec": claims::spec(size, plan.storage.class.as_ref()),
    })
}

fn pod_template(object: &Object, plan: &Plan, learned: &Learned) -> Value {
    let mounts = mounts(object, plan, learned);
    let mut ours = json!({
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": GRACE,
        "securityContext": pod::security(),
        "containers": [container(object, plan, &mounts)],
        "volumes": pod::volumes(&mounts),
    });
    ours["affinity"] = affinity(object, plan);
    plan.template.pod_template.around(RENDERER, labels(object, "server"), ours)
}

/// Servers stay apart where they can; the user's own word on that counts instead.
fn affinity(object: &Object, plan: &Plan) -> Value {
    let users = plan.template.pod_template.spec.as_ref().and_then(|spec| spec.affinity.as_ref());
    let mut affinity = users.map_or_else(|| json!({}), |users| json!(users));
    if affinity.get("podAntiAffinity").is_none() {
        let term = json!({ "labelSelector": { "matchLabels": selector(object) }, "topologyKey": "kubernetes.io/hostname" });
        let preferred = json!([{ "weight": 100, "podAffinityTerm": term }]);
        affinity["podAntiAffinity"] = json!({ "preferredDuringSchedulingIgnoredDuringExecution": preferred });
    }
    affinity
}

fn mounts(object: &Object, plan: &Plan, learned: &Learned) -> Vec<Mount> {
    let name = object.name_any();
    vec![
        Mount::data(),
        Mount::scripts(),
        Mount::config_map("config", "/pointsman/config", &configuration::name(object, plan, learned)),
        Mount::config_map("settings", pod::SETTINGS, &names::settings(&name)),
        Mount::config_map("topology", "/pointsman/topology", &names::topology(&name)),
        Mount::internal(object, &["replication-password", "replication-verifier", "superuser-verifier"]),
        Mount::memory("run", "/pointsman/run"),
        Mount::memory("shm", "/dev/shm"),
    ]
}

fn container(object: &Object, plan: &Plan, mounts: &[Mount]) -> Value {
    json!({
        "name": CONTAINER,
        "image": plan.template.image,
        "command": pod::command("start.sh"),
        "env": [
            { "name": "POINTSMAN_POD", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
            variable("POINTSMAN_PRIMARY", &names::own(&object.name_any())),
            variable("POINTSMAN_PORT", &plan.port.to_string()),
        ],
        "ports": [{ "name": CONTAINER, "containerPort": plan.port, "protocol": "TCP" }],
        "resources": plan.template.resources,
        "readinessProbe": {
            "exec": { "command": pod::command("ready.sh") },
            "periodSeconds": 5,
            "timeoutSeconds": 10,
            "failureThreshold": 3,
        },
        "lifecycle": { "preStop": { "exec": { "command": pod::command("stop.sh") } } },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": pod::container_security(),
        "volumeMounts": pod::volume_mounts(mounts),
    })
}
