//! What a Job and its pods have said of how they ended.
//!
//! A Job's result is its own container's. A service mesh may inject a sidecar into the pod: one that runs for ever keeps the pod
//! from ending, and one that ends badly makes the pod fail.

use crate::kinds::children::controller;
use crate::kinds::database::children::jobs::CONTAINER;
use crate::kinds::pods::has_ended;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::batch::v1::{Job, JobCondition};
use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use std::sync::Arc;

/// When a Job's controller began.
pub fn begin(job: &Job) -> Option<&Time> {
    job.status.as_ref()?.start_time.as_ref()
}

/// When a Job ended well.
pub fn completion(job: &Job) -> Option<Time> {
    job.status.as_ref()?.completion_time.clone()
}

/// A condition of a Job that holds.
fn condition<'a>(job: &'a Job, name: &str) -> Option<&'a JobCondition> {
    let mut conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.find(|one| one.type_ == name && one.status == "True")
}

/// Why a Job has failed, in its controller's words.
pub fn failure(job: &Job) -> Option<String> {
    let failed = condition(job, "Failed")?;
    Some(format!("{}: {}", failed.reason.as_deref().unwrap_or("Failed"), failed.message.as_deref().unwrap_or("it gives no reason")))
}

/// When a Job has failed.
pub fn failed_at(job: &Job) -> Option<Time> {
    condition(job, "Failed")?.last_transition_time.clone()
}

/// Did a Job end well?
pub fn is_complete(job: &Job) -> bool {
    condition(job, "Complete").is_some()
}

/// What came of a Job.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Did it end well?
    pub well: bool,
    /// When, by the clock of whoever wrote it down.
    pub time: Option<Time>,
    /// Its last words; nothing where it ended well and nobody has told them yet.
    pub words: Option<String>,
    /// When it was made, by the API server's clock, and how long it took, which is the same by any clock.
    ran: Option<(Timestamp, SignedDuration)>,
}

impl End {
    /// When it ended, by the API server's clock: not before it was made and had run. Between the two it may have waited, so a
    /// clock that is behind is corrected as far as that, and one that is ahead is not.
    pub fn at(&self) -> Option<Time> {
        let at_least = self.ran.and_then(|(made, took)| made.checked_add(took).ok()).map(Time);
        self.time.clone().max(at_least)
    }
}

/// What came of a Job; nothing while its own container runs, or another attempt follows.
pub fn end(pods: &[Arc<Pod>], job: &Job) -> Option<End> {
    let words = |well| last_line(pods, job, well);
    let newest = |well| accompanied(pods, job).filter_map(|pod| own_end(pod, well)).max_by_key(|end| finished(end));
    // Whatever becomes of the pod, the work was done.
    if let Some(end) = newest(true).filter(|end| said(end).is_some()) {
        let ran = ran(job, end.started_at.as_ref(), end.finished_at.as_ref());
        return Some(End { well: true, time: finished(end), words: said(end), ran });
    }
    if is_complete(job) {
        let ran = ran(job, begin(job), completion(job).as_ref());
        return Some(End { well: true, time: completion(job), words: words(true), ran });
    }
    if let Some(why) = failure(job) {
        let ran = ran(job, begin(job), failed_at(job).as_ref());
        return Some(End { well: false, time: failed_at(job), words: words(false).or(Some(why)), ran });
    }
    let last = newest(false).filter(|_| !is_tried_anew(job) && accompanied(pods, job).all(|pod| pod.metadata.deletion_timestamp.is_none()));
    last.map(|end| End { well: false, time: finished(end), words: words(false), ran: None })
}

fn ran(job: &Job, from: Option<&Time>, to: Option<&Time>) -> Option<(Timestamp, SignedDuration)> {
    Some((job.creation_timestamp()?.0, to?.0.duration_since(from?.0)))
}

/// Pods of a Job with a sidecar.
fn accompanied<'a>(pods: &'a [Arc<Pod>], job: &Job) -> impl Iterator<Item = &'a Arc<Pod>> {
    pods_of(pods, job).filter(|pod| statuses(pod).any(|status| status.name != CONTAINER))
}

/// Does another attempt follow the one that is failing?
fn is_tried_anew(job: &Job) -> bool {
    let failed = job.status.as_ref().and_then(|status| status.failed).unwrap_or_default();
    failed < job.spec.as_ref().and_then(|spec| spec.backoff_limit).unwrap_or_default()
}

/// The pods of a Job whose own container has failed while a sidecar runs on.
pub fn kept_running<'a>(pods: &'a [Arc<Pod>], job: &Job) -> impl Iterator<Item = &'a Arc<Pod>> {
    let runs = |status: &ContainerStatus| status.state.as_ref().is_none_or(|state| state.terminated.is_none());
    let stays = |pod: &Pod| pod.metadata.deletion_timestamp.is_none() && !has_ended(pod);
    accompanied(pods, job).filter(move |pod| stays(pod) && own_end(pod, false).is_some() && statuses(pod).any(runs))
}

fn statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten())
}

/// Those of `pods` that are the Job's: pods of an earlier Job of its name may go on ending, and say what that one did.
pub fn pods_of<'a>(pods: &'a [Arc<Pod>], job: &Job) -> impl Iterator<Item = &'a Arc<Pod>> {
    let uid = job.uid();
    pods.iter().filter(move |pod| controller(pod.as_ref()).map(|owner| &owner.uid) == uid.as_ref() && uid.is_some())
}

/// The last line of the newest pod of a Job that ended so.
pub fn last_line(pods: &[Arc<Pod>], job: &Job, well: bool) -> Option<String> {
    let ended = pods_of(pods, job).filter_map(|pod| Some((pod.creation_timestamp()?.0, ended(pod, well)?)));
    ended.max_by_key(|(made, _)| *made).map(|(_, line)| line)
}

fn ended(pod: &Pod, well: bool) -> Option<String> {
    let end = own_end(pod, well)?;
    said(end).or_else(|| (!well).then(|| format!("exit code {} ({})", end.exit_code, end.reason.as_deref().unwrap_or("Error"))))
}

/// How a Job's own container ended, where it ended so.
fn own_end(pod: &Pod, well: bool) -> Option<&ContainerStateTerminated> {
    let end = statuses(pod).find(|status| status.name == CONTAINER)?.state.as_ref()?.terminated.as_ref()?;
    ((end.exit_code == 0) == well).then_some(end)
}

fn said(end: &ContainerStateTerminated) -> Option<String> {
    end.message.clone().filter(|message| !message.trim().is_empty())
}

fn finished(end: &ContainerStateTerminated) -> Option<Time> {
    end.finished_at.clone().or_else(|| end.started_at.clone())
}

/// Is a dump of then still the last word on data that is being written to?
pub fn is_fresh(taken: &Time, now: Timestamp) -> bool {
    const FRESH: SignedDuration = SignedDuration::from_mins(5);
    now.duration_since(taken.0) < FRESH
}
