//! What the operator itself may write, by policies that the API server judges: narrower than its rights, which RBAC
//! gives by kind alone. Whoever steals its token may break what the operator looks after, and little else.

mod rules;

use super::manifests::{NAME, user};
use super::protection::{kinds, policy};
use crate::kinds::order::ChildKind;
use crate::kinds::rendered::{KIND, MANAGED_BY, OWNER_UID};
use rules::{CHILDREN, DEFINITIONS, OBJECTS, PODS, SECRETS, WORKLOADS};
pub use rules::{RULES, Rule};
use serde_json::{Value, json};

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
    let groups: Vec<String> = kinds().iter().map(|kind| format!("{}/", kind.group)).collect();
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

/// Is the request about the operator's own namespace?
fn is_at_home() -> String {
    format!("request.userInfo.username == 'system:serviceaccount:' + request.namespace + ':{NAME}'")
}
