//! What must hold of Database's machine alone: data is at stake.

use pointsman::kinds::database::{Database, Effect, Event, Phase};
use pointsman::kinds::preview;
use pointsman::machine::explore::{Arrow, arrows, deleting};
use pointsman::machine::prove::Provable;
use pointsman::machine::{Machine, Word};
use std::collections::BTreeSet;

fn taken(arrow: &Arrow<Database>) -> String {
    format!("{:?} --{:?}--> {:?} {:?}", arrow.from, arrow.event, arrow.next, arrow.effects)
}

/// A sentence for each arrow that `is_wrong`.
fn never(is_wrong: impl Fn(&Arrow<Database>) -> bool) {
    let wrong: Vec<String> = arrows::<Database>().iter().filter(|arrow| is_wrong(arrow)).map(taken).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn volumes_are_given_up_by_policy_or_by_a_persons_word_alone() {
    let into: Vec<(Phase, Event)> = arrows::<Database>()
        .iter()
        .filter(|arrow| arrow.moved && arrow.effects.contains(&Effect::DeleteVolumes))
        .map(|arrow| (arrow.from, arrow.event))
        .collect();
    assert_eq!(into, [(Phase::Deleting, Event::DeleteWanted), (Phase::RemovalBlocked, Event::SkipSnapshotAnswered)]);
    never(|arrow| arrow.effects.contains(&Effect::DeleteVolumes) && arrow.next != Phase::Removing);
    never(|arrow| arrow.next == Phase::Removing && arrow.moved && !arrow.effects.contains(&Effect::DeleteVolumes));
}

#[test]
fn nothing_is_removed_before_deletion_and_nothing_is_built_after_it() {
    use Effect::{
        ApplyAuxiliaries, ApplyChildren, DeleteVolumes, DeleteWorkloads, ExpandClaims, HoldFinalizer, LeadReaders, ReleaseFinalizer,
    };
    let orders = |arrow: &Arrow<Database>, of: &[Effect]| arrow.effects.iter().any(|effect| of.contains(effect));
    never(|arrow| !deleting::<Database>(arrow.from) && orders(arrow, &[DeleteWorkloads, DeleteVolumes, ReleaseFinalizer]));
    never(|arrow| deleting::<Database>(arrow.from) && orders(arrow, &[HoldFinalizer, ApplyChildren, ApplyAuxiliaries, ExpandClaims]));
    // What is protected stays, and serves.
    let going = |phase| deleting::<Database>(phase) && phase != Phase::RemovalBlocked;
    never(|arrow| going(arrow.from) && orders(arrow, &[LeadReaders]));
}

#[test]
fn the_finalizer_is_held_before_anything_that_it_guards() {
    let first = |arrow: &Arrow<Database>| arrow.from == Phase::Pending && arrow.next == Phase::Provisioning;
    assert!(arrows::<Database>().iter().any(first));
    never(|arrow| arrow.next == Phase::Provisioning && arrow.moved && arrow.effects.first() != Some(&Effect::HoldFinalizer));
    never(|arrow| arrow.effects.contains(&Effect::HoldFinalizer) && arrow.effects.first() != Some(&Effect::HoldFinalizer));
}

#[test]
fn nothing_is_applied_before_the_image_has_said_what_it_is() {
    // Readers are led on meanwhile, and Jobs that are done are ended: that is no part of the plan.
    let asks = |effects: &[Effect]| [[Effect::StartJob], [Effect::LeadReaders], [Effect::EndJobs]].iter().any(|one| effects == one);
    never(|arrow| arrow.next == Phase::Probing && !asks(&arrow.effects));
    let new = BTreeSet::from([Event::Unprobed, Event::FirstRollout, Event::ImageChanged, Event::ChildrenDrifted, Event::PrimaryLost]);
    assert_eq!(Database::step(Phase::Pending, &new).next(), Phase::Probing);
    assert!(Database::step(Phase::Probing, &new).cause().is_none(), "it waits for its Job");
}

#[test]
fn what_has_served_is_never_restored_into() {
    never(|arrow| arrow.moved && arrow.next == Phase::Restoring && ![Phase::Pending, Phase::Provisioning].contains(&arrow.from));
    let served = |event: Event| [Event::Resumed, Event::NothingRefused, Event::NeverRestored].contains(&event);
    assert!(!Database::possible(&served));
}

#[test]
fn a_job_is_left_for_its_end_or_for_what_no_job_outlasts() {
    use Event::{
        ChildConflict, CredentialsLost, DeadlinePassed, DeletionRequested, DowngradeFound, DriftFought, JobDone, JobFailed, MajorFound,
        NamespaceEnding, PauseRequested, PrimaryVolumeLost, ReplicaDiverged, SpecInvalid, TopologyBehind,
    };
    const ENDS: [Event; 15] = [
        JobDone,
        JobFailed,
        DeadlinePassed,
        DeletionRequested,
        NamespaceEnding,
        PauseRequested,
        SpecInvalid,
        ChildConflict,
        CredentialsLost,
        PrimaryVolumeLost,
        TopologyBehind,
        ReplicaDiverged,
        DowngradeFound,
        MajorFound,
        DriftFought,
    ];
    let jobs: BTreeSet<Phase> =
        arrows::<Database>().iter().filter(|arrow| arrow.event == Event::JobMissing && !arrow.moved).map(|arrow| arrow.from).collect();
    assert_eq!(jobs, [Phase::Probing, Phase::Restoring, Phase::Initializing, Phase::SnapshottingBeforeDelete].into());
    never(|arrow| jobs.contains(&arrow.from) && arrow.moved && !ENDS.contains(&arrow.event));
}

#[test]
fn an_edit_is_busy_where_it_would_spoil_what_is_under_way_and_nowhere_else() {
    let spoils = [Event::ImageChanged, Event::StorageGrown, Event::ParametersChanged, Event::ExtensionsAdded];
    let spoiled = [Phase::Restoring, Phase::ExpandingStorage, Phase::RollingBack];
    for &phase in Phase::ALL {
        for &edit in Event::ALL.iter().filter(|event| Database::is_edit(**event)) {
            let busy = deleting::<Database>(phase) || spoiled.contains(&phase) && spoils.contains(&edit);
            assert_eq!(Database::claims(phase, edit), !busy, "{phase:?} on {edit:?}");
        }
    }
}

#[test]
fn a_failed_database_takes_the_fix() {
    for (fix, leads) in [
        (Event::Unprobed, Phase::Probing),
        (Event::ImageChanged, Phase::Restarting),
        (Event::ParametersChanged, Phase::Restarting),
        (Event::TemplateChanged, Phase::Restarting),
        (Event::StorageGrown, Phase::ExpandingStorage),
    ] {
        for failed in [Phase::Unavailable, Phase::Degraded] {
            let step = Database::step(failed, &BTreeSet::from([fix, Event::PrimaryLost, Event::ChildrenDrifted, Event::PodsOutdated]));
            assert_eq!(step.next(), leads, "{failed:?} on {fix:?}");
        }
    }
}

#[test]
fn the_children_are_what_was_ordered_before_a_pod_restarts_for_it() {
    for phase in [Phase::Provisioning, Phase::Restarting, Phase::RollingBack] {
        let step = Database::step(phase, &BTreeSet::from([Event::PodsOutdated, Event::ChildrenDrifted]));
        assert!(!step.effects().contains(&Effect::RestartNextPod), "{phase:?} would restart a pod as it was");
    }
}

#[test]
fn previews_name_the_way_of_a_probed_edit() {
    use Event::{ExtensionsAdded, FirstRollout, ImageChanged, PodsOutdated, ReplicasChanged, StorageGrown, SwitchoverWanted, Unprobed};
    use Phase::{ExpandingStorage, HumanIntervention, Initializing, Pending, Probing, Provisioning, Ready, Restarting, Scaling};
    let cases: [(Phase, &[Event], &[Phase]); 9] = [
        (Pending, &[FirstRollout, Unprobed], &[Probing, Provisioning, Ready]),
        (Ready, &[ImageChanged], &[Ready, Restarting, Ready]),
        (Ready, &[ImageChanged, Unprobed], &[Ready, Probing, Restarting, Ready]),
        (Ready, &[StorageGrown], &[Ready, ExpandingStorage, Ready]),
        // With the volume grows the log of writes, which the servers have to read.
        (Ready, &[StorageGrown, PodsOutdated], &[Ready, ExpandingStorage, Restarting, Ready]),
        (Ready, &[ExtensionsAdded], &[Ready, Initializing, Ready]),
        (Ready, &[ReplicasChanged, SwitchoverWanted], &[Ready, Scaling, Ready]),
        (Phase::Unavailable, &[ImageChanged, Unprobed], &[Phase::Unavailable, Probing, Restarting, Ready]),
        (HumanIntervention, &[Event::SpecRenewed, ImageChanged, Unprobed], &[HumanIntervention, Probing, Restarting, Ready]),
    ];
    for (from, facts, path) in cases {
        assert_eq!(preview::<Database>(from, &facts.iter().copied().collect(), None), path, "{from:?} on {facts:?}");
    }
}
