//! The Job of a phase: what it is to do, and how far it is.

use super::Scene;
use super::ground::{granted, waits_for_a_user};
use super::said::{self, End};
use super::siblings;
use crate::kinds::database::Database;
use crate::kinds::database::children::jobs::{self, Attempt};
use crate::kinds::database::children::names::Work;
use crate::kinds::database::children::topology::Topology;
use crate::kinds::database::lifecycle::words::Phase;
use crate::kinds::database::plan::Plan;
use crate::kinds::database::reports::results;
use crate::kinds::look::Look;
use crate::kinds::rendered::Rendered;
use jiff::SignedDuration;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use serde_json::json;
use std::borrow::Cow;

/// How far a Job is.
#[derive(Debug)]
pub enum Progress<'a> {
    /// It is not there.
    Missing,
    /// Another one stands in its way: one that was asked something else, or of which nobody can tell any more what came of it.
    Another(&'a Job),
    /// It has not ended, or nobody knows yet how.
    Running,
    /// It ended well, with this line.
    Done(String),
    /// It failed, in these words.
    Failed(String),
}

/// The Job of a phase.
#[derive(Debug)]
pub struct Task<'a> {
    /// What it is for.
    pub work: Work,
    /// It, as it is wanted.
    pub rendered: Rendered,
    /// How far it is.
    pub progress: Progress<'a>,
}

/// The phases that wait for a Job, and what it does.
const WORK: [(Phase, Work); 4] = [
    (Phase::Probing, Work::Probe),
    (Phase::Restoring, Work::Restore),
    (Phase::Initializing, Work::Init),
    (Phase::SnapshottingBeforeDelete, Work::Snapshot),
];

/// Is this work what `phase` waits for?
pub fn is_waited_for(phase: Phase, work: Work) -> bool {
    WORK.contains(&(phase, work))
}

/// The plan that the Job of `phase` is about: an image is asked about what is wanted, all else is about what serves.
pub fn plan<'a>(look: &'a Look<'_, Database>, phase: Phase) -> Option<&'a Plan> {
    if phase == Phase::Probing { look.wanted.as_ref().ok() } else { look.target.as_ref() }
}

/// The Job of `phase`, and how far it is; nothing where the phase has none, or nothing to ask.
pub fn task<'a>(look: &'a Look<'_, Database>, phase: Phase) -> Option<Task<'a>> {
    let (_, work) = WORK.into_iter().find(|(of, _)| *of == phase)?;
    let plan = plan(look, phase)?;
    let placed = if work == Work::Snapshot { placed_well(look, plan) } else { Cow::Borrowed(plan) };
    // A dump may wait for another one first.
    let seconds = if work.is_long() { patience(look, phase).max(2 * jobs::DUMP_SECONDS) } else { patience(look, phase) };
    let claim = dumps_claim(look).filter(|_| work == Work::Snapshot).and_then(ResourceExt::uid);
    let attempt = Attempt { question: siblings::attempt(&look.seen.object), seconds, binds: awaits_a_user(look), claim };
    let mut rendered = rendered(look, &placed, work, &attempt)?;
    // One of an earlier attempt goes on under its name.
    rendered.child.name.clone_from(&look.children.job(work)?.name);
    rendered.object["metadata"]["name"] = json!(rendered.child.name);
    // Servers have served since: another one is taken in its place.
    let old = |job: &&Job| work == Work::Snapshot && job.metadata.deletion_timestamp.is_none() && is_old(job, look);
    let old = ours(look, work).filter(old);
    let progress = old.map_or_else(|| progress(look, work, &rendered), Progress::Another);
    Some(Task { work, rendered, progress })
}

/// The last dump is made where and as what served last: nobody can mend a spec any more once its object is to go.
fn placed_well<'a>(look: &Look<'_, Database>, plan: &'a Plan) -> Cow<'a, Plan> {
    match &look.known.last_good {
        Some(good) if good.template != plan.template => Cow::Owned(Plan { template: good.template.clone(), ..plan.clone() }),
        _ => Cow::Borrowed(plan),
    }
}

/// The Job of this work, of today's attempt, where it is there and ours.
pub fn ours<'a>(look: &'a Look<'_, Database>, work: Work) -> Option<&'a Job> {
    look.children.job(work)?.slot.ours()
}

/// What came of the Job of this work.
pub fn end(look: &Look<'_, Database>, work: Work) -> Option<End> {
    said::end(&look.children.job_pods, ours(look, work)?)
}

/// When the Job of this work ended well, by the API server's clock.
pub fn completed_at(look: &Look<'_, Database>, work: Work) -> Option<Time> {
    end(look, work).filter(|end| end.well)?.at()
}

