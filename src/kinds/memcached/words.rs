//! The three alphabets of Memcached's lifecycle: where it can be, what can be true, what is done.

use crate::words;

words! {
    /// Where a Memcached can be.
    Phase {
        /// Nothing is decided yet: what differs decides where to go. Never stored.
        Pending,
        /// The children are ordered; the pods of this object were never all ready.
        Creating,
        /// Every wanted pod is ready at this generation.
        Ready,
        /// Only the number of pods differs from what was ready last.
        Scaling,
        /// A new pod template rolls out, one pod at a time.
        Updating,
        /// It was ready; fewer pods are ready now, or a child was changed by hand: it is being repaired.
        Degraded,
        /// No pod is wanted, and none counts as there.
        Stopped,
        /// A person said so: the pod template that was ready last rolls out again, although the spec asks for another.
        RollingBack,
        /// The pod template that was ready last serves, although the spec asks for another.
        RolledBack,
        /// A person said so: the object is looked at, and nothing is done about it.
        Paused,
        /// The operator has stopped and asks a person; it does not repair.
        HumanIntervention,
        /// The object is going; owner references remove the children.
        Deleting,
    }
}

words! {
    /// Facts about a Memcached, the most urgent first.
    Event {
        /// The object has a deletionTimestamp.
        DeletionRequested,
        /// The object is annotated to be left alone.
        PauseRequested,
        /// The object is not annotated to be left alone.
        Resumed,
        /// The spec breaks a rule, or asks for an unsupported change.
        SpecInvalid,
        /// A child's name is taken by somebody else's object.
        ChildConflict,
        /// The spec, its count aside, is newer than the open question.
        SpecRenewed,
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
        /// The pods of this object were never all ready.
        FirstRollout,
        /// The spec asks for the very pod template that was rolled back.
        SpecRefused,
        /// The spec asks for nothing that was rolled back.
        NothingRefused,
        /// The wanted pod template differs from the one ordered last.
        TemplateChanged,
        /// The wanted number of pods differs from the one ordered last.
        ReplicasChanged,
        /// No pod is wanted, the children say so, and no pod is left.
        AllStopped,
        /// Every child says the target, seen by its controller, and every wanted pod is ready.
        ChildrenReady,
        /// The state's time is over, although the children are in place or were refused.
        DeadlinePassed,
        /// A child was repaired four times in an hour, and differs once more.
        DriftFought,
        /// A child is missing or differs from the target.
        ChildrenDrifted,
        /// Fewer pods are ready than wanted, of a template that was ready before.
        PodsLost,
        /// Fewer pods are ready than wanted, of a template that was never ready.
        PodsPending,
    }
}

words! {
    /// What an arrow asks for.
    Effect {
        /// Make every child what the target says.
        ApplyChildren,
        /// Remove the pods that wait on an error, so that they are tried afresh.
        DeleteWaitingPods,
    }
}
