//! Every phase offered every event alone, and what must hold of the answers.

use super::{Answer, Machine, Role, Word};
use std::collections::{BTreeMap, BTreeSet};

/// One thing that a phase does on one fact.
#[derive(Clone, Debug)]
pub struct Arrow<M: Machine> {
    /// Where it starts.
    pub from: M::Phase,
    /// The fact that causes it.
    pub event: M::Event,
    /// Where it leads.
    pub next: M::Phase,
    /// Is `next` entered, or does the phase act and stay?
    pub moved: bool,
    /// What it orders.
    pub effects: Vec<M::Effect>,
}

/// Every arrow of the machine.
pub fn arrows<M: Machine>() -> Vec<Arrow<M>> {
    let mut found = Vec::new();
    for &from in M::Phase::ALL {
        for &event in M::Event::ALL {
            match M::answer(from, event) {
                Answer::Go(next, effects) => found.push(Arrow { from, event, next, moved: true, effects }),
                Answer::Act(effects) => found.push(Arrow { from, event, next: from, moved: false, effects }),
                Answer::Hold | Answer::Pass => {}
            }
        }
    }
    found
}

/// A sentence for each fault; none when the machine is sound. Linear in phases x events.
pub fn soundness<M: Machine>() -> Vec<String> {
    let arrows = arrows::<M>();
    let mut faults = declared_and_taken::<M>(&arrows);
    for &phase in M::Phase::ALL {
        let own: Vec<&Arrow<M>> = arrows.iter().filter(|arrow| arrow.from == phase).collect();
        faults.extend(role_kept::<M>(phase, &own));
        faults.extend(deletion_wins::<M>(phase, &own));
        if !reaches_end::<M>(phase) {
            faults.push(format!("{phase:?} does not reach the end"));
        }
    }
    faults.extend(only_deletion_deletes::<M>(&arrows));
    faults.extend(only_with_a_licence::<M>(&arrows));
    faults.extend(every_word_is_used::<M>(&arrows));
    faults
}

fn declared_and_taken<M: Machine>(arrows: &[Arrow<M>]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut taken: BTreeMap<M::Phase, BTreeSet<M::Phase>> = BTreeMap::new();
    for Arrow { from, event, next, .. } in arrows.iter().filter(|arrow| arrow.moved) {
        taken.entry(*from).or_default().insert(*next);
        if !M::exits(*from).contains(next) {
            faults.push(format!("{from:?} --{event:?}--> {next:?} is taken but not declared"));
        }
    }
    for &phase in M::Phase::ALL {
        for exit in M::exits(phase) {
            if !taken.get(&phase).is_some_and(|nexts| nexts.contains(exit)) {
                faults.push(format!("{phase:?} --> {exit:?} is declared but no event takes it"));
            }
        }
    }
    faults
}

fn role_kept<M: Machine>(phase: M::Phase, own: &[&Arrow<M>]) -> Vec<String> {
    let acts_and_stays = |word: &str| {
        let acting = own.iter().filter(|arrow| !arrow.moved && !M::is_upkeep(arrow.event));
        acting.map(|arrow| format!("{phase:?} {word}, but acts on {:?} and stays", arrow.event)).collect::<Vec<_>>()
    };
    match M::role(phase) {
        Role::Works { goal, deadline } => work_kept(phase, own, [("goal", goal), ("deadline", deadline)]),
        Role::Rests => acts_and_stays("rests"),
        Role::Asks => {
            let mut faults = acts_and_stays("asks");
            let closing = own.iter().filter(|arrow| arrow.moved && M::closes_question(arrow.event)).count();
            if closing < 2 {
                faults.push(format!("{phase:?} asks, but only {closing} events close the question"));
            }
            let quiet = |event: &M::Event| event == &M::DELETION || M::closes_question(*event);
            let leaving = own.iter().filter(|arrow| arrow.moved && !quiet(&arrow.event));
            faults.extend(leaving.map(|arrow| format!("{phase:?} asks, but {:?} leaves it unanswered", arrow.event)));
            faults
        }
        Role::Junction => {
            let mut faults: Vec<String> = own
                .iter()
                .filter(|arrow| !arrow.moved)
                .map(|arrow| format!("{phase:?} is a junction, but stays on {:?}", arrow.event))
                .collect();
            if junctions_from::<M>(phase).contains(&phase) {
                faults.push(format!("{phase:?} lies on a ring of junctions"));
            }
            faults
        }
        Role::Ends => {
            own.iter().filter(|arrow| arrow.moved).map(|arrow| format!("{phase:?} ends, but {:?} leaves it", arrow.event)).collect()
        }
    }
}

