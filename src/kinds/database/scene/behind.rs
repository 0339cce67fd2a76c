//! Volumes that have seen a later epoch than the servers are told: as where the API server's data was put back to a time before
//! the primary moved. Each volume has a marker, and a server that is told less than it says does not start.

use super::Scene;
use super::members::Members;
use crate::kinds::database::object::more::System;
use crate::kinds::database::reports::last_words::{Word, pairs_at_end};
use jiff::SignedDuration;
use std::collections::{BTreeMap, BTreeSet};

/// What a volume's marker says, in the last words of its server.
pub struct Marker {
    /// The ordinal of the server.
    pub ordinal: u32,
    /// The epoch in which its server ran last.
    pub epoch: u32,
    /// The ordinal of the primary of that epoch, where it says so.
    pub primary: Option<u32>,
    /// The system identifier of the data.
    pub identifier: String,
}

/// More epochs than that no database has seen: such a marker is damaged.
const EPOCHS: u32 = 1 << 30;

/// Does a volume know of a later epoch than is told? What is dumped of the primary that is told may lack what it holds.
pub fn is_known(scene: &Scene<'_>) -> bool {
    !later(scene).is_empty()
}

/// Epochs that volumes know of and that are later than is told, by the uids of their claims. Each is remembered when the pod that
/// named it goes, until its volume is gone, or serves.
pub fn later(scene: &Scene<'_>) -> BTreeMap<String, u32> {
    let said = markers(scene).into_iter().map(|marker| (marker.ordinal, marker.epoch));
    let (mut epochs, told) = (remembered(scene, &scene.more.later_epochs, said), told(scene));
    epochs.retain(|_, epoch| *epoch > told);
    epochs
}

/// What servers say now, by the uids of their claims, and what those have said `before` whose claims stand and that are not ready.
pub fn remembered<T: Clone>(scene: &Scene<'_>, before: &BTreeMap<String, T>, said: impl Iterator<Item = (u32, T)>) -> BTreeMap<String, T> {
    let is_silent = |claim: &String| scene.ordinal_of(claim).is_some_and(|ordinal| !scene.members.is_ready(ordinal));
    let kept = before.iter().filter(|(claim, _)| is_silent(claim)).map(|(claim, words)| (claim.clone(), words.clone()));
    let said = said.filter_map(|(ordinal, words)| Some((scene.standing_claim(ordinal)?.clone(), words)));
    kept.chain(said).collect()
}

/// The epoch that the servers are told, or were told last.
fn told(scene: &Scene<'_>) -> u32 {
    let told = scene.members.told().map(|told| told.epoch);
    told.or(scene.more.system.as_ref().map(|system| system.epoch)).unwrap_or_default()
}

/// Is it known, and has every server spoken, so that the latest of them is known too?
pub fn is_whole(scene: &Scene<'_>) -> bool {
    let count = scene.look.target.as_ref().map_or(0, |target| scene.count(target));
    is_known(scene) && (0..count).all(|ordinal| has_spoken(scene, ordinal))
}

/// Is it known of a server whether its volume knows more? One that was not refused and runs, has read its marker.
fn has_spoken(scene: &Scene<'_>, ordinal: u32) -> bool {
    const MOMENT: SignedDuration = SignedDuration::from_mins(1);
    let runs = |pod| Members::runs_longer(pod, MOMENT, scene.look.seen.now);
    let members = &scene.members;
    members.is_ready(ordinal) || members.refusal(ordinal).is_some() || members.pod(ordinal).is_some_and(runs)
}

/// The markers of a later epoch than is told.
pub fn markers(scene: &Scene<'_>) -> Vec<Marker> {
    let epoch = told(scene);
    let pods = scene.members.pods().filter(|(_, pod)| pod.metadata.deletion_timestamp.is_none());
    let said = pods.filter_map(|(ordinal, _)| marker(ordinal, &scene.members.refusal(ordinal)?));
    said.filter(|marker| marker.epoch > epoch).collect()
}

/// What to believe, and to record: the only primary of the latest epoch that any volume has seen, with this object's data. Its own
/// volume need not say so, where it was named and did not start: the replicas of that epoch know it.
pub fn believable(scene: &Scene<'_>) -> Option<System> {
    let mut markers = markers(scene);
    let epoch = later(scene).into_values().max()?;
    markers.retain(|marker| marker.epoch == epoch);
    let before = scene.more.system.clone().unwrap_or_default();
    let told = scene.members.told().and_then(|told| told.systemid.as_ref());
    let known = told.or(before.identifier.as_ref()).unwrap_or(&markers.first()?.identifier).clone();
    let primaries: BTreeSet<u32> = markers.iter().filter_map(|marker| marker.primary).collect();
    // What no volume stands for would be made anew, and empty; and another volume than that of before holds what somebody else has told.
    let claims = scene.members.told().map(|told| &told.claims);
    let is_kept = |primary: &u32| {
        let stands = scene.claim(*primary).filter(|_| scene.going_claims().all(|(going, _)| going != *primary));
        stands.is_some() && claims.is_none_or(|claims| claims.get(primary) == stands.as_ref())
    };
    let primary = primaries.first().copied().filter(|primary| primaries.len() == 1 && is_kept(primary) && has_spoken(scene, *primary))?;
    let is_ours = markers.iter().all(|marker| marker.identifier == known);
    (is_ours && is_whole(scene)).then_some(System { primary, epoch, identifier: Some(known), pod: None, claims: before.claims })
}

fn marker(ordinal: u32, (word, sentence): &(Word, String)) -> Option<Marker> {
    let said = pairs_at_end(sentence).filter(|_| *word == Word::StaleConfig)?;
    let value = |key: &str| said.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let primary = match value("role")? {
        "primary" => Some(ordinal),
        // A clone that was interrupted knows whom it was made of.
        "replica" | "cloning" => value("primary").and_then(|primary| primary.parse().ok()),
        _ => return None,
    };
    Some(Marker {
        ordinal,
        epoch: value("epoch")?.parse().ok().filter(|epoch| *epoch < EPOCHS)?,
        primary,
        identifier: value("systemid").filter(|identifier| !identifier.is_empty())?.to_owned(),
    })
}
