//! Ends Jobs whose own container has ended while a sidecar runs on in the pod.

use crate::kinds::apply::{removal, removal_with};
use crate::kinds::database::children::COMPONENT;
use crate::kinds::database::children::names::Work;
use crate::kinds::database::object::more::FailedAttempt;
use crate::kinds::database::scene::Scene;
use crate::kinds::database::scene::said::{self, End};
use crate::kinds::database::scene::work::is_waited_for;
use crate::kinds::order::{Cascade, Order};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;

/// How many characters of its last words are kept.
const WORDS: usize = 1024;

/// Where the work is done and the status says so, the Job is removed with its pod, so that no pod is made anew. Where an attempt
/// failed, the pod alone is removed: the Job's controller counts it, and tries again or gives up.
pub fn orders(scene: &Scene<'_>) -> Vec<Order> {
    let children = &scene.look.children;
    let jobs = children.every_job().chain(children.made.iter().map(AsRef::as_ref));
    jobs.filter(|job| job.metadata.deletion_timestamp.is_none()).flat_map(|job| ended(scene, job)).collect()
}

fn ended(scene: &Scene<'_>, job: &Job) -> Vec<Order> {
    let pods = &scene.look.children.job_pods;
    let is_over = || said::is_complete(job) || said::failure(job).is_some();
    match said::end(pods, job) {
        Some(end) if !is_written_down(scene, job, &end) => Vec::new(),
        Some(End { well: true, .. }) if is_over() => Vec::new(),
        Some(End { well: true, .. }) => removal_with(job, Cascade::Foreground).into_iter().collect(),
        Some(End { well: false, .. }) | None if !has_kept_words(scene, job) => Vec::new(),
        Some(End { well: false, .. }) | None => said::kept_running(pods, job).filter_map(|pod| removal(pod.as_ref())).collect(),
    }
}

/// The attempt that failed last beside a sidecar: its words would go with its pod.
pub fn failed_attempt(scene: &Scene<'_>, before: Option<FailedAttempt>) -> Option<FailedAttempt> {
    let children = &scene.look.children;
    let is_there = |attempt: &FailedAttempt| children.every_job().any(|job| job.uid().as_ref() == Some(&attempt.job));
    children.every_job().find_map(|job| attempt(scene, job)).or(before.filter(is_there))
}

fn attempt(scene: &Scene<'_>, job: &Job) -> Option<FailedAttempt> {
    let pods = &scene.look.children.job_pods;
    said::kept_running(pods, job).next()?;
    let words = said::last_line(pods, job, false)?.chars().take(WORDS).collect();
    Some(FailedAttempt { job: job.uid()?, words })
}

/// Does the status have the words of this attempt? Those of a backup are told in an Event.
fn has_kept_words(scene: &Scene<'_>, job: &Job) -> bool {
    work(job).is_none() || scene.more.failed_attempt.is_some() && scene.more.failed_attempt == attempt(scene, job)
}

/// What a Job does; nothing for a backup.
fn work(job: &Job) -> Option<Work> {
    let component = job.labels().get(COMPONENT)?;
    Work::ALL.into_iter().find(|work| work.name() == component)
}

/// Does the status say what came of it, or the question that was asked about it?
fn is_written_down(scene: &Scene<'_>, job: &Job, end: &End) -> bool {
    let Some(work) = work(job) else {
        let times = scene.more.backup.as_ref();
        let told = times.and_then(|times| if end.well { times.last_success.as_ref() } else { times.last_failure.as_ref() });
        return told.zip(end.time.as_ref()).is_some_and(|(Time(told), Time(ended))| told >= ended);
    };
    let more = scene.more;
    let answered = match work {
        Work::Init => more.initialized.is_some(),
        Work::Restore => more.restored.is_some(),
        Work::Snapshot => more.snapshot.is_some(),
        Work::Generation => more.settings.as_ref().is_some_and(|settings| settings.read),
        Work::Probe => true,
    };
    !is_waited_for(scene.phase(), work) && (answered || !end.well)
}
