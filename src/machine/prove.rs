//! Every possible set of facts, in every phase: the proof that one event at a time cannot give.

use super::explore::deleting;
use super::{Machine, Role, Step, Word};
use std::collections::BTreeMap;

/// What a machine must say of its facts before anything can be proved over sets of them.
pub trait Provable: Machine {
    /// The facts that say that all is as it should be: where none is true, no phase that rests may stay.
    const SETTLED: &'static [Self::Event];

    /// Can these facts be true together?
    fn possible(is_true: &dyn Fn(Self::Event) -> bool) -> bool;
    /// Is `event` still true after `step`, if the rest of the world stands still?
    fn remains(event: Self::Event, step: &Step<Self>) -> bool;
}

/// What the proof went through and found.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// Sets of facts that are possible.
    pub sets: u64,
    /// Steps taken over all of them, in every phase.
    pub steps: u64,
    /// A sentence for each fault.
    pub faults: Vec<String>,
}

/// No junction is stuck, deletion wins, and in a world that stands still the machine comes to rest, nowhere on a claim alone.
pub fn every_set<M: Provable>() -> Proof {
    let mut proof = Proof::default();
    let mut faults: BTreeMap<String, u64> = BTreeMap::new();
    for mask in 0u64..1 << M::Event::ALL.len() {
        if !M::possible(&|event| mask & bit::<M>(event) != 0) {
            continue;
        }
        proof.sets += 1;
        for &start in M::Phase::ALL {
            if let Some(fault) = follow::<M>(start, mask, &mut proof.steps) {
                *faults.entry(fault).or_default() += 1;
            }
        }
    }
    proof.faults = faults.into_iter().map(|(fault, sets)| format!("{fault} ({sets} sets)")).collect();
    proof
}

/// Steps from `start` until nothing decides; the fault met on the way, if any.
fn follow<M: Provable>(start: M::Phase, mut facts: u64, steps: &mut u64) -> Option<String> {
    let (mut phase, mut trail) = (start, Vec::new());
    loop {
        *steps += 1;
        let true_now = M::Event::ALL.iter().copied().filter(|event| facts & bit::<M>(*event) != 0);
        let step = M::step(phase, &true_now.collect());
        let Some(cause) = step.cause else {
            if M::role(phase) == Role::Junction {
                return Some(format!("{phase:?} is stuck"));
            }
            let settled = M::SETTLED.iter().any(|fact| facts & bit::<M>(*fact) != 0);
            return (M::role(phase) == Role::Rests && !settled).then(|| format!("{phase:?} rests on its own word"));
        };
        let wins = facts & bit::<M>(M::DELETION) != 0 && !deleting::<M>(phase);
        if wins && cause != M::DELETION {
            return Some(format!("{phase:?}: {cause:?} wins over deletion"));
        }
        for &event in M::Event::ALL {
            if !M::remains(event, &step) {
                facts &= !bit::<M>(event);
            }
        }
        trail.push(format!("{phase:?} on {cause:?}"));
        phase = step.next;
        if trail.len() > 2 * M::Phase::ALL.len() {
            trail.drain(..M::Phase::ALL.len());
            trail.sort();
            trail.dedup();
            return Some(format!("never rests: {}", trail.join(", ")));
        }
    }
}

fn bit<M: Machine>(event: M::Event) -> u64 {
    1 << M::Event::ALL.iter().position(|word| *word == event).unwrap_or(0)
}
