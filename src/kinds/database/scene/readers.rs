//! Where clients are led: who writes to the primary, who reads to the replicas that serve, and to the primary where none does. It
//! follows the servers, so it is nobody's drift.

use super::Scene;
use super::members::Members;
use super::{behind, standing, work};
use crate::kinds::apply::{apply, removal};
use crate::kinds::children::Slot;
use crate::kinds::database::children::names::Work;
use crate::kinds::database::children::network::{self, ROLE};
use crate::kinds::database::lifecycle::words::Phase;
use crate::kinds::database::orders::needed::missing_scripts;
use crate::kinds::database::plan::Plan;
use crate::kinds::order::{ChildKind, ChildRef, Order, patch_of};
use crate::kinds::reason::Reason;
use crate::kinds::rendered::Rendered;
use json_patch::{AddOperation, PatchOperation, RemoveOperation};
use jsonptr::PointerBuf;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::{Resource, ResourceExt};
use serde_json::json;

/// Is there a reader who is not led to a server that serves readers?
pub fn is_misleading(scene: &Scene<'_>) -> bool {
    scene.look.target.as_ref().is_some_and(|target| !orders(scene, target).is_empty())
}

/// What it takes to lead them where they are served. While a question about a last dump is open they are led nowhere, unless the
/// object is to stay.
pub fn orders(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    if standing::is_going(scene) && !standing::is_protected(scene) {
        let is_asked = scene.question.is_some_and(|question| matches!(question.reason, Reason::SnapshotFailed | Reason::DumpIncomplete));
        return if is_asked { leads_nobody_any_more(scene, target) } else { Vec::new() };
    }
    let labels = scene.members.pods().filter_map(|(ordinal, pod)| role(scene, ordinal, pod));
    labels.chain(service(scene, target).1).chain(writers(scene, target)).chain(scripts(scene)).collect()
}

/// A server that has lost its scripts does not start, and what it would say may close the question: they are made while it is open.
fn scripts(scene: &Scene<'_>) -> Option<Order> {
    let asks = scene.question.is_some() && scene.phase() == Phase::HumanIntervention;
    asks.then(|| missing_scripts(scene)).flatten()
}

/// The same, where somebody was led there: a last dump that has ended meanwhile goes, since it may lack what was written.
pub fn leads_nobody_any_more(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let mut orders = leads_nobody(scene, target);
    if !orders.is_empty() && work::end(scene.look, Work::Snapshot).is_some_and(|end| end.well) {
        orders.extend(work::ours(scene.look, Work::Snapshot).and_then(removal));
    }
    orders
}

/// Nobody is led to the primary, to write what a last dump has not seen: who reads is led to replicas alone.
pub fn leads_nobody(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let (object, children) = (&scene.look.seen.object, &scene.look.children);
    let services = [
        (&children.primary, network::primary(object, target, None)),
        (&children.read_only, network::read_only(object, target, None, true)),
    ];
    let leads = |slot: &Slot<Service>, led: &Rendered| match slot {
        Slot::Ours(live) if live.metadata.deletion_timestamp.is_none() => !network::leads_as(live, led),
        // Nobody knows where it leads.
        Slot::Unlabelled { .. } => true,
        Slot::Ours(_) | Slot::Free | Slot::Adopted { .. } | Slot::Foreign { .. } => false,
    };
    let led = services.into_iter().filter(|(slot, led)| leads(slot, led));
    led.filter_map(|(slot, led)| apply(slot, led, scene.look.yielded())).collect()
}

/// Is somebody led to where that would happen?
pub fn is_anybody_led(scene: &Scene<'_>) -> bool {
    scene.look.target.as_ref().is_some_and(|target| !leads_nobody(scene, target).is_empty())
}

/// The pod that takes writes; nobody where the primary is not known, or where a volume knows of a later one: what is written to
/// this one would be thrown away.
pub fn writes_to(scene: &Scene<'_>) -> Option<u32> {
    scene.members.primary().filter(|_| !behind::is_known(scene))
}

/// Who writes is led after a primary that has moved, where a question keeps that from being done with all else, and to nobody
/// where a volume knows of a later one.
fn writers(scene: &Scene<'_>, target: &Plan) -> Option<Order> {
    let (object, slot) = (&scene.look.seen.object, &scene.look.children.primary);
    let asks = matches!(scene.phase(), Phase::HumanIntervention | Phase::RemovalBlocked);
    if scene.question.is_none() || standing::writers_are_fought_over(scene) || !asks {
        return None;
    }
    // A pod that readers come to was not made anew yet, and takes no writes.
    let takes_writes = |ordinal: &u32| scene.members.is_ready(*ordinal) && !standing::serves_as_replica(scene, *ordinal);
    let primary = writes_to(scene).filter(takes_writes);
    if primary.is_none() && !behind::is_known(scene) {
        return None;
    }
    let rendered = network::primary(object, target, primary);
    let live = slot.ours().filter(|live| network::leads_to(live).is_some())?;
    if network::leads_as(live, &rendered) { None } else { apply(slot, rendered, scene.look.yielded()) }
}

/// The Service of the read replicas: made, or mended where others wrote to it; and led elsewhere, where it stands as it was
/// right before.
pub fn service(scene: &Scene<'_>, target: &Plan) -> (Option<Order>, Option<Order>) {
    let (object, slot, fields) = (&scene.look.seen.object, &scene.look.children.read_only, scene.look.yielded());
    let led = |primary, ready| apply(slot, network::read_only(object, target, primary, ready), fields);
    // Replicas of a primary that a volume knows a later one of serve what may be old: they alone.
    let order = led(writes_to(scene), scene.members.replica_is_ready() || behind::is_known(scene));
    let was_right = || {
        let primaries = (0..scene.count(target)).map(|ordinal| (Some(ordinal), false));
        primaries.chain([(None, false), (None, true)]).any(|(primary, ready)| led(primary, ready).is_none())
    };
    match order {
        Some(order) if slot.ours().is_some() && was_right() => (None, Some(order)),
        order => (order, None),
    }
}

/// The label that lets readers come to a replica. A pod that is to be the primary is made anew and has none; one that a hand puts
/// on the pod that is it comes off. While nobody knows who is it, each stays as it is.
fn role(scene: &Scene<'_>, ordinal: u32, pod: &Pod) -> Option<Order> {
    scene.members.told()?;
    let path = PointerBuf::from_tokens(["metadata", "labels", ROLE.0]);
    let change = match (scene.lead() == Some(ordinal), Members::is_labelled(pod)) {
        (false, false) if scene.members.is_ready(ordinal) => PatchOperation::Add(AddOperation { path, value: json!(ROLE.1) }),
        (true, true) if standing::was_primary(scene, pod) => PatchOperation::Remove(RemoveOperation { path }),
        (false | true, false | true) => return None,
    };
    let child = ChildRef { kind: ChildKind::Pod, name: pod.name_any() };
    Some(Order::Patch { child, patch: patch_of(pod.meta().uid.as_deref(), [change]) })
}
