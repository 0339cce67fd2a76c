//! What the pods of servers and of Jobs have in common: who they run as, and what is mounted where.

use super::{names, scripts};
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::pod_labels;
use crate::kinds::pod_template::PodTemplate;
use kube::ResourceExt;
use serde_json::{Value, json};

/// The official image's user; its group opens what is mounted.
const USER: i64 = 999;
/// A mounted Secret is for the user and its group.
const SECRET_MODE: i32 = 0o440;
/// Where the settings that are reloaded are mounted.
pub const SETTINGS: &str = "/pointsman/settings";

/// One volume and the one place where it is mounted.
pub struct Mount {
    name: &'static str,
    path: &'static str,
    read_only: bool,
    /// Nothing where a StatefulSet brings the volume.
    source: Option<Value>,
}

impl Mount {
    /// The scripts.
    pub fn scripts() -> Self {
        Mount::config_map("scripts", "/pointsman/scripts", scripts::name())
    }

    /// A ConfigMap.
    pub fn config_map(name: &'static str, path: &'static str, map: &str) -> Self {
        Mount { name, path, read_only: true, source: Some(json!({ "configMap": { "name": map } })) }
    }

    /// Memory: what is written into it is on no disk.
    pub fn memory(name: &'static str, path: &'static str) -> Self {
        Mount { name, path, read_only: false, source: Some(json!({ "emptyDir": { "medium": "Memory" } })) }
    }

    /// Room on the node's disk, for a while.
    pub fn scratch(limit: &str) -> Self {
        let source = json!({ "emptyDir": { "sizeLimit": limit } });
        Mount { name: "scratch", path: "/pointsman/scratch", read_only: false, source: Some(source) }
    }

    /// The server's own volume, which its StatefulSet brings.
    pub fn data() -> Self {
        Mount { name: names::DATA, path: "/pointsman/data", read_only: false, source: None }
    }

    /// A volume of dumps. Of one that is only read, the kubelet changes neither owner nor modes where the source says so.
    pub fn backups(claim: &str, read_only: bool) -> Self {
        let mut claim = json!({ "claimName": claim });
        if read_only {
            claim["readOnly"] = json!(true);
        }
        let source = json!({ "persistentVolumeClaim": claim });
        Mount { name: "backups", path: "/pointsman/backups", read_only, source: Some(source) }
    }

    /// These keys of the operator's own Secret, and no others.
    pub fn internal(object: &Object, keys: &[&str]) -> Self {
        let items: Vec<Value> = keys.iter().map(|key| json!({ "key": key, "path": key })).collect();
        let secret = json!({ "secretName": names::internal(&object.name_any()), "defaultMode": SECRET_MODE, "items": items });
        Mount { name: "internal", path: "/pointsman/internal", read_only: true, source: Some(json!({ "secret": secret })) }
    }
}

/// The volumes of a pod.
pub fn volumes(mounts: &[Mount]) -> Vec<Value> {
    let volume = |mount: &Mount| {
        let mut volume = mount.source.clone()?;
        volume["name"] = json!(mount.name);
        Some(volume)
    };
    mounts.iter().filter_map(volume).collect()
}

/// The same as its container mounts them; each volume once, since a mount is known by its volume's name.
pub fn volume_mounts(mounts: &[Mount]) -> Vec<Value> {
    let mounted = |mount: &Mount| {
        let mut mounted = json!({ "name": mount.name, "mountPath": mount.path });
        // The API server leaves out what is false.
        if mount.read_only {
            mounted["readOnly"] = json!(true);
        }
        mounted
    };
    mounts.iter().map(mounted).collect()
}

/// Who a pod runs as. What a volume holds is opened to the group once, and not at every start.
pub fn security() -> Value {
    json!({
        "runAsNonRoot": true,
        "runAsUser": USER,
        "runAsGroup": USER,
        "fsGroup": USER,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": { "type": "RuntimeDefault" },
    })
}

/// What a container may not do.
pub fn container_security() -> Value {
    json!({ "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] } })
}

/// A variable of a container's environment.
pub fn variable(name: &str, value: &str) -> Value {
    json!({ "name": name, "value": value })
}

/// The command that runs a script.
pub fn command(script: &str) -> Value {
    json!(["bash", format!("/pointsman/scripts/{script}")])
}

/// Is this a label that a mesh or a policy reads: one with a prefix? By one without, a user's Service may find the servers, and
/// would lead clients to a Job.
fn is_of_a_policy(key: &str) -> bool {
    key.contains('/') && !pod_labels::is_reserved(key)
}

/// Where a Job may run and as whom, as the servers do. How these spread is theirs, and so are labels that find them.
pub fn placed(users: &PodTemplate) -> PodTemplate {
    let mut template = users.clone();
    if let Some(metadata) = &mut template.metadata {
        metadata.labels.retain(|key, _| is_of_a_policy(key));
    }
    if let Some(spec) = &mut template.spec {
        spec.affinity = None;
        spec.topology_spread_constraints.clear();
    }
    template
}
