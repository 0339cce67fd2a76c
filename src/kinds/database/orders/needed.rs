//! Children and target -> orders, a stage at a time: volumes before who is told about them, and that before the servers.

use crate::kinds::apply::{apply, apply_or_remove, creation, relabel};
use crate::kinds::children::Slot;
use crate::kinds::database::children::secrets::{self, Credentials};
use crate::kinds::database::children::topology::Topology;
use crate::kinds::database::children::{claims, configuration, jobs, names, network, scripts, servers};
use crate::kinds::database::object::parts::DeletionPolicy;
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::plan::Plan;
use crate::kinds::database::plan::volume::Size;
use crate::kinds::database::scene::ground::{granted, wanted};
use crate::kinds::database::scene::{Scene, is_there};
use crate::kinds::database::scene::{readers, standing};
use crate::kinds::look::Conflict;
use crate::kinds::order::{ChildKind, ChildRef, Order, patch_of};
use crate::kinds::quantity::Quantity;
use crate::kinds::rendered::{ADOPTED, OWNER_UID, Rendered};
use crate::kinds::workload::apply_workload;
use json_patch::{PatchOperation, ReplaceOperation};
use jsonptr::PointerBuf;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Service};
use kube::{Resource, ResourceExt};
use serde_json::json;

/// What it takes to make every child that serves what `target` says.
pub fn children(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    // Nothing is built for an object that goes.
    if scene.look.seen.object.meta().deletion_timestamp.is_some() {
        return Vec::new();
    }
    let mut orders = passwords(scene, target);
    orders.extend(binding(scene, target));
    orders.extend(settings(scene, target));
    orders.extend(volumes(scene, target));
    orders.extend(addresses(scene, target));
    let told = topology(scene, target);
    // A server that is not told of reads that it is nobody; of one without a claim, nothing can be told.
    let is_told = told.is_none() && scene.topology(target).is_some() && is_there(&scene.look.children.topology);
    orders.extend(told);
    if is_told && !standing::has_no_scripts(scene.look) {
        orders.extend(workload(scene, target));
    }
    orders
}

/// Where applications connect to, where it is not what it was made; the password stays.
fn binding(scene: &Scene<'_>, target: &Plan) -> Option<Order> {
    let children = &scene.look.children;
    let (live, credentials) = children.application.ours().zip(children.credentials.as_ref().ok())?;
    let Rendered { child, object } = secrets::application(&scene.look.seen.object, target, credentials);
    let stands = json!(live.data);
    let differs = object["data"].as_object().is_some_and(|ours| ours.iter().any(|(key, value)| stands[key] != *value));
    differs.then(|| Order::Apply { child, object, uid: live.uid(), whole: false })
}

/// The passwords: made once, where there was never a server that knows any.
fn passwords(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let look = scene.look;
    let (object, entropy) = (&look.seen.object, &look.seen.entropy);
    let (application, internal) = (&look.children.application, &look.children.internal);
    let may = scene.is_new() && matches!(internal, Slot::Free) && matches!(application, Slot::Free | Slot::Ours(_));
    if !may {
        return Vec::new();
    }
    let Some(credentials) = Credentials::drawn(entropy) else { return Vec::new() };
    // One that stands already was made a moment ago: the other one is made around its password.
    let credentials = match application.ours() {
        Some(secret) => credentials.with_application(secret),
        None => credentials,
    };
    let outside = (!is_there(application)).then(|| secrets::application(object, target, &credentials));
    outside.into_iter().chain([secrets::internal(object, &credentials)]).map(creation).collect()
}

/// Scripts and settings. One that is named by its digest is made, and never changed.
fn settings(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let (object, children) = (&scene.look.seen.object, &scene.look.children);
    let learned = scene.learned(target);
    let at_start = configuration::at_start(object, target, &learned);
    let lost = children.unlabelled.iter().find(|(name, _)| *name == at_start.child.name);
    let again = lost.and_then(|(name, slot)| relabel(slot, name.clone()));
    let at_start = again.or_else(|| (!children.has_map(&at_start.child.name)).then(|| creation(at_start)));
    // Servers that were made by another release have its scripts, and miss none.
    let scripts = missing_scripts(scene).filter(|_| scene.look.older_rendering().is_none());
    let mut orders: Vec<Order> = scripts.into_iter().chain(at_start).collect();
    let reloaded = configuration::reloaded(object, target, &learned);
    orders.extend(apply(&children.settings, reloaded, scene.look.yielded()));
    orders
}

