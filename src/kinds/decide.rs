//! One look -> a decision: steps through junctions, the status, the orders.

use super::about::About;
use super::annotations::answer;
use super::news::News;
use super::order::{Order, Trial};
use super::status::{Move, Status};
use super::{Kind, Observation, claimed};
use crate::machine::prove::Provable;
use crate::machine::{Answer, Role, Step, Word, work};
use kube::Resource;
use kube::core::object::HasStatus;
use std::collections::BTreeSet;

/// What one look leads to.
#[derive(Clone, Debug)]
pub struct Decision<K: Kind> {
    /// What was true of the observation.
    pub facts: BTreeSet<K::Event>,
    /// The steps, through junctions to a place that may be stored.
    pub steps: Vec<Step<K>>,
    /// The status to store.
    pub status: Status<K::Spec>,
    /// The orders to perform after it was stored.
    pub orders: Vec<Order>,
    /// Orders that are to be tried first: what they say changes the question that is to be asked.
    pub trial: Vec<Order>,
    /// The move to be told, if one was made.
    pub told: Option<Move>,
    /// What else is to be told.
    pub news: Vec<News>,
    forgets: bool,
}

impl<K: Kind> Decision<K> {
    /// Is it to be made of what the API server itself shows? What removes something is, what says that something was lost, and what
    /// forgets it: a thing that was not seen may only have been between two watches.
    pub fn needs_a_live_look(&self) -> bool {
        self.is_destructive() || self.asks_about_a_loss() || self.forgets
    }

    /// Does an order remove what a fresh look might want to keep?
    fn is_destructive(&self) -> bool {
        !self.orders.is_empty() && self.steps.iter().flat_map(Step::effects).any(|effect| K::is_destructive(*effect))
    }

    /// Does it begin to ask a person?
    pub fn asks(&self) -> bool {
        begins_to_ask(&self.steps)
    }

    fn asks_about_a_loss(&self) -> bool {
        self.asks() && self.status.intervention.as_ref().is_some_and(|question| question.reason.about() == About::Loss)
    }
}

/// Steps until a place that may be stored. Each hop looks at the status that the hop before it left.
pub fn decide<K: Kind>(mut seen: Observation<K>) -> Decision<K> {
    let (mut before, mut first) = (None, None);
    let (mut steps, mut orders): (Vec<Step<K>>, Vec<Order>) = (Vec::new(), Vec::new());
    loop {
        let look = K::look(&seen);
        let facts = K::events(&look);
        let step = K::step(claimed::<K>(&seen.object), &facts);
        let status = K::status(&look, &step);
        drop(look);
        first.get_or_insert(facts);
        let earlier = seen.object.status_mut().replace(status);
        if steps.is_empty() {
            before = earlier;
        }
        if !step.effects().is_empty() {
            let look = K::look(&seen);
            for order in step.effects().iter().flat_map(|&effect| K::orders(effect, &look)) {
                if !orders.contains(&order) {
                    orders.push(order);
                }
            }
        }
        let rests = K::role(step.next()) != Role::Junction || !step.moved() || steps.len() >= K::Phase::ALL.len();
        steps.push(step);
        if rests {
            break;
        }
    }
    // Nothing is made that the finalizer is to guard before it is on.
    orders.sort_by_key(|order| order.child().is_some());
    let mut status = seen.status();
    let trial = if begins_to_ask(&steps) && seen.adoption == Trial::Untried { K::adoption(&K::look(&seen)) } else { Vec::new() };
    let told = told(&steps, &seen);
    if let Some(told) = &told {
        status.remember(told.clone());
    }
    let forgets = before.as_ref().is_some_and(|before| K::forgets(before, &status));
    let news = K::news(before.as_ref(), &seen);
    Decision { facts: first.unwrap_or_default(), steps, status, orders, trial, told, news, forgets }
}

fn begins_to_ask<K: Kind>(steps: &[Step<K>]) -> bool {
    steps.last().is_some_and(|step| step.moved() && K::role(step.next()) == Role::Asks)
}

/// The move from the first place to the last, its cause the first hop's: junctions are folded.
fn told<K: Kind>(steps: &[Step<K>], seen: &Observation<K>) -> Option<Move> {
    let first = steps.iter().find(|step| step.moved())?;
    let last = steps.last()?;
    Some(Move {
        from: first.from().text(),
        to: last.next().text(),
        cause: first.cause()?.text(),
        time: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(seen.now),
        generation: seen.object.meta().generation.unwrap_or_default(),
        answer: first.cause().filter(|cause| K::is_answer(*cause)).and_then(|_| answer(&seen.object).cloned()),
    })
}

/// The path that these facts lead to when all goes well, junctions left out: the webhook's preview.
/// `success` ends work well; where it is absent, the goal of each phase does.
pub fn preview<M: Provable>(from: M::Phase, facts: &BTreeSet<M::Event>, success: Option<M::Event>) -> Vec<M::Phase> {
    let mut path = Vec::from_iter((M::role(from) != Role::Junction).then_some(from));
    let (mut at, mut facts) = (from, facts.clone());
    // An edit that the work under way takes up leaves it to its own end.
    if let Role::Works { goal, .. } = M::role(from)
        && !facts.is_empty()
        && !M::step(from, &facts).moved()
    {
        facts = after_work::<M>(from, facts, success.unwrap_or(goal));
    }
    // No path visits a phase more than once on the way out and once on the way back.
    for _ in 0..2 * M::Phase::ALL.len() {
        let step = M::step(at, &facts);
        if !step.moved() {
            break;
        }
        at = step.next();
        facts.retain(|fact| M::remains(*fact, &step));
        match M::role(at) {
            Role::Junction => {
                facts.retain(|fact| M::claims(at, *fact));
                // Where nothing is to be done, all is as it should be.
                if M::step(at, &facts).cause().is_none() {
                    facts.extend(success.or_else(|| work::<M>().map(|(_, goal)| goal)));
                }
            }
            Role::Works { goal, .. } => facts = after_work::<M>(at, facts, success.unwrap_or(goal)),
            Role::Rests | Role::Asks | Role::Ends => facts.clear(),
        }
        if M::role(at) != Role::Junction && path.last() != Some(&at) {
            path.push(at);
        }
    }
    path
}

/// What work that ends well leaves to be decided: what it did not answer itself.
fn after_work<M: Provable>(at: M::Phase, mut facts: BTreeSet<M::Event>, goal: M::Event) -> BTreeSet<M::Event> {
    facts.retain(|fact| matches!(M::answer(at, *fact), Answer::Hold | Answer::Pass));
    facts.insert(goal);
    facts
}
