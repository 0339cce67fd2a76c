//! Children and target -> orders. An order that would change nothing is not given.

use super::Children;
use super::children::{self, Rendered};
use super::plan::Plan;
use super::v1::Memcached as Object;
use crate::kinds::children::Slot;
use crate::kinds::order::{Child, ChildKind, ChildRef, Order, patch_of};
use crate::kinds::{digest, drift, tangles};
use json_patch::{AddOperation, Patch, PatchOperation, ReplaceOperation, TestOperation};
use jsonptr::PointerBuf;
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use serde_json::{Value, json};

/// What it takes to make every child what `target` says; nothing when they are. A pod template of the digest `stands` is
/// left alone.
pub fn needed(object: &Object, children: &Children, target: &Plan, stands: Option<&String>) -> Vec<Order> {
    let mut orders: Vec<Order> = apply(&children.service, children::service(object, target)).into_iter().collect();
    orders.extend(deployment(&children.deployment, children::deployment(object, target), target.replicas, stands));
    match (children::budget(object, target), &children.budget) {
        (Some(budget), slot) => orders.extend(apply(slot, budget)),
        (None, Slot::Ours(surplus)) => orders.extend(removal(surplus.as_ref())),
        (None, Slot::Free | Slot::Foreign { .. } | Slot::Unlabelled { .. }) => {}
    }
    orders
}

/// Why an order is given about a child that is there, in words.
pub fn why(order: &Order, children: &Children) -> Option<String> {
    fn differs<T: Child + serde::Serialize>(slot: &Slot<T>, object: &Value) -> Option<String> {
        match slot {
            Slot::Ours(live) => drift::in_words(&json!(**live), &typeless(object)),
            Slot::Unlabelled { .. } => Some(format!("its label {} was taken away", children::MANAGED_BY.0)),
            Slot::Free | Slot::Foreign { .. } => None,
        }
    }
    match order {
        Order::Apply { child, object, .. } => match child.kind {
            ChildKind::Service => differs(&children.service, object),
            ChildKind::Deployment => differs(&children.deployment, object),
            ChildKind::PodDisruptionBudget => differs(&children.budget, object),
            ChildKind::Pod => None,
        },
        Order::Patch { patch, .. } => drift::of_patch(patch),
        Order::Delete { .. } => Some("it is wanted no more".to_owned()),
    }
}

/// Of a template that stands, only the pods are counted; and a label that was lost comes back without the rest.
fn deployment(slot: &Slot<Deployment>, rendered: Rendered, wanted: i32, stands: Option<&String>) -> Option<Order> {
    if let (Some(_), Slot::Unlabelled { uid, bare }) = (stands, slot) {
        return Some(relabel(rendered.child, uid, *bare));
    }
    if let (Some(settled), Some(live)) = (stands, slot.ours())
        && live_template(live) == *settled
    {
        let replicas = live.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
        return (replicas != wanted).then(|| count(live, rendered.child, replicas, wanted));
    }
    apply(slot, rendered)
}

/// A digest of the pod template as the API server returned it.
pub fn live_template(deployment: &Deployment) -> String {
    digest::of(&deployment.spec.as_ref().map(|spec| &spec.template))
}

/// A count alone, in a write that touches nothing else.
fn count(live: &Deployment, child: ChildRef, from: i32, to: i32) -> Order {
    let path = PointerBuf::from_tokens(["spec", "replicas"]);
    let before = TestOperation { path: path.clone(), value: json!(from) };
    let after = ReplaceOperation { path, value: json!(to) };
    Order::Patch { child, patch: patch_of(live.metadata.uid.as_deref(), [PatchOperation::Test(before), PatchOperation::Replace(after)]) }
}

fn apply<T: Child + serde::Serialize>(slot: &Slot<T>, rendered: Rendered) -> Option<Order> {
    let Rendered { child, object } = rendered;
    if matches!(slot, Slot::Foreign { .. }) || slot.ours().is_some_and(|live| differences(live, &object).0.is_empty()) {
        return None;
    }
    if let Some(patch) = slot.ours().and_then(|live| tangles::tangles(live, &object)) {
        return Some(Order::Patch { child, patch });
    }
    Some(Order::Apply { child, object, uid: slot.uid() })
}

/// How a live child differs from what is rendered.
pub fn differences<T: serde::Serialize>(live: &T, rendered: &Value) -> Patch {
    drift::differences(&serde_json::to_value(live).unwrap_or_default(), &typeless(rendered))
}

/// A typed object does not print its own type.
fn typeless(rendered: &Value) -> Value {
    let mut rendered = rendered.clone();
    if let Some(fields) = rendered.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    rendered
}

/// Our label alone, on a child that is seen by name only.
fn relabel(child: ChildRef, uid: &str, bare: bool) -> Order {
    let (label, value) = children::MANAGED_BY;
    let labels = PointerBuf::from_tokens(["metadata", "labels"]);
    let ours = if bare {
        AddOperation { path: labels, value: json!({ label: value }) }
    } else {
        AddOperation { path: labels.with_trailing_token(label), value: json!(value) }
    };
    Order::Patch { child, patch: patch_of(Some(uid), [PatchOperation::Add(ours)]) }
}

/// The end of one object, as it was seen and no newer one.
pub fn removal<T: Child>(live: &T) -> Option<Order> {
    let child = ChildRef { kind: T::KIND, name: live.name_any() };
    Some(Order::Delete { child, uid: live.uid()?, resource_version: live.resource_version()? })
}
