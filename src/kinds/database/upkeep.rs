//! What serves nobody at once: the schedule of backups and their volume, what a user has set of the Service, and what is
//! left over of earlier settings.

use super::needed::{growth, primary_service};
use super::plan::Plan;
use super::scene::Scene;
use super::{configuration, jobs, learning, names, scripts};
use crate::kinds::apply::{apply, removal};
use crate::kinds::children::Slot;
use crate::kinds::order::Order;
use kube::core::object::HasStatus;
use kube::{Resource, ResourceExt};
use serde_json::json;

/// What it takes to make what serves nobody at once what `target` says.
pub fn orders(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let children = &scene.look.children;
    let object = &scene.look.seen.object;
    if object.meta().deletion_timestamp.is_some() {
        return Vec::new();
    }
    let never_ready = object.status().is_none_or(|status| status.last_good.is_none());
    let schedule = match (jobs::backups(object, target, never_ready), &children.schedule) {
        (Some(rendered), slot) => apply(slot, rendered, scene.look.yielded()),
        (None, Slot::Ours(surplus)) => removal(surplus.as_ref()),
        (None, Slot::Free | Slot::Foreign { .. } | Slot::Adopted { .. } | Slot::Unlabelled { .. }) => None,
    };
    let room = children.backups.ours().and_then(|claim| growth(claim, &target.backup.storage.size));
    let (settings, _) = primary_service(scene, target);
    schedule.into_iter().chain(room).chain(settings).chain(outlived(scene, target)).collect()
}

/// ConfigMaps that are named by their digest, and that nobody mounts any more: once every pod is as wanted.
fn outlived(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let (object, children) = (&scene.look.seen.object, &scene.look.children);
    let Some(servers) = children.servers.ours().filter(|_| scene.look.settled) else { return Vec::new() };
    let learned = learning::learned(&scene.more, target);
    let wanted = [scripts::name(object), configuration::name(object, target, &learned)];
    let jobs = children.every_job().map(|job| json!(job.spec));
    let users = jobs.chain(children.made.iter().map(|job| json!(job.spec)));
    let users = users.chain([json!(servers.spec), json!(children.schedule.ours().map(|schedule| &schedule.spec))]);
    let mounted: String = users.map(|spec| spec.to_string()).collect();
    let digested = names::digested(&object.name_any());
    let unused = |name: &str| !wanted.iter().any(|wanted| wanted == name) && !mounted.contains(&format!("\"{name}\""));
    let old = children.maps.iter().filter(|map| digested.iter().any(|beginning| map.name_any().starts_with(beginning)));
    old.filter(|map| unused(&map.name_any())).filter_map(|map| removal(map.as_ref())).collect()
}
