//! No ring of steps does something again and again without a person being asked.

use super::super::{Machine, Role, Step, Word};
use super::Provable;
use std::collections::{BTreeSet, VecDeque};

/// How often a fact can be true anew although nobody does anything.
#[derive(Clone, Copy, Debug)]
pub enum Recurs<E> {
    /// Each time a person makes it true.
    ByPerson,
    /// A person asked for something, and it is true until that is done.
    UntilDone,
    /// The world makes it true, as often as it likes.
    Freely,
    /// As the world likes, and it is counted: when that was too often this fact, which is more urgent, asks a person.
    Counted(E),
}

/// A sentence for each step that does something anew, or that is counted, and that can be taken for ever. What leads through a
/// question is no such ring, since a person is asked there. What a state does while it stays is not looked at: one that works is
/// bounded by its deadline, and one that rests keeps up what serves nobody at once. How far a counter counts is the kind's to say,
/// and its walks'.
pub fn every_ring<M: Provable>() -> Vec<String> {
    let steps: Vec<Step<M>> = moves::<M>().into_iter().filter(is_endless::<M>).collect();
    let renews = |step: &Step<M>| step.effects().iter().any(|effect| M::renews(*effect)) || counter::<M>(step).is_some();
    steps.iter().filter(|step| renews(step)).filter_map(|step| ring(step, &steps)).collect()
}

/// Every step on one fact that leads elsewhere.
fn moves<M: Machine>() -> Vec<Step<M>> {
    let alone = M::Phase::ALL.iter().flat_map(|&phase| M::Event::ALL.iter().map(move |&event| M::step(phase, &BTreeSet::from([event]))));
    alone.filter(Step::moved).collect()
}

/// Can this step be taken again and again, as far as its own cause goes?
fn is_endless<M: Provable>(step: &Step<M>) -> bool {
    let asks = |phase| M::role(phase) == Role::Asks;
    let recurs = step.cause().is_some_and(|cause| match M::recurs(cause) {
        Recurs::ByPerson => false,
        Recurs::UntilDone => M::remains(cause, step),
        Recurs::Freely => true,
        Recurs::Counted(counter) => !asks_in_time(step, cause, counter),
    });
    recurs && !asks(step.from()) && !asks(step.next())
}

fn counter<M: Provable>(step: &Step<M>) -> Option<M::Event> {
    if let Recurs::Counted(counter) = M::recurs(step.cause()?) { Some(counter) } else { None }
}

/// Does the counter lead to a question, where the step is taken or where it leads?
fn asks_in_time<M: Provable>(step: &Step<M>, cause: M::Event, counter: M::Event) -> bool {
    let asks = |phase| {
        let both = M::step(phase, &BTreeSet::from([counter, cause]));
        both.cause() == Some(counter) && both.moved() && M::role(both.next()) == Role::Asks
    };
    asks(step.from()) || asks(step.next())
}

/// Do the facts behind two steps of one ring outlive each other?
fn agree<M: Provable>(one: &Step<M>, other: &Step<M>) -> bool {
    let is_done = |of: &Step<M>, by: &Step<M>| {
        of.cause().is_some_and(|cause| matches!(M::recurs(cause), Recurs::UntilDone) && !M::remains(cause, by))
    };
    !is_done(one, other) && !is_done(other, one)
}

/// Can this step come after that one? What is passed in one look is passed before the world can change.
fn follows<M: Provable>(last: Option<&&Step<M>>, step: &Step<M>) -> bool {
    let in_one_look = |last: &&&Step<M>| M::role(last.next()) == Role::Junction;
    last.filter(in_one_look).zip(step.cause()).is_none_or(|(last, cause)| !M::rules_out(last).contains(&cause))
}

/// The shortest way from this step back to where it begins, if there is one.
fn ring<'a, M: Provable>(first: &'a Step<M>, steps: &'a [Step<M>]) -> Option<String> {
    let (mut seen, mut ways) = (BTreeSet::new(), VecDeque::from([vec![first]]));
    while let Some(way) = ways.pop_front() {
        let at = way.last()?.next();
        if at == first.from() && follows(way.last(), first) {
            let said: Vec<String> = way.iter().map(|step| said(step)).collect();
            return Some(format!("nobody is asked: {}", said.join(", ")));
        }
        for step in steps.iter().filter(|step| step.from() == at && agree(first, step) && follows(way.last(), step)) {
            if seen.insert((at, step.cause())) {
                ways.push_back([way.clone(), vec![step]].concat());
            }
        }
    }
    None
}

fn said<M: Machine>(step: &Step<M>) -> String {
    let cause = step.cause().map(Word::text).unwrap_or_default();
    format!("{:?} --{cause}--> {:?} {:?}", step.from(), step.next(), step.effects())
}
