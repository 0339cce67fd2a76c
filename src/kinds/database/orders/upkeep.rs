//! What serves nobody at once: the schedule of backups and their volume, what a user has set of the Service, and what is
//! left over of earlier settings.

use super::needed::{growth, missing_scripts, primary_service};
use crate::kinds::apply::{apply_or_remove, removal};
use crate::kinds::database::children::{configuration, jobs, names};
use crate::kinds::database::plan::Plan;
use crate::kinds::database::scene::Scene;
use crate::kinds::database::scene::standing;
use crate::kinds::order::Order;
use kube::{Resource, ResourceExt};
use serde_json::json;

/// What it takes to make what serves nobody at once what `target` says.
pub fn orders(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let children = &scene.look.children;
    if scene.look.seen.object.meta().deletion_timestamp.is_some() {
        return Vec::new();
    }
    let held = standing::was_never_ready(&scene.look.seen.object) || standing::has_no_scripts(scene.look);
    let schedule = jobs::backups(&scene.look.seen.object, target, held);
    let schedule = apply_or_remove(&children.schedule, schedule, scene.look.yielded());
    let room = children.backups.ours().and_then(|claim| growth(claim, &target.backup.storage.size));
    let (settings, _) = primary_service(scene, target);
    // The next Job runs as this release has it.
    let scripts = missing_scripts(scene).filter(|_| scene.look.older_rendering().is_some());
    scripts.into_iter().chain(schedule).chain(room).chain(settings).chain(outlived(scene, target)).collect()
}

/// Settings in ConfigMaps that are named by their digest, and that nobody mounts any more: once every pod is as wanted.
fn outlived(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let (object, children) = (&scene.look.seen.object, &scene.look.children);
    let Some(servers) = children.servers.ours().filter(|_| scene.look.settled) else { return Vec::new() };
    let learned = scene.learned(target);
    let (wanted, digested) = (configuration::name(object, target, &learned), names::configuration(&object.name_any(), ""));
    let is_old = |name: &String| *name != wanted && name.starts_with(&digested);
    let old: Vec<_> = children.maps.iter().filter(|map| is_old(&map.name_any())).collect();
    // Who mounts what is a long text, and read only where it matters.
    if old.is_empty() {
        return Vec::new();
    }
    let jobs = children.every_job().map(|job| json!(job.spec));
    let users = jobs.chain(children.made.iter().map(|job| json!(job.spec)));
    let users = users.chain([json!(servers.spec), json!(children.schedule.ours().map(|schedule| &schedule.spec))]);
    let mounted: String = users.map(|spec| spec.to_string()).collect();
    old.into_iter().filter(|map| !mounted.contains(&format!("\"{}\"", map.name_any()))).filter_map(|map| removal(map.as_ref())).collect()
}
