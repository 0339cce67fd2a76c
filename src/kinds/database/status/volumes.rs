//! Claims that go, that have no volume, or too small a one: what is said of them.

use crate::kinds::children::Slot;
use crate::kinds::database::Database;
use crate::kinds::database::children::names;
use crate::kinds::database::scene::Scene;
use crate::kinds::database::scene::behind::{self, Marker};
use crate::kinds::database::scene::diverged;
use crate::kinds::database::scene::ground::{self, granted, is_smaller, wanted};
use crate::kinds::intervention::Evidence;
use crate::kinds::look::Look;
use crate::kinds::pods::has_ended;
use crate::kinds::questions::quote;
use crate::kinds::reading::Reading;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, PersistentVolumeClaimCondition, Pod};
use kube::ResourceExt;
use std::sync::Arc;

/// Claims that were told to go while their pods serve: only that of the primary takes data with it.
pub fn going(look: &Look<'_, Database>) -> Vec<(String, &'static str)> {
    let scene = Scene::of(look);
    let words = |ordinal| {
        if scene.lead() == Some(ordinal) {
            "it is being deleted and goes, with its data, once its pod does: the pod is not restarted; dump the data now"
        } else {
            "it is being deleted and goes once its pod does: the pod is not restarted; the replica is cloned anew then"
        }
    };
    scene.going_claims().map(|(ordinal, claim)| (claim.name_any(), words(ordinal))).collect()
}

/// Claims without a volume. That of the dumps may have none until a pod waits for it, but where it can never have one.
fn pending<'a>(look: &'a Look<'_, Database>) -> impl Iterator<Item = &'a PersistentVolumeClaim> {
    let mounts = |pod: &Arc<Pod>, claim: &PersistentVolumeClaim| {
        let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
        volumes.filter_map(|volume| volume.persistent_volume_claim.as_ref()).any(|used| used.claim_name == claim.name_any())
    };
    let waited_for = |claim: &PersistentVolumeClaim| look.children.job_pods.iter().any(|pod| !has_ended(pod) && mounts(pod, claim));
    let dumps = look.children.backups.ours().filter(move |claim| missing_class(look, claim).is_some() || waited_for(claim));
    let servers = look.children.claims.iter().filter_map(Slot::ours);
    servers.chain(dumps).filter(|claim| is_pending(claim))
}

fn is_pending(claim: &PersistentVolumeClaim) -> bool {
    claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Pending")
}

/// The StorageClass that a claim without a volume names, where there is none of that name.
pub fn missing_class<'a>(look: &Look<'_, Database>, claim: &'a PersistentVolumeClaim) -> Option<&'a String> {
    let named = claim.spec.as_ref()?.storage_class_name.as_ref().filter(|name| !name.is_empty() && is_pending(claim))?;
    matches!(look.children.class_of(claim), Reading::Absent).then_some(named)
}

/// Has a claim no volume although nobody has to use it first? Where its class waits for that, the first Job gives it one.
pub fn is_never_bound(look: &Look<'_, Database>, claim: &PersistentVolumeClaim) -> bool {
    is_pending(claim) && ground::waits_for_a_user(claim, &look.children) == Some(false)
}

/// Claims that can have no volume, with why: pods wait for them, and do not say it so well.
pub fn classless<'a>(look: &'a Look<'_, Database>) -> impl Iterator<Item = (String, String)> + 'a {
    let words = |class: &String| format!("it has no volume, and no StorageClass is called {class}");
    pending(look).filter_map(move |claim| Some((claim.name_any(), words(missing_class(look, claim)?))))
}

/// Other claims that go, or have no volume.
pub fn waiting_claims<'a>(look: &'a Look<'_, Database>) -> impl Iterator<Item = (String, String)> + 'a {
    let waiting = pending(look).filter(|claim| missing_class(look, claim).is_none());
    let waiting = waiting.map(|claim| (claim.name_any(), "it has no volume yet".to_owned()));
    going(look).into_iter().map(|(name, words)| (name, words.to_owned())).chain(waiting)
}

