//! What goes when the object goes, a stage at a time: what is worth keeping is written down, then all that uses a volume is
//! removed, and only then the volumes, each in the very version that was seen.

use super::tombstone;
use crate::kinds::apply::{creation, relabel, removal, removal_with};
use crate::kinds::children::{Place, Siblings, Slot};
use crate::kinds::database::children::names::{self, Work};
use crate::kinds::database::object::dumps::Taken;
use crate::kinds::database::object::more::LastWord;
use crate::kinds::database::object::parts::DeletionPolicy;
use crate::kinds::database::scene::standing::was_made;
use crate::kinds::database::scene::{Scene, diverged, outcome, said, work};
use crate::kinds::order::{Cascade, Child, ChildKind, Order};
use crate::kinds::reading::Reading;
use crate::kinds::rendered::ADOPTED;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::ResourceExt;
use std::sync::Arc;

/// After so many last dumps that the servers outlived a person is asked what keeps them.
pub const DUMPS: u32 = 3;

/// What becomes of the data when the object goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The volumes stay.
    Retain,
    /// A last dump is wanted, and none is recorded.
    Snapshot,
    /// Nothing speaks for the volumes.
    Delete,
}

/// What the policy, what is recorded and what a person has said make of the data.
pub fn fate(scene: &Scene<'_>) -> Fate {
    let more = scene.more;
    match (more.last_word, policy(scene)) {
        (Some(LastWord::KeepVolumes), _) | (None, DeletionPolicy::Retain) => Fate::Retain,
        (Some(LastWord::SkipSnapshot), _) | (None, DeletionPolicy::Delete) => Fate::Delete,
        (None, DeletionPolicy::Snapshot) if has_last_dump(scene) || !holds_data(scene) => Fate::Delete,
        (None, DeletionPolicy::Snapshot) => Fate::Snapshot,
    }
}

/// Is there a dump that holds all that was written: one since which no server has served for long?
fn has_last_dump(scene: &Scene<'_>) -> bool {
    let taken = scene.more.snapshot.as_ref().filter(|taken| is_kept(scene, taken) && !diverged::is_any(scene));
    taken.is_some_and(|taken| !serves(scene) || said::is_fresh(&taken.time, scene.look.seen.now))
}

/// Does the very claim stand that a dump was written to, and was it not told to go? An earlier release did not write down which
/// one it was.
pub fn is_kept(scene: &Scene<'_>, taken: &Taken) -> bool {
    work::dumps_claim(scene.look).is_some_and(|claim| taken.uid.is_none() || taken.uid == claim.metadata.uid)
}

/// May anybody write still? Servers that were told to go take no more, however long one of them hangs.
pub fn serves(scene: &Scene<'_>) -> bool {
    match &scene.look.children.servers {
        Slot::Ours(set) => stays(set.as_ref()),
        // It makes pods, whatever its labels say.
        Slot::Unlabelled { .. } => true,
        Slot::Free | Slot::Adopted { .. } | Slot::Foreign { .. } => scene.members.pods().any(|(_, pod)| stays(pod)),
    }
}

/// Is this a last dump, of a primary that may lack what another volume holds?
pub fn is_dumped_in_part(scene: &Scene<'_>, work: Work) -> bool {
    work == Work::Snapshot && diverged::is_any(scene)
}

/// Is this a last dump, and is no server left, and none to come, that it could be taken of?
pub fn has_no_source(scene: &Scene<'_>, work: Work) -> bool {
    work == Work::Snapshot && !serves(scene)
}

/// The policy as it is written now; where the spec cannot be read, as it was ordered, and at last the one that keeps most.
pub fn policy(scene: &Scene<'_>) -> DeletionPolicy {
    let look = scene.look;
    let plan = look.seen.plan.as_ref().ok().or(look.known.applied.as_ref());
    plan.map_or(DeletionPolicy::Retain, |plan| plan.deletion_policy)
}

/// Was there ever anything that a user could have written to? What is recorded of it may be of a time before that, where the API
/// server's data was put back: a server that runs is asked, which says where it has no database.
fn holds_data(scene: &Scene<'_>) -> bool {
    let told = scene.members.told().is_some_and(|told| told.systemid.is_some());
    let may_be_asked = || scene.members.primary_is_ready() && serves(scene) && !outcome::is_without_data(scene.look);
    told || was_made(scene.look) || scene.more.begun || may_be_asked()
}

/// Is the object's namespace being deleted?
pub fn namespace_is_ending(scene: &Scene<'_>) -> bool {
    match &scene.look.children.namespace {
        Reading::Found(namespace) => namespace.metadata.deletion_timestamp.is_some(),
        Reading::Absent | Reading::Unread => false,
    }
}

