//! Effect -> orders. An order that would change nothing is not given.

use super::children::{self, Rendered};
use super::facts::{self, Look};
use super::plan::Plan;
use super::words::Effect;
use super::{Memcached, trouble};
use crate::kinds::Observation;
use crate::kinds::children::Slot;
use crate::kinds::drift;
use crate::kinds::order::{Child, ChildRef, Order, patch_of};
use json_patch::{Patch, PatchOperation, ReplaceOperation, TestOperation};
use jsonptr::PointerBuf;
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use serde_json::{Value, json};

/// What `effect` asks of the cluster.
pub fn orders(effect: Effect, seen: &Observation<Memcached>) -> Vec<Order> {
    match effect {
        Effect::ApplyChildren => Look::at(seen).missing,
        Effect::DeleteWaitingPods => trouble::waiting_on_an_error(seen).filter_map(|pod| removal(pod.as_ref())).collect(),
    }
}

/// What it takes to make every child what the target says; nothing when they are.
pub fn needed(look: &Look<'_>) -> Vec<Order> {
    let (object, children) = (&look.seen.object, &look.seen.children);
    let Some(target) = &look.target else { return Vec::new() };
    let mut orders: Vec<Order> = apply(&children.service, children::service(object, target)).into_iter().collect();
    orders.extend(deployment(look, target));
    match (children::budget(object, target), &children.budget) {
        (Some(budget), slot) => orders.extend(apply(slot, budget)),
        (None, Slot::Ours(surplus)) => orders.extend(removal(surplus.as_ref())),
        (None, Slot::Free | Slot::Foreign { .. } | Slot::Unlabelled { .. }) => {}
    }
    orders
}

/// The Deployment's order. A settled template of an older rendering is left alone, its count aside.
fn deployment(look: &Look<'_>, target: &Plan) -> Option<Order> {
    let slot = &look.seen.children.deployment;
    let rendered = children::deployment(&look.seen.object, target);
    if let (Some(settled), Some(live)) = (look.older_rendering(), slot.ours())
        && facts::live_template(live) == *settled
    {
        let replicas = live.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
        return (replicas != target.replicas).then(|| count(live, rendered.child, replicas, target.replicas));
    }
    apply(slot, rendered)
}

/// A count alone, in a write that touches nothing else.
fn count(live: &Deployment, child: ChildRef, from: i32, to: i32) -> Order {
    let path = PointerBuf::from_tokens(["spec", "replicas"]);
    let before = TestOperation { path: path.clone(), value: json!(from) };
    let after = ReplaceOperation { path, value: json!(to) };
    Order::Patch { child, patch: patch_of(live, [PatchOperation::Test(before), PatchOperation::Replace(after)]) }
}

fn apply<T: Child + serde::Serialize>(slot: &Slot<T>, rendered: Rendered) -> Option<Order> {
    let Rendered { child, object } = rendered;
    if matches!(slot, Slot::Foreign { .. }) || slot.ours().is_some_and(|live| differences(live, &object).0.is_empty()) {
        return None;
    }
    if let Some(patch) = slot.ours().and_then(|live| drift::renumbered(live, &object)) {
        return Some(Order::Patch { child, patch });
    }
    Some(Order::Apply { child, object, uid: slot.uid() })
}

/// How a live child differs from what is rendered.
pub fn differences<T: serde::Serialize>(live: &T, rendered: &Value) -> Patch {
    let mut rendered = rendered.clone();
    // A typed object does not print its own type.
    if let Some(fields) = rendered.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    drift::differences(&serde_json::to_value(live).unwrap_or_default(), &rendered)
}

fn removal<T: Child>(live: &T) -> Option<Order> {
    let child = ChildRef { kind: T::KIND, name: live.name_any() };
    Some(Order::Delete { child, uid: live.uid()?, resource_version: live.resource_version()? })
}
