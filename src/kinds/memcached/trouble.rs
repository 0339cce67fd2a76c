//! What goes wrong, in the words of those it happens to.

use super::facts::Look;
use super::{Memcached, orders};
use crate::kinds::Observation;
use crate::kinds::children::controller;
use crate::kinds::intervention::Evidence;
use crate::kinds::order::Order;
use crate::kinds::status::WaitingFor;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodCondition};
use kube::ResourceExt;
use std::sync::Arc;

/// How many objects are quoted: the first ones say it all.
const QUOTED: usize = 4;
/// How much of an object's words is quoted.
pub const WORDS: usize = 600;

/// How much of what a pod waits on is said: an image's name alone may be as long as the schema allows.
const WHAT: usize = 256;

/// What is wrong with a pod that [`is_stray`].
const STRAY: &str = "no ReplicaSet controls it, and it carries the labels of this object's pods; delete it, or take them off";

/// What one pod waits on.
struct Trouble {
    /// The same words for as long as the trouble is the same.
    what: String,
    /// All that was said.
    words: String,
}

/// Pods that will not become ready unless something changes.
pub fn waiting_on_an_error(seen: &Observation<Memcached>) -> impl Iterator<Item = &Arc<Pod>> {
    seen.children.pods.iter().filter(|pod| trouble(pod).is_some())
}

/// What was refused, and the pods in trouble, for `status.waitingFor`.
pub fn waiting_for(seen: &Observation<Memcached>) -> Vec<WaitingFor> {
    let wait = |kind: String, name: String, what: &str| WaitingFor { kind, name, what: what.chars().take(WHAT).collect() };
    let refused = seen.refusal.iter().map(|refusal| wait(refusal.child.kind.name(), refusal.child.name.clone(), &refusal.words));
    let pods = waiting_on_an_error(seen).filter_map(|pod| Some(wait("Pod".to_owned(), pod.name_any(), &trouble(pod)?.what)));
    refused.chain(pods).take(QUOTED).collect()
}

/// Children that are not what they should be: the first difference of each.
pub fn drift(look: &Look<'_>) -> Vec<Evidence> {
    let words = |order: &Order| {
        let child = order.child();
        Some(quote(&child.kind.name(), &child.name, &orders::why(order, &look.seen.children)?))
    };
    look.missing.iter().filter_map(words).collect()
}

/// Everything that was seen to go wrong, for a question.
pub fn evidence(look: &Look<'_>) -> Vec<Evidence> {
    let seen = look.seen;
    let refused = seen.refusal.iter().map(|refusal| quote(&refusal.child.kind.name(), &refusal.child.name, &refusal.words));
    let pods = || seen.children.pods.iter();
    let waiting = pods().filter_map(|pod| Some(quote("Pod", &pod.name_any(), &trouble(pod)?.words)));
    // A pod that runs and is never ready has no error; it is quoted after those that have one.
    let silent = pods().filter(|pod| trouble(pod).is_none());
    let silent = silent.filter_map(|pod| Some(quote("Pod", &pod.name_any(), &unready(pod)?)));
    let strays = pods().filter(|pod| is_stray(pod)).map(|pod| quote("Pod", &pod.name_any(), STRAY));
    refused.chain(drift(look)).chain(failing_deployment(seen)).chain(waiting.chain(silent).chain(strays).take(QUOTED)).collect()
}

fn failing_deployment(seen: &Observation<Memcached>) -> Option<Evidence> {
    let deployment = seen.children.deployment.ours()?;
    let conditions = || deployment.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let (name, namespace) = (deployment.name_any(), deployment.namespace().unwrap_or_default());
    let words = if deployment.metadata.deletion_timestamp.is_some() {
        format!("it is being deleted, and held by its finalizers: {}", deployment.finalizers().join(", "))
    } else if deployment.spec.as_ref().and_then(|spec| spec.paused).unwrap_or_default() {
        format!("its roll-out is paused; to go on: kubectl rollout resume deployment/{name} -n {namespace}")
    } else {
        let failure = conditions().find(|condition| condition.type_ == "ReplicaFailure" && condition.status == "True")?;
        failure.message.clone().unwrap_or_else(|| failure.type_.clone())
    };
    Some(quote("Deployment", &name, &words))
}