/// How many volumes are shown: the first ones say it all.
const SHOWN: usize = 4;

/// Volumes that have seen a later epoch than is known.
pub fn seen_later(scene: &Scene<'_>) -> Vec<Evidence> {
    let owner = scene.look.seen.object.name_any();
    let known = scene.more.system.as_ref().map(|system| format!("{} of epoch {}", names::pod(&owner, system.primary), system.epoch));
    let known = known.unwrap_or_else(|| "none".to_owned());
    let seen = |marker: Marker| {
        let role = match marker.primary {
            Some(primary) if primary == marker.ordinal => "the primary".to_owned(),
            Some(primary) => format!("a replica of {}", names::pod(&owner, primary)),
            None => "a replica".to_owned(),
        };
        let words = format!("its volume was used as {role} in epoch {}; the last primary that is known is {known}", marker.epoch);
        quote("Pod", &names::pod(&owner, marker.ordinal), &words)
    };
    let said = behind::markers(scene);
    let remembered = behind::later(scene).into_iter().filter_map(|(claim, epoch)| {
        let ordinal = scene.ordinal_of(&claim).filter(|ordinal| said.iter().all(|marker| marker.ordinal != *ordinal))?;
        let words = format!("it was used in epoch {epoch}, and its server says nothing now; the last primary that is known is {known}");
        Some(quote("PersistentVolumeClaim", &names::claim(&owner, ordinal), &words))
    });
    let remembered: Vec<Evidence> = remembered.collect();
    remembered.into_iter().chain(said.into_iter().map(seen)).take(SHOWN).collect()
}

/// Volumes that hold what the primary lacks.
pub fn diverged(scene: &Scene<'_>) -> Vec<Evidence> {
    let owner = scene.look.seen.object.name_any();
    let quoted = |(claim, words): (String, String)| {
        let name = names::claim(&owner, scene.ordinal_of(&claim)?);
        Some(quote("PersistentVolumeClaim", &name, &format!("its server said that it holds what the primary lacks: {words}")))
    };
    diverged::volumes(scene).into_iter().filter_map(quoted).take(SHOWN).collect()
}

pub fn volume_lost(scene: &Scene<'_>) -> Option<Evidence> {
    let (ordinal, recorded) = scene.recorded_claim()?;
    let name = names::claim(&scene.look.seen.object.name_any(), ordinal);
    let words = match scene.standing_claim(ordinal) {
        None => format!("it is gone; the data was on the claim of uid {recorded}"),
        Some(other) => format!("another claim, of uid {other}, stands in its place; the data was on the one of uid {recorded}"),
    };
    Some(quote("PersistentVolumeClaim", &name, &words))
}

/// What a claim that is to grow says of that itself.
fn waits(claim: &PersistentVolumeClaim) -> String {
    let resize = claim.status.iter().filter_map(|status| status.allocated_resource_statuses.as_ref()?.get("storage"));
    let resize = resize.map(|state| format!("; {state}"));
    let said = |condition: &PersistentVolumeClaimCondition| match condition.message.as_deref().unwrap_or_default() {
        "" => format!("; {}", condition.type_),
        message => format!("; {}: {message}", condition.type_),
    };
    resize.chain(ground::conditions(claim).map(said)).collect()
}

pub fn small(scene: &Scene<'_>) -> Vec<Evidence> {
    let Some(target) = &scene.look.target else { return Vec::new() };
    let size = &target.storage.size;
    let claims = scene.look.children.claims.iter().filter_map(Slot::ours).filter(|claim| is_smaller(claim, size));
    let words = |claim: &PersistentVolumeClaim| {
        let class = wanted(claim).and_then(|volume| volume.class).unwrap_or_else(|| "(none)".to_owned());
        let has = granted(claim).map_or_else(|| "nothing yet".to_owned(), |size| size.to_string());
        let words = format!("it has {has} of {size}; its StorageClass is {class}{}", waits(claim));
        quote("PersistentVolumeClaim", &claim.name_any(), &words)
    };
    claims.map(words).collect()
}
