//! How a database stands: what more than one asks of a scene.

use super::Scene;
use super::behind;
use super::members::Members;
use super::siblings::remembered;
use crate::kinds::annotations::{PROTECTED, is_set};
use crate::kinds::children::Slot;
use crate::kinds::database::Database;
use crate::kinds::database::children::names::Work;
use crate::kinds::database::children::secrets::Loss;
use crate::kinds::database::children::{names, network};
use crate::kinds::database::object::more::Fences;
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::reports::last_words::Word as Refusal;
use crate::kinds::intervention::Evidence;
use crate::kinds::look::Look;
use crate::kinds::order::ChildKind;
use crate::kinds::pods::{ready_since, trouble};
use crate::kinds::reason::Reason;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Pod;
use kube::core::object::HasStatus;
use kube::{Resource, ResourceExt};

/// Were the pods never all ready?
pub fn was_never_ready(object: &Object) -> bool {
    object.status().is_none_or(|status| status.last_good.is_none())
}

/// Are the first pods on their way? Where the primary was moved they were all ready before, whatever the status remembers of it.
pub fn is_first_rollout(scene: &Scene<'_>) -> bool {
    was_never_ready(&scene.look.seen.object) && scene.members.told().is_none_or(|told| told.epoch <= 1)
}

/// Is it known of the database that it was made, or brought back?
pub fn was_made(look: &Look<'_, Database>) -> bool {
    let more = remembered(&look.seen.object);
    let known = more.system.as_ref().is_some_and(|system| system.identifier.is_some());
    known || more.initialized.is_some() || more.restored.is_some() || look.known.last_good.is_some()
}

/// Is the object being removed?
pub fn is_going(scene: &Scene<'_>) -> bool {
    scene.look.seen.object.meta().deletion_timestamp.is_some()
}

/// Is the object protected?
pub fn is_protected(scene: &Scene<'_>) -> bool {
    is_set(&scene.look.seen.object, PROTECTED)
}

/// Has the last dump no place to be written to: is the claim of dumps somebody else's?
pub fn has_no_place(look: &Look<'_, Database>, work: Work) -> bool {
    work == Work::Snapshot && matches!(look.children.backups, Slot::Foreign { .. })
}

/// Would a Job run scripts of somebody else?
pub fn has_no_scripts(look: &Look<'_, Database>) -> bool {
    matches!(look.children.scripts, Slot::Foreign { .. })
}

/// What was lost of the passwords, where there is a server that knows some and nobody has allowed new ones.
pub fn credentials_lost(scene: &Scene<'_>) -> Vec<Loss> {
    let children = &scene.look.children;
    let known = !scene.is_new() && scene.more.reset_time.is_none();
    let taken = |slot: &Slot<_>| !matches!(slot, Slot::Free | Slot::Ours(_));
    if !known || taken(&children.internal) || taken(&children.application) {
        return Vec::new();
    }
    children.credentials.as_ref().err().cloned().unwrap_or_default()
}

/// Has the primary to be another pod: since its own is to go, since nobody is it just now, or since the one that takes over
/// serves as a replica still?
pub fn is_switchover_wanted(scene: &Scene<'_>) -> bool {
    let Some(told) = scene.members.told().filter(|_| !is_first_rollout(scene)) else { return false };
    let goes =
        |primary: u32| !is_going(scene) && scene.look.target.as_ref().is_some_and(|target| primary >= target.replicas.unsigned_abs());
    told.primary.is_none_or(|primary| goes(primary) || serves_as_replica(scene, primary))
}

/// Are readers led to the pod of this ordinal since it is a replica? Only a start makes a primary of it.
pub fn serves_as_replica(scene: &Scene<'_>, ordinal: u32) -> bool {
    scene.members.pod(ordinal).is_some_and(|pod| Members::is_labelled(pod) && !was_primary(scene, pod))
}

