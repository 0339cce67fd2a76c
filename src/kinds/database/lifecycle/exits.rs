//! Where each phase may lead: the second entry of every arrow, held against the first.

use super::words::Phase;
use Phase::{
    Degraded, Deleting, ExpandingStorage, HumanIntervention, Initializing, Paused, Pending, Probing, Provisioning, Ready, Releasing,
    RemovalBlocked, Removing, Restarting, Restoring, Retaining, RolledBack, RollingBack, Scaling, SnapshottingBeforeDelete, Unavailable,
};

pub fn after(phase: Phase) -> &'static [Phase] {
    match phase {
        Pending => AFTER_PENDING,
        Provisioning => AFTER_PROVISIONING,
        Probing | Initializing | ExpandingStorage => &[Pending, Paused, HumanIntervention, Deleting],
        Restoring => &[Initializing, Paused, HumanIntervention, Deleting],
        Ready => AFTER_READY,
        Scaling | Degraded => AFTER_SCALING,
        Restarting => AFTER_RESTARTING,
        Unavailable => AFTER_UNAVAILABLE,
        RollingBack => &[Pending, Initializing, RollingBack, RolledBack, Paused, HumanIntervention, Deleting],
        RolledBack => &[Pending, Initializing, ExpandingStorage, RollingBack, Paused, HumanIntervention, Deleting],
        Paused => &[Pending, Deleting],
        HumanIntervention => &[Pending, Paused, Deleting],
        Deleting => &[SnapshottingBeforeDelete, RemovalBlocked, Removing, Retaining, Releasing],
        SnapshottingBeforeDelete | Removing => &[Deleting, RemovalBlocked, Releasing],
        RemovalBlocked => &[Deleting, Removing, Retaining, Releasing],
        Retaining => &[RemovalBlocked, Releasing],
        Releasing => &[],
    }
}

const AFTER_PENDING: &[Phase] = &[
    Provisioning,
    Probing,
    Restoring,
    Initializing,
    Ready,
    Scaling,
    Restarting,
    ExpandingStorage,
    Degraded,
    Unavailable,
    RollingBack,
    Paused,
    HumanIntervention,
    Deleting,
];

const AFTER_PROVISIONING: &[Phase] =
    &[Provisioning, Probing, Restoring, Initializing, Ready, Scaling, ExpandingStorage, RollingBack, Paused, HumanIntervention, Deleting];

const AFTER_READY: &[Phase] = &[
    Probing,
    Initializing,
    Scaling,
    Restarting,
    ExpandingStorage,
    Degraded,
    Unavailable,
    RollingBack,
    Paused,
    HumanIntervention,
    Deleting,
];

const AFTER_SCALING: &[Phase] =
    &[Probing, Initializing, Ready, Scaling, Restarting, ExpandingStorage, Unavailable, RollingBack, Paused, HumanIntervention, Deleting];

const AFTER_RESTARTING: &[Phase] =
    &[Probing, Initializing, Ready, Scaling, Restarting, ExpandingStorage, RollingBack, Paused, HumanIntervention, Deleting];

const AFTER_UNAVAILABLE: &[Phase] =
    &[Pending, Probing, Initializing, Ready, Restarting, ExpandingStorage, RollingBack, Paused, HumanIntervention, Deleting];
