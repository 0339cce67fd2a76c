//! Which facts can be true together, and which outlive a step: what the proofs build on.

use super::words::{Effect, Event, Phase};
use crate::kinds::database::Database;
use crate::machine::prove::{Law, Provable, Recurs};
use crate::machine::{Machine, Step};
use Event::{
    AdoptAnswered, AllReady, AuxiliariesDrifted, BelieveVolumesAnswered, ChildConflict, ChildrenDrifted, ChildrenGone, ChildrenLeft,
    CredentialsLost, DeadlinePassed, DeleteWanted, DeletionRequested, DowngradeFound, DriftFought, DumpedInVain, ExtensionsAdded,
    FirstRollout, ImageChanged, JobDone, JobFailed, JobMissing, KeepVolumesAnswered, MajorFound, NamespaceEnding, NeverInitialized,
    NeverRestored, NothingRefused, ObstacleGone, ParametersChanged, PauseRequested, PodsOutdated, PrimaryLost, PrimaryReady,
    PrimaryVolumeLost, Protected, ReadersMisled, ReplicaDiverged, ReplicaLost, ReplicasChanged, ResetAllowed, ResetPasswordsAnswered,
    ResizeAwaitsStart, Resumed, RetainWanted, RetryAnswered, RollbackAnswered, SidecarRunning, SkipSnapshotAnswered, SnapshotWanted,
    SpecInvalid, SpecRefused, SpecRenewed, StorageExpanded, StorageFixed, StorageGrown, SwitchoverWanted, TemplateChanged, TopologyBehind,
    Unprobed, YieldAnswered,
};

/// What is still to do where not all is ready, although every pod may be.
const UNDONE: &[Event] = &[
    NeverRestored,
    NeverInitialized,
    StorageGrown,
    ImageChanged,
    ParametersChanged,
    TemplateChanged,
    ExtensionsAdded,
    ReplicasChanged,
    ResetAllowed,
    SwitchoverWanted,
    ReadersMisled,
    ChildrenDrifted,
    PodsOutdated,
];

