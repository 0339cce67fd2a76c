//! What goes wrong, in the words of those it happens to.

use super::Memcached;
use super::counts::{Counts, pods_alive};
use crate::kinds::Observation;
use crate::kinds::intervention::Evidence;
use crate::kinds::look::Look;
use crate::kinds::pods::{ended_long_ago, strayed, trouble, unready};
use crate::kinds::questions::{drift, quote};
use crate::kinds::status::WaitingFor;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use std::sync::Arc;

/// How many objects are quoted: the first ones say it all.
const QUOTED: usize = 4;

/// How much of what a pod waits on is said: an image's name alone may be as long as the schema allows.
const WHAT: usize = 256;

/// Pods that will not become ready unless something changes.
pub fn waiting_on_an_error(seen: &Observation<Memcached>) -> impl Iterator<Item = &Arc<Pod>> {
    seen.children.pods.iter().filter(|pod| trouble(pod).is_some())
}

/// What was refused, what keeps the Deployment back, and the pods in trouble, for `status.waitingFor`.
pub fn waiting_for(seen: &Observation<Memcached>) -> Vec<WaitingFor> {
    let wait = |kind: String, name: String, what: &str| WaitingFor { kind, name, what: what.chars().take(WHAT).collect() };
    let refused = seen.refusal.iter().map(|refusal| {
        let (kind, name) = refusal.about(&seen.object);
        wait(kind, name, &refusal.words)
    });
    let deployment = failing_deployment(seen).map(|said| wait(said.kind, said.name, &said.words));
    let pod = |pod: &Arc<Pod>, what: &str| wait("Pod".to_owned(), pod.name_any(), what);
    let pods = seen.children.pods.iter().filter(|pod| !ended_long_ago(pod, seen.now));
    let pods = pods.filter_map(|it| Some(pod(it, &trouble(it)?.what)));
    let strays = strays(seen).map(|(it, why)| pod(it, &why));
    refused.chain(deployment).chain(pods).chain(strays).take(QUOTED).collect()
}

/// Everything that was seen to go wrong, for a question.
pub fn evidence(look: &Look<'_, Memcached>) -> Vec<Evidence> {
    let seen = look.seen;
    let refused = seen.refusal.iter().map(|refusal| {
        let (kind, name) = refusal.about(&seen.object);
        quote(&kind, &name, &refusal.words)
    });
    let pods = || seen.children.pods.iter();
    let waiting = pods().filter_map(|pod| Some(quote("Pod", &pod.name_any(), &trouble(pod)?.words)));
    // A pod that runs and is never ready has no error; it is quoted after those that have one.
    let silent = pods().filter(|pod| trouble(pod).is_none());
    let silent = silent.filter_map(|pod| Some(quote("Pod", &pod.name_any(), &unready(pod)?)));
    let strays = strays(seen).map(|(pod, why)| quote("Pod", &pod.name_any(), &why));
    let said: Vec<Evidence> =
        refused.chain(drift(look)).chain(failing_deployment(seen)).chain(waiting.chain(silent).chain(strays).take(QUOTED)).collect();
    if said.is_empty() { short_of(look).into_iter().collect() } else { said }
}

/// Pods that are none of the Deployment's, and why.
fn strays(seen: &Observation<Memcached>) -> impl Iterator<Item = (&Arc<Pod>, String)> {
    let name = seen.object.name_any();
    seen.children.pods.iter().filter_map(move |pod| Some((pod, strayed(pod, &name)?)))
}

/// Pods that carry the labels of this object's pods beyond those that are wanted: nobody else counts them.
fn too_many(look: &Look<'_, Memcached>) -> String {
    if pods_alive(look.seen) <= look.replicas() {
        return String::new();
    }
    let names: Vec<String> = look.seen.children.pods.iter().map(|pod| pod.name_any()).collect();
    format!("; these pods carry its labels: {}; delete those that are too many, or take the labels off", names.join(", "))
}

/// Where nobody complains, the Deployment's own counts say what is missing.
fn short_of(look: &Look<'_, Memcached>) -> Option<Evidence> {
    let deployment = look.seen.children.deployment.ours()?;
    let Counts { updated, total, ready, available, .. } = Counts::of(deployment);
    let wait = deployment.spec.as_ref().and_then(|spec| spec.min_ready_seconds).filter(|seconds| *seconds > 0);
    let wait = wait.map(|seconds| format!("; its minReadySeconds is {seconds}")).unwrap_or_default();
    let wanted = look.replicas();
    let wait = wait + &too_many(look);
    let words = format!(
        "of {wanted} wanted: replicas {total}, updatedReplicas {updated}, readyReplicas {ready}, availableReplicas {available}{wait}"
    );
    Some(quote("Deployment", &deployment.name_any(), &words))
}

fn failing_deployment(seen: &Observation<Memcached>) -> Option<Evidence> {
    let deployment = seen.children.deployment.ours()?;
    let conditions = || deployment.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let (name, namespace) = (deployment.name_any(), deployment.namespace().unwrap_or_default());
    let words = if deployment.metadata.deletion_timestamp.is_some() {
        format!("it is being deleted, and held by its finalizers: {}", deployment.finalizers().join(", "))
    } else if deployment.spec.as_ref().and_then(|spec| spec.paused).unwrap_or_default() {
        format!("it is paused: kubectl rollout resume deployment/{name} -n {namespace}")
    } else {
        let failure = conditions().find(|condition| condition.type_ == "ReplicaFailure" && condition.status == "True")?;
        // Of a template that was given up the condition stands on, while pods of the one after it are made.
        let since = failure.last_transition_time.as_ref();
        let newer = |pod: &Arc<Pod>| pod.creation_timestamp().zip(since).is_some_and(|(made, since)| made.0 > since.0);
        if seen.children.pods.iter().any(newer) {
            return None;
        }
        failure.message.clone().unwrap_or_else(|| failure.type_.clone())
    };
    Some(quote("Deployment", &name, &words))
}
