//! The label by which the operator finds its children is its own: what carries it is held in the memory of every replica.

use super::confinement::is_ours;
use super::protection::{kinds, policy};
use crate::kinds::order::ChildKind;
use crate::kinds::rendered::MANAGED_BY;
use serde_json::{Value, json};

/// Children that the operator alone makes. Pods, Jobs and claims are made by controllers too, after a template of ours, and of
/// Secrets nothing is held.
const MADE: [ChildKind; 6] = [
    ChildKind::ConfigMap,
    ChildKind::Service,
    ChildKind::Deployment,
    ChildKind::StatefulSet,
    ChildKind::PodDisruptionBudget,
    ChildKind::CronJob,
];

/// The policy with its binding. Whoever may write the status of these kinds is the operator, or may do what it does: who restores
/// a backup of the cluster, say.
pub(super) fn policies() -> [Value; 2] {
    let rule = |kind: ChildKind| json!({ "apiGroups": [kind.group()], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": [kind.plural()] });
    let may = kinds().into_iter().map(|kind| {
        format!(
            "authorizer.group('{}').resource('{}').subresource('status').namespace(request.namespace).check('patch').allowed()",
            kind.group, kind.plural
        )
    });
    let ((key, value), [now, before]) = (MANAGED_BY, ["object", "oldObject"].map(is_ours));
    let spec = json!({
        "failurePolicy": "Fail",
        "matchConstraints": { "matchPolicy": "Equivalent", "resourceRules": MADE.map(rule) },
        "matchConditions": [{ "name": "newly-labelled", "expression": format!("{now} && (request.operation == 'CREATE' || !({before}))") }],
        "validations": [{
            "expression": may.collect::<Vec<_>>().join(" || "),
            "message": format!("the label {key}={value} is the operator's: it holds in memory what carries it, and looks after it. Leave the label out"),
            "reason": "Forbidden",
        }],
    });
    policy("reserved-label.pointsman.dev", spec, None)
}
