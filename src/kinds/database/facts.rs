//! Observation -> the facts that are true of it.

use super::Database;
use super::children::names::Work;
use super::lifecycle::words::{Event, Phase};
use super::orders::ending::{self, Fate};
use super::orders::finished_jobs;
use super::plan::version;
use super::scene::Scene;
use super::scene::readers::{is_anybody_led, is_misleading};
use super::scene::siblings::Children;
use super::scene::standing::{
    credentials_lost, has_no_place, has_no_scripts, is_first_rollout, is_going, is_midway, is_moved_in_vain, is_protected,
    is_switchover_wanted,
};
use super::scene::undone::{lacks_extensions, was_never_initialized, was_never_restored};
use super::scene::work::{self, Progress};
use super::scene::{behind, closing};
use super::scene::{ground, learning, outcome, resize};
use crate::kinds::annotations::{PAUSED, answer, is_set};
use crate::kinds::finalizer;
use crate::kinds::intervention::Intervention;
use crate::kinds::look::Look;
use crate::kinds::questions::is_out_of_date;
use crate::kinds::reading::Reading;
use crate::kinds::reason::Verb;
use crate::kinds::renewed;
use crate::machine::Word as _;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use std::collections::BTreeSet;

/// Every fact that is true.
pub fn events(look: &Look<'_, Database>) -> BTreeSet<Event> {
    let scene = Scene::of(look);
    FACTS.iter().filter(|(_, holds)| holds(&scene)).map(|(event, _)| *event).collect()
}