fn is_old(job: &Job, look: &Look<'_, Database>) -> bool {
    let ended = said::end(&look.children.job_pods, job).and_then(|end| end.at());
    ended.is_some_and(|time| !said::is_fresh(&time, look.seen.now))
}

/// The Job that waits until every server has read the settings of a mark.
pub fn reading<'a>(look: &'a Look<'_, Database>, mark: i64) -> Option<Task<'a>> {
    let (object, plan) = (&look.seen.object, look.target.as_ref()?);
    let told = look.children.topology.ours().and_then(|map| Topology::of(map).ok())?;
    let attempt = Attempt { question: siblings::attempt(object), seconds: patience(look, Phase::Restarting), ..Attempt::default() };
    let rendered = jobs::generation(object, plan, &told.peers, mark, &attempt);
    let progress = progress(look, Work::Generation, &rendered);
    Some(Task { work: Work::Generation, rendered, progress })
}

/// How long a Job may take, in seconds: longer than its state, since Kubernetes removes the pod of one that took too long, and
/// with it the words that say why.
fn patience(look: &Look<'_, Database>, phase: Phase) -> i64 {
    look.seen.settings.deadline(phase).as_secs().saturating_mul(2)
}

/// Has that Job ended well?
pub fn has_told(look: &Look<'_, Database>, mark: i64) -> bool {
    let told = |line: &str| {
        results::generation(line).is_ok_and(|all| all.values().all(|one| one.as_ref().is_some_and(|one| one.generation == Some(mark))))
    };
    matches!(reading(look, mark), Some(Task { progress: Progress::Done(line), .. }) if told(&line))
}

/// The claim of the dumps, where it is ours and stays.
pub fn dumps_claim<'a>(look: &'a Look<'_, Database>) -> Option<&'a PersistentVolumeClaim> {
    look.children.backups.ours().filter(|claim| claim.metadata.deletion_timestamp.is_none())
}

/// Has the claim of the dumps no volume before somebody uses it?
fn awaits_a_user(look: &Look<'_, Database>) -> bool {
    let claim = dumps_claim(look).filter(|claim| granted(claim).is_none());
    claim.is_some_and(|claim| waits_for_a_user(claim, &look.children) == Some(true))
}

fn rendered(look: &Look<'_, Database>, plan: &Plan, work: Work, attempt: &Attempt) -> Option<Rendered> {
    let object = &look.seen.object;
    Some(match work {
        Work::Probe => jobs::probe(object, plan, attempt),
        Work::Init => jobs::init(object, plan, attempt),
        Work::Restore => jobs::restore(object, plan, plan.restore_from.as_ref()?, attempt),
        Work::Snapshot => jobs::snapshot(object, plan, Scene::of(look).lead(), attempt),
        Work::Generation => return None,
    })
}

/// The last words of the attempt of a Job that failed last, where its pod is gone.
pub fn failed_words<'a>(look: &'a Look<'_, Database>, job: &Job) -> Option<&'a String> {
    let attempt = siblings::remembered(&look.seen.object).failed_attempt.as_ref()?;
    (job.metadata.uid.as_ref() == Some(&attempt.job)).then_some(&attempt.words)
}

fn progress<'a>(look: &'a Look<'_, Database>, work: Work, rendered: &Rendered) -> Progress<'a> {
    let children = &look.children;
    let Some(job) = ours(look, work) else { return Progress::Missing };
    if job.metadata.deletion_timestamp.is_some() {
        return Progress::Running;
    }
    if !jobs::is_asked_so(job, rendered) {
        return Progress::Another(job);
    }
    match said::end(&children.job_pods, job) {
        Some(End { well: true, words: Some(line), .. }) => Progress::Done(line),
        Some(End { well: false, words, .. }) => {
            let said = said::last_line(&children.job_pods, job, false).or_else(|| failed_words(look, job).cloned());
            Progress::Failed(said.or(words).unwrap_or_default())
        }
        Some(end) if is_speechless(look, job, end.at().as_ref()) => Progress::Another(job),
        // Its pod may be told of later than the Job itself.
        Some(End { well: true, words: None, .. }) | None => Progress::Running,
    }
}

/// Has a Job ended whose pod is gone, and with it what it said? Each script can run again.
fn is_speechless(look: &Look<'_, Database>, job: &Job, ended: Option<&Time>) -> bool {
    const MOMENT: SignedDuration = SignedDuration::from_secs(15);
    let long_ago = ended.is_some_and(|ended| look.seen.now.duration_since(ended.0) > MOMENT);
    long_ago && said::pods_of(&look.children.job_pods, job).next().is_none()
}
