//! Watches feed caches. What nobody reads is dropped on the way in.

use super::cache::{Cache, Change};
use super::listing::{Listing, Scope};
use crate::kinds::annotations::PREFIX;
use crate::kinds::order::Child;
use crate::kinds::rendered::OWNER_UID;
use crate::kinds::{Served, read};
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, PodSpec};
use kube::core::{ApiResource, DynamicObject, ObjectMeta, PartialObjectMeta};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tracing::{debug, warn};

/// From how many bytes on what never changes is not kept.
const LARGE: usize = 4096;
/// The wait after the first failure of a watch.
const SHORTEST: Duration = Duration::from_millis(500);
/// The longest wait between two tries.
const LONGEST: Duration = Duration::from_secs(30);

/// A type without runtime type information.
pub trait Watched: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static {}
impl<T> Watched for T where T: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static {}

/// Events of every `T`, for ever.
pub fn all<T: Watched>(client: &Client) -> impl Stream<Item = watcher::Result<Event<T>>> + Send + use<T> {
    watcher(Api::<T>::all(client.clone()), watcher::Config::default())
}

/// Events of every `T` in `scope` that `labels` selects, for ever.
pub fn events<T>(client: &Client, scope: &Scope, labels: &str) -> impl Stream<Item = watcher::Result<Event<T>>> + Send + use<T>
where
    T: Watched + Resource<Scope = k8s_openapi::NamespaceResourceScope>,
{
    let api: Api<T> = match scope {
        Scope::Outside | Scope::Cluster => Api::all(client.clone()),
        Scope::Namespace(namespace) => Api::namespaced(client.clone(), namespace),
    };
    let label_selector = (!labels.is_empty()).then(|| labels.to_owned());
    watcher(api, watcher::Config { label_selector, ..watcher::Config::default() })
}

/// Feeds `cache` from `events`, for ever; `listing` is told once, when everything is listed.
pub async fn feed<T: Watched>(
    cache: Arc<Cache<T>>,
    scope: Scope,
    events: impl Stream<Item = watcher::Result<Event<T>>> + Send,
    strip: fn(&mut T),
    tell: impl Fn(&T, Change) + Send + Sync,
    listing: Listing,
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
                    listing.listed(&scope);
                }
            }
            Err(error) => {
                listing.failed(&scope, &error);
                warn!(kind = %T::kind(&()), ?scope, %error, ?wait, "a watch failed and is tried again");
                tokio::time::sleep(wait).await;
                wait = LONGEST.min(wait * 2);
            }
        }
    }
}

/// Events of every object of the kind in `scope`, for ever; each is read as far as it can be, so that none stops another.
pub fn objects<K: Served>(client: &Client, scope: &Scope) -> impl Stream<Item = watcher::Result<Event<K::Object>>> + Send + use<K> {
    let resource = ApiResource::erase::<K::Object>(&());
    let api: Api<DynamicObject> = match scope {
        Scope::Outside | Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespace(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
    };
    let events = watcher(api, watcher::Config::default());
    events.filter_map(async |event| match event {
        Ok(event) => as_read::<K>(event).map(Ok),
        Err(error) => Some(Err(error)),
    })
}

fn as_read<K: Served>(event: Event<DynamicObject>) -> Option<Event<K::Object>> {
    let read = |object: DynamicObject| {
        let (namespace, name) = (object.namespace(), object.name_any());
        let unreadable = |error| warn!(kind = %K::Object::kind(&()), namespace, name, %error, "an object cannot be read and is left alone");
        read::<K>(object).map_err(unreadable).ok()
    };
    Some(match event {
        Event::Init => Event::Init,
        Event::InitDone => Event::InitDone,
        Event::Apply(object) => Event::Apply(read(object)?),
        Event::InitApply(object) => Event::InitApply(read(object)?),
        Event::Delete(object) => Event::Delete(read(object)?),
    })
}

/// The object in its own type, as far as it can be read.
///
/// # Errors
/// When not even its metadata can be.
pub fn read<K: Served>(object: DynamicObject) -> Result<K::Object, serde_json::Error> {
    let DynamicObject { types: _, metadata, mut data } = object;
    data["metadata"] = serde_json::to_value(metadata)?;
    read::read::<K>(&data)
}

/// Drops what the API server keeps for writers only.
pub fn bookkeeping<T: Resource>(object: &mut T) {
    let meta = object.meta_mut();
    meta.managed_fields = None;
    if let Some(annotations) = &mut meta.annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
}

/// Of a child, too, what is large and never changes: it is known by its name.
pub fn child<T: Child>(child: &mut T) {
    bookkeeping(child);
    if let Some(map) = (child as &mut dyn Any).downcast_mut::<ConfigMap>() {
        let size = map.data.iter().flatten().map(|(_, text)| text.len()).sum::<usize>();
        if map.immutable == Some(true) && size > LARGE {
            map.data = None;
        }
    }
}

/// Leaves of a pod who it is, since when, whose it is, what holds it, which claims it uses, and how it fares. Whoever decides by
/// something else of a pod has it left here.
pub fn pod(pod: &mut Pod) {
    let mut all = std::mem::take(&mut pod.metadata);
    pod.metadata = ObjectMeta {
        labels: all.labels.take(),
        annotations: all.annotations.take().map(ours).filter(|left| !left.is_empty()),
        creation_timestamp: all.creation_timestamp.take(),
        deletion_timestamp: all.deletion_timestamp.take(),
        finalizers: all.finalizers.take(),
        ..identity(all)
    };
    pod.spec = pod.spec.take().map(|PodSpec { node_name, restart_policy, volumes, .. }| {
        let volumes = volumes.map(|volumes| volumes.into_iter().filter(|volume| volume.persistent_volume_claim.is_some()).collect());
        PodSpec { node_name, restart_policy, volumes, ..PodSpec::default() }
    });
}

fn ours(mut annotations: BTreeMap<String, String>) -> BTreeMap<String, String> {
    annotations.retain(|key, _| key.starts_with(PREFIX));
    annotations
}

/// Leaves of a stranger who it is, whose it is, and whether it has labels at all.
pub fn stranger<T>(object: &mut PartialObjectMeta<T>) {
    object.types = None;
    let mut all = std::mem::take(&mut object.metadata);
    let labels = all.labels.take().map(|mut labels| labels.remove_entry(OWNER_UID).into_iter().collect());
    object.metadata = ObjectMeta { labels, ..identity(all) };
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
