//! Which event an edit of the spec raises, and what is unsupported: one row a field.

use super::Memcached;
use super::plan::Plan;
use super::rules::FIXED_PORT;
use super::v1::Memcached as Object;
use super::words::Event;
use crate::kinds::pods::counted;
use crate::kinds::{Known, Violation};
use crate::machine::diagram::ChangeRow;
use std::collections::BTreeSet;

/// One row for each field of the spec; a field without a row fails a test.
pub const ROWS: &[ChangeRow<Memcached>] = &[
    ChangeRow { field: "spec.replicas", raises: Ok(Event::ReplicasChanged) },
    ChangeRow { field: "spec.image", raises: Ok(Event::TemplateChanged) },
    ChangeRow { field: "spec.memory", raises: Ok(Event::TemplateChanged) },
    ChangeRow { field: "spec.maxItemSize", raises: Ok(Event::TemplateChanged) },
    ChangeRow { field: "spec.maxConnections", raises: Ok(Event::TemplateChanged) },
    ChangeRow { field: "spec.port", raises: Err(FIXED_PORT) },
    ChangeRow { field: "spec.resources", raises: Ok(Event::TemplateChanged) },
    ChangeRow { field: "spec.podTemplate", raises: Ok(Event::TemplateChanged) },
];

/// What the way from what is known to `wanted` raises: unsupported is judged against what was ever
/// good, the move against what was ordered last.
///
/// # Errors
/// Every change that no row allows.
pub fn between(known: &Known<Memcached>, wanted: &Plan) -> Result<BTreeSet<Event>, Vec<Violation>> {
    supported(known, wanted)?;
    let mut events = raised(known, &target(known, wanted));
    if known.refused.is_some() {
        events.insert(if is_refused(known, wanted) { Event::SpecRefused } else { Event::NothingRefused });
    }
    Ok(events)
}

/// May what was good become `wanted`?
///
/// # Errors
/// Every change that no row allows.
pub fn supported(known: &Known<Memcached>, wanted: &Plan) -> Result<(), Vec<Violation>> {
    match &known.last_good {
        Some(good) if good.port != wanted.port => Err(vec![Violation::unsupported("spec.port", good.port, wanted.port, FIXED_PORT)]),
        Some(_) | None => Ok(()),
    }
}

/// Does `wanted`, its count aside, ask for what was rolled back?
pub fn is_refused(known: &Known<Memcached>, wanted: &Plan) -> bool {
    let (refused, good) = (known.refused.as_ref(), known.last_good.as_ref());
    refused.is_some_and(|refused| makes_the_same_pods(refused, wanted)) && good.is_some_and(|good| !makes_the_same_pods(good, wanted))
}

/// What is worked towards where `wanted` is asked for: what was rolled back gives way to what was good; the count is always
/// the spec's.
pub fn target(known: &Known<Memcached>, wanted: &Plan) -> Plan {
    match &known.last_good {
        Some(good) if is_refused(known, wanted) => Plan { replicas: wanted.replicas, ..good.clone() },
        Some(_) | None => wanted.clone(),
    }
}

/// What the way from what was ordered to `target` raises.
pub fn raised(known: &Known<Memcached>, target: &Plan) -> BTreeSet<Event> {
    let mut events = BTreeSet::new();
    if let Some(applied) = &known.applied {
        if applied.replicas != target.replicas {
            events.insert(Event::ReplicasChanged);
        }
        if known.refreshed || !makes_the_same_pods(applied, target) {
            events.insert(Event::TemplateChanged);
        }
    }
    events
}

/// Do both make pods of one template? Before the first Ready the port is a part of it like any other.
pub fn makes_the_same_pods(one: &Plan, other: &Plan) -> bool {
    one.template == other.template && one.port == other.port
}

/// What is left to be done where the spec is as it was ordered, as far as the status tells: a roll-out that has not ended, pods
/// that are missing.
pub fn left(object: &Object, known: &Known<Memcached>) -> Option<Event> {
    let applied = known.applied.as_ref()?;
    let ready = object.status.as_ref().and_then(|status| status.ready_replicas).unwrap_or_default();
    let proved = known.last_good.as_ref().is_some_and(|good| makes_the_same_pods(good, applied));
    if !proved {
        return Some(Event::PodsPending);
    }
    (ready < applied.replicas).then_some(Event::PodsLost)
}

/// What a change does to pods and to what they hold: nothing, where none serves.
pub fn consequence(object: &Object, known: &Known<Memcached>, wanted: &Plan, raised: &BTreeSet<Event>) -> Option<String> {
    let status = object.status.as_ref().filter(|status| status.ready_replicas.is_some_and(|ready| ready > 0))?;
    // A pod that was ordered and could not be made has nothing to lose.
    let there = status.replicas.unwrap_or(i32::MAX);
    let (before, after) = (known.applied.as_ref()?.replicas.min(there), wanted.replicas);
    let stay = before.min(after);
    let back = !known.refreshed && known.last_good.as_ref().is_some_and(|good| makes_the_same_pods(good, wanted));
    let restarts = match stay {
        1.. if !raised.contains(&Event::TemplateChanged) => None,
        // What was ordered since was never ready everywhere, so a roll-out has not passed its first pods.
        1.. if back => Some("pods that still run the last good template stay, the others start empty".to_owned()),
        1 => Some("1 pod restarts, it starts empty".to_owned()),
        2.. => Some(format!("{} restart one at a time, each starts empty", counted(stay))),
        _ => None,
    };
    let gone = (after < before).then(|| match before - after {
        1 => "1 pod goes with what it cached".to_owned(),
        gone => format!("{} go with what they cached", counted(gone)),
    });
    let parts: Vec<String> = [restarts, gone].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
