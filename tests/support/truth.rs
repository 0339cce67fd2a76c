//! What must be so of the cluster when the status says that it is.

use super::Object;
use super::world::{World, ending, hash, image_of, is_ours, is_ready, observed};
use pointsman::kinds::memcached::v1::MemcachedStatus;

/// Sentences for each way in which the status claims Ready and the cluster is otherwise; the
/// Deployment and its pods are those of one moment, as are the Service and the budget.
pub fn denied(object: &Object, status: &MemcachedStatus, at: &World) -> Vec<String> {
    let ready = status.conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let says_so = matches!(status.state.as_deref(), Some("Ready" | "Stopped"));
    let mut faults = Vec::new();
    // Who is paused is ready where nothing is left to be done.
    if ready != says_so && status.state.as_deref() != Some("Paused") {
        faults.push(format!("Ready={ready} is claimed in {:?}", status.state));
    }
    if ready {
        faults.extend(
            untrue(object, status, at)
                .into_iter()
                .map(|why| format!("Ready is claimed in {}, but {why}", status.state.clone().unwrap_or_default())),
        );
    }
    let generation = object.metadata.generation;
    if status.conditions.iter().any(|condition| condition.observed_generation != generation) || status.observed_generation != generation {
        faults.push("a condition is of another generation than the look".to_owned());
    }
    faults
}

/// What is left to another writer is what this status says: an answer of the same look may have left it.
fn untrue(object: &Object, status: &MemcachedStatus, at: &World) -> Vec<String> {
    let owner = object.metadata.uid.as_deref().unwrap_or_default();
    let Some(deployment) = at.deployment.as_ref().filter(|live| is_ours(&live.it.metadata, owner)).map(|live| &*live.it) else {
        return vec!["there is no Deployment of ours".to_owned()];
    };
    let (spec, mut why) = (deployment.spec.clone().unwrap_or_default(), Vec::new());
    let yielded = status.yielded.iter().filter_map(|subject| subject.field.as_deref());
    let left = |field: &str| yielded.clone().any(|yielded| yielded.contains(field));
    let wanted = if left("/spec/replicas") { spec.replicas.unwrap_or(1) } else { object.spec.replicas };
    if spec.replicas != Some(wanted) {
        why.push(format!("the Deployment asks for {:?} pods, not {wanted}", spec.replicas));
    }
    if !left("/image") && object.spec.image.as_ref().is_some_and(|image| *image != image_of(deployment)) {
        why.push(format!("the Deployment's image is {}", image_of(deployment)));
    }
    let container = spec.template.spec.and_then(|pod| pod.containers.into_iter().next()).unwrap_or_default();
    let args = container.args.unwrap_or_default();
    for (flag, value) in [("-c", object.spec.max_connections.to_string()), ("-p", object.spec.port.to_string())] {
        if !args.windows(2).any(|pair| pair[0] == flag && pair[1] == value) {
            why.push(format!("the pods run with {args:?}"));
        }
    }
    let pods: Vec<_> = at.pods.iter().filter(|pod| !ending(pod)).collect();
    let rested =
        object.status.as_ref().is_some_and(|before| matches!(before.state.as_deref(), Some("Ready" | "Stopped" | "RolledBack" | "Paused")));
    if !rested && observed(deployment) != deployment.metadata.generation {
        why.push("the Deployment's controller has not seen its spec".to_owned());
    }
    // What the counts do not say yet, nobody can know.
    if at.counts_are_fresh() {
        let (total, wanted) = (pods.len(), usize::try_from(wanted).unwrap_or_default());
        let (updated, ready) = (pods.iter().filter(|pod| hash(pod) == at.hash).count(), pods.iter().filter(|pod| is_ready(pod)).count());
        if (total, updated, ready) != (wanted, wanted, wanted) {
            why.push(format!("of {wanted} wanted pods {total} are there, {updated} of the template, {ready} ready"));
        }
    }
    why
}

/// The same of the Service and the budget, which other caches show.
pub fn without_address(object: &Object, status: &MemcachedStatus, service: &World, budget: &World) -> Vec<String> {
    let owner = object.metadata.uid.as_deref().unwrap_or_default();
    if !matches!(status.state.as_deref(), Some("Ready" | "Stopped")) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    if !service.service.as_ref().is_some_and(|live| is_ours(&live.it.metadata, owner)) {
        faults.push("Ready is claimed, but there is no Service of ours".to_owned());
    }
    let yields = object.status.as_ref().is_some_and(|status| !status.yielded.is_empty());
    if object.spec.replicas >= 2 && !yields && !budget.budget.as_ref().is_some_and(|live| is_ours(&live.it.metadata, owner)) {
        faults.push("Ready is claimed, but there is no PodDisruptionBudget of ours".to_owned());
    }
    faults
}
