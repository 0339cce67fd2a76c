//! Pods: how many, whose, and what keeps one from becoming ready, in its own words.

use super::children::controller;
use super::prose::cause;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodCondition};
use kube::ResourceExt;

/// How much of what a container said last is quoted, beside what is said of it: where it wrote no last words, this is a log.
const LAST_WORDS: usize = 400;

/// So many pods.
pub fn counted(count: i32) -> String {
    if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") }
}

/// One of a pod's conditions.
pub fn condition<'a>(pod: &'a Pod, name: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.iter().flatten().find(|condition| condition.type_ == name)
}

/// What one pod waits on.
pub struct Trouble {
    /// The same words for as long as the trouble is the same.
    pub what: String,
    /// All that was said.
    pub words: String,
}

/// What the pod waits on, where something keeps it from becoming ready.
pub fn trouble(pod: &Pod) -> Option<Trouble> {
    let status = pod.status.as_ref()?;
    if pod.metadata.deletion_timestamp.is_some() {
        return None;
    }
    if let Some(reason) = status.reason.as_ref().filter(|_| has_ended(pod)) {
        let words = format!("{reason}: {}", status.message.as_deref().unwrap_or_default());
        return Some(Trouble { what: format!("it failed ({reason})"), words });
    }
    if let Some(condition) = condition(pod, "PodScheduled").filter(|condition| condition.status == "False") {
        let words = format!("Unschedulable: {}", condition.message.as_deref().unwrap_or_default());
        return Some(Trouble { what: "no node takes it (Unschedulable)".into(), words });
    }
    let containers = status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
    let once = pod.spec.as_ref().is_some_and(|spec| spec.restart_policy.as_deref() == Some("Never"));
    let is_well = |container: &&ContainerStatus| container.ready || once && has_ended_well(container);
    containers.filter(|container| !is_well(container)).find_map(container_trouble)
}

/// Has it done what it had to do? Its pod says so a moment later.
fn has_ended_well(container: &ContainerStatus) -> bool {
    let end = container.state.as_ref().and_then(|state| state.terminated.as_ref());
    end.is_some_and(|end| end.exit_code == 0)
}

/// Did it end by itself, or was it ended? Its place is taken by another.
pub fn has_ended(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    phase.is_some_and(|phase| ["Succeeded", "Failed"].contains(&phase))
}

/// Since when a pod is ready, or is not.
pub fn ready_since(pod: &Pod) -> Option<Timestamp> {
    Some(condition(pod, "Ready")?.last_transition_time.as_ref()?.0)
}

/// Did it end so long before `now` that what is waited for today has another cause?
pub fn ended_long_ago(pod: &Pod, now: Timestamp) -> bool {
    const LONG: SignedDuration = SignedDuration::from_mins(1);
    has_ended(pod) && ready_since(pod).is_none_or(|fell| now.duration_since(fell) > LONG)
}

/// Is it a pod of the Deployment `name`? Its `ReplicaSet` is named after that and after the template.
pub fn is_ours(pod: &Pod, name: &str) -> bool {
    let set = pod.labels().get("pod-template-hash").map(|template| format!("{name}-{template}"));
    controller(pod).is_some_and(|owner| owner.kind == "ReplicaSet" && Some(&owner.name) == set.as_ref())
}

/// Why the pod is none of the Deployment `name`, although it carries the labels of one that is.
pub fn strayed(pod: &Pod, name: &str) -> Option<String> {
    if has_ended(pod) || pod.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let whose = match controller(pod) {
        Some(_) if is_ours(pod, name) => return None,
        Some(owner) => format!("{} {} controls it", owner.kind, owner.name),
        None => "no ReplicaSet controls it".to_owned(),
    };
    Some(format!("{whose}, and it carries the labels of this object's pods; delete it, or take them off"))
}

/// What a pod's own condition says against it.
pub fn unready(pod: &Pod) -> Option<String> {
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
    let last_words = cause(end.message.as_deref().unwrap_or_default().trim(), LAST_WORDS);
    let code = format!("exit code {} ({why})", end.exit_code);
    let words: Vec<&str> = [said, &code, &last_words].into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    Some(Trouble { what: format!("its container ends with exit code {} ({why})", end.exit_code), words: words.join("; ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_container_that_ends_well_is_trouble_where_it_is_to_run_on() {
        let ended = json!([{ "name": "job", "ready": false, "restartCount": 0, "image": "", "imageID": "",
            "state": { "terminated": { "exitCode": 0, "reason": "Completed" } } }]);
        let pod = |policy: &str| -> Pod {
            let pod = json!({ "spec": { "containers": [], "restartPolicy": policy }, "status": { "containerStatuses": ended } });
            serde_json::from_value(pod).expect("a pod")
        };
        assert!(trouble(&pod("Never")).is_none());
        assert_eq!(trouble(&pod("Always")).expect("trouble").what, "its container ends with exit code 0 (Completed)");
    }

    #[test]
    fn a_pod_that_runs_and_is_never_ready_says_so_itself() {
        let unready_containers = json!([{ "type": "Ready", "status": "False", "message": "containers with unready status: [server]" }]);
        let running =
            json!([{ "name": "server", "ready": false, "restartCount": 0, "image": "", "imageID": "", "state": { "running": {} } }]);
        let pod =
            json!({ "metadata": { "name": "cache-1" }, "status": { "conditions": unready_containers, "containerStatuses": running } });
        let pod: Pod = serde_json::from_value(pod).expect("a pod");
        assert!(trouble(&pod).is_none(), "it waits on no error, so `retry` does not remove it");
        assert_eq!(unready(&pod).as_deref(), Some("NotReady: containers with unready status: [server]"));
    }
}
