//! Volumes that have seen a later epoch than the servers are told: as where the API server's data was put back to a time before
//! the primary moved. Each volume has a marker, and a server that is told less than it says does not start.

use super::Scene;
use crate::kinds::database::object::more::System;
use crate::kinds::database::reports::last_words::{Word, pairs_at_end};

/// What a volume's marker says, in the last words of its server.
pub struct Marker {
    /// The ordinal of the server.
    pub ordinal: u32,
    /// The epoch in which its server ran last.
    pub epoch: u32,
    /// Was it the primary then?
    pub is_primary: bool,
    /// The system identifier of the data.
    pub identifier: String,
}

/// The markers of a later epoch than is told.
pub fn markers(scene: &Scene<'_>) -> Vec<Marker> {
    let told = scene.members.told().map(|told| told.epoch);
    let epoch = told.or(scene.more.system.as_ref().map(|system| system.epoch)).unwrap_or_default();
    let pods = scene.members.pods().filter(|(_, pod)| pod.metadata.deletion_timestamp.is_none());
    let said = pods.filter_map(|(ordinal, _)| marker(ordinal, &scene.members.refusal(ordinal)?));
    said.filter(|marker| marker.epoch > epoch).collect()
}

/// The one to believe: the primary of the latest epoch that any volume has seen, with this object's data.
pub fn believable(scene: &Scene<'_>) -> Option<Marker> {
    let markers = markers(scene);
    let latest = markers.iter().map(|marker| marker.epoch).max()?;
    let known = scene.more.system.as_ref().and_then(|system| system.identifier.as_ref());
    let is_ours = |marker: &Marker| known.is_none_or(|known| *known == marker.identifier);
    markers.into_iter().find(|marker| marker.is_primary && marker.epoch == latest && is_ours(marker))
}

/// What is recorded once that one is believed.
pub fn believed(scene: &Scene<'_>) -> Option<System> {
    let Marker { ordinal, epoch, identifier, .. } = believable(scene)?;
    let before = scene.more.system.clone().unwrap_or_default();
    Some(System { primary: ordinal, epoch, identifier: Some(identifier), pod: None, claims: before.claims })
}

fn marker(ordinal: u32, (word, sentence): &(Word, String)) -> Option<Marker> {
    let said = pairs_at_end(sentence).filter(|_| *word == Word::StaleConfig)?;
    let value = |key: &str| said.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    Some(Marker {
        ordinal,
        epoch: value("epoch")?.parse().ok()?,
        is_primary: value("role")? == "primary",
        identifier: value("systemid").filter(|identifier| !identifier.is_empty())?.to_owned(),
    })
}
