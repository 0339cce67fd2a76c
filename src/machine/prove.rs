//! Every possible set of facts, in every phase: the proof that one event at a time cannot give.
//!
//! A step is decided by the first fact that the phase answers. So no set has to be listed: for each
//! phase and each fact that decides there, the laws are asked whether a set exists in which it is
//! true and every more urgent one is not. What no law forbids is taken for possible.

mod law;
mod rings;
mod sets;

use super::explore::deleting;
use super::{Machine, Role, Step, Word};
pub use law::Law;
pub use rings::{Recurs, every_ring};
use sets::{Mask, Sets, bit, named};
use std::collections::BTreeSet;

/// What a machine must say of its facts before anything can be proved over sets of them.
pub trait Provable: Machine {
    /// Which facts can be true together.
    const LAWS: &'static [Law<Self::Event>];

    /// What must be true where `phase` rests, one fact of each group: a claim needs more ground than its own word.
    fn grounds(phase: Self::Phase) -> &'static [&'static [Self::Event]];
    /// Is `event` still true after `step`, if the rest of the world stands still?
    fn remains(event: Self::Event, step: &Step<Self>) -> bool;

    /// How often can `event` be true anew although nobody does anything?
    fn recurs(event: Self::Event) -> Recurs<Self::Event>;
    /// What cannot be true in the look that took this step, although it may be so again in a later one.
    fn rules_out(_: &Step<Self>) -> &'static [Self::Event] {
        &[]
    }
    /// Does `effect` do something each time it is ordered? Others make what stands as it is wanted, and do nothing where it is so.
    fn renews(effect: Self::Effect) -> bool {
        Self::is_destructive(effect)
    }

    /// Can these facts be true together?
    fn possible(is_true: &dyn Fn(Self::Event) -> bool) -> bool {
        Self::LAWS.iter().all(|law| law.holds(is_true))
    }
}

/// What the proof went through and found.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// Facts that can decide, each in its phase.
    pub decisions: usize,
    /// Questions that the laws were asked.
    pub questions: u64,
    /// A sentence for each fault.
    pub faults: Vec<String>,
}

/// No junction is stuck, deletion wins, and in a world that stands still the machine comes to rest, nowhere on a claim alone.
pub fn every_set<M: Provable>() -> Proof {
    let (decisions, sets) = (decisions::<M>(), Sets::<M>::default());
    let worn = Sets::<M>::worn(decisions.iter().fold(0, |gone, decision| gone | decision.ends));
    let mut faults: BTreeSet<String> = BTreeSet::new();
    faults.extend(decisions.iter().filter_map(|decision| wins_over_deletion(decision, &sets)));
    for &phase in M::Phase::ALL {
        faults.extend(stands::<M>(phase, &decisions, &worn));
        let mut walk = Walk { decisions: &decisions, sets: &worn, start: phase, trail: Vec::new(), rings: BTreeSet::new() };
        walk.on(phase, 0, 0);
        faults.extend(walk.rings);
    }
    let reached = decisions.iter().filter(|decision| sets.witness(decision.known(), decision.before).is_some()).count();
    Proof { decisions: reached, questions: sets.asked() + worn.asked(), faults: faults.into_iter().collect() }
}

/// One fact that decides in one phase.
struct Decision<M: Machine> {
    step: Step<M>,
    cause: M::Event,
    /// More urgent facts that would decide instead.
    before: Mask,
    /// Facts that the step ends.
    ends: Mask,
}

impl<M: Machine> Decision<M> {
    fn known(&self) -> Mask {
        bit::<M>(self.cause)
    }

    fn said(&self) -> String {
        format!("{:?} on {:?}", self.step.from, self.cause)
    }
}

fn decisions<M: Provable>() -> Vec<Decision<M>> {
    let mut found = Vec::new();
    for &phase in M::Phase::ALL {
        let mut before = 0;
        for &cause in M::Event::ALL {
            let step = M::step(phase, &BTreeSet::from([cause]));
            if step.cause.is_none() {
                continue;
            }
            let ended = M::Event::ALL.iter().filter(|event| !M::remains(**event, &step));
            let ends = ended.fold(0, |mask, event| mask | bit::<M>(*event));
            found.push(Decision { step, cause, before, ends });
            before |= bit::<M>(cause);
        }
    }
    found
}

/// The fault where the decision is taken although the object is to be deleted.
fn wins_over_deletion<M: Provable>(decision: &Decision<M>, sets: &Sets<M>) -> Option<String> {
    let (phase, deletion) = (decision.step.from, bit::<M>(M::DELETION));
    if deleting::<M>(phase) || decision.cause == M::DELETION {
        return None;
    }
    let facts = sets.witness(decision.known() | deletion, decision.before)?;
    Some(format!("{phase:?}: {:?} wins over deletion, with {}", decision.cause, named::<M>(facts)))
}

/// The faults where nothing decides in `phase`: a junction must lead on, and a rest needs its grounds.
fn stands<M: Provable>(phase: M::Phase, decisions: &[Decision<M>], sets: &Sets<M>) -> Vec<String> {
    let quiet = decisions.iter().filter(|decision| decision.step.from == phase).fold(0, |mask, decision| mask | decision.known());
    match M::role(phase) {
        Role::Junction => {
            sets.witness(0, quiet).map(|facts| format!("{phase:?} is stuck, with {}", named::<M>(facts))).into_iter().collect()
        }
        Role::Rests => {
            let groups = M::grounds(phase);
            let groundless = |group: &&[M::Event]| sets.witness(0, quiet | group.iter().fold(0, |mask, event| mask | bit::<M>(*event)));
            let faults = groups.iter().filter_map(groundless);
            let bare = groups.is_empty().then(|| format!("{phase:?} rests on its own word"));
            faults.map(|facts| format!("{phase:?} rests on its own word, with {}", named::<M>(facts))).chain(bare).collect()
        }
        Role::Works { .. } | Role::Asks | Role::Ends => Vec::new(),
    }
}

/// A search for a ring of steps whose facts all outlast it: the one way never to rest in a world that stands still.
struct Walk<'a, M: Provable> {
    decisions: &'a [Decision<M>],
    sets: &'a Sets<M>,
    start: M::Phase,
    trail: Vec<&'a Decision<M>>,
    rings: BTreeSet<String>,
}

impl<'a, M: Provable> Walk<'a, M> {
    /// Goes on from `phase`, where the facts `yes` are true and the facts `no` are not.
    fn on(&mut self, phase: M::Phase, yes: Mask, no: Mask) {
        let all: &'a [Decision<M>] = self.decisions;
        // An end acts until the object is gone.
        let goes_on = |decision: &&Decision<M>| decision.step.from == phase && M::role(phase) != Role::Ends;
        for decision in all.iter().filter(goes_on) {
            let (yes, no) = (yes | decision.known(), no | decision.before | decision.ends);
            if yes & no != 0 || self.sets.witness(yes, no).is_none() {
                continue;
            }
            let next = decision.step.next;
            self.trail.push(decision);
            if next == self.start {
                let said: Vec<String> = self.trail.iter().map(|decision| decision.said()).collect();
                self.rings.insert(format!("never rests: {}", said.join(", ")));
            } else if next > self.start && self.trail.iter().all(|decision| decision.step.from != next) {
                // Each ring is found from the first of its phases.
                self.on(next, yes, no);
            }
            self.trail.pop();
        }
    }
}
