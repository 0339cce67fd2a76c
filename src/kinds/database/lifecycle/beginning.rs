//! From nothing to a primary with a database in it.

use super::{Effect, Effects, Event, Handled, Outcome, Phase, Super, Transition, act, go};
use Effect::{ApplyChildren, EndJobs, ExpandClaims, HoldFinalizer, LeadReaders, ResetPasswords, RestartNextPod, StartJob};

pub(super) fn pending(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        // The state that follows does it.
        Event::SidecarRunning => Handled,
        Event::NeverRestored => go(Phase::Restoring, &[StartJob], effects),
        Event::FirstRollout => go(Phase::Provisioning, &[HoldFinalizer, ApplyChildren], effects),
        Event::AllReady => Transition(Phase::Ready),
        Event::ChildrenDrifted | Event::ReplicaLost => go(Phase::Degraded, &[ApplyChildren], effects),
        _ => Super,
    }
}

/// The first pods are on their way: whatever the spec asks for joins them.
pub(super) fn provisioning(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::ImageChanged | Event::ParametersChanged | Event::TemplateChanged => {
            go(Phase::Provisioning, &[HoldFinalizer, ApplyChildren], effects)
        }
        Event::NeverRestored => go(Phase::Restoring, &[StartJob], effects),
        Event::ReplicasChanged => act(&[ApplyChildren], effects),
        Event::ChildrenDrifted => act(&[HoldFinalizer, ApplyChildren], effects),
        Event::PodsOutdated => act(&[RestartNextPod, EndJobs], effects),
        Event::ResetAllowed => act(&[ResetPasswords], effects),
        Event::PrimaryLost => Handled,
        _ => Super,
    }
}

/// Nothing is applied before the image has said what it is.
pub(super) fn probing(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::JobDone => Transition(Phase::Pending),
        Event::JobFailed => Transition(Phase::HumanIntervention),
        Event::JobMissing => act(&[StartJob], effects),
        Event::ImageChanged | Event::StorageGrown | Event::ParametersChanged | Event::ExtensionsAdded => Handled,
        Event::ChildrenDrifted => Handled,
        _ => Super,
    }
}

/// A Job writes into the database. What would change under a restore is busy; initializing is short, and takes it up next.
pub(super) fn filling(phase: Phase, event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match (phase, event) {
        (Phase::Restoring, Event::JobDone) => go(Phase::Initializing, &[StartJob], effects),
        (_, Event::JobDone) => Transition(Phase::Pending),
        (_, Event::JobFailed) => Transition(Phase::HumanIntervention),
        (_, Event::JobMissing) => act(&[StartJob], effects),
        (Phase::Initializing, Event::ImageChanged | Event::StorageGrown | Event::ParametersChanged | Event::ExtensionsAdded) => Handled,
        _ => Super,
    }
}

/// Nothing interrupts it: what else the spec asks for waits.
pub(super) fn occupied(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::TemplateChanged | Event::ReplicasChanged => Handled,
        Event::DeadlinePassed => Transition(Phase::HumanIntervention),
        Event::ReadersMisled => act(&[LeadReaders], effects),
        Event::ChildrenDrifted => act(&[ApplyChildren], effects),
        _ => Super,
    }
}

/// A volume grows. Claims that were not asked yet are asked again; a pod restarts where the file system grows only at a start.
pub(super) fn expanding(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::StorageExpanded => Transition(Phase::Pending),
        Event::StorageFixed => Transition(Phase::HumanIntervention),
        Event::ChildrenDrifted => act(&[ExpandClaims, ApplyChildren], effects),
        Event::ResizeAwaitsStart => act(&[RestartNextPod], effects),
        _ => Super,
    }
}
