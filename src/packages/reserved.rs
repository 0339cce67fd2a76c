//! The label by which the operator finds its children is its own: what carries it is held in the memory of every replica.

use super::confinement::is_ours;
use super::protection::{authorized, kinds, policy};
use crate::kinds::order::ChildKind;
use crate::kinds::rendered::MANAGED_BY;
use serde_json::{Value, json};

/// Children that are held in memory, each with the resource whose controller makes such ones after a template of ours. Of Secrets
/// nothing is held; and of pods, which many may make, little.
const HELD: [(ChildKind, Option<ChildKind>); 8] = [
    (ChildKind::ConfigMap, None),
    (ChildKind::Service, None),
    (ChildKind::Deployment, None),
    (ChildKind::StatefulSet, None),
    (ChildKind::PodDisruptionBudget, None),
    (ChildKind::CronJob, None),
    (ChildKind::Job, Some(ChildKind::CronJob)),
    (ChildKind::PersistentVolumeClaim, Some(ChildKind::StatefulSet)),
];

/// The policy with its binding. Whoever may write the status of these kinds is the operator, or may do what it does: who restores
/// a backup of the cluster, say; and so it is with the controllers that make Jobs and claims.
pub(super) fn policies() -> [Value; 2] {
    let rule = |(kind, _): (ChildKind, Option<ChildKind>)| json!({ "apiGroups": [kind.group()], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": [kind.plural()] });
    let may = |group: &str, plural: &str, verb: &str| authorized(group, plural, ".subresource('status')", verb);
    let ((key, value), [now, before]) = (MANAGED_BY, ["object", "oldObject"].map(is_ours));
    // The operator may write the status of each kind, so one is asked about.
    let operator = kinds().first().map(|kind| may(&kind.group, &kind.plural, "patch")).unwrap_or_default();
    let controllers = HELD.iter().filter_map(|(kind, maker)| {
        let maker = (*maker)?;
        Some(format!("request.resource.resource == '{}' && {}", kind.plural(), may(maker.group(), maker.plural(), "update")))
    });
    let allowed: Vec<String> = controllers.map(|may| format!("({may})")).chain([operator]).collect();
    let spec = json!({
        "failurePolicy": "Fail",
        "matchConstraints": { "matchPolicy": "Equivalent", "resourceRules": HELD.map(rule) },
        "matchConditions": [{ "name": "newly-labelled", "expression": format!("{now} && (request.operation == 'CREATE' || !({before}))") }],
        "validations": [{
            "expression": allowed.join(" || "),
            "message": format!("the label {key}={value} is the operator's: it holds in memory what carries it, and looks after it. Leave the label out"),
            "reason": "Forbidden",
        }],
    });
    policy("reserved-label.pointsman.dev", spec, None)
}