/// The scripts, where they are not there. They are many, and rendered only then.
pub fn missing_scripts(scene: &Scene<'_>) -> Option<Order> {
    let namespace = || scene.look.seen.object.namespace().unwrap_or_default();
    matches!(scene.look.children.scripts, Slot::Free).then(|| creation(scripts::config_map(&namespace())))
}

/// Claims that are missing. One that was the primary's is never made again: it would be empty.
fn volumes(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let (object, children) = (&scene.look.seen.object, &scene.look.children);
    let lost = scene.recorded_claim().map(|(ordinal, _)| ordinal);
    let missing = (0..scene.count(target)).filter(|ordinal| {
        let slot = usize::try_from(*ordinal).ok().and_then(|ordinal| children.claims.get(ordinal));
        matches!(slot, Some(Slot::Free)) && lost != Some(*ordinal)
    });
    let mut orders: Vec<Order> = missing.map(|ordinal| creation(claims::data(object, target, ordinal))).collect();
    let claims = children.claims.iter().zip(0..scene.count(target));
    orders.extend(claims.filter_map(|(slot, ordinal)| relabel(slot, names::claim(&object.name_any(), ordinal))));
    orders.extend(dumps(scene, target).filter(|_| target.keeps_dumps() || is_there(&children.backups)));
    orders
}

/// The claim of the dumps, where it is missing or is not labelled as this one's.
pub fn dumps(scene: &Scene<'_>, target: &Plan) -> Option<Order> {
    let object = &scene.look.seen.object;
    match &scene.look.children.backups {
        Slot::Free => Some(creation(claims::backups(object, target))),
        Slot::Adopted { uid } => Some(taken_over(claims::backups(object, target), uid, object)),
        slot @ Slot::Unlabelled { .. } => relabel(slot, names::backups(&object.name_any())),
        Slot::Ours(_) | Slot::Foreign { .. } => None,
    }
}

/// A claim of dumps that an earlier object of this name has left, as this one's: its labels alone, and that it was another's.
fn taken_over(dumps: Rendered, uid: &str, object: &Object) -> Order {
    let Rendered { child, object: mut claim } = dumps;
    let mut labels = claim["metadata"]["labels"].take();
    labels[OWNER_UID] = json!(object.uid());
    let metadata = json!({ "name": claim["metadata"]["name"], "namespace": claim["metadata"]["namespace"], "labels": labels,
        "annotations": { ADOPTED: "true" } });
    let labelled = json!({ "apiVersion": claim["apiVersion"], "kind": claim["kind"], "metadata": metadata });
    Order::Apply { child, object: labelled, uid: Some(uid.to_owned()), whole: false }
}

/// Services and the budget.
fn addresses(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let (object, children, fields) = (&scene.look.seen.object, &scene.look.children, scene.look.yielded());
    let (_, primary) = primary_service(scene, target);
    let budget = apply_or_remove(&children.budget, network::budget(object, target), fields);
    let pods = apply(&children.addresses, network::pods(object, target), fields);
    [pods, primary, readers::service(scene, target).0, budget].into_iter().flatten().collect()
}

/// The Service of the primary: what a user has set of it, or where it leads to.
pub fn primary_service(scene: &Scene<'_>, target: &Plan) -> (Option<Order>, Option<Order>) {
    let (object, slot) = (&scene.look.seen.object, &scene.look.children.primary);
    // Where the servers are told nothing just now, and are told again in a moment, nobody is led away.
    let is_told_again = scene.members.topology.is_none() && !scene.is_new();
    let led = slot.ours().and_then(|live| network::leads_to(live));
    let stays = || (0..scene.count(target)).find(|ordinal| led.is_some_and(|pod| *pod == names::pod(&object.name_any(), *ordinal)));
    let primary = if is_told_again { stays() } else { readers::writes_to(scene) };
    let rendered = network::primary(object, target, primary);
    let leads = |live: &Service| {
        let ports = live.spec.as_ref().and_then(|spec| spec.ports.as_ref());
        let port = ports.and_then(|ports| ports.first()).map(|port| port.port);
        network::leads_as(live, &rendered) && json!(port) == rendered.object["spec"]["ports"][0]["port"]
    };
    let so = slot.ours().is_some_and(leads);
    let order = apply(slot, rendered, scene.look.yielded());
    // Its address follows the primary once it has moved.
    let moves = standing::is_switchover_wanted(scene);
    if so { (order, None) } else { (None, order.filter(|_| !moves)) }
}

