//! How many pods there are, and what they say of themselves.

use super::Memcached;
use crate::kinds::Observation;
use crate::kinds::pods::{condition, has_ended};
use jiff::SignedDuration;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;

/// A Deployment's pods as its own status counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Has its controller seen the spec as it stands?
    pub seen: bool,
    /// Pods of the template as it stands.
    pub updated: i32,
    /// All pods.
    pub total: i32,
    /// Ready pods.
    pub ready: i32,
    /// Pods ready for long enough.
    pub available: i32,
}

impl Counts {
    /// The counts of a Deployment.
    pub fn of(deployment: &Deployment) -> Self {
        let Some(status) = &deployment.status else { return Counts::default() };
        Counts {
            seen: status.observed_generation >= deployment.metadata.generation,
            updated: status.updated_replicas.unwrap_or_default(),
            total: status.replicas.unwrap_or_default(),
            ready: status.ready_replicas.unwrap_or_default(),
            available: status.available_replicas.unwrap_or_default(),
        }
    }

    /// Pods of the target that are surely ready: those of the new template, less all that are not ready.
    pub fn progress(self) -> i32 {
        if self.seen { (self.updated - (self.total - self.ready)).max(0) } else { 0 }
    }
}

/// The pods as the Deployment counts them; where it is out of sight, as they say themselves.
pub fn counts(seen: &Observation<Memcached>) -> Counts {
    let ready = pods_ready(seen);
    let alone = Counts { total: pods_alive(seen), ready, available: ready, ..Counts::default() };
    seen.children.deployment.ours().map_or(alone, Counts::of)
}

/// Pods that exist. A terminating one counts until its time is over, and a moment: what stays for longer is on a node
/// that answers nobody. One that ended by itself, as an evicted one, is nobody's any more.
pub fn pods_alive(seen: &Observation<Memcached>) -> i32 {
    const MOMENT: SignedDuration = SignedDuration::from_secs(10);
    let alive = seen.children.pods.iter().filter(|pod| match &pod.metadata.deletion_timestamp {
        Some(end) => seen.now <= end.0 + MOMENT,
        None => !has_ended(pod),
    });
    i32::try_from(alive.count()).unwrap_or(i32::MAX)
}

/// Pods that say of themselves that they are ready. The Deployment's counts follow them, a moment later: a pod that was
/// replaced just now is still counted there.
pub fn pods_ready(seen: &Observation<Memcached>) -> i32 {
    let says_so = |pod: &Pod| condition(pod, "Ready").is_some_and(|condition| condition.status == "True");
    let staying = seen.children.pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    i32::try_from(staying.filter(|pod| says_so(pod)).count()).unwrap_or(i32::MAX)
}
