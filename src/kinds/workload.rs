//! Children that own pods: a Deployment, a StatefulSet.

use super::apply::{apply, count, relabel};
use super::children::Slot;
use super::digest;
use super::intervention::Subject;
use super::order::{Child, Order};
use super::rendered::Rendered;
use super::yielded;
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};

/// A child that owns pods.
pub trait Workload: Child {
    /// A digest of its pod template as the API server returned it.
    fn template(&self) -> String;
    /// How many pods it is to have.
    fn replicas(&self) -> Option<i32>;
}

macro_rules! workloads {
    ($($type:ty)*) => { $(impl Workload for $type {
        fn template(&self) -> String {
            digest::of(&self.spec.as_ref().map(|spec| &spec.template))
        }
        fn replicas(&self) -> Option<i32> {
            self.spec.as_ref()?.replicas
        }
    })* };
}

workloads! { Deployment StatefulSet }

/// How many pods are worked towards: as many as the spec asks for, or where the count is left to another writer, as many as that
/// one wrote last.
pub fn counted<T: Workload>(slot: &Slot<T>, yielded: &[Subject], wanted: i32) -> i32 {
    let left = slot.ours().filter(|_| yielded::leaves(yielded, T::KIND, "/spec/replicas", &wanted));
    left.and_then(Workload::replicas).unwrap_or(wanted)
}

/// What makes the owner of pods what is rendered, unless its template stands as an older operator rendered it. Of one that
/// stands, only the pods are counted; and a label that was lost comes back without the rest.
pub fn apply_workload<T: Workload>(
    slot: &Slot<T>,
    rendered: Rendered,
    wanted: i32,
    stands: Option<&String>,
    yielded: &[Subject],
) -> Option<Order> {
    if let (Some(_), Slot::Unlabelled { uid, bare }) = (stands, slot) {
        return Some(relabel(rendered.child, uid, *bare));
    }
    if let (Some(settled), Some(live)) = (stands, slot.ours())
        && live.template() == *settled
    {
        let replicas = live.replicas().unwrap_or(1);
        return (replicas != wanted).then(|| count(live, rendered.child, &["spec", "replicas"], replicas, wanted));
    }
    apply(slot, rendered, yielded)
}
