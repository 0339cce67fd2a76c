//! What is true of every database, and where one stands still because a person wants it or is asked.

use super::{Effect, Effects, Event, Handled, Outcome, Phase, Super, Transition, act, go};

pub(super) fn existing(event: Event) -> Outcome<Phase> {
    match event {
        Event::DeletionRequested => Transition(Phase::Deleting),
        // It takes everything with it, this object too: nothing can be made in it any more.
        Event::NamespaceEnding => Handled,
        _ => Super,
    }
}

pub(super) fn active(event: Event) -> Outcome<Phase> {
    match event {
        Event::PauseRequested => Transition(Phase::Paused),
        _ => Super,
    }
}

/// What the operator cannot put right by itself, wherever it is met.
pub(super) fn tending(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::SpecInvalid | Event::ChildConflict | Event::DriftFought => Transition(Phase::HumanIntervention),
        Event::CredentialsLost | Event::PrimaryVolumeLost | Event::ReplicaDiverged => Transition(Phase::HumanIntervention),
        Event::TopologyBehind => Transition(Phase::HumanIntervention),
        Event::DowngradeFound | Event::MajorFound => Transition(Phase::HumanIntervention),
        Event::AuxiliariesDrifted => Handled,
        Event::SidecarRunning => act(&[Effect::EndJobs], effects),
        _ => Super,
    }
}

pub(super) fn paused(event: Event) -> Outcome<Phase> {
    match event {
        Event::Resumed => Transition(Phase::Pending),
        _ => held(event),
    }
}

/// Every way out leads through what is seen then: what was allowed is remembered, not ordered.
pub(super) fn asking(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::RetryAnswered | Event::BelieveVolumesAnswered => go(Phase::Pending, &[Effect::DeleteWaitingPods], effects),
        Event::RollbackAnswered | Event::ResetPasswordsAnswered => Transition(Phase::Pending),
        // What mends itself meanwhile is shown to readers.
        Event::ReadersMisled => act(&[Effect::LeadReaders], effects),
        // One backup that never ends would keep the next ones from being made.
        Event::SidecarRunning => act(&[Effect::EndJobs], effects),
        Event::SpecRenewed | Event::AdoptAnswered | Event::YieldAnswered | Event::ObstacleGone => Transition(Phase::Pending),
        _ => held(event),
    }
}

fn held(event: Event) -> Outcome<Phase> {
    match event {
        Event::ImageChanged | Event::StorageGrown | Event::ParametersChanged | Event::ExtensionsAdded => Handled,
        Event::TemplateChanged | Event::ReplicasChanged | Event::AuxiliariesDrifted => Handled,
        _ => Super,
    }
}
