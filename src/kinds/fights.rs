//! Children that others write, again and again: a person is asked who shall have them.

use super::children::{Place, Siblings};
use super::look::{Compared, Look};
use super::order::Order;
use super::rendered::RENDERED;
use super::status::DRIFTS;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::object::HasStatus;
use kube::{Resource, ResourceExt};
use serde_json::Value;

/// Some tools put back what they want every few minutes only.
const FIGHT: SignedDuration = SignedDuration::from_hours(1);

impl<K: Compared> Look<'_, K> {
    /// Is a child not what the target says, again and again and since the last question?
    pub fn is_fought_over(&self) -> bool {
        self.is_fought_over_since(None)
    }

    /// Is it so by what was repaired since then alone?
    pub fn is_fought_over_since(&self, start: Option<&Time>) -> bool {
        let times = self.seen.object.status().map(|status| status.drift_times.as_slice()).unwrap_or_default();
        // What another clock has told of a time to come was not lately.
        let lately = |time: &Time| (SignedDuration::ZERO..FIGHT).contains(&self.seen.now.duration_since(time.0));
        let counts = |time: &&Time| lately(time) && start.is_none_or(|start| time.0 > start.0);
        self.drifted().next().is_some() && times.iter().filter(counts).count() >= DRIFTS
    }

    /// What mends children that others have changed: the spec as it is now was ordered before.
    pub fn drifted(&self) -> impl Iterator<Item = &Order> {
        let ordered = self.seen.object.status().and_then(|status| status.applied.as_ref()).map(|applied| applied.generation);
        let is_ordered = ordered.is_some() && ordered == self.seen.object.meta().generation;
        self.missing.iter().filter(move |_| is_ordered).chain(self.upkeep.iter().filter(|order| self.is_written_over(order)))
    }

    /// Was the child written just as it is wanted now, and by somebody else after that?
    fn is_written_over(&self, order: &Order) -> bool {
        let Order::Apply { child, object, uid: Some(_), .. } = order else { return false };
        let live = self.children.place(&self.seen.object.name_any(), child).and_then(Place::live);
        let rendered = |of: &Value| of["metadata"]["annotations"][RENDERED].clone();
        live.is_some_and(|live| rendered(&live) == rendered(object))
    }
}
