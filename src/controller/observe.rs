//! First verb: everything that a decision reads, at one moment. The only moment of the controller, and its only chance.

use super::calls::{Unanswered, bounded};
use super::clock;
use super::live::Live;
use super::read;
use super::relatives::Relatives;
use super::site::Site;
use super::watch;
use crate::kinds::entropy::{Entropy, SEED};
use crate::kinds::order::Refusal;
use crate::kinds::reading::Readings;
use crate::kinds::{Observation, Served};
use jiff::Timestamp;
use kube::api::{ApiResource, DynamicObject};
use kube::{Api, ResourceExt};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::time::Instant;

/// When a look takes place.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The API server's time in whole seconds, as it stores times.
    pub now: Timestamp,
    /// The same moment on a clock that never jumps, for waits.
    pub at: Instant,
    /// What passwords of this look are made from.
    pub entropy: Entropy,
}

/// Reads the clocks, and the system's chance.
pub fn clock() -> Moment {
    let now = clock::now();
    // A time that is cut down to its second stays within the range of times.
    Moment { now: Timestamp::from_second(now.as_second()).unwrap_or(now), at: Instant::now(), entropy: chance() }
}

/// A system that has no chance to give is one where no password is made; all else goes on.
fn chance() -> Entropy {
    let mut seed = [0; SEED];
    SystemRandom::new().fill(&mut seed).map_or(Entropy::default(), |()| Entropy::of(seed))
}

/// The time to the microsecond, so that two Events of one second are listed in their order.
pub fn stamp() -> Timestamp {
    clock::now()
}

/// What the caches show.
#[derive(Debug)]
pub struct Sight<K: Served> {
    /// What was seen.
    pub seen: Observation<K>,
    /// Does a child of a deleted object of the same name still stand in the way?
    pub orphaned: bool,
}

/// Looks at an object and its relatives in the caches, and in what was read of it before; without a call.
pub fn cached<K: Served>(site: &Site<K>, object: &K::Object, readings: &Readings, refusal: Option<Refusal>, moment: Moment) -> Sight<K> {
    sight(site, object.clone(), &Relatives::of(&site.caches, object, readings, None), refusal, moment)
}

/// Looks at the object, its pods and its precious children in the API server itself: what a destructive order is decided
/// on. `None` when the object is gone.
///
/// # Errors
/// When the API server does not say.
pub async fn live<K: Served>(
    site: &Site<K>,
    known: &K::Object,
    refusal: Option<Refusal>,
    moment: Moment,
) -> Result<Option<Observation<K>>, Unanswered> {
    let namespace = known.namespace().unwrap_or_default();
    let objects: Api<DynamicObject> = Api::namespaced_with(site.client.clone(), &namespace, &ApiResource::erase::<K::Object>(&()));
    let object = bounded(objects.get_opt(&known.name_any())).await?;
    let read = object.map(|object| watch::read::<K>(object)).transpose().map_err(kube::Error::SerdeError)?;
    let Some(object) = read.filter(|object| object.uid() == known.uid()) else { return Ok(None) };
    let readings = read::live(site, &object).await?;
    let live = Live::of::<K>(&site.client, &object).await?;
    Ok(Some(sight(site, object.clone(), &Relatives::of(&site.caches, &object, &readings, Some(&live)), refusal, moment).seen))
}

fn sight<K: Served>(site: &Site<K>, object: K::Object, relatives: &Relatives<'_, K>, refusal: Option<Refusal>, moment: Moment) -> Sight<K> {
    let children = K::children(relatives, &object);
    let orphaned = relatives.orphaned();
    let seen = Observation::new(object, children, site.settings.clone(), refusal, moment.now).with_entropy(moment.entropy);
    Sight { seen, orphaned }
}
