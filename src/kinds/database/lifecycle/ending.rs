//! From a user's delete to the finalizer's end. No edit is taken here.

use super::{Effect, Effects, Event, Outcome, Phase, Super, Transition, act, go};
use Effect::{DeleteVolumes, DeleteWorkloads, EndJobs, LeadReaders, ReleaseFinalizer, ResetPasswords, StartJob, SwitchPrimary};

pub(super) fn deleting(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::Protected => Transition(Phase::RemovalBlocked),
        Event::RetainWanted => go(Phase::Retaining, &[DeleteWorkloads], effects),
        Event::SnapshotWanted => go(Phase::SnapshottingBeforeDelete, &[StartJob], effects),
        Event::DeleteWanted => go(Phase::Removing, &[DeleteWorkloads, DeleteVolumes], effects),
        _ => Super,
    }
}

/// What the Job left is recorded before anything is removed, and protection is asked once more.
pub(super) fn snapshotting(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::JobDone => Transition(Phase::Deleting),
        Event::JobFailed | Event::DeadlinePassed => Transition(Phase::RemovalBlocked),
        // What was begun is ended first: a dump is taken of a primary, with the password that it knows.
        Event::ResetAllowed => act(&[ResetPasswords], effects),
        Event::SwitchoverWanted => act(&[SwitchPrimary], effects),
        Event::JobMissing => act(&[StartJob], effects),
        Event::SidecarRunning => act(&[EndJobs], effects),
        _ => Super,
    }
}

pub(super) fn blocked(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::SkipSnapshotAnswered => go(Phase::Removing, &[DeleteWorkloads, DeleteVolumes], effects),
        Event::KeepVolumesAnswered => go(Phase::Retaining, &[DeleteWorkloads], effects),
        Event::RetryAnswered | Event::ResetPasswordsAnswered | Event::ObstacleGone => Transition(Phase::Deleting),
        // Of one that is protected: who was led nowhere for a last dump is served again.
        Event::ReadersMisled => act(&[LeadReaders], effects),
        Event::SidecarRunning => act(&[EndJobs], effects),
        _ => Super,
    }
}

pub(super) fn removing(phase: Phase, event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match (phase, event) {
        // What keeps them from going keeps them from going after another dump, too.
        (Phase::Removing, Event::DumpedInVain) => Transition(Phase::RemovalBlocked),
        // Servers that outlived their last dump were written to since.
        (Phase::Removing, Event::SnapshotWanted) => Transition(Phase::Deleting),
        (_, Event::ChildrenGone) => go(Phase::Releasing, &[ReleaseFinalizer], effects),
        (_, Event::DeadlinePassed) => Transition(Phase::RemovalBlocked),
        (Phase::Removing, Event::ChildrenLeft) => act(&[DeleteWorkloads, DeleteVolumes], effects),
        (Phase::Retaining, Event::ChildrenLeft) => act(&[DeleteWorkloads], effects),
        _ => Super,
    }
}

/// A namespace that is going takes everything with it, volumes too: nothing is won by waiting.
pub(super) fn going(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::NamespaceEnding => go(Phase::Releasing, &[ReleaseFinalizer], effects),
        _ => Super,
    }
}

/// Again and again: the object is there until the finalizer is not.
pub(super) fn releasing(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::DeletionRequested => act(&[ReleaseFinalizer], effects),
        _ => Super,
    }
}
