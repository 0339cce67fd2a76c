//! What is read by its name, one call for each: Secrets, which nobody may watch; and on a live read the namespace too.

use super::calls::{Unanswered, fetch};
use super::memory::Memory;
use super::site::Site;
use crate::kinds::digest::fnv;
use crate::kinds::reading::{ReadKind, Readable, Readings, Wanted, wanted};
use crate::kinds::{Served, question};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::Client;
use kube::api::GetParams;
use kube::core::Request;
use kube::{Resource, ResourceExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long Secrets serve while something happens to their object.
const MOMENT: Duration = Duration::from_secs(30);
/// How long they serve at least while nothing does, and how much longer at most: not all are read at once again.
const REST: (Duration, u64) = (Duration::from_mins(15), 10 * 60);

/// Secrets that were read for a look.
#[derive(Debug)]
pub struct Secrets {
    readings: Readings,
    at: Instant,
    /// What a person had said of the object then.
    said: u64,
}

impl Secrets {
    /// How much longer they serve.
    pub fn left(&self, has_news: bool, at: Instant) -> Duration {
        let (least, spread) = REST;
        let patience = if has_news { MOMENT } else { least + Duration::from_secs(self.said % spread) };
        patience.saturating_sub(at.saturating_duration_since(self.at))
    }
}

/// A digest of what a person has said of an object: its spec, and its annotations.
fn said<K: Served>(object: &K::Object) -> u64 {
    let meta = object.meta();
    fnv(format!("{:?} {:?} {:?}", meta.uid, meta.generation, meta.annotations).as_bytes())
}

/// All that a look at `object` needs. Secrets that were read before serve once more, unless a person has said something since
/// then, or is asked.
///
/// # Errors
/// When the API server does not say of one of them whether it is there: its absence would be a guess.
pub async fn readings<K: Served>(site: &Site<K>, object: &K::Object, memory: &mut Memory, at: Instant) -> Result<Readings, Unanswered> {
    let is_asked = question::<K>(object).is_some();
    let said = said::<K>(object);
    let serve = |kept: &mut Secrets| !is_asked && kept.said == said && !kept.left(memory.has_news, at).is_zero();
    let kept = match memory.secrets.take_if(serve) {
        Some(kept) => kept,
        None => Secrets { readings: secrets::<K>(&site.client, object).await?, at, said },
    };
    memory.has_news &= kept.at != at;
    let readings = with(site, object, &kept.readings);
    memory.secrets = Some(kept).filter(|kept| !kept.readings.is_empty());
    Ok(readings)
}

/// The same, everything that has a name by a call.
///
/// # Errors
/// As [`readings`].
pub async fn live<K: Served>(site: &Site<K>, object: &K::Object) -> Result<Readings, Unanswered> {
    Ok(with(site, object, &named::<K>(&site.client, object, |_| true).await?))
}

/// What is watched of that which a look at `object` needs. No Secret is: where that is asked for, it is taken to be absent.
pub fn watched<K: Served>(site: &Site<K>, object: &K::Object) -> Readings {
    let mut readings = site.caches.cluster_scoped.readings::<K>(object);
    for Wanted { kind, name } in wanted::<K>(object) {
        if let (ReadKind::Secret, Some(name)) = (kind, name) {
            readings.took::<Secret>(name, None);
        }
    }
    readings
}

/// What is watched of that which a look at `object` needs, with what was read.
fn with<K: Served>(site: &Site<K>, object: &K::Object, read: &Readings) -> Readings {
    let mut readings = site.caches.cluster_scoped.readings::<K>(object);
    readings.took_again(read);
    readings
}

async fn secrets<K: Served>(client: &Client, object: &K::Object) -> Result<Readings, Unanswered> {
    named::<K>(client, object, |kind| kind == ReadKind::Secret).await
}

async fn named<K: Served>(client: &Client, object: &K::Object, is_read: fn(ReadKind) -> bool) -> Result<Readings, Unanswered> {
    let mut readings = Readings::default();
    let namespace = object.namespace().unwrap_or_default();
    for Wanted { kind, name } in wanted::<K>(object).into_iter().filter(|wanted| is_read(wanted.kind)) {
        let Some(name) = name else { continue };
        match kind {
            ReadKind::Namespace => take::<Namespace>(client, &namespace, name, &mut readings).await?,
            ReadKind::Secret => take::<Secret>(client, &namespace, name, &mut readings).await?,
            ReadKind::StorageClass => take::<StorageClass>(client, &namespace, name, &mut readings).await?,
        }
    }
    Ok(readings)
}

async fn take<T: Readable>(client: &Client, namespace: &str, name: String, readings: &mut Readings) -> Result<(), Unanswered> {
    let inside = (!T::KIND.is_the_clusters()).then_some(namespace);
    let things = Request::new(T::url_path(&(), inside));
    let found: Option<T> = fetch(client, things.get(&name, &GetParams::default())).await?;
    readings.took(name, found.map(Arc::new));
    Ok(())
}
