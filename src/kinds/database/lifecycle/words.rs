//! The three alphabets of Database's lifecycle: where it can be, what can be true, what is done.

use crate::words;

words! {
    /// Where a Database can be.
    Phase {
        /// Nothing is decided yet: what differs decides where to go. Never stored.
        Pending,
        /// The children are ordered; the pods of this object were never all ready.
        Provisioning,
        /// A Job asks the wanted image for its version, its settings and its extensions; nothing is applied meanwhile.
        Probing,
        /// A Job fills the database from a dump; nobody else uses it yet.
        Restoring,
        /// A Job makes what is missing of the role, the database and the extensions.
        Initializing,
        /// The primary and every wanted replica are ready at this generation.
        Ready,
        /// Only the number of pods differs, or the primary moves to a pod that stays.
        Scaling,
        /// A setting or the pod template differs: settings are reloaded, pods restart one at a time, the primary last.
        Restarting,
        /// A volume is smaller than the spec wants, and is being expanded.
        ExpandingStorage,
        /// The primary serves; a replica is away or a child was changed by hand, and is being repaired.
        Degraded,
        /// The primary is away, and is waited for on the volume that is its own.
        Unavailable,
        /// A person said so: the settings and the pod template that were ready last roll out again, although the spec asks for others.
        RollingBack,
        /// The settings and the pod template that were ready last serve, although the spec asks for others.
        RolledBack,
        /// A person said so: the object is looked at, and nothing is done about it.
        Paused,
        /// The operator has stopped and asks a person; it does not repair.
        HumanIntervention,
        /// A deletion was asked for: what becomes of the data decides where to go. Never stored.
        Deleting,
        /// The finalizer is held while a last dump is taken and read back, and nobody is led to the primary; nothing is removed yet.
        SnapshottingBeforeDelete,
        /// The deletion has stopped and asks a person; what is left stays.
        RemovalBlocked,
        /// What becomes of the data is satisfied and recorded: the children go, and their volumes with them.
        Removing,
        /// The children go; every volume stays.
        Retaining,
        /// Only the finalizer is left, and is taken away.
        Releasing,
    }
}

