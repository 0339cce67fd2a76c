//! Bounded exhaustive: the production `decide` in a small world, every interleaving of looks, single
//! orders, crashes, the cluster's own steps, edits, answers and faults. `POINTSMAN_LONG=1` searches a
//! larger world. Where nobody disturbs it any more, every way must lead to rest.

mod state;
#[path = "../support/mod.rs"]
mod support;

use pointsman::kinds::Settings;
use pointsman::kinds::memcached::Memcached;
use pointsman::kinds::status::Status;
use pointsman::machine::{Machine, Role, schema as stored};
use state::State;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use support::components::bottoms;

/// Every state within these bounds; a sentence for each thing wrong.
fn search(edits: u8, answers: u8, faults: u8) -> Vec<String> {
    let (start, rule, settings) = (Instant::now(), stored::rule::<Memcached>(), Settings::of::<Memcached>());
    let first = State::start(edits, answers, faults);
    let (mut index, mut states, mut calm, mut wrong) = (HashMap::from([(first.key(), 0)]), vec![Some(first)], Vec::new(), Vec::new());
    let (mut phases, mut edges, mut at) = (Vec::new(), 0_u64, 0);
    while at < states.len() {
        // A state is looked at once; only its phase is kept.
        let state = states[at].take().expect("each state is met once");
        phases.push(state.world.object.as_ref().and_then(|object| object.status.as_ref().map(Status::phase)));
        let mut next = state.quiet();
        next.extend(state.operated(&rule, &settings, &mut wrong));
        let undisturbed = next.len();
        next.extend(state.disturbed());
        let mut ways = Vec::new();
        for (number, next) in next.into_iter().enumerate() {
            edges += 1;
            let to = *index.entry(next.key()).or_insert_with(|| {
                states.push(Some(next));
                states.len() - 1
            });
            if number < undisturbed && to != at {
                ways.push(to);
            }
        }
        calm.push(ways);
        at += 1;
    }
    let (mut rests, mut rings) = (BTreeMap::<String, u64>::new(), BTreeMap::<String, u64>::new());
    for (members, size) in bottoms(&calm) {
        let phase = phases[members];
        let rest = size == 1 && phase.is_some_and(|phase| matches!(Memcached::role(phase), Role::Rests | Role::Asks | Role::Ends));
        let tally = if rest { &mut rests } else { &mut rings };
        *tally.entry(if rest { format!("{phase:?}") } else { format!("never rests: {phase:?}, a ring of {size}") }).or_default() += 1;
    }
    println!(
        "bounded exhaustive, {edits} edits, {answers} answers, {faults} faults: {at} states, {edges} edges in {:?}; at rest {rests:?}",
        start.elapsed()
    );
    wrong.sort();
    wrong.dedup();
    wrong.extend(rings.into_iter().map(|(ring, times)| format!("{ring} ({times} of them)")));
    wrong
}

#[test]
fn every_way_leads_to_rest() {
    let bounds: &[(u8, u8, u8)] = if std::env::var_os("POINTSMAN_LONG").is_some() { &[(2, 1, 1)] } else { &[(1, 1, 1)] };
    for (edits, answers, faults) in bounds {
        let wrong = search(*edits, *answers, *faults);
        assert!(wrong.is_empty(), "{} kinds of fault: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    }
}
