//! Children and target -> orders. An order that would change nothing is not given.

use super::Children;
use super::children;
use super::plan::Plan;
use super::v1::Memcached as Object;
use crate::kinds::apply::{apply, count, relabel, removal};
use crate::kinds::children::Slot;
use crate::kinds::digest;
use crate::kinds::intervention::Subject;
use crate::kinds::order::Order;
use crate::kinds::rendered::Rendered;
use k8s_openapi::api::apps::v1::Deployment;

/// What is left as it stands.
pub struct LeftAlone<'a> {
    /// A pod template of this digest, which an older operator rendered.
    pub template: Option<&'a String>,
    /// Fields that a person has left to another writer.
    pub fields: &'a [Subject],
}

/// What it takes to make every child what `target` says, but for what is left alone; nothing when they are.
pub fn needed(object: &Object, children: &Children, target: &Plan, left: &LeftAlone<'_>) -> Vec<Order> {
    let mut orders: Vec<Order> = apply(&children.service, children::service(object, target), left.fields).into_iter().collect();
    orders.extend(deployment(&children.deployment, children::deployment(object, target), target.replicas, left));
    match (children::budget(object, target), &children.budget) {
        (Some(budget), slot) => orders.extend(apply(slot, budget, left.fields)),
        (None, Slot::Ours(surplus)) => orders.extend(removal(surplus.as_ref())),
        (None, Slot::Free | Slot::Foreign { .. } | Slot::Adopted { .. } | Slot::Unlabelled { .. }) => {}
    }
    orders
}

/// Of a template that stands, only the pods are counted; and a label that was lost comes back without the rest.
fn deployment(slot: &Slot<Deployment>, rendered: Rendered, wanted: i32, left: &LeftAlone<'_>) -> Option<Order> {
    if let (Some(_), Slot::Unlabelled { uid, bare }) = (left.template, slot) {
        return Some(relabel(rendered.child, uid, *bare));
    }
    if let (Some(settled), Some(live)) = (left.template, slot.ours())
        && live_template(live) == *settled
    {
        let replicas = live.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
        return (replicas != wanted).then(|| count(live, rendered.child, &["spec", "replicas"], replicas, wanted));
    }
    apply(slot, rendered, left.fields)
}

/// A digest of the pod template as the API server returned it.
pub fn live_template(deployment: &Deployment) -> String {
    digest::of(&deployment.spec.as_ref().map(|spec| &spec.template))
}
