//! Which event an edit of the spec raises, and what is unsupported: one row a field.

use super::Memcached;
use super::plan::Plan;
use super::rules::FIXED_PORT;
use super::words::Event;
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
    if let Some(good) = &known.last_good
        && good.port != wanted.port
    {
        return Err(vec![Violation::unsupported("spec.port", good.port, wanted.port, FIXED_PORT)]);
    }
    let mut events = BTreeSet::new();
    if let Some(applied) = &known.applied {
        if applied.replicas != wanted.replicas {
            events.insert(Event::ReplicasChanged);
        }
        // Before the first Ready the port is a part of the template like any other.
        if applied.template != wanted.template || applied.port != wanted.port {
            events.insert(Event::TemplateChanged);
        }
    }
    Ok(events)
}

/// What a change does to pods and to what they hold.
pub fn consequence(known: &Known<Memcached>, wanted: &Plan, raised: &BTreeSet<Event>) -> Option<String> {
    let before = known.applied.as_ref()?.replicas;
    let after = wanted.replicas;
    let pods = |count: i32| if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") };
    if raised.contains(&Event::TemplateChanged) && before > 0 && after > 0 {
        let (restart, starts) = if before.min(after) == 1 { ("restarts", "it") } else { ("restart one at a time", "each") };
        Some(format!("{} {restart}, {starts} starts empty", pods(before.min(after))))
    } else if after < before {
        let gone = before - after;
        Some(format!("{} {} with what {} cached", pods(gone), if gone == 1 { "goes" } else { "go" }, if gone == 1 { "it" } else { "they" }))
    } else {
        None
    }
}
