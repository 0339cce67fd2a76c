//! Database as a [`Machine`]: what each word is for, and the second entry of every arrow.

use super::Scope;
use super::exits::after;
use super::words::{Effect, Event, Phase};
use crate::kinds::database::Database;
use crate::machine::diagram::View;
use crate::machine::{Machine, Outcome, Role};
use Phase::{
    Degraded, Deleting, ExpandingStorage, HumanIntervention, Initializing, Paused, Pending, Probing, Provisioning, Ready, Releasing,
    RemovalBlocked, Removing, Restarting, Restoring, Retaining, RolledBack, RollingBack, Scaling, SnapshottingBeforeDelete, Unavailable,
};

impl Machine for Database {
    type Phase = Phase;
    type Event = Event;
    type Effect = Effect;
    const START: Phase = Phase::Pending;
    const DELETION: Event = Event::DeletionRequested;
    const RENEWAL: Event = Event::SpecRenewed;
    const PAUSE: Event = Event::PauseRequested;
    const RESUMPTION: Event = Event::Resumed;
    const VIEWS: &'static [View<Phase>] = &[
        View { name: "create", phases: &[Pending, Probing, Provisioning, Restoring, Initializing, Ready, HumanIntervention] },
        View { name: "change", phases: &[Pending, Probing, Ready, Scaling, Restarting, ExpandingStorage, Initializing] },
        View { name: "failure", phases: &[Pending, Ready, Restarting, Degraded, Unavailable, HumanIntervention] },
        View { name: "stop", phases: &[Pending, Ready, RollingBack, RolledBack, Paused, HumanIntervention] },
        View {
            name: "delete",
            phases: &[Ready, Paused, Deleting, SnapshottingBeforeDelete, RemovalBlocked, Removing, Retaining, Releasing],
        },
    ];

    fn offer(phase: Phase, event: Event, effects: &mut Vec<Effect>) -> Outcome<Phase> {
        phase.offered(event, effects)
    }

    fn exits(phase: Phase) -> &'static [Phase] {
        after(phase)
    }

    fn role(phase: Phase) -> Role<Event> {
        let works = |goal| Role::Works { goal, deadline: Event::DeadlinePassed };
        match phase {
            Pending | Deleting => Role::Junction,
            Provisioning | Scaling | Restarting | Degraded | RollingBack => works(Event::AllReady),
            Probing | Restoring | Initializing | SnapshottingBeforeDelete => works(Event::JobDone),
            ExpandingStorage => works(Event::StorageExpanded),
            Unavailable => works(Event::PrimaryReady),
            Removing | Retaining => works(Event::ChildrenGone),
            Ready | RolledBack | Paused => Role::Rests,
            HumanIntervention | RemovalBlocked => Role::Asks,
            Releasing => Role::Ends,
        }
    }

    fn scopes(phase: Phase) -> Vec<String> {
        Scope::around(phase).iter().map(|scope| format!("{scope:?}")).collect()
    }

    fn is_edit(event: Event) -> bool {
        use Event::{AuxiliariesDrifted, ExtensionsAdded, ImageChanged, ParametersChanged, ReplicasChanged, StorageGrown, TemplateChanged};
        matches!(
            event,
            ImageChanged | StorageGrown | ParametersChanged | ExtensionsAdded | TemplateChanged | ReplicasChanged | AuxiliariesDrifted
        )
    }

    fn is_answer(event: Event) -> bool {
        use Event::{
            AdoptAnswered, BelieveVolumesAnswered, KeepVolumesAnswered, ResetPasswordsAnswered, RetryAnswered, RollbackAnswered,
            SkipSnapshotAnswered, YieldAnswered,
        };
        matches!(
            event,
            SkipSnapshotAnswered
                | KeepVolumesAnswered
                | ResetPasswordsAnswered
                | BelieveVolumesAnswered
                | RollbackAnswered
                | AdoptAnswered
                | YieldAnswered
                | RetryAnswered
        )
    }

    fn closes_question(event: Event) -> bool {
        use Event::{NamespaceEnding, ObstacleGone, PauseRequested, SpecRenewed};
        Self::is_answer(event) || matches!(event, PauseRequested | SpecRenewed | ObstacleGone | NamespaceEnding)
    }

    fn is_upkeep(event: Event) -> bool {
        matches!(event, Event::AuxiliariesDrifted | Event::ReadersMisled | Event::SidecarRunning)
    }

    fn licences(effect: Effect) -> &'static [Event] {
        use Event::{
            BelieveVolumesAnswered, ChildrenGone, ChildrenLeft, DeleteWanted, DeletionRequested, KeepVolumesAnswered, NamespaceEnding,
            PodsOutdated, ResetAllowed, ResizeAwaitsStart, RetainWanted, RetryAnswered, SidecarRunning, SkipSnapshotAnswered,
            SwitchoverWanted,
        };
        match effect {
            Effect::ResetPasswords => &[ResetAllowed],
            Effect::SwitchPrimary => &[SwitchoverWanted],
            Effect::RestartNextPod => &[PodsOutdated, ResizeAwaitsStart],
            Effect::DeleteWaitingPods => &[RetryAnswered, BelieveVolumesAnswered],
            Effect::EndJobs => &[PodsOutdated, SidecarRunning],
            Effect::DeleteWorkloads => &[RetainWanted, DeleteWanted, SkipSnapshotAnswered, KeepVolumesAnswered, ChildrenLeft],
            Effect::DeleteVolumes => &[DeleteWanted, SkipSnapshotAnswered, ChildrenLeft],
            Effect::ReleaseFinalizer => &[DeletionRequested, NamespaceEnding, ChildrenGone],
            Effect::HoldFinalizer
            | Effect::ApplyChildren
            | Effect::LeadReaders
            | Effect::ApplyAuxiliaries
            | Effect::StartJob
            | Effect::ExpandClaims => &[],
        }
    }
}
