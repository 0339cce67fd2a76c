//! What must hold at every look of a run.

use super::{RULE, Run, STATUS, View};
use crate::support::{conditions, rule, schema, truth};
use pointsman::controller::kept;
use pointsman::kinds::annotations::answer;
use pointsman::kinds::children::Slot;
use pointsman::kinds::memcached::{Children, Memcached, Phase};
use pointsman::kinds::order::Child;
use pointsman::kinds::{Decision, Observation, decide};
use pointsman::machine::Machine;
use pointsman::machine::prove::Provable;
use std::sync::Arc;

/// What is left of it once the watches have taken it in.
fn as_kept(mut seen: Observation<Memcached>) -> Observation<Memcached> {
    let Children { deployment, service, budget, pods } = &mut seen.children;
    keep(deployment);
    keep(service);
    keep(budget);
    for pod in pods {
        kept::pod(Arc::make_mut(pod));
    }
    seen
}

fn keep<T: Child>(slot: &mut Slot<T>) {
    if let Slot::Ours(one) = slot {
        kept::child(Arc::make_mut(one));
    }
}

impl Run {
    /// What is asserted of every look.
    pub(super) fn claims(&mut self, seen: &Observation<Memcached>, decision: &Decision<Memcached>, view: &View) {
        let (status, object) = (&decision.status, &*view.object);
        let facts = &decision.facts;
        let before = seen.object.status.as_ref().and_then(|status| status.state.clone());
        let mut wrong = Vec::new();
        if !Memcached::possible(&|event| facts.contains(&event)) {
            wrong.push(format!("facts that cannot be true together: {facts:?}"));
        }
        // What is left to others on every object is left on this one.
        let mut left = status.clone();
        left.yielded.extend(self.settings.yielded.iter().cloned());
        wrong.extend(truth::denied(object, &left, &view.deployment));
        wrong.extend(conditions::wrong::<Memcached>(&status.conditions));
        wrong.extend(truth::without_address(object, status, &view.service, &view.budget));
        if seen.object.status.as_ref() != Some(status) {
            if !rule::allows(&RULE, before.as_deref(), status.state.as_deref().unwrap_or_default()) {
                wrong.push(format!("the API server refuses {before:?} -> {:?}", status.state));
            }
            schema::refused(&serde_json::to_value(status).expect("a status is JSON"), &STATUS, "status", &mut wrong);
        }
        if self.counts.looks.is_multiple_of(8) {
            let by_kept = decide(as_kept(seen.clone()));
            if (&by_kept.status, &by_kept.orders) != (status, &decision.orders) {
                wrong.push("something is decided by what a watch does not keep".to_owned());
            }
        }
        if status.waiting_for.len() > 5 {
            wrong.push(format!("{} things are waited for", status.waiting_for.len()));
        }
        if seen.object.metadata.deletion_timestamp.is_some() && (status.phase() != Phase::Deleting || !decision.orders.is_empty()) {
            wrong.push(format!("an object that is being deleted is {:?}, with {} orders", status.state, decision.orders.len()));
        }
        let answered = decision.steps.iter().any(|step| step.cause().is_some_and(Memcached::is_answer));
        if answered && self.asked_with.is_some() && self.asked_with.as_ref() == answer(&seen.object) {
            wrong.push("an answer that stood there before the question was taken".to_owned());
        }
        let old = seen.object.status.as_ref().map(|status| status.history.clone()).unwrap_or_default();
        let kept = [old, decision.told.clone().into_iter().collect()].concat();
        if status.history != kept[kept.len().saturating_sub(10)..]
            || decision.told.is_some() != decision.steps.iter().any(pointsman::machine::Step::moved)
        {
            wrong.push("a stored move has not exactly one row in the history".to_owned());
        }
        self.faults.extend(wrong);
    }
}