impl Provable for Database {
    const LAWS: &'static [Law<Event>] = &[
        Law::One(&[PauseRequested, Resumed]),
        Law::One(&[SpecRefused, NothingRefused]),
        Law::One(&[StorageGrown, StorageExpanded]),
        Law::One(&[RetainWanted, SnapshotWanted, DeleteWanted]),
        Law::One(&[PrimaryReady, PrimaryLost]),
        Law::One(&[AllReady, ReplicaLost, PrimaryLost]),
        Law::AtMostOne(&[
            SkipSnapshotAnswered,
            KeepVolumesAnswered,
            ResetPasswordsAnswered,
            BelieveVolumesAnswered,
            RollbackAnswered,
            AdoptAnswered,
            YieldAnswered,
            RetryAnswered,
        ]),
        Law::AtMostOne(&[JobMissing, JobFailed, JobDone]),
        Law::AtMostOne(&[Unprobed, MajorFound, DowngradeFound]),
        Law::AtMostOne(&[ChildrenGone, ChildrenLeft]),
        Law::Excludes(&[AllReady], UNDONE),
        Law::Excludes(&[AllReady], &[ChildConflict, CredentialsLost]),
        // What has served is never restored into.
        Law::Needs(NeverRestored, &[FirstRollout]),
        Law::Needs(StorageFixed, &[StorageGrown]),
        Law::Needs(ResizeAwaitsStart, &[StorageGrown]),
        Law::Needs(DumpedInVain, &[SnapshotWanted]),
        Law::Needs(DriftFought, &[ChildrenDrifted, AuxiliariesDrifted]),
        Law::Excludes(&[PrimaryLost], &[NeverRestored, NeverInitialized, ExtensionsAdded]),
        Law::Excludes(&[CredentialsLost], &[ResetAllowed]),
        // The first pod is the primary until something has served.
        Law::Excludes(&[FirstRollout], &[SwitchoverWanted, SpecRefused]),
        // What is rolled back to was probed, ran and had its extensions; what cannot be read is nothing that was rolled back.
        Law::Excludes(&[SpecRefused], &[Unprobed, MajorFound, DowngradeFound, ExtensionsAdded, SpecInvalid]),
    ];

    fn grounds(phase: Phase) -> &'static [&'static [Event]] {
        match phase {
            Phase::Paused => &[&[PauseRequested]],
            Phase::RolledBack => &[&[AllReady], &[SpecRefused]],
            Phase::Ready => &[&[AllReady], &[NothingRefused]],
            Phase::Pending
            | Phase::Provisioning
            | Phase::Probing
            | Phase::Restoring
            | Phase::Initializing
            | Phase::Scaling
            | Phase::Restarting
            | Phase::ExpandingStorage
            | Phase::Degraded
            | Phase::Unavailable
            | Phase::RollingBack
            | Phase::HumanIntervention
            | Phase::Deleting
            | Phase::SnapshottingBeforeDelete
            | Phase::RemovalBlocked
            | Phase::Removing
            | Phase::Retaining
            | Phase::Releasing => &[],
        }
    }

    fn remains(event: Event, step: &Step<Self>) -> bool {
        let ordered = |effect| step.effects().contains(&effect);
        let asks = |phase| matches!(phase, Phase::HumanIntervention | Phase::RemovalBlocked);
        let (closed, asked) = (asks(step.from()) && step.moved(), asks(step.next()) && step.moved());
        let did = |phase| step.from() == phase && step.cause() == Some(JobDone);
        match event {
            DeadlinePassed | JobFailed | JobDone => !step.moved(),
            JobMissing => !step.moved() && !ordered(Effect::StartJob),
            ImageChanged | ParametersChanged | TemplateChanged | ReplicasChanged | ChildrenDrifted => !ordered(Effect::ApplyChildren),
            DriftFought => !ordered(Effect::ApplyChildren) && !ordered(Effect::ApplyAuxiliaries) && !asked,
            ReadersMisled => !ordered(Effect::LeadReaders),
            AuxiliariesDrifted => !ordered(Effect::ApplyAuxiliaries),
            SidecarRunning => !ordered(Effect::EndJobs),
            ResetAllowed => !ordered(Effect::ResetPasswords),
            SwitchoverWanted => !ordered(Effect::SwitchPrimary),
            PodsOutdated | ResizeAwaitsStart => !ordered(Effect::RestartNextPod),
            ChildrenLeft => !ordered(Effect::DeleteWorkloads),
            SpecRenewed => !asked && !closed,
            SkipSnapshotAnswered
            | KeepVolumesAnswered
            | ResetPasswordsAnswered
            | BelieveVolumesAnswered
            | RollbackAnswered
            | AdoptAnswered
            | YieldAnswered
            | RetryAnswered
            | ObstacleGone => !closed,
            Unprobed => !did(Phase::Probing),
            StorageGrown => step.cause() != Some(StorageExpanded),
            NeverRestored => !did(Phase::Restoring),
            NeverInitialized | ExtensionsAdded => !did(Phase::Initializing),
            FirstRollout => step.next() != Phase::Ready,
            // A Job, a volume and a pod change by themselves, and a person at will.
            DeletionRequested | NamespaceEnding | Protected | RetainWanted | DumpedInVain | SnapshotWanted | DeleteWanted
            | ChildrenGone | PauseRequested | Resumed | SpecInvalid | ChildConflict | CredentialsLost | PrimaryVolumeLost
            | TopologyBehind | ReplicaDiverged | DowngradeFound | MajorFound | StorageFixed | StorageExpanded | SpecRefused
            | NothingRefused | AllReady | PrimaryReady | PrimaryLost | ReplicaLost => true,
        }
    }

    fn recurs(event: Event) -> Recurs<Event> {
        match event {
            DeletionRequested
            | Protected
            | PauseRequested
            | Resumed
            | SpecRenewed
            | SkipSnapshotAnswered
            | KeepVolumesAnswered
            | ResetPasswordsAnswered
            | BelieveVolumesAnswered
            | RollbackAnswered
            | AdoptAnswered
            | YieldAnswered
            | RetryAnswered => Recurs::ByPerson,
            // A pod that is made anew runs what was ordered last, and an image is asked once.
            ImageChanged | ParametersChanged | TemplateChanged | ReplicasChanged | ExtensionsAdded | StorageGrown | Unprobed
            | FirstRollout | NeverRestored | NeverInitialized | PodsOutdated | ResizeAwaitsStart | ResetAllowed | SpecInvalid
            | SpecRefused | NothingRefused => Recurs::UntilDone,
            ChildrenDrifted => Recurs::Counted(DriftFought),
            SwitchoverWanted => Recurs::Counted(DeadlinePassed),
            SnapshotWanted => Recurs::Counted(DumpedInVain),
            NamespaceEnding | TopologyBehind | RetainWanted | DumpedInVain | DeleteWanted | ChildrenGone | ChildrenLeft
            | PrimaryVolumeLost | ChildConflict | CredentialsLost | ReplicaDiverged | ObstacleGone | DowngradeFound | MajorFound
            | StorageFixed | StorageExpanded | JobFailed | JobDone | JobMissing | AllReady | PrimaryReady | DeadlinePassed
            | DriftFought | PrimaryLost | ReadersMisled | ReplicaLost | AuxiliariesDrifted | SidecarRunning => Recurs::Freely,
        }
    }

    fn rules_out(step: &Step<Self>) -> &'static [Event] {
        let dumped = step.from() == Phase::SnapshottingBeforeDelete && step.cause() == Some(JobDone);
        if dumped { &[SnapshotWanted] } else { &[] }
    }

    fn renews(effect: Effect) -> bool {
        effect == Effect::StartJob || Self::is_destructive(effect)
    }
}