/// Is it so?
type Fact = fn(&Scene<'_>) -> bool;

/// When each event is a fact, in the events' own order.
const FACTS: [(Event, Fact); Event::ALL.len()] = [
    (Event::DeletionRequested, |scene| is_going(scene)),
    (Event::NamespaceEnding, |scene| ending::namespace_is_ending(scene)),
    (Event::Protected, |scene| is_protected(scene)),
    (Event::RetainWanted, |scene| ending::fate(scene) == Fate::Retain),
    (Event::DumpedInVain, |scene| scene.more.dumps >= ending::DUMPS && ending::fate(scene) == Fate::Snapshot),
    (Event::SnapshotWanted, |scene| ending::fate(scene) == Fate::Snapshot),
    (Event::DeleteWanted, |scene| ending::fate(scene) == Fate::Delete),
    (Event::ChildrenGone, |scene| is_going(scene) && !is_left(scene)),
    (Event::PauseRequested, |scene| is_paused(scene)),
    (Event::Resumed, |scene| !is_paused(scene)),
    (Event::SpecInvalid, |scene| scene.look.wanted.is_err()),
    (Event::PrimaryVolumeLost, |scene| scene.primary_volume_is_lost()),
    (Event::TopologyBehind, behind::is_whole),
    (Event::ChildConflict, |scene| scene.look.conflicts().next().is_some()),
    (Event::SpecRenewed, is_renewed),
    (Event::CredentialsLost, |scene| !credentials_lost(scene).is_empty()),
    // While nobody takes writes, what can be asked later is.
    (Event::ReplicaDiverged, |scene| scene.has_diverged() && !is_midway(scene)),
    (Event::SkipSnapshotAnswered, |scene| is_answered(scene, Verb::SkipSnapshot) && !is_protected(scene)),
    (Event::KeepVolumesAnswered, |scene| is_answered(scene, Verb::KeepVolumes) && !is_out_of_date(scene.look)),
    (Event::ResetPasswordsAnswered, |scene| is_answered(scene, Verb::ResetPasswords)),
    (Event::BelieveVolumesAnswered, |scene| is_answered(scene, Verb::BelieveVolumes) && behind::believable(scene).is_some()),
    (Event::RollbackAnswered, |scene| is_answered(scene, Verb::Rollback) && scene.look.can_roll_back()),
    (Event::AdoptAnswered, |scene| is_answered(scene, Verb::Adopt)),
    (Event::YieldAnswered, |scene| is_answered(scene, Verb::Yield)),
    (Event::RetryAnswered, |scene| is_answered(scene, Verb::Retry)),
    (Event::ObstacleGone, closing::is_obstacle_gone),
    (Event::DowngradeFound, |scene| majors(scene).is_some_and(|(data, image)| image < data)),
    (Event::MajorFound, |scene| majors(scene).is_some_and(|(data, image)| image > data)),
    (Event::Unprobed, |scene| is_unprobed(scene)),
    (Event::StorageFixed, |scene| is_to_grow(scene) && scene.small_claims().any(|claim| is_fixed(claim, &scene.look.children))),
    (Event::StorageGrown, |scene| is_to_grow(scene)),
    (Event::StorageExpanded, |scene| !is_to_grow(scene)),
    (Event::SpecRefused, |scene| scene.look.refused()),
    (Event::NothingRefused, |scene| !scene.look.refused()),
    (Event::JobFailed, |scene| job(scene) == Some(Event::JobFailed)),
    (Event::JobDone, |scene| job(scene) == Some(Event::JobDone)),
    (Event::NeverRestored, |scene| was_never_restored(scene)),
    (Event::NeverInitialized, |scene| scene.primary_is_as_wanted() && was_never_initialized(scene)),
    (Event::AllReady, |scene| scene.look.settled),
    (Event::FirstRollout, |scene| is_first_rollout(scene)),
    (Event::ImageChanged, |scene| is_raised(scene, Event::ImageChanged)),
    (Event::ParametersChanged, |scene| is_raised(scene, Event::ParametersChanged) || scene.starts_otherwise() || scene.holds_more()),
    (Event::TemplateChanged, |scene| is_raised(scene, Event::TemplateChanged)),
    (Event::ExtensionsAdded, |scene| lacks_extensions(scene) && !scene.look.refused()),
    (Event::ReplicasChanged, |scene| is_raised(scene, Event::ReplicasChanged)),
    (Event::PrimaryReady, |scene| scene.members.primary_is_ready()),
    (Event::DeadlinePassed, is_overdue),
    (Event::DriftFought, is_fought_over),
    (Event::ResetAllowed, |scene| scene.more.reset_time.is_some()),
    (Event::SwitchoverWanted, |scene| is_switchover_wanted(scene)),
    (Event::PrimaryLost, |scene| !scene.members.primary_is_ready()),
    (Event::ReadersMisled, |scene| is_misleading(scene)),
    (Event::ChildrenDrifted, |scene| !scene.look.missing.is_empty()),
    (Event::PodsOutdated, |scene| scene.members.outdated().next().is_some() || scene.unread().is_some()),
    (Event::ResizeAwaitsStart, |scene| is_to_grow(scene) && resize::awaiting(scene).next().is_some()),
    (Event::JobMissing, |scene| job(scene) == Some(Event::JobMissing)),
    (Event::ReplicaLost, |scene| scene.members.primary_is_ready() && !scene.look.settled),
    (Event::ChildrenLeft, |scene| is_going(scene) && is_left(scene)),
    (Event::AuxiliariesDrifted, |scene| auxiliaries_drifted(scene)),
    (Event::SidecarRunning, |scene| !finished_jobs::orders(scene).is_empty()),
];

/// A new event does not compile until its fact is written.
const _: () = {
    let mut at = 0;
    while at < FACTS.len() {
        assert!(FACTS[at].0 as usize == at, "the facts stand in another order than the events");
        at += 1;
    }
};

/// Is the open question answered with this verb?
fn is_answered(scene: &Scene<'_>, verb: Verb) -> bool {
    let said = answer(&scene.look.seen.object).map(String::as_str);
    scene.question.is_some_and(|question| question.answered(verb, said))
}

/// Is the object set aside? While the primary moves nobody takes writes: a pause waits for that, and one that has begun stays.
fn is_paused(scene: &Scene<'_>) -> bool {
    let moves = || scene.members.is_moving() || is_midway(scene);
    is_set(&scene.look.seen.object, PAUSED) && (scene.phase() == Phase::Paused || !moves())
}

/// Does the way from what was ordered to the target raise it?
fn is_raised(scene: &Scene<'_>, event: Event) -> bool {
    scene.look.changes.contains(&event)
}

/// Does a newer spec close the open question? What is lost is not brought back by one: it waits until that is no longer so.
fn is_renewed(scene: &Scene<'_>) -> bool {
    let newer = |question: &&Intervention| renewed::<Database>(question, &scene.look.seen.object);
    scene.question.filter(newer).is_some_and(|question| !closing::stands(scene, question.reason))
}

fn is_left(scene: &Scene<'_>) -> bool {
    ending::is_left(scene, scene.phase() != Phase::Retaining)
}

/// The major versions of the data and of the wanted image, where both are known.
pub fn majors(scene: &Scene<'_>) -> Option<(u32, u32)> {
    let wanted = scene.look.wanted.as_ref().ok().filter(|_| !scene.look.refused())?;
    let data = scene.more.initialized.as_ref()?.version / version::MAJOR;
    Some((data, learning::answer(scene.more, wanted)?.version / version::MAJOR)).filter(|(data, image)| data != image)
}

fn is_unprobed(scene: &Scene<'_>) -> bool {
    let wanted = scene.look.wanted.as_ref().ok().filter(|_| !scene.look.refused());
    wanted.is_some_and(|wanted| learning::answer(scene.more, wanted).is_none()) && !is_midway(scene)
}

/// Is a volume to grow?
fn is_to_grow(scene: &Scene<'_>) -> bool {
    scene.small_claims().next().is_some() && !is_midway(scene)
}

/// Is it known that this claim cannot grow?
fn is_fixed(claim: &PersistentVolumeClaim, children: &Children) -> bool {
    match children.class_of(claim) {
        Reading::Found(class) => !ground::grows(&class),
        Reading::Absent => true,
        Reading::Unread => false,
    }
}

/// Is a child fought over? What a change has not come to yet is nobody's doing, and neither is a move of the primary.
fn is_fought_over(scene: &Scene<'_>) -> bool {
    if is_switchover_wanted(scene) {
        return false;
    }
    if matches!(scene.phase(), Phase::Pending | Phase::Ready | Phase::Degraded | Phase::RolledBack) {
        return scene.look.is_fought_over();
    }
    let begin = scene.look.seen.object.status.as_ref().and_then(|status| status.state_time.as_ref());
    scene.look.is_fought_over_since(begin) && !is_midway(scene)
}

/// How far the Job of the state is, where anything can be said of it.
fn job(scene: &Scene<'_>) -> Option<Event> {
    let Some(task) = work::task(scene.look, scene.phase()) else {
        // It is no longer asked for.
        let given_up = scene.phase() == Phase::Restoring && scene.look.target.as_ref().is_some_and(|target| target.restore_from.is_none());
        return given_up.then_some(Event::JobDone);
    };
    // What was answered before need not be asked.
    if task.work == Work::Probe && !is_unprobed(scene) {
        return Some(Event::JobDone);
    }
    if ending::is_dumped_in_part(scene, task.work) {
        return Some(Event::JobFailed);
    }
    match task.progress {
        // No time makes room for it.
        Progress::Missing | Progress::Another(_)
            if has_no_place(scene.look, task.work) || ending::has_no_source(scene, task.work) || has_no_scripts(scene.look) =>
        {
            Some(Event::JobFailed)
        }
        Progress::Missing | Progress::Another(_) => Some(Event::JobMissing),
        // Somebody is led to where what he writes would be lost: of a dump that has ended, too, another one is made.
        Progress::Running | Progress::Done(_) if task.work == Work::Snapshot && is_anybody_led(scene) => Some(Event::JobMissing),
        Progress::Running => None,
        Progress::Done(line) | Progress::Failed(line) => {
            let is_answer = outcome::of(scene.look, task.work, &line).is_ok();
            Some(if is_answer { Event::JobDone } else { Event::JobFailed })
        }
    }
}

/// Does something differ that serves nobody at once?
fn auxiliaries_drifted(scene: &Scene<'_>) -> bool {
    finalizer::hold::<Database>(&scene.look.seen.object).is_some() || !scene.look.upkeep.is_empty()
}

/// Is the state's time over? Where a Job is waited for, nothing else is ordered that could be late. A move that nobody could
/// complete is not begun for ever.
fn is_overdue(scene: &Scene<'_>) -> bool {
    let waits = work::task(scene.look, scene.phase()).is_some_and(|task| !matches!(task.progress, Progress::Missing));
    // It serves again first.
    let moves = || matches!(scene.phase(), Phase::Scaling | Phase::Restarting | Phase::RollingBack);
    let in_vain = || moves() && is_moved_in_vain(scene) && scene.members.primary_is_ready() && !is_midway(scene);
    scene.look.is_overdue() || waits && scene.look.late() || in_vain()
}
