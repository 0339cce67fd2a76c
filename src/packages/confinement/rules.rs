//! The rules that hold the operator, each in words and as the API server judges it.

use super::{has, is_at_home, is_ours, same};
use crate::kinds::annotations::PREFIX;
use crate::kinds::order::ChildKind;
use crate::kinds::rendered::KIND;
use crate::packages::manifests::{CERTIFICATES, NAME};
use serde_json::json;

/// Namespaces of the cluster itself.
const SYSTEM: [&str; 3] = ["kube-system", "kube-public", "kube-node-lease"];

/// What is written in these policies of what is refused.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Whose writes it judges: the name of its policy.
    pub policy: &'static str,
    /// What has to hold, in words.
    pub words: &'static str,
    /// The same as the API server judges it.
    pub(super) expression: fn() -> String,
}

/// Every rule.
pub const RULES: [Rule; 16] = [
    Rule {
        policy: CHILDREN,
        words: "nothing in the namespaces of the cluster itself",
        expression: || format!("!(request.namespace in {})", json!(SYSTEM)),
    },
    Rule { policy: CHILDREN, words: "nothing in its own namespace but its certificates", expression: || format!("!({})", is_at_home()) },
    Rule {
        policy: CHILDREN,
        words: "what it stores carries a label of its own, unless it lets go of it, or changes only who manages the fields",
        expression: || {
            // A trial stores nothing.
            let stores_nothing = "request.?dryRun.orValue(false)";
            format!(
                "variables.goes || variables.isSame || variables.wasOurs || {stores_nothing} || {} || {}",
                is_ours("object"),
                has("object", KIND)
            )
        },
    },
    Rule {
        policy: CHILDREN,
        words: "what it changes was its own, or may be taken over: nobody controls it, and it is no Secret, no Job and no volume",
        expression: || format!("variables.isNew || variables.wasOurs || (!variables.goes && ({}))", may_be_taken_over()),
    },
    Rule {
        policy: CHILDREN,
        words: "a Secret holds passwords, and is nobody's token",
        expression: || "variables.goes || request.resource.resource != 'secrets' || object.?type.orValue('Opaque') == 'Opaque'".to_owned(),
    },
    Rule {
        policy: CHILDREN,
        words: "a Service takes no address of others",
        expression: || {
            let [now, before] = ["object", "oldObject"].map(|object| format!("{object}.spec.?externalIPs.orValue([])"));
            let named = "object.spec.?type.orValue('') != 'ExternalName'";
            format!(
                "variables.goes || request.resource.resource != 'services' || ({named} && (variables.isNew ? {now} == [] : {now} == {before}))"
            )
        },
    },
    Rule { policy: CHILDREN, words: "what it deletes was its own", expression: || "!variables.goes || variables.wasOurs".to_owned() },
    Rule {
        policy: WORKLOADS,
        words: "no pod gets a token of the API server",
        expression: || "!variables.pod.?automountServiceAccountToken.orValue(true)".to_owned(),
    },
    Rule {
        policy: WORKLOADS,
        words: "no pod mounts anything but ConfigMaps, Secrets, claims and memory: neither files of its node, nor a token",
        expression: || {
            let has =
                ["configMap", "secret", "emptyDir", "persistentVolumeClaim", "downwardAPI"].map(|source| format!("has(each.{source})"));
            format!("variables.pod.?volumes.orValue([]).all(each, {})", has.join(" || "))
        },
    },
    Rule {
        policy: WORKLOADS,
        words: "no pod reaches its node: by its network, its processes, its ports, privileges or capabilities",
        expression: || {
            let is = |field: &str| format!("variables.pod.?{field}.orValue(false)");
            let host = ["hostNetwork", "hostPID", "hostIPC"].map(is).join(" || ");
            let containers = ["containers", "initContainers"].map(harmless).join(" && ");
            let windows = "!variables.pod.?securityContext.?windowsOptions.?hostProcess.orValue(false)";
            format!("!({host}) && {windows} && {containers}")
        },
    },
    Rule {
        policy: PODS,
        words: "of a pod it deletes it was its own",
        expression: || format!("request.operation != 'DELETE' || {}", is_ours("oldObject")),
    },
    Rule {
        policy: PODS,
        words: "of a pod it changes labels and annotations of its own alone",
        expression: || {
            let kept = |of: &str, other: &str, map: &str| {
                format!(
                    "{of}.metadata.?{map}.orValue({{}}).all(key, key.startsWith('{PREFIX}') || {other}.metadata.?{map}[key] == optional.of({of}.metadata.{map}[key]))"
                )
            };
            let maps = ["labels", "annotations"];
            let kept = maps.map(|map| format!("{} && {}", kept("object", "oldObject", map), kept("oldObject", "object", map)));
            let same = same(&["spec", "metadata.?ownerReferences", "metadata.?finalizers"]);
            format!("request.operation == 'DELETE' || ({same} && {})", kept.join(" && "))
        },
    },
    Rule {
        policy: OBJECTS,
        words: "of an object it changes the finalizers alone",
        expression: || same(&["?spec", "metadata.?labels", "metadata.?annotations", "metadata.?ownerReferences"]),
    },
    Rule {
        policy: DEFINITIONS,
        words: "of a definition it changes the way between its versions alone",
        expression: || {
            same(&[
                "spec.group",
                "spec.names",
                "spec.scope",
                "spec.versions",
                "spec.?conversion.?strategy",
                "metadata.?annotations",
                "metadata.?labels",
                "metadata.?finalizers",
                "metadata.?ownerReferences",
            ])
        },
    },
    Rule {
        policy: DEFINITIONS,
        words: "that way leads to its own Service",
        expression: || {
            let service = "object.spec.?conversion.?webhook.?clientConfig.?service";
            format!(
                "object.spec.?conversion.?strategy.orValue('') != 'Webhook' || ({service}.?name.orValue('') == '{NAME}' && {service}.?namespace == oldObject.spec.?conversion.?webhook.?clientConfig.?service.?namespace)"
            )
        },
    },
    Rule {
        policy: SECRETS,
        words: "a Secret of its own namespace is that of its certificates",
        expression: || format!("(request.operation == 'DELETE' ? oldObject : object).metadata.name == '{CERTIFICATES}'"),
    },
];

pub(super) const CHILDREN: &str = "operator-children";
pub(super) const WORKLOADS: &str = "operator-workloads";
pub(super) const PODS: &str = "operator-pods";
pub(super) const OBJECTS: &str = "operator-objects";
pub(super) const DEFINITIONS: &str = "operator-definitions";
pub(super) const SECRETS: &str = "operator-secrets";

/// Has no container in this list more than any other program?
fn harmless(list: &str) -> String {
    let context = "each.?securityContext";
    let may = [
        format!("!{context}.?privileged.orValue(false)"),
        format!("{context}.?capabilities.?add.orValue([]) == []"),
        format!("{context}.?procMount.orValue('Default') == 'Default'"),
        format!("!{context}.?windowsOptions.?hostProcess.orValue(false)"),
        "each.?ports.orValue([]).all(port, port.?hostPort.orValue(0) == 0)".to_owned(),
    ];
    format!("variables.pod.?{list}.orValue([]).all(each, {})", may.join(" && "))
}

/// What a person may let be taken over.
fn may_be_taken_over() -> String {
    let free = "!oldObject.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false))";
    let kept = [ChildKind::Secret, ChildKind::Job, ChildKind::PersistentVolumeClaim].map(ChildKind::plural);
    format!("{free} && !(request.resource.resource in {})", json!(kept))
}
