//! Observation -> the facts that are true of it.

use super::ending::{self, Fate};
use super::ground::is_smaller;
use super::last_words::Word;
use super::members::Members;
use super::scene::Scene;
use super::secrets::{Credentials, Loss};
use super::siblings::Children;
use super::words::{Event, Phase};
use super::work::{self, Progress};
use super::{Database, learning, needed, v1};
use crate::kinds::annotations::{PAUSED, answer, is_set};
use crate::kinds::children::Slot;
use crate::kinds::intervention::{Intervention, about};
use crate::kinds::look::Look;
use crate::kinds::reason::Verb;
use crate::kinds::{Observation, question};
use crate::machine::Word as _;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::core::object::HasStatus;
use kube::{Resource, ResourceExt};
use std::collections::BTreeSet;

/// Every fact that is true.
pub fn events(seen: &Observation<Database>) -> BTreeSet<Event> {
    let look = Look::at(seen);
    let scene = Scene::of(&look);
    let question = question::<Database>(&seen.object);
    Event::ALL.iter().copied().filter(|event| holds(*event, &scene, question)).collect()
}

/// One arm per event, so that a new event does not compile until its fact is written.
fn holds(event: Event, scene: &Scene<'_>, question: Option<&Intervention>) -> bool {
    let (look, members) = (scene.look, &scene.members);
    let seen = look.seen;
    let answered = |verb| question.is_some_and(|question| question.answered(verb, answer(&seen.object).map(String::as_str)));
    match event {
        Event::DeletionRequested => seen.object.meta().deletion_timestamp.is_some(),
        Event::NamespaceEnding => ending::namespace_is_ending(scene),
        Event::Protected => ending::is_protected(scene),
        Event::RetainWanted => ending::fate(scene) == Fate::Retain,
        Event::SnapshotWanted => ending::fate(scene) == Fate::Snapshot,
        Event::DeleteWanted => ending::fate(scene) == Fate::Delete,
        Event::ChildrenGone => is_going(scene) && !is_left(scene),
        Event::ChildrenLeft => is_going(scene) && is_left(scene),
        Event::PauseRequested => is_set(&seen.object, PAUSED),
        Event::Resumed => !is_set(&seen.object, PAUSED),
        Event::SpecInvalid => look.wanted.is_err(),
        Event::PrimaryVolumeLost => scene.primary_volume_is_lost(),
        Event::ChildConflict => look.conflicts().next().is_some(),
        Event::SpecRenewed => question.is_some_and(|question| renewed(question, &seen.object)),
        Event::CredentialsLost => !credentials_lost(scene).is_empty(),
        Event::ReplicaDiverged => diverged(scene).is_some(),
        Event::SkipSnapshotAnswered => answered(Verb::SkipSnapshot),
        Event::KeepVolumesAnswered => answered(Verb::KeepVolumes),
        Event::ResetPasswordsAnswered => answered(Verb::ResetPasswords),
        Event::RollbackAnswered => answered(Verb::Rollback) && look.can_roll_back(),
        Event::AdoptAnswered => answered(Verb::Adopt),
        Event::YieldAnswered => answered(Verb::Yield),
        Event::RetryAnswered => answered(Verb::Retry),
        Event::ObstacleGone => question.is_some_and(|question| look.obstacle_gone(question.reason)),
        Event::DowngradeFound => majors(scene).is_some_and(|(data, image)| image < data),
        Event::MajorFound => majors(scene).is_some_and(|(data, image)| image > data),
        Event::Unprobed => is_unprobed(scene),
        Event::StorageFixed => small_claims(scene).any(|claim| is_fixed(claim, &look.children)),
        Event::StorageGrown => small_claims(scene).next().is_some(),
        Event::StorageExpanded => small_claims(scene).next().is_none(),
        Event::SpecRefused => look.refused(),
        Event::NothingRefused => !look.refused(),
        Event::JobFailed => matches!(job(scene), Some(Job::Failed)),
        Event::JobDone => matches!(job(scene), Some(Job::Done)),
        Event::JobMissing => matches!(job(scene), Some(Job::Missing)),
        Event::NeverRestored => was_never_restored(scene),
        Event::NeverInitialized => scene.primary_is_as_wanted() && scene.more.initialized.is_none() && !look.refused(),
        Event::AllReady => look.settled,
        Event::NeverReady => was_never_ready(scene),
        Event::ImageChanged | Event::TemplateChanged | Event::ReplicasChanged => look.changes.contains(&event),
        Event::ParametersChanged => look.changes.contains(&event) || scene.starts_otherwise(),
        Event::ExtensionsAdded => lacks_extensions(scene) && !look.refused(),
        Event::PrimaryReady => members.primary_is_ready(),
        Event::DeadlinePassed => look.is_overdue(),
        Event::DriftFought => look.is_fought_over(),
        Event::ResetAllowed => is_reset_allowed(scene),
        Event::SwitchoverWanted => is_switchover_wanted(scene),
        Event::PrimaryLost => !members.primary_is_ready(),
        Event::ChildrenDrifted => !look.missing.is_empty(),
        Event::PodsOutdated => members.outdated().next().is_some(),
        Event::ReplicaLost => members.primary_is_ready() && !look.settled,
        Event::AuxiliariesDrifted => look.target.as_ref().is_some_and(|target| !needed::auxiliaries(scene, target).is_empty()),
    }
}

fn renewed(question: &Intervention, object: &v1::Database) -> bool {
    object.meta().generation.unwrap_or_default() > question.generation && question.about != about(&super::more::KeptSpec::from(object))
}

