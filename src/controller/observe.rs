//! First verb: everything that a decision reads, at one moment. The only clock of the controller.

use super::calls::{Unanswered, bounded};
use super::relatives::Relatives;
use super::site::Site;
use super::watch;
use crate::kinds::{Observation, Refusal, Served};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::{Api, ResourceExt};
use std::sync::Arc;
use tokio::time::Instant;

/// When a look takes place.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The time in whole seconds, as the API server stores times.
    pub now: Timestamp,
    /// The same moment on a clock that never jumps, for waits.
    pub at: Instant,
}

/// Reads the clocks.
pub fn clock() -> Moment {
    let now = Timestamp::now();
    // A time that is cut down to its second stays within the range of times.
    Moment { now: Timestamp::from_second(now.as_second()).unwrap_or(now), at: Instant::now() }
}

/// The time to the microsecond, so that two Events of one second are listed in their order.
pub fn stamp() -> Timestamp {
    Timestamp::now()
}

/// What the caches show.
#[derive(Debug)]
pub struct Sight<K: Served> {
    /// What was seen.
    pub seen: Observation<K>,
    /// Does a child of a deleted object of the same name still stand in the way?
    pub orphaned: bool,
}

/// Looks at an object and its relatives in the caches; without a call.
pub fn cached<K: Served>(site: &Site<K>, object: &K::Object, refusal: Option<Refusal>, now: Timestamp) -> Sight<K> {
    sight(site, object.clone(), None, refusal, now)
}

/// Looks at the object and its pods in the API server itself: what a destructive order is decided
/// on. `None` when the object is gone.
///
/// # Errors
/// When the API server does not say.
pub async fn live<K: Served>(
    site: &Site<K>,
    known: &K::Object,
    refusal: Option<Refusal>,
    now: Timestamp,
) -> Result<Option<Observation<K>>, Unanswered> {
    let namespace = known.namespace().unwrap_or_default();
    let objects: Api<DynamicObject> = Api::namespaced_with(site.client.clone(), &namespace, &ApiResource::erase::<K::Object>(&()));
    let pods: Api<Pod> = Api::namespaced(site.client.clone(), &namespace);
    let object = bounded(objects.get_opt(&known.name_any())).await?;
    let read = object.map(|object| watch::read::<K>(object)).transpose().map_err(kube::Error::SerdeError)?;
    let Some(object) = read.filter(|object| object.uid() == known.uid()) else { return Ok(None) };
    let labels: Vec<String> = K::selector(&object).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    let selected = ListParams::default().labels(&labels.join(","));
    let pods = bounded(pods.list(&selected)).await?.items.into_iter().map(Arc::new).collect();
    Ok(Some(sight(site, object, Some(pods), refusal, now).seen))
}

fn sight<K: Served>(site: &Site<K>, object: K::Object, pods: Option<Vec<Arc<Pod>>>, refusal: Option<Refusal>, now: Timestamp) -> Sight<K> {
    let relatives = Relatives::of(&site.caches, &object, pods);
    let children = K::children(&relatives, &object);
    let orphaned = relatives.orphaned();
    Sight { seen: Observation::new(object, children, site.settings.clone(), refusal, now), orphaned }
}