fn quote(kind: &str, name: &str, words: &str) -> Evidence {
    Evidence { kind: kind.to_owned(), name: name.to_owned(), words: words.chars().take(WORDS).collect() }
}

fn trouble(pod: &Pod) -> Option<Trouble> {
    let status = pod.status.as_ref()?;
    if pod.metadata.deletion_timestamp.is_some() {
        return None;
    }
    if let Some(condition) = condition(pod, "PodScheduled").filter(|condition| condition.status == "False") {
        let words = format!("Unschedulable: {}", condition.message.as_deref().unwrap_or_default());
        return Some(Trouble { what: "no node takes it (Unschedulable)".into(), words });
    }
    let containers = status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
    containers.filter(|container| !container.ready).find_map(container_trouble)
}

/// One of a pod's conditions.
pub fn condition<'a>(pod: &'a Pod, name: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.iter().flatten().find(|condition| condition.type_ == name)
}

/// Is it a pod of the Deployment `name`? Its `ReplicaSet` is named after that and after the template.
pub fn is_ours(pod: &Pod, name: &str) -> bool {
    let set = pod.labels().get("pod-template-hash").map(|template| format!("{name}-{template}"));
    controller(pod).is_some_and(|owner| owner.kind == "ReplicaSet" && Some(&owner.name) == set.as_ref())
}

/// Does nobody control the pod, although it carries the labels of one of ours?
fn is_stray(pod: &Pod) -> bool {
    controller(pod).is_none()
}

/// What a pod's own condition says against it.
fn unready(pod: &Pod) -> Option<String> {
    let ready = condition(pod, "Ready").filter(|_| pod.metadata.deletion_timestamp.is_none());
    let condition = ready.filter(|condition| condition.status == "False")?;
    Some(format!("NotReady: {}", condition.message.as_deref().or(condition.reason.as_deref()).unwrap_or("it gives no reason")))
}

fn container_trouble(container: &ContainerStatus) -> Option<Trouble> {
    let state = container.state.clone().unwrap_or_default();
    let waiting = state.waiting.unwrap_or_default();
    let reason = waiting.reason.unwrap_or_default();
    let said = waiting.message.unwrap_or_default();
    let what = match reason.as_str() {
        "ErrImagePull" | "ImagePullBackOff" | "ErrImageNeverPull" | "InvalidImageName" => {
            format!("its image {} cannot be pulled", container.image)
        }
        "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => format!("its container cannot be made ({reason})"),
        "" | "ContainerCreating" | "PodInitializing" | "CrashLoopBackOff" => return ended(container, &said),
        _ => format!("it waits: {reason}"),
    };
    Some(Trouble { what, words: format!("{reason}: {said}") })
}

/// A container that ended before: with which code, and with which last words.
fn ended(container: &ContainerStatus, said: &str) -> Option<Trouble> {
    let now = container.state.as_ref().and_then(|state| state.terminated.as_ref());
    let before = container.last_state.as_ref().and_then(|state| state.terminated.as_ref());
    let end = now.or(before).filter(|_| container.restart_count > 0 || now.is_some())?;
    let why = end.reason.as_deref().unwrap_or("Error");
    let last_words = end.message.as_deref().unwrap_or_default().trim();
    let code = format!("exit code {} ({why})", end.exit_code);
    let words: Vec<&str> = [said, &code, last_words].into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    Some(Trouble { what: format!("its container ends with exit code {} ({why})", end.exit_code), words: words.join("; ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_that_runs_and_is_never_ready_says_so_itself() {
        let unready_containers = json!([{ "type": "Ready", "status": "False", "message": "containers with unready status: [memcached]" }]);
        let running =
            json!([{ "name": "memcached", "ready": false, "restartCount": 0, "image": "", "imageID": "", "state": { "running": {} } }]);
        let pod =
            json!({ "metadata": { "name": "cache-1" }, "status": { "conditions": unready_containers, "containerStatuses": running } });
        let pod: Pod = serde_json::from_value(pod).expect("a pod");
        assert!(trouble(&pod).is_none(), "it waits on no error, so `retry` does not remove it");
        assert_eq!(unready(&pod).as_deref(), Some("NotReady: containers with unready status: [memcached]"));
    }
}