/// Were the pods never all ready?
pub fn was_never_ready(scene: &Scene<'_>) -> bool {
    scene.look.seen.object.status().is_none_or(|status| status.last_good.is_none())
}

/// Is something being removed, so that it is counted what is left?
fn is_going(scene: &Scene<'_>) -> bool {
    scene.look.seen.object.meta().deletion_timestamp.is_some()
}

fn is_left(scene: &Scene<'_>) -> bool {
    ending::is_left(scene, scene.phase() != Phase::Retaining)
}

/// What was lost of the passwords, where there is a server that knows some and nobody has allowed new ones.
pub fn credentials_lost(scene: &Scene<'_>) -> Vec<Loss> {
    let children = &scene.look.children;
    let known = !scene.is_new() && scene.more.reset_time.is_none();
    let taken = |slot: &Slot<_>| !matches!(slot, Slot::Free | Slot::Ours(_));
    if !known || taken(&children.internal) || taken(&children.application) {
        return Vec::new();
    }
    let name = scene.look.seen.object.name_any();
    Credentials::stored(&name, children.internal.ours(), children.application.ours()).err().unwrap_or_default()
}

/// The replica whose volume holds what the primary lacks, in its own words.
pub fn diverged(scene: &Scene<'_>) -> Option<(u32, String)> {
    let said = |(ordinal, _)| Some((ordinal, scene.members.refusal(ordinal)?));
    let mut said = scene.members.pods().filter_map(said);
    said.find(|(_, (word, _))| matches!(word, Word::Ahead | Word::Diverged)).map(|(ordinal, (_, sentence))| (ordinal, sentence))
}

/// The major versions of the data and of the wanted image, where both are known.
pub fn majors(scene: &Scene<'_>) -> Option<(u32, u32)> {
    let wanted = scene.look.wanted.as_ref().ok().filter(|_| !scene.look.refused())?;
    let data = scene.more.initialized.as_ref()?.version / 10_000;
    Some((data, learning::answer(&scene.more, wanted)?.version / 10_000)).filter(|(data, image)| data != image)
}

fn is_unprobed(scene: &Scene<'_>) -> bool {
    let wanted = scene.look.wanted.as_ref().ok().filter(|_| !scene.look.refused());
    wanted.is_some_and(|wanted| learning::answer(&scene.more, wanted).is_none())
}

/// Claims of servers that are smaller than the target wants them.
fn small_claims<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = &'a PersistentVolumeClaim> {
    let size = scene.look.target.as_ref().map(|target| &target.storage.size);
    let claims = scene.look.children.claims.iter().filter_map(Slot::ours);
    claims.filter(move |claim| size.is_some_and(|size| is_smaller(claim, size)))
}

/// Is it known that this claim cannot grow?
fn is_fixed(claim: &PersistentVolumeClaim, children: &Children) -> bool {
    let class = claim.spec.as_ref().and_then(|spec| spec.storage_class_name.as_ref());
    let classes = children.classes.found();
    class.zip(classes).is_some_and(|(name, classes)| {
        classes.iter().find(|class| class.name_any() == *name).is_none_or(|class| class.allow_volume_expansion != Some(true))
    })
}

/// How far the Job of the state is.
enum Job {
    Missing,
    Failed,
    Done,
}

fn job(scene: &Scene<'_>) -> Option<Job> {
    let phase = scene.phase();
    let task = work::task(scene.look, phase)?;
    match task.progress {
        Progress::Missing | Progress::Another(_) => Some(Job::Missing),
        Progress::Running => None,
        Progress::Failed(_) => Some(Job::Failed),
        Progress::Done(line) => Some(if super::outcome::of(scene.look, task.work, &line).is_ok() { Job::Done } else { Job::Failed }),
    }
}

fn was_never_restored(scene: &Scene<'_>) -> bool {
    let asked = scene.look.target.as_ref().is_some_and(|target| target.restore_from.is_some());
    asked && was_never_ready(scene) && scene.more.restored.is_none() && scene.primary_is_as_wanted()
}

fn lacks_extensions(scene: &Scene<'_>) -> bool {
    let made = scene.more.initialized.as_ref().filter(|_| scene.primary_is_as_wanted());
    let wanted = scene.look.target.as_ref().map(|target| &target.extensions);
    made.zip(wanted).is_some_and(|(made, wanted)| wanted.iter().any(|name| !made.extensions.contains(name)))
}

fn is_reset_allowed(scene: &Scene<'_>) -> bool {
    scene.more.reset_time.is_some()
}

/// Has the primary to be another pod: since its own is to go, since nobody is it just now, or since the one that takes over
/// serves as a replica still?
fn is_switchover_wanted(scene: &Scene<'_>) -> bool {
    let Some(told) = scene.members.told().filter(|_| !was_never_ready(scene)) else { return false };
    let goes = |primary: u32| scene.look.target.as_ref().is_some_and(|target| primary >= target.replicas.unsigned_abs());
    let served = |primary: u32| scene.members.pod(primary).is_some_and(Members::is_labelled);
    told.primary.is_none_or(|primary| goes(primary) || served(primary))
}

/// Is everything as the target wants it, beside what the children themselves say?
pub fn is_undone(scene: &Scene<'_>) -> bool {
    let lost = || !credentials_lost(scene).is_empty();
    scene.more.initialized.is_none()
        || lacks_extensions(scene)
        || was_never_restored(scene)
        || is_reset_allowed(scene)
        || is_switchover_wanted(scene)
        || scene.starts_otherwise()
        || scene.members.outdated().next().is_some()
        || small_claims(scene).next().is_some()
        || lost()
}