/// Work is led out of by its goal and by its deadline, and is taken up again while it lasts.
fn work_kept<M: Machine>(phase: M::Phase, own: &[&Arrow<M>], ends: [(&str, M::Event); 2]) -> Vec<String> {
    let leads_out = |event: M::Event| own.iter().any(|arrow| arrow.event == event && arrow.moved && arrow.next != phase);
    let stuck = ends.into_iter().filter(|(_, event)| !leads_out(*event));
    let mut faults: Vec<String> =
        stuck.map(|(what, event)| format!("{phase:?} works, but its {what} {event:?} does not lead out of it")).collect();
    if !own.iter().any(|arrow| !arrow.effects.is_empty() && !arrow.moved) {
        faults.push(format!("{phase:?} works, but never acts while it stays: a lost order would never be given again"));
    }
    faults.extend(deadline_heard(phase, own, ends[1].1));
    faults
}

/// What is done on a fact that is more urgent than the deadline would be done for ever, were the order refused; only an edit is
/// over as soon as it is recorded.
fn deadline_heard<M: Machine>(phase: M::Phase, own: &[&Arrow<M>], deadline: M::Event) -> Vec<String> {
    let stays = own.iter().filter(|arrow| arrow.next == phase && arrow.event < deadline && !M::is_edit(arrow.event));
    stays.map(|arrow| format!("{phase:?} works, but {:?} keeps it from its deadline", arrow.event)).collect()
}

/// For every set of events: nothing more urgent than deletion is answered, and deletion leads away.
fn deletion_wins<M: Machine>(phase: M::Phase, own: &[&Arrow<M>]) -> Vec<String> {
    if deleting::<M>(phase) {
        return Vec::new();
    }
    let urgent = own.iter().filter(|arrow| arrow.event < M::DELETION);
    let mut faults: Vec<String> =
        urgent.map(|arrow| format!("{phase:?}: {:?} is more urgent than deletion and answered", arrow.event)).collect();
    if !own.iter().any(|arrow| arrow.event == M::DELETION && arrow.moved) {
        faults.push(format!("{phase:?} ignores deletion"));
    }
    faults
}

fn only_deletion_deletes<M: Machine>(arrows: &[Arrow<M>]) -> Vec<String> {
    let wrong = arrows.iter().filter(|arrow| !deleting::<M>(arrow.from) && deleting::<M>(arrow.next) && arrow.event != M::DELETION);
    wrong.map(|arrow| format!("{:?} --{:?}--> {:?} deletes without a deletion", arrow.from, arrow.event, arrow.next)).collect()
}

/// Destruction is a double-entry book too: each fact that orders it is declared, and orders it.
fn only_with_a_licence<M: Machine>(arrows: &[Arrow<M>]) -> Vec<String> {
    let mut faults = Vec::new();
    for &effect in M::Effect::ALL.iter().filter(|effect| M::is_destructive(**effect)) {
        let ordering: Vec<&Arrow<M>> = arrows.iter().filter(|arrow| arrow.effects.contains(&effect)).collect();
        let wild = ordering.iter().filter(|arrow| !M::licences(effect).contains(&arrow.event));
        faults.extend(wild.map(|arrow| format!("{:?} --{:?}--> orders {effect:?} without a licence", arrow.from, arrow.event)));
        let idle = M::licences(effect).iter().filter(|event| ordering.iter().all(|arrow| arrow.event != **event));
        faults.extend(idle.map(|event| format!("{event:?} may order {effect:?}, but no arrow does so")));
    }
    faults
}

fn every_word_is_used<M: Machine>(arrows: &[Arrow<M>]) -> Vec<String> {
    let claimed = |event: M::Event| M::Phase::ALL.iter().any(|&phase| M::claims(phase, event));
    let events = M::Event::ALL.iter().filter(|event| !claimed(**event));
    let effects = M::Effect::ALL.iter().filter(|effect| !arrows.iter().any(|arrow| arrow.effects.contains(effect)));
    let events = events.map(|event| format!("{event:?} is claimed by no phase"));
    events.chain(effects.map(|effect| format!("{effect:?} is ordered by no arrow"))).collect()
}

/// A phase that leads nowhere but to the end: from it there is no way back to the start.
pub fn deleting<M: Machine>(phase: M::Phase) -> bool {
    !reachable::<M>(phase).contains(&M::START)
}

fn reaches_end<M: Machine>(phase: M::Phase) -> bool {
    reachable::<M>(phase).iter().any(|phase| M::role(*phase) == Role::Ends)
}

fn reachable<M: Machine>(phase: M::Phase) -> BTreeSet<M::Phase> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![phase]);
    while let Some(phase) = todo.pop() {
        if seen.insert(phase) {
            todo.extend(M::exits(phase));
        }
    }
    seen
}

fn junctions_from<M: Machine>(phase: M::Phase) -> BTreeSet<M::Phase> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![phase]);
    while let Some(phase) = todo.pop() {
        for &next in M::exits(phase).iter().filter(|next| M::role(**next) == Role::Junction) {
            if seen.insert(next) {
                todo.push(next);
            }
        }
    }
    seen
}
