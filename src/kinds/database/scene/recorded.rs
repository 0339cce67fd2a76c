//! What is remembered of what the servers are told, and what of it no hand may change.

use super::Scene;
use super::members::Members;
use crate::kinds::database::children::topology::{Nonsense, Topology};
use crate::kinds::database::object::more::System;
use kube::ResourceExt;
use std::collections::BTreeMap;

/// What no step of ours can have made of what was recorded: a hand did. It is not believed.
pub fn contradiction(told: &Topology, system: &System) -> Option<Nonsense> {
    let text = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let wrong = |key: &str, value: String| Some(Nonsense { key: key.to_owned(), value });
    if system.epoch == 0 {
        return None;
    }
    let lead = told.primary.or(told.fenced);
    let recorded = lead == Some(system.primary);
    let epochs = if recorded { system.epoch..=system.epoch } else { system.epoch.saturating_add(1)..=system.epoch.saturating_add(1) };
    match (&told.systemid, &system.identifier) {
        (Some(told), Some(known)) if told != known => return wrong("systemid", told.clone()),
        _ => {}
    }
    if lead.is_none() || !recorded && told.epoch == system.epoch {
        return wrong("primary", text(told.primary));
    }
    if !epochs.contains(&told.epoch) {
        return wrong("epoch", told.epoch.to_string());
    }
    let claims = told.claims.get(&system.primary).zip(system.claims.get(&system.primary.to_string()));
    let (told, _) = claims.filter(|(told, known)| told != known)?;
    wrong(&format!("claim-{}", system.primary), told.clone())
}

/// What was recorded, for the servers.
pub fn recorded(system: &System) -> Topology {
    let claims = system.claims.iter().filter_map(|(ordinal, uid)| Some((ordinal.parse().ok()?, uid.clone())));
    Topology {
        primary: Some(system.primary),
        fenced: None,
        epoch: system.epoch.max(1),
        systemid: system.identifier.clone(),
        claims: claims.collect(),
        peers: BTreeMap::new(),
        reclone: BTreeMap::new(),
    }
}

/// What is to be remembered of what the servers are told, and of the pod that is named, once it is no replica any more.
pub fn record(scene: &Scene<'_>) -> Option<System> {
    let before = scene.more.system.as_ref();
    let Some(told) = scene.members.told() else { return before.cloned() };
    let identifier = told.systemid.clone().or_else(|| before.and_then(|system| system.identifier.clone()));
    let primary = told.primary.or(told.fenced).or(before.map(|system| system.primary)).unwrap_or_default();
    let claims = told.claims.iter().map(|(ordinal, uid)| (ordinal.to_string(), uid.clone())).collect();
    let named = told.primary.and_then(|primary| scene.members.pod(primary)).filter(|pod| !Members::is_labelled(pod));
    let named = named.and_then(ResourceExt::uid);
    let pod = named.or_else(|| before.and_then(|system| system.pod.clone()));
    Some(System { primary, epoch: told.epoch, identifier, pod, claims })
}
