//! What a Job and its pods have said of how they ended.

use crate::kinds::database::children::jobs::CONTAINER;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::batch::v1::{Job, JobCondition};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use std::sync::Arc;

/// The label by which a Job's pods are found.
pub const JOB_NAME: &str = "batch.kubernetes.io/job-name";

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

/// Those of `pods` that are the Job's.
pub fn pods_of<'a>(pods: &'a [Arc<Pod>], job: &Job) -> impl Iterator<Item = &'a Arc<Pod>> {
    let name = job.name_any();
    pods.iter().filter(move |pod| pod.labels().get(JOB_NAME) == Some(&name))
}

/// The last line of the newest pod of a Job that ended so.
pub fn last_line(pods: &[Arc<Pod>], job: &Job, well: bool) -> Option<String> {
    let ended = pods_of(pods, job).filter_map(|pod| Some((pod.creation_timestamp()?.0, ended(pod, well)?)));
    ended.max_by_key(|(made, _)| *made).map(|(_, line)| line)
}

fn ended(pod: &Pod, well: bool) -> Option<String> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    let end = statuses.iter().find(|status| status.name == CONTAINER)?.state.as_ref()?.terminated.as_ref()?;
    let message = end.message.as_ref().filter(|message| !message.trim().is_empty());
    if (end.exit_code == 0) != well {
        return None;
    }
    message.cloned().or_else(|| (!well).then(|| format!("exit code {} ({})", end.exit_code, end.reason.as_deref().unwrap_or("Error"))))
}

/// Is a dump of then still the last word on data that is being written to?
pub fn is_fresh(taken: &Time, now: Timestamp) -> bool {
    const FRESH: SignedDuration = SignedDuration::from_mins(5);
    now.duration_since(taken.0) < FRESH
}
