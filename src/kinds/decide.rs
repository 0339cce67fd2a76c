//! One look -> a decision: steps through junctions, the status, the orders.

use super::order::Order;
use super::status::{Move, Status};
use super::{Kind, Observation, answer, claimed};
use crate::machine::{Role, Step, Word, work};
use kube::Resource;
use kube::core::object::HasStatus;
use std::collections::BTreeSet;

/// What one look leads to.
#[derive(Clone, Debug)]
pub struct Decision<K: Kind> {
    /// The steps, through junctions to a place that may be stored.
    pub steps: Vec<Step<K>>,
    /// The status to store.
    pub status: Status<K::Spec>,
    /// The orders to perform after it was stored.
    pub orders: Vec<Order>,
    /// The move to be told, if one was made.
    pub told: Option<Move>,
}

impl<K: Kind> Decision<K> {
    /// Does an order remove what a fresh look might want to keep?
    pub fn is_destructive(&self) -> bool {
        self.steps.iter().flat_map(Step::effects).any(|effect| K::is_destructive(*effect))
    }
}

/// Steps until a place that may be stored. Each hop looks at the status that the hop before it left.
pub fn decide<K: Kind>(mut seen: Observation<K>) -> Decision<K> {
    let (mut steps, mut orders): (Vec<Step<K>>, Vec<Order>) = (Vec::new(), Vec::new());
    loop {
        let step = K::step(claimed::<K>(&seen.object), &K::events(&seen));
        let status = K::status(&seen, &step);
        *seen.object.status_mut() = Some(status);
        for order in step.effects().iter().flat_map(|&effect| K::orders(effect, &seen)) {
            if !orders.contains(&order) {
                orders.push(order);
            }
        }
        let rests = K::role(step.next()) != Role::Junction || !step.moved() || steps.len() >= K::Phase::ALL.len();
        steps.push(step);
        if rests {
            break;
        }
    }
    let mut status = seen.status();
    let told = told(&steps, &seen);
    if let Some(told) = &told {
        status.remember(told.clone());
    }
    Decision { steps, status, orders, told }
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
pub fn preview<K: Kind>(from: K::Phase, facts: &BTreeSet<K::Event>, success: Option<K::Event>) -> Vec<K::Phase> {
    let mut path = Vec::from_iter((K::role(from) != Role::Junction).then_some(from));
    let (mut at, mut facts) = (from, facts.clone());
    // An edit that the work under way takes up leaves it to its own end.
    if let Role::Works { goal, .. } = K::role(from)
        && !facts.is_empty()
        && !K::step(from, &facts).moved()
    {
        facts = BTreeSet::from([success.unwrap_or(goal)]);
    }
    while path.len() <= K::Phase::ALL.len() {
        let step = K::step(at, &facts);
        if !step.moved() {
            break;
        }
        at = step.next();
        match K::role(at) {
            Role::Junction => {
                facts.retain(|fact| !K::closes_question(*fact));
                // Where nothing is to be done, all is as it should be.
                if facts.is_empty() {
                    facts.extend(success.or_else(|| work::<K>().map(|(_, goal)| goal)));
                }
            }
            Role::Works { goal, .. } => facts = BTreeSet::from([success.unwrap_or(goal)]),
            Role::Rests | Role::Asks | Role::Ends => facts.clear(),
        }
        if K::role(at) != Role::Junction && path.last() != Some(&at) {
            path.push(at);
        }
    }
    path
}
