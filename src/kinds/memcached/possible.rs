//! Which facts can be true together, and which outlive a step: what the proofs build on.

use super::Memcached;
use super::words::{Effect, Event, Phase};
use crate::machine::Step;
use crate::machine::prove::Provable;
use Event::{
    AllStopped, ChildConflict, ChildrenDrifted, ChildrenReady, DeadlinePassed, DeletionRequested, NeverReady, ObstacleGone, PodsLost,
    PodsPending, ReplicasChanged, RetryAnswered, SpecInvalid, SpecRenewed, TemplateChanged,
};

impl Provable for Memcached {
    const SETTLED: &'static [Event] = &[ChildrenReady, AllStopped];

    fn possible(is_true: &dyn Fn(Event) -> bool) -> bool {
        let one = |of: &[Event]| of.iter().filter(|event| is_true(**event)).count() == 1;
        let settled = is_true(ChildrenReady) || is_true(AllStopped);
        let changed = is_true(TemplateChanged) || is_true(ReplicasChanged);
        one(&[AllStopped, ChildrenReady, PodsLost, PodsPending])
            && !(settled && (is_true(ChildrenDrifted) || changed || is_true(ChildConflict)))
            && !(is_true(NeverReady) && is_true(PodsLost))
    }

    fn remains(event: Event, step: &Step<Self>) -> bool {
        let applied = step.effects().contains(&Effect::ApplyChildren);
        let closed = step.from() == Phase::HumanIntervention && step.moved();
        match event {
            DeadlinePassed => !step.moved(),
            TemplateChanged | ReplicasChanged | ChildrenDrifted => !applied,
            SpecRenewed => !(step.next() == Phase::HumanIntervention && step.moved()),
            RetryAnswered | ObstacleGone => !closed,
            NeverReady => step.next() != Phase::Ready,
            DeletionRequested | SpecInvalid | ChildConflict | AllStopped | ChildrenReady | PodsLost | PodsPending => true,
        }
    }
}
