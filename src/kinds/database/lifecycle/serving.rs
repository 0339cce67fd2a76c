//! A database that serves, and what changes, mends or takes back under its users.

use super::{Effect, Effects, Event, Handled, Outcome, Phase, Super, Transition, act, go};
use Effect::{
    ApplyAuxiliaries, ApplyChildren, EndJobs, ExpandClaims, HoldFinalizer, LeadReaders, ResetPasswords, RestartNextPod, StartJob,
    SwitchPrimary,
};

pub(super) fn ready(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::ReadersMisled => act(&[LeadReaders], effects),
        Event::ChildrenDrifted | Event::ReplicaLost => go(Phase::Degraded, &[ApplyChildren], effects),
        Event::AuxiliariesDrifted => act(&[HoldFinalizer, ApplyAuxiliaries], effects),
        _ => Super,
    }
}

pub(super) fn scaling(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::SwitchoverWanted => act(&[SwitchPrimary], effects),
        _ => Super,
    }
}

/// The primary is away while its own pod restarts: that is no loss, and the deadline judges it.
pub(super) fn restarting(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::ReplicasChanged => act(&[ApplyChildren], effects),
        Event::PodsOutdated => act(&[RestartNextPod, EndJobs], effects),
        Event::ResetAllowed => act(&[ResetPasswords], effects),
        Event::PrimaryLost => Handled,
        _ => Super,
    }
}

/// Whatever needs a primary waits for it; what may bring it back is taken.
pub(super) fn unavailable(event: Event) -> Outcome<Phase> {
    match event {
        Event::PrimaryReady => Transition(Phase::Pending),
        Event::ExtensionsAdded | Event::ReplicasChanged | Event::SwitchoverWanted | Event::PrimaryLost => Handled,
        _ => Super,
    }
}

/// What the spec asks for and is not so yet.
pub(super) fn following(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::Unprobed => go(Phase::Probing, &[StartJob], effects),
        Event::StorageGrown => go(Phase::ExpandingStorage, &[ExpandClaims, ApplyChildren], effects),
        Event::SpecRefused => go(Phase::RollingBack, &[ApplyChildren], effects),
        Event::NeverInitialized | Event::ExtensionsAdded => go(Phase::Initializing, &[StartJob], effects),
        Event::ImageChanged | Event::ParametersChanged | Event::TemplateChanged => go(Phase::Restarting, &[ApplyChildren], effects),
        Event::ReplicasChanged => go(Phase::Scaling, &[ApplyChildren], effects),
        Event::ResetAllowed => go(Phase::Restarting, &[ResetPasswords], effects),
        Event::SwitchoverWanted => go(Phase::Scaling, &[SwitchPrimary], effects),
        Event::PodsOutdated => go(Phase::Restarting, &[RestartNextPod], effects),
        Event::PrimaryLost => go(Phase::Unavailable, &[ApplyChildren], effects),
        _ => Super,
    }
}

pub(super) fn working(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::AllReady => Transition(Phase::Ready),
        Event::DeadlinePassed => Transition(Phase::HumanIntervention),
        Event::ReadersMisled => act(&[LeadReaders], effects),
        Event::ChildrenDrifted => act(&[ApplyChildren], effects),
        Event::AuxiliariesDrifted => act(&[HoldFinalizer, ApplyAuxiliaries], effects),
        _ => Super,
    }
}

/// Another image, other settings and more storage are busy until the way back has ended.
pub(super) fn rolling_back(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::AllReady => Transition(Phase::RolledBack),
        Event::DeadlinePassed => Transition(Phase::HumanIntervention),
        Event::ReplicasChanged | Event::ChildrenDrifted => act(&[ApplyChildren], effects),
        Event::ResetAllowed => act(&[ResetPasswords], effects),
        Event::SwitchoverWanted => act(&[SwitchPrimary], effects),
        Event::PodsOutdated => act(&[RestartNextPod, EndJobs], effects),
        _ => Super,
    }
}

pub(super) fn rolled_back(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::StorageGrown => go(Phase::ExpandingStorage, &[ExpandClaims, ApplyChildren], effects),
        Event::ImageChanged | Event::ParametersChanged | Event::ReplicasChanged => go(Phase::RollingBack, &[ApplyChildren], effects),
        // An extension more is another spec than the one that was refused.
        Event::ExtensionsAdded => Handled,
        Event::ChildrenDrifted | Event::PrimaryLost | Event::ReplicaLost => go(Phase::RollingBack, &[ApplyChildren], effects),
        _ => Super,
    }
}

pub(super) fn returning(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::NothingRefused => Transition(Phase::Pending),
        // The application's password is another one since.
        Event::NeverInitialized => go(Phase::Initializing, &[StartJob], effects),
        Event::TemplateChanged => go(Phase::RollingBack, &[ApplyChildren], effects),
        Event::ReadersMisled => act(&[LeadReaders], effects),
        Event::AuxiliariesDrifted => act(&[HoldFinalizer, ApplyAuxiliaries], effects),
        _ => Super,
    }
}