words! {
    /// Facts about a Database, the most urgent first.
    Event {
        /// The object has a deletionTimestamp.
        DeletionRequested,
        /// The namespace is being deleted: no Job can start in it, and its volumes go anyway.
        NamespaceEnding,
        /// The object is annotated to be protected from deletion.
        Protected,
        /// The policy, or a person, keeps the volumes when the object goes.
        RetainWanted,
        /// Last dumps were taken, each was outlived by the servers, and another one is wanted.
        DumpedInVain,
        /// The policy wants a last dump when the object goes, and none is recorded that holds all and stands.
        SnapshotWanted,
        /// Nothing speaks for the volumes when the object goes: by policy, by a recorded dump, or by a person's word.
        DeleteWanted,
        /// Nothing is left of what this state removes.
        ChildrenGone,
        /// The object is annotated to be left alone.
        PauseRequested,
        /// The object is not annotated to be left alone.
        Resumed,
        /// The spec breaks a rule, or asks for an unsupported change.
        SpecInvalid,
        /// The claim of the primary is gone, or is another than the one that was recorded.
        PrimaryVolumeLost,
        /// The volumes have seen a later epoch than the servers are told.
        TopologyBehind,
        /// A child's name is taken by somebody else's object; a claim that came back empty is no such object.
        ChildConflict,
        /// The spec, its count aside, is newer than the open question.
        SpecRenewed,
        /// The Secret of the passwords is gone or was edited, and nobody has allowed new ones.
        CredentialsLost,
        /// A volume of a replica holds writes that the primary lacks.
        ReplicaDiverged,
        /// The open question was answered with skip-snapshot.
        SkipSnapshotAnswered,
        /// The open question was answered with keep-volumes.
        KeepVolumesAnswered,
        /// The open question was answered with reset-passwords.
        ResetPasswordsAnswered,
        /// The open question was answered with believe-volumes.
        BelieveVolumesAnswered,
        /// The open question was answered with rollback.
        RollbackAnswered,
        /// The open question was answered with adopt.
        AdoptAnswered,
        /// The open question was answered with yield.
        YieldAnswered,
        /// The open question was answered with retry.
        RetryAnswered,
        /// What the open question is about is no longer so.
        ObstacleGone,
        /// The wanted image is of an older major version than the data.
        DowngradeFound,
        /// The wanted image is of a newer major version than the data.
        MajorFound,
        /// The wanted image, settings and extensions were never asked about.
        Unprobed,
        /// A volume is smaller than wanted, and its storage class does not let it grow.
        StorageFixed,
        /// A volume is smaller than the spec wants.
        StorageGrown,
        /// No volume is smaller than the spec wants.
        StorageExpanded,
        /// The spec asks for the very settings and pod template that were rolled back.
        SpecRefused,
        /// The spec asks for nothing that was rolled back.
        NothingRefused,
        /// The Job of this state has failed.
        JobFailed,
        /// The Job of this state has answered: it has done what was asked, or there was nothing to be done.
        JobDone,
        /// The primary is ready as wanted, and the dump that the spec names was never restored into it.
        NeverRestored,
        /// The primary is ready as wanted, and its role and database were never made.
        NeverInitialized,
        /// Every child says the target, every wanted pod is ready, and nothing that is wanted is missing.
        AllReady,
        /// The pods of this object were never all ready.
        FirstRollout,
        /// The wanted image differs from the one ordered last, and fits the data.
        ImageChanged,
        /// The wanted settings differ from those ordered last.
        ParametersChanged,
        /// The wanted pod template, image and settings aside, differs from the one ordered last.
        TemplateChanged,
        /// The primary is ready as wanted, and an extension that is wanted is not in the database.
        ExtensionsAdded,
        /// The wanted number of pods differs from the one ordered last.
        ReplicasChanged,
        /// The primary is ready.
        PrimaryReady,
        /// The state's time is over, although its orders were carried out or refused; or the primary ended three times for another, and nobody could take over.
        DeadlinePassed,
        /// A child was repaired four times in an hour, and differs once more.
        DriftFought,
        /// A person has allowed new passwords, and they are not made yet.
        ResetAllowed,
        /// The primary has to be another pod, since its own is to go, or the one that takes over is not ready yet.
        SwitchoverWanted,
        /// The primary is not ready.
        PrimaryLost,
        /// A replica that serves is not shown to readers, or readers are led past those that serve.
        ReadersMisled,
        /// A child that was ordered and serves is missing or differs from the target.
        ChildrenDrifted,
        /// A pod runs what was ordered before the last order, or has not read the settings that are reloaded.
        PodsOutdated,
        /// A volume has grown, and its file system has waited for minutes for its pod's next start.
        ResizeAwaitsStart,
        /// The Job of this state is not there, or somebody is led to the primary of which a last dump is taken.
        JobMissing,
        /// The primary is ready; a replica is not, or not every pod is counted yet at its template.
        ReplicaLost,
        /// Something that this state removes is still there.
        ChildrenLeft,
        /// What serves nobody at once differs: the schedule of backups, the settings of a Service, the policy of deletion, the finalizer.
        AuxiliariesDrifted,
        /// A Job's own container has ended and the status has its result, but a sidecar runs on in the pod.
        SidecarRunning,
    }
}

words! {
    /// What an arrow asks for.
    Effect {
        /// Put the finalizer on the object, before anything that it guards.
        HoldFinalizer,
        /// Make every child that serves what the target says; the count never leaves out the primary.
        ApplyChildren,
        /// Lead readers to the replicas that serve, and to the primary where none does.
        LeadReaders,
        /// Make what serves nobody at once what the target says.
        ApplyAuxiliaries,
        /// Start the Job of the state that is entered, unless it is there.
        StartJob,
        /// Ask every volume for the wanted size.
        ExpandClaims,
        /// Make new passwords, and let the primary learn them.
        ResetPasswords,
        /// Move the primary to a pod that stays: a clean stop first, then the topology, then the address. While it waits for a pod, what differs of the children is mended.
        SwitchPrimary,
        /// Restart one pod that is outdated, or whose volume waits for that, where every other is ready or outdated too, or it cannot run: a broken one first, the primary last. Where none is, wait until every server has read its settings.
        RestartNextPod,
        /// Remove the pods that wait on an error, so that they are tried afresh.
        DeleteWaitingPods,
        /// Remove Jobs that are done, and pods of attempts that failed, where a sidecar would keep them running.
        EndJobs,
        /// Remove every child but the volumes.
        DeleteWorkloads,
        /// Remove the volumes that the policy gives up.
        DeleteVolumes,
        /// Take the finalizer off the object.
        ReleaseFinalizer,
    }
}
