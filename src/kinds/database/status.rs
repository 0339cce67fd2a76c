//! What the status remembers of a Database, and where it is found.

mod ask;
pub mod backups;
pub mod fixes;
pub mod news;
pub mod say;
mod trouble;
mod volumes;

use super::Database;
use super::children::{configuration, names};
use super::lifecycle::words::{Effect, Event, Phase};
use super::object::dumps::{BackupTimes, Taken};
use super::object::kept::KeptSpec;
use super::object::more::{Binding, LastWord, More, Reloaded};
use super::orders::{ending, finished_jobs};
use super::plan::{Plan, version};
use super::scene::Scene;
use super::scene::members::Members;
use super::scene::outcome::{self, Outcome};
use super::scene::recorded::record;
use super::scene::said::{self, End};
use super::scene::standing::{self, counted_fences};
use super::scene::work::{self, Progress};
use super::scene::{behind, diverged, learning};
use crate::kinds::look::Look;
use crate::kinds::passage::Remembered;
use crate::kinds::reason::Reason;
use crate::kinds::status::{Endpoint, Status};
use crate::kinds::workload::Workload;
use crate::machine::Step;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;

impl Remembered for Database {
    const APPLY: Effect = Effect::ApplyChildren;
    const GOOD: Phase = Phase::Ready;
    const DRIFT: Event = Event::ChildrenDrifted;
    const UPKEEP: Option<Effect> = Some(Effect::ApplyAuxiliaries);

    fn kept(plan: &Plan) -> KeptSpec {
        KeptSpec(plan.spec())
    }

    fn live_template(look: &Look<'_, Self>) -> Option<String> {
        look.children.servers.ours().map(Workload::template)
    }

    fn counted(look: &Look<'_, Self>) -> (i32, i32) {
        let members = Scene::of(look).members;
        (members.total(), members.ready())
    }

    fn place(status: &mut Status<KeptSpec>, look: &Look<'_, Self>, target: &Plan) {
        let object = &look.seen.object;
        let (name, namespace) = (object.name_any(), object.namespace().unwrap_or_default());
        let scene = Scene::of(look);
        status.image = Some(target.template.image.clone());
        if let Ok(wanted) = &look.wanted {
            status.default_image = object.spec.image.is_none().then(|| wanted.template.image.clone());
        }
        let endpoint =
            |what: &str, service: &str| Endpoint { name: what.to_owned(), address: format!("{service}.{namespace}.svc:{}", target.port) };
        status.endpoints = vec![endpoint("primary", &names::own(&name)), endpoint("replicas", &names::read_only(&name))];
        status.more.primary = scene.members.primary_name(&name);
        status.more.binding = look.children.application.ours().map(|_| Binding { name: names::application(&name) });
        let made = status.more.initialized.as_ref().map(|made| made.version);
        let runs = learning::answer(&status.more, target).map(|probed| probed.version).filter(|_| look.settled);
        status.more.version = runs.or(made).map(version::spelled).or(status.more.version.take());
        status.more.backup = backups(look, target, status.more.backup.take());
    }

    fn note(status: &mut Status<KeptSpec>, look: &Look<'_, Self>, step: &Step<Self>) {
        let scene = Scene::of(look);
        let more = &mut status.more;
        (more.system, more.later_epochs, more.diverged) = (record(&scene), behind::later(&scene), diverged::volumes(&scene));
        more.fences = counted_fences(&scene);
        more.failed_attempt = finished_jobs::failed_attempt(&scene, more.failed_attempt.take());
        more.begun |= matches!(step.next(), Phase::Restoring | Phase::Initializing);
        // Where the servers serve on, what they write from now on is in no dump.
        let stays = standing::is_going(&scene) && standing::is_protected(&scene) && more.snapshot.is_some();
        if (stays || step.cause() == Some(Event::Protected)) && ending::serves(&scene) {
            (more.snapshot, more.written_since, more.begun) = (None, Some(Time(look.seen.now)), true);
        }
        match step.cause() {
            Some(Event::JobDone) => learn(more, look, step.from()),
            Some(Event::ResetPasswordsAnswered) => (more.reset_time, more.unaware) = (Some(Time(look.seen.now)), None),
            Some(Event::BelieveVolumesAnswered) => more.system = behind::believable(&scene).or(more.system.take()),
            Some(Event::KeepVolumesAnswered) => more.last_word = Some(LastWord::KeepVolumes),
            Some(Event::SkipSnapshotAnswered) => more.last_word = Some(LastWord::SkipSnapshot),
            Some(Event::RetryAnswered) => try_again(more, &scene, status.intervention.as_ref().map(|asked| asked.reason)),
            _ => {}
        }
        more.retried = more.retried.take().filter(|uid| scene.members.pods().any(|(_, pod)| pod.metadata.uid.as_ref() == Some(uid)));
        more.settings = reloaded(&scene, more.settings.take());
        if more.reset_time.is_some() && (look.children.credentials.is_err() || more.unaware.is_none()) {
            more.unaware = Some(scene.members.uids());
        }
        if has_learnt_passwords(&scene) {
            // The application's own is told by the Job that makes its role.
            (more.reset_time, more.unaware, more.initialized) = (None, None, None);
        }
    }
}

