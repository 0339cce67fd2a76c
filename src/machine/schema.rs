//! Exits -> the rule of the stored state, as the API server holds it.
//!
//! What is stored is never a junction, so the rule is over compositions: an arrow, or an arrow
//! into junctions followed by an arrow out of them.

use super::{Machine, Role, Word};
use std::collections::{BTreeMap, BTreeSet};

/// Every declared move between two stored states.
pub fn stored_moves<M: Machine>() -> BTreeMap<M::Phase, BTreeSet<M::Phase>> {
    let stored = M::Phase::ALL.iter().filter(|phase| M::role(**phase) != Role::Junction);
    stored
        .map(|&phase| {
            // Only the object's own end ends anything: where that is not to come, the claim is void, and all begins anew.
            let exits = if M::role(phase) == Role::Ends { &[M::START] } else { M::exits(phase) };
            let mut ends = through_junctions::<M>(exits);
            ends.remove(&phase);
            (phase, ends)
        })
        .collect()
}

/// The states that a new object may be stored in first.
pub fn first_moves<M: Machine>() -> BTreeSet<M::Phase> {
    through_junctions::<M>(&[M::START])
}

fn through_junctions<M: Machine>(starts: &[M::Phase]) -> BTreeSet<M::Phase> {
    let (mut ends, mut seen, mut todo) = (BTreeSet::new(), BTreeSet::new(), starts.to_vec());
    while let Some(phase) = todo.pop() {
        if M::role(phase) != Role::Junction {
            ends.insert(phase);
        } else if seen.insert(phase) {
            todo.extend(M::exits(phase));
        }
    }
    ends
}

/// The state before, empty where there was none.
const OLD: &str = "oldSelf.orValue('')";

/// The CEL rule of `.status.state`, for a schema node with `optionalOldSelf`.
///
/// Only moves between two states that the rule knows are judged: a word of a newer or an older
/// operator passes, so that version skew cannot freeze an object.
pub fn rule<M: Machine>() -> String {
    let moves = stored_moves::<M>();
    let known = list(moves.keys());
    let mut arms = vec![
        format!("!(self in {known})"),
        format!("{OLD} == self"),
        format!("{OLD} == '' && self in {}", list(&first_moves::<M>())),
        format!("{OLD} != '' && !({OLD} in {known})"),
    ];
    for (from, to) in moves.iter().filter(|(_, to)| !to.is_empty()) {
        arms.push(format!("{OLD} == '{}' && self in {}", from.text(), list(to)));
    }
    arms.join(" || ")
}

fn list<'a, W: Word>(words: impl IntoIterator<Item = &'a W>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("'{}'", word.text())).collect();
    format!("[{}]", words.join(", "))
}