/// What is left to be removed, volumes aside.
pub fn workloads(scene: &Scene<'_>) -> Vec<Order> {
    // What is not written down is not removed.
    if let Some(tombstone) = tombstone(scene) {
        return vec![tombstone];
    }
    // What carries no label of ours is seen by name alone, and not removed: its label comes back first.
    let labels = labels(scene);
    if !labels.is_empty() {
        return labels;
    }
    let children = &scene.look.children;
    let mut orders: Vec<Order> = gone(&children.schedule).into_iter().collect();
    // Before the Jobs, of which one may have told that the servers hold nothing.
    orders.extend(children.servers.ours().filter(|live| stays(*live)).and_then(|live| removal_with(live, Cascade::Foreground)));
    orders.extend(children.every_job().filter(|job| stays(*job)).filter_map(removal));
    // Whose StatefulSet was removed without them are nobody's any more.
    if matches!(children.servers, Slot::Free) {
        orders.extend(scene.members.pods().map(|(_, pod)| pod).filter(|pod| stays(*pod)).filter_map(removal));
    }
    orders.extend([&children.primary, &children.read_only].into_iter().filter_map(gone));
    orders.extend(gone(&children.budget));
    // A server that is still there may have to read them, and another last dump asks it by its pod's own name.
    if no_servers(scene) {
        orders.extend(gone(&children.addresses));
        orders.extend(children.maps.iter().filter(|map| stays(map.as_ref())).filter_map(|map| removal(map.as_ref())));
        orders.extend([&children.application, &children.internal].into_iter().filter_map(gone));
    }
    orders
}

/// Our label, on children that have lost it. A volume without it stays, as somebody wanted it.
fn labels(scene: &Scene<'_>) -> Vec<Order> {
    let owner = scene.look.seen.object.name_any();
    let places = scene.look.children.places(&owner).into_iter();
    let is_volume = |name: &str, place: &dyn Place| place.kind() == ChildKind::PersistentVolumeClaim && name != names::backups(&owner);
    places.filter(|(name, place)| !is_volume(name, *place)).filter_map(|(name, place)| relabel(place, name)).collect()
}

/// The volumes that the policy gives up; none while a server or a Job may still use them.
pub fn volumes(scene: &Scene<'_>) -> Vec<Order> {
    if tombstone(scene).is_some() || !no_servers(scene) || fate(scene) != Fate::Delete {
        return Vec::new();
    }
    given_up(scene).into_iter().filter(|claim| stays(claim.as_ref())).filter_map(|claim| removal(claim.as_ref())).collect()
}

/// Is something left that this way out removes?
pub fn is_left(scene: &Scene<'_>, volumes: bool) -> bool {
    let children = &scene.look.children;
    let there = |slots: &[bool]| slots.iter().any(|there| *there);
    tombstone(scene).is_some()
        || !no_servers(scene)
        || !labels(scene).is_empty()
        || !children.job_pods.is_empty()
        || !children.maps.is_empty()
        || children.every_job().next().is_some()
        || there(&[children.schedule.ours().is_some(), children.budget.ours().is_some()])
        || there(&[&children.primary, &children.read_only, &children.addresses].map(|slot| slot.ours().is_some()))
        || there(&[&children.application, &children.internal].map(|slot| slot.ours().is_some()))
        || volumes && !given_up(scene).is_empty()
}

/// The claims that go: those of the servers, and that of the dumps where nothing is to be kept of the data.
fn given_up<'a>(scene: &'a Scene<'_>) -> Vec<&'a Arc<PersistentVolumeClaim>> {
    let children = &scene.look.children;
    let ours = |slot: &'a Slot<PersistentVolumeClaim>| match slot {
        Slot::Ours(claim) => Some(claim),
        Slot::Free | Slot::Unlabelled { .. } | Slot::Adopted { .. } | Slot::Foreign { .. } => None,
    };
    // What another object has left is never deleted on the word of this one.
    let is_made_by_us = |claim: &&Arc<PersistentVolumeClaim>| !claim.annotations().contains_key(ADOPTED);
    let dumps = ours(&children.backups).filter(|_| policy(scene) == DeletionPolicy::Delete).filter(is_made_by_us);
    children.claims.iter().filter_map(ours).chain(dumps).collect()
}

/// The words that outlive the object, where a last dump was taken and they are not written yet.
fn tombstone(scene: &Scene<'_>) -> Option<Order> {
    let object = &scene.look.seen.object;
    let taken = scene.more.snapshot.as_ref()?;
    (!scene.look.children.has_tombstone).then(|| creation(tombstone::config_map(object, taken)))
}

fn no_servers(scene: &Scene<'_>) -> bool {
    let is_there = matches!(scene.look.children.servers, Slot::Ours(_) | Slot::Unlabelled { .. });
    !is_there && scene.members.pods().next().is_none()
}

fn gone<T: Child>(slot: &Slot<T>) -> Option<Order> {
    slot.ours().filter(|live| stays(*live)).and_then(removal)
}

/// Was it not told to go yet?
fn stays(live: &impl ResourceExt) -> bool {
    live.meta().deletion_timestamp.is_none()
}