/// Forgets what the question was about, so that it is found out anew.
fn try_again(more: &mut More, scene: &Scene<'_>, asked: Option<Reason>) {
    match (asked, &scene.look.wanted) {
        (Some(Reason::ProbeFailed), Ok(wanted)) => learning::forget(more, wanted),
        (Some(Reason::ReplicaDiverged), _) => {
            let pod = scene.diverged().and_then(|(ordinal, _)| scene.members.pod(ordinal));
            more.retried = pod.and_then(ResourceExt::uid);
        }
        (Some(Reason::SwitchoverStuck), _) => more.fences = None,
        _ => {}
    }
}

/// Takes in what the Job of a state has found out.
fn learn(more: &mut More, look: &Look<'_, Database>, phase: Phase) {
    let Some(work::Task { work, progress: Progress::Done(line) | Progress::Failed(line), .. }) = work::task(look, phase) else { return };
    match outcome::of(look, work, &line) {
        Ok(Outcome::Probed(probed)) => {
            let wanted = look.wanted.as_ref().ok();
            let known = [look.known.applied.as_ref(), look.known.last_good.as_ref(), look.known.refused.as_ref()];
            let plans: Vec<&Plan> = known.into_iter().chain([wanted]).flatten().collect();
            learning::remember(more, probed, &plans);
        }
        Ok(Outcome::Restored(taken)) => {
            let source = look.target.as_ref().and_then(|target| target.restore_from.as_ref());
            more.restored = Some(Taken { claim: source.map(|source| source.claim_name.clone()), ..taken });
            more.database = look.target.as_ref().map(|target| target.database.clone());
        }
        Ok(Outcome::Initialized(made, identifier)) => {
            more.initialized = Some(made);
            more.database = look.target.as_ref().map(|target| target.database.clone());
            more.system.get_or_insert_default().identifier = Some(identifier);
        }
        Ok(Outcome::Nothing) => more.begun = false,
        Ok(Outcome::Taken(taken)) => (more.snapshot, more.dumps) = (Some(taken), more.dumps.saturating_add(1)),
        Err(_) => {}
    }
}

/// Which settings stand to be read, and whether every server has read them: those of pods that are newer did at their start.
fn reloaded(scene: &Scene<'_>, before: Option<Reloaded>) -> Option<Reloaded> {
    let (look, now) = (scene.look, Time(scene.look.seen.now));
    let Some(target) = &look.target else { return before };
    let mark = configuration::mark(target, &scene.learned(target));
    if !look.children.settings.ours().is_some_and(|map| configuration::holds(map, mark)) {
        return before;
    }
    match before {
        Some(same) if same.mark == mark => {
            let younger = |pod: &Pod| same.older.as_ref().is_some_and(|older| !Members::is_one_of(pod, older));
            let read = same.read || scene.members.pods().all(|(_, pod)| younger(pod)) || work::has_told(look, mark);
            Some(Reloaded { read, ..same })
        }
        // The first servers start after their settings stand.
        before => Some(Reloaded { mark, time: now, read: before.is_none(), older: Some(scene.members.uids()) }),
    }
}

/// Were new passwords allowed, written, and read by a start of the primary?
fn has_learnt_passwords(scene: &Scene<'_>) -> bool {
    let primary = scene.members.primary().and_then(|primary| scene.members.pod(primary));
    let since = primary.zip(scene.more.unaware.as_ref()).is_some_and(|(pod, unaware)| !Members::is_one_of(pod, unaware));
    scene.more.reset_time.is_some() && scene.look.children.credentials.is_ok() && since && scene.members.primary_is_ready()
}

/// When backups were made and failed, and when the next one will be. What was pruned since is not forgotten.
fn backups(look: &Look<'_, Database>, target: &Plan, before: Option<BackupTimes>) -> Option<BackupTimes> {
    let before = before.unwrap_or_default();
    let ends = || look.children.made.iter().filter_map(|job| said::end(&look.children.job_pods, job));
    // Without its own word of what it wrote, it is no backup.
    let is_made = |end: &End| end.well && end.words.as_deref().is_none_or(|words| words.starts_with("OK "));
    let success = ends().filter(is_made).filter_map(|end| end.time).chain(before.last_success).max();
    let failure = ends().filter(|end| !end.well).filter_map(|end| end.time).chain(before.last_failure).max();
    let schedule = target.backup.schedule.as_ref().filter(|_| !target.backup.suspend);
    let next = schedule.and_then(|schedule| schedule.next(look.seen.now)).map(Time);
    let schedule = schedule.map(|schedule| format!("{} {}", schedule.line(), schedule.zone()));
    // What was missed under another schedule is not this one's.
    let since = before.since.filter(|_| before.schedule == schedule).or(Some(Time(look.seen.now))).filter(|_| schedule.is_some());
    let times = BackupTimes { last_success: success, last_failure: failure, schedule, since, next_time: next };
    (times != BackupTimes::default()).then_some(times)
}