/// Is this the pod that is recorded as the primary's own?
pub fn was_primary(scene: &Scene<'_>, pod: &Pod) -> bool {
    let recorded = scene.more.system.as_ref().and_then(|system| system.pod.as_ref());
    recorded.is_some() && recorded == pod.metadata.uid.as_ref()
}

/// How often the primary is to end for another at most, before a person is asked.
const FENCES: u32 = 3;
/// How long it serves at least before it ends for the last time.
const BETWEEN: SignedDuration = SignedDuration::from_mins(1);

/// How often the primary ended for another, and nobody took over.
pub fn fences_in_vain(scene: &Scene<'_>) -> u32 {
    scene.more.fences.map_or(0, |fences| fences.count)
}

/// The same, to be remembered: it counts while the primary is to move, until another is named.
pub fn counted_fences(scene: &Scene<'_>) -> Option<Fences> {
    let before = scene.more.fences.unwrap_or_default();
    let Some(told) = scene.members.told() else { return scene.more.fences };
    if told.primary.is_none() {
        let count = before.count.saturating_add(u32::from(!before.open));
        return Some(Fences { count, open: true });
    }
    let is_another = scene.more.system.as_ref().is_some_and(|system| told.primary != Some(system.primary));
    let counts = before.count > 0 && !is_another && is_switchover_wanted(scene);
    counts.then_some(Fences { open: false, ..before })
}

/// May the primary end once more for another? The second time comes at once, since a crash is no reason to wait; each time, nobody
/// can write for a while.
pub fn may_fence(scene: &Scene<'_>, primary: u32) -> bool {
    let serves = || scene.members.pod(primary).and_then(ready_since);
    match FENCES.saturating_sub(fences_in_vain(scene)) {
        0 => false,
        1 => serves().is_some_and(|since| scene.look.seen.now.duration_since(since) >= BETWEEN),
        2.. => true,
    }
}

/// Is the primary to move, and was it tried again and again in vain? Not where the spec lets it stay by now.
pub fn is_moved_in_vain(scene: &Scene<'_>) -> bool {
    let stays = |primary: u32| scene.look.wanted.as_ref().is_ok_and(|wanted| primary < wanted.replicas.unsigned_abs());
    fences_in_vain(scene) >= FENCES && is_switchover_wanted(scene) && scene.members.primary().is_some_and(|primary| !stays(primary))
}

/// Is the primary on its move? Nobody can write until that has ended, so all else waits; but where the pod whose turn it is
/// cannot run, something else has to help it.
pub fn is_midway(scene: &Scene<'_>) -> bool {
    let Some(told) = scene.members.told() else { return false };
    let name = scene.look.seen.object.name_any();
    let led = scene.look.children.primary.ours().and_then(|service| network::leads_to(service));
    let fought_over = writers_are_fought_over(scene);
    let serves = |heir: u32| fought_over || behind::is_known(scene) || led.is_none_or(|pod| *pod == names::pod(&name, heir));
    let heir = told.primary.filter(|heir| !serves(*heir) || serves_as_replica(scene, *heir));
    let turn = heir.or(told.fenced.filter(|_| told.primary.is_none()));
    // One that waits to be named, or for its crash to be told, is part of the move.
    let waits = |ordinal: u32| matches!(scene.members.ended(ordinal), Some((Refusal::Fenced | Refusal::Unclean, _)));
    let stuck = |ordinal: u32| !waits(ordinal) && scene.members.pod(ordinal).is_some_and(|pod| trouble(pod).is_some());
    turn.is_some_and(|ordinal| !stuck(ordinal))
}

/// Is it asked who leads writers elsewhere again and again? Until that is answered they are left where they are.
pub fn writers_are_fought_over(scene: &Scene<'_>) -> bool {
    let name = names::own(&scene.look.seen.object.name_any());
    let is_it = |seen: &Evidence| seen.kind == ChildKind::Service.name() && seen.name == name;
    scene.question.is_some_and(|question| question.reason == Reason::DriftFought && question.evidence.iter().any(is_it))
}