/// Who the primary is, and where each server finds the others.
fn topology(scene: &Scene<'_>, target: &Plan) -> Option<Order> {
    let object = &scene.look.seen.object;
    let next = scene.topology(target)?;
    match (&scene.look.children.topology, &scene.members.topology) {
        (Slot::Free, _) => Some(creation(next.config_map(object))),
        (Slot::Ours(map), Some(Ok(told))) if *told != next => Some(told_otherwise(told, &next, scene, &map.uid().unwrap_or_default())),
        (Slot::Ours(_), Some(Ok(_))) => apply(&scene.look.children.topology, next.config_map(object), &[]),
        // What a hand made of it is not read; what was recorded takes its place.
        (Slot::Ours(map), Some(Err(_))) => {
            let child = ChildRef { kind: ChildKind::ConfigMap, name: names::topology(&object.name_any()) };
            Some(Order::Patch { child, patch: next.instead(object, &map.uid().unwrap_or_default()) })
        }
        (Slot::Ours(_) | Slot::Unlabelled { .. } | Slot::Adopted { .. }, _) => {
            apply(&scene.look.children.topology, next.config_map(object), &[])
        }
        (Slot::Foreign { .. }, _) => None,
    }
}

/// From one topology to another, in the very ConfigMap that says the first.
pub fn told_otherwise(told: &Topology, next: &Topology, scene: &Scene<'_>, uid: &str) -> Order {
    let object = &scene.look.seen.object;
    let child = ChildRef { kind: ChildKind::ConfigMap, name: names::topology(&object.name_any()) };
    Order::Patch { child, patch: told.change(next, object, uid) }
}

/// The StatefulSet.
fn workload(scene: &Scene<'_>, target: &Plan) -> Option<Order> {
    let (object, slot) = (&scene.look.seen.object, &scene.look.children.servers);
    let replicas = i32::try_from(scene.count(target)).unwrap_or(target.replicas);
    let plan = Plan { replicas, ..target.clone() };
    let rendered = servers::stateful_set(object, &plan, &scene.learned(target), &made_from(slot.ours(), target));
    apply_workload(slot, rendered, replicas, scene.look.older_rendering(), scene.look.yielded())
}

/// The size that the claims of the StatefulSet's own are made with: that of its first day, since it cannot be changed.
fn made_from(live: Option<&StatefulSet>, target: &Plan) -> Quantity {
    let templates = live.and_then(|set| set.spec.as_ref()?.volume_claim_templates.as_ref());
    let made = templates.and_then(|templates| wanted(templates.first()?));
    made.map_or_else(|| target.storage.size.spelling.clone(), |volume| volume.size.spelling)
}

/// What makes every claim of a server as large as the target wants it.
pub fn growths(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let claims = scene.look.children.claims.iter().filter_map(Slot::ours);
    claims.filter_map(|claim| growth(claim, &target.storage.size)).collect()
}

/// What asks for a claim to be this large; nothing where it asks for that already, or has no volume yet.
pub fn growth(claim: &PersistentVolumeClaim, size: &Size) -> Option<Order> {
    let (asked, _) = (wanted(claim)?, granted(claim)?);
    if asked.size.bytes >= size.bytes {
        return None;
    }
    let child = ChildRef { kind: ChildKind::PersistentVolumeClaim, name: claim.name_any() };
    let path = PointerBuf::from_tokens(["spec", "resources", "requests", "storage"]);
    let change = PatchOperation::Replace(ReplaceOperation { path, value: json!(size.spelling.canonical()) });
    Some(Order::Patch { child, patch: patch_of(claim.meta().uid.as_deref(), [change]) })
}

/// Every child that has a form of its own to be taken over in.
pub fn rendered(object: &Object, target: &Plan) -> Vec<Rendered> {
    let plain = [network::pods(object, target), network::read_only(object, target, None, false), network::primary(object, target, None)];
    let learned = configuration::Learned::default();
    let maps = [configuration::reloaded(object, target, &learned)];
    let held = standing::was_never_ready(object);
    let more = network::budget(object, target).into_iter().chain(jobs::backups(object, target, held));
    let workload = servers::stateful_set(object, target, &learned, &target.storage.size.spelling);
    plain.into_iter().chain(maps).chain(more).chain([workload]).collect()
}

/// What a person may let the operator take over: what holds data or a secret is nobody's but its maker's, and what somebody
/// controls is his, since most of our children name no controller that the API server would hold against it.
pub fn may_be_adopted(conflict: &Conflict) -> bool {
    let precious = matches!(conflict.child.kind, ChildKind::Secret | ChildKind::PersistentVolumeClaim | ChildKind::Job);
    conflict.owner.is_none() && !precious && conflict.child.name != scripts::name()
}

impl Plan {
    /// Is there a volume of dumps: for those of the schedule, or for the last one?
    pub fn keeps_dumps(&self) -> bool {
        self.backup.schedule.is_some() || self.deletion_policy == DeletionPolicy::Snapshot
    }
}
