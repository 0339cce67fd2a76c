//! Which facts can be true together, and which outlive a step: what the proofs build on.

use super::Memcached;
use super::words::{Effect, Event, Phase};
use crate::machine::Step;
use crate::machine::prove::{Law, Provable, Recurs};
use Event::{
    AdoptAnswered, AllStopped, ChildConflict, ChildrenDrifted, ChildrenReady, DeadlinePassed, DeletionRequested, DriftFought, FirstRollout,
    NothingRefused, ObstacleGone, PauseRequested, PodsLost, PodsPending, ReplicasChanged, Resumed, RetryAnswered, RollbackAnswered,
    SpecInvalid, SpecRefused, SpecRenewed, TemplateChanged, YieldAnswered,
};

const SETTLED: &[Event] = &[AllStopped, ChildrenReady];

impl Provable for Memcached {
    const LAWS: &'static [Law<Event>] = &[
        Law::One(&[PauseRequested, Resumed]),
        Law::One(&[SpecRefused, NothingRefused]),
        Law::One(&[AllStopped, ChildrenReady, PodsLost, PodsPending]),
        Law::AtMostOne(&[RollbackAnswered, AdoptAnswered, YieldAnswered, RetryAnswered]),
        Law::Excludes(SETTLED, &[ChildrenDrifted, TemplateChanged, ReplicasChanged, ChildConflict]),
        Law::Needs(DriftFought, &[ChildrenDrifted]),
        Law::Excludes(&[FirstRollout], &[PodsLost, SpecRefused]),
        // What is rolled back to was ready before; what cannot be read is nothing that was rolled back.
        Law::Excludes(&[SpecRefused], &[PodsPending, SpecInvalid]),
    ];

    fn grounds(phase: Phase) -> &'static [&'static [Event]] {
        match phase {
            Phase::Paused => &[&[PauseRequested]],
            Phase::RolledBack => &[SETTLED, &[SpecRefused]],
            Phase::Ready | Phase::Stopped => &[SETTLED, &[NothingRefused]],
            Phase::Pending
            | Phase::Creating
            | Phase::Scaling
            | Phase::Updating
            | Phase::Degraded
            | Phase::RollingBack
            | Phase::HumanIntervention
            | Phase::Deleting => &[],
        }
    }

    fn remains(event: Event, step: &Step<Self>) -> bool {
        let applied = step.effects().contains(&Effect::ApplyChildren);
        let closed = step.from() == Phase::HumanIntervention && step.moved();
        let asked = step.next() == Phase::HumanIntervention && step.moved();
        match event {
            DeadlinePassed => !step.moved(),
            TemplateChanged | ReplicasChanged | ChildrenDrifted => !applied,
            DriftFought => !applied && !asked,
            SpecRenewed => !asked && !closed,
            RollbackAnswered | AdoptAnswered | YieldAnswered | RetryAnswered | ObstacleGone => !closed,
            FirstRollout => step.next() != Phase::Ready,
            DeletionRequested | PauseRequested | Resumed | SpecInvalid | ChildConflict | SpecRefused | NothingRefused | AllStopped
            | ChildrenReady | PodsLost | PodsPending => true,
        }
    }

    fn recurs(event: Event) -> Recurs<Event> {
        match event {
            DeletionRequested | PauseRequested | Resumed | SpecRenewed | RollbackAnswered | AdoptAnswered | YieldAnswered
            | RetryAnswered => Recurs::ByPerson,
            TemplateChanged | ReplicasChanged | FirstRollout | SpecInvalid | SpecRefused | NothingRefused => Recurs::UntilDone,
            ChildrenDrifted => Recurs::Counted(DriftFought),
            DriftFought | ChildConflict | ObstacleGone | DeadlinePassed | AllStopped | ChildrenReady | PodsLost | PodsPending => {
                Recurs::Freely
            }
        }
    }
}
