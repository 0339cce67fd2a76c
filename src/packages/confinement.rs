//! What the operator itself may write, by policies that the API server judges: narrower than its rights, which RBAC
//! gives by kind alone. Whoever steals its token may break what the operator looks after, and little else.

use super::manifests::{CERTIFICATES, NAME, definitions, user};
use super::protection::{kinds, policy};
use crate::kinds::annotations::PREFIX;
use crate::kinds::order::ChildKind;
use crate::kinds::rendered::{KIND, MANAGED_BY, OWNER_UID};
use serde_json::{Value, json};

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
    expression: fn() -> String,
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
                "metadata.?annotations",
                "metadata.?labels",
                "metadata.?finalizers",
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

const CHILDREN: &str = "operator-children";
const WORKLOADS: &str = "operator-workloads";
const PODS: &str = "operator-pods";
const OBJECTS: &str = "operator-objects";
const DEFINITIONS: &str = "operator-definitions";
const SECRETS: &str = "operator-secrets";

/// Every policy, with its binding.
pub(super) fn policies() -> Vec<Value> {
    let rule = |group: &str, plural: &str, operations: &[&str]| json!({ "apiGroups": [group], "apiVersions": ["*"], "operations": operations, "resources": [plural] });
    let child = |kind: &ChildKind, operations: &[&str]| rule(kind.group(), kind.plural(), operations);
    let children = ChildKind::ALL.iter().filter(|kind| **kind != ChildKind::Pod);
    let all = ["CREATE", "UPDATE", "DELETE"];
    let workloads = [ChildKind::Deployment, ChildKind::StatefulSet, ChildKind::Job, ChildKind::CronJob];
    let [pod, before] = ["object", "oldObject"].map(|object| {
        format!("(request.resource.resource == 'cronjobs' ? dyn({object}.spec).jobTemplate.spec.template.spec : dyn({object}.spec).template.spec)")
    });
    let children: Vec<Value> = children.map(|kind| child(kind, &all)).collect();
    let workloads = workloads.map(|kind| child(&kind, &["CREATE", "UPDATE"]));
    let objects: Vec<Value> = kinds().iter().map(|kind| rule(&kind.group, &kind.plural, &["UPDATE"])).collect();
    // What stands there may be a stranger's, of which it changes labels, or who manages it.
    let changed = format!("(request.operation == 'CREATE' || {pod} != {before})");
    let certificates = format!("!({} && request.resource.resource == 'secrets')", is_at_home());
    [
        confined(CHILDREN, &children, &certificates, &about_children()),
        confined(WORKLOADS, &workloads, &changed, &[("pod", pod)]),
        confined(PODS, &[child(&ChildKind::Pod, &["UPDATE", "DELETE"])], "true", &[]),
        confined(OBJECTS, &objects, "true", &[]),
        confined(DEFINITIONS, &[rule("apiextensions.k8s.io", "customresourcedefinitions", &["UPDATE"])], "true", &[]),
        confined(SECRETS, &[child(&ChildKind::Secret, &all)], &is_at_home(), &[]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A policy on what the operator writes, where `also` holds.
fn confined(name: &str, rules: &[Value], also: &str, variables: &[(&str, String)]) -> [Value; 2] {
    let validation = |rule: &Rule| {
        let message = format!("the operator may not do this: {}", rule.words);
        json!({ "expression": (rule.expression)(), "message": message, "reason": "Forbidden" })
    };
    let variable = |(name, expression): &(&str, String)| json!({ "name": name, "expression": expression });
    let spec = json!({
        "failurePolicy": "Fail",
        "matchConstraints": { "matchPolicy": "Equivalent", "resourceRules": rules },
        "matchConditions": [{ "name": "by-the-operator", "expression": format!("request.userInfo.username == '{}' && {also}", user()) }],
        "variables": variables.iter().map(variable).collect::<Vec<_>>(),
        "validations": RULES.iter().filter(|rule| rule.policy == name).map(validation).collect::<Vec<_>>(),
    });
    policy(&format!("{name}.pointsman.dev"), spec, None)
}

/// What the rules about children share.
fn about_children() -> [(&'static str, String); 4] {
    let groups: Vec<String> =
        definitions().iter().filter_map(|definition| Some(format!("{}/", definition["spec"]["group"].as_str()?))).collect();
    let controls = format!("owner.?controller.orValue(false) && {}.exists(group, owner.apiVersion.startsWith(group))", json!(groups));
    let owned = format!("oldObject.metadata.?ownerReferences.orValue([]).exists(owner, {controls})");
    let labelled = [OWNER_UID, KIND].map(|key| has("oldObject", key)).join(" || ");
    [
        ("isNew", "request.operation == 'CREATE'".to_owned()),
        ("goes", "request.operation == 'DELETE'".to_owned()),
        ("isSame", format!("request.operation == 'UPDATE' && {}", same(&CONTENT))),
        ("wasOurs", format!("request.operation != 'CREATE' && ({} || {labelled} || {owned})", is_ours("oldObject"))),
    ]
}

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

/// All that an object of these kinds says.
const CONTENT: [&str; 8] = [
    "?spec",
    "?data",
    "?binaryData",
    "?immutable",
    "metadata.?labels",
    "metadata.?annotations",
    "metadata.?ownerReferences",
    "metadata.?finalizers",
];

/// Are these fields as they were?
fn same(fields: &[&str]) -> String {
    fields.iter().map(|field| format!("object.{field} == oldObject.{field}")).collect::<Vec<_>>().join(" && ")
}

/// Does it carry the operator's label?
pub(super) fn is_ours(object: &str) -> String {
    let (key, value) = MANAGED_BY;
    format!("{object}.metadata.?labels['{key}'].orValue('') == '{value}'")
}

fn has(object: &str, label: &str) -> String {
    format!("{object}.metadata.?labels['{label}'].hasValue()")
}

/// What a person may let be taken over.
fn may_be_taken_over() -> String {
    let free = "!oldObject.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false))";
    let kept = [ChildKind::Secret, ChildKind::Job, ChildKind::PersistentVolumeClaim].map(ChildKind::plural);
    format!("{free} && !(request.resource.resource in {})", json!(kept))
}

/// Is the request about the operator's own namespace?
fn is_at_home() -> String {
    format!("request.userInfo.username == 'system:serviceaccount:' + request.namespace + ':{NAME}'")
}
