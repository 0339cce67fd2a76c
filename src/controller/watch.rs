//! Watches feed caches. What nobody reads is dropped on the way in.

use super::cache::{Cache, Change, Key, Scope};
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::core::{DeserializeGuard, ObjectMeta, PartialObjectMeta};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fmt::Debug;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Sender;
use tracing::{debug, warn};

/// The wait after the first failure of a watch.
const SHORTEST: Duration = Duration::from_millis(500);
/// The longest wait between two tries.
const LONGEST: Duration = Duration::from_secs(30);

/// A namespaced type without runtime type information.
pub trait Watched:
    Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}
impl<T> Watched for T where
    T: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

/// Events of every `T` in `scope` that `labels` selects, for ever.
pub fn events<T: Watched>(client: &Client, scope: &Scope, labels: &str) -> impl Stream<Item = watcher::Result<Event<T>>> + Send + use<T> {
    let api: Api<T> = match scope {
        Scope::Cluster => Api::all(client.clone()),
        Scope::Namespace(namespace) => Api::namespaced(client.clone(), namespace),
    };
    let label_selector = (!labels.is_empty()).then(|| labels.to_owned());
    watcher(api, watcher::Config { label_selector, ..watcher::Config::default() })
}

/// Feeds `cache` from `events`, for ever; `unsynced` counts down once, when everything is listed.
pub async fn feed<T: Watched>(
    cache: Arc<Cache<T>>,
    scope: Scope,
    events: impl Stream<Item = watcher::Result<Event<T>>> + Send,
    strip: fn(&mut T),
    tell: impl Fn(&T, Change) + Send + Sync,
    unsynced: Arc<Sender<usize>>,
) {
    let mut events = pin!(events);
    let mut wait = SHORTEST;
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                // A watch that cannot list begins anew each time: only what follows shows that it works.
                if !matches!(event, Event::Init) {
                    wait = SHORTEST;
                }
                if cache.take(&scope, event.modify(strip), &tell) {
                    debug!(kind = %T::kind(&()), ?scope, "listed");
                    unsynced.send_modify(|count| *count = count.saturating_sub(1));
                }
            }
            Err(error) => {
                warn!(kind = %T::kind(&()), ?scope, %error, ?wait, "a watch failed and is tried again");
                tokio::time::sleep(wait).await;
                wait = LONGEST.min(wait * 2);
            }
        }
    }
}

/// Takes the objects that cannot be read out of the stream, so that one of them stops nobody else.
///
/// Each is logged once for each of its versions, and once more when everything is listed anew. One that was readable before is told as gone:
/// the operator must not act on what it was.
pub fn readable<T: Watched>(
    cache: Arc<Cache<T>>,
    events: impl Stream<Item = watcher::Result<Event<DeserializeGuard<T>>>> + Send,
) -> impl Stream<Item = watcher::Result<Event<T>>> + Send {
    let mut unreadable: HashMap<Key, String> = HashMap::new();
    events.filter_map(move |event| {
        let event = event.map(|event| guarded(&cache, event, &mut unreadable)).transpose();
        std::future::ready(event)
    })
}

fn guarded<T: Watched>(cache: &Cache<T>, event: Event<DeserializeGuard<T>>, unreadable: &mut HashMap<Key, String>) -> Option<Event<T>> {
    let (wrap, object): (fn(T) -> Event<T>, _) = match event {
        Event::Init => {
            // What is gone since must not be remembered for ever.
            unreadable.clear();
            return Some(Event::Init);
        }
        Event::InitDone => return Some(Event::InitDone),
        Event::Apply(object) => (Event::Apply, object),
        Event::InitApply(object) => (Event::InitApply, object),
        Event::Delete(object) => {
            unreadable.remove(&Key::of(&object));
            (Event::Delete, object)
        }
    };
    let (key, version) = (Key::of(&object), object.resource_version().unwrap_or_default());
    match object.0 {
        Ok(object) => {
            unreadable.remove(&key);
            Some(wrap(object))
        }
        Err(invalid) => {
            if unreadable.get(&key) != Some(&version) {
                warn!(kind = %T::kind(&()), namespace = key.namespace, name = key.name, error = invalid.error, "an object cannot be read and is left alone");
                unreadable.insert(key.clone(), version);
            }
            cache.get(&key).map(|known| Event::Delete(known.as_ref().clone()))
        }
    }
}

/// Drops what the API server keeps for writers only.
pub fn bookkeeping<T: Resource>(object: &mut T) {
    let meta = object.meta_mut();
    meta.managed_fields = None;
    if let Some(annotations) = &mut meta.annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
}

/// Leaves of a pod who it is, whose it is, and how it fares.
pub fn pod(pod: &mut Pod) {
    let mut all = std::mem::take(&mut pod.metadata);
    let (labels, deletion_timestamp) = (all.labels.take(), all.deletion_timestamp.take());
    pod.metadata = ObjectMeta { labels, deletion_timestamp, ..identity(all) };
    pod.spec = None;
}

/// Leaves of a stranger who it is and who controls it.
pub fn stranger<T>(object: &mut PartialObjectMeta<T>) {
    object.types = None;
    object.metadata = identity(std::mem::take(&mut object.metadata));
}

fn identity(all: ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: all.name,
        namespace: all.namespace,
        uid: all.uid,
        resource_version: all.resource_version,
        owner_references: all.owner_references,
        ..ObjectMeta::default()
    }
}
