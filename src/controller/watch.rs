//! Watches feed caches. What nobody reads is dropped on the way in: see [`super::kept`].

use super::cache::{Cache, Change};
use super::listing::{Listing, Scope};
use crate::kinds::{Served, read};
use futures::{Stream, StreamExt};
use kube::core::{ApiResource, DynamicObject};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;
use tracing::{debug, warn};

/// The wait after the first failure of a watch.
const SHORTEST: Duration = Duration::from_millis(500);
/// The longest wait between two tries.
const LONGEST: Duration = Duration::from_secs(30);

/// How many objects a list gives at once: each may be as large as the API server takes one, and all of a page are held.
const PAGE: u32 = 50;

fn config(label_selector: Option<String>) -> watcher::Config {
    watcher::Config { label_selector, page_size: Some(PAGE), ..watcher::Config::default() }
}

/// A type without runtime type information.
pub trait Watched: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static {}
impl<T> Watched for T where T: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static {}

/// Events of every `T`, for ever.
pub fn all<T: Watched>(client: &Client) -> impl Stream<Item = watcher::Result<Event<T>>> + Send + use<T> {
    watcher(Api::<T>::all(client.clone()), config(None))
}

/// Events of every `T` in `scope` that `labels` selects, for ever.
pub fn events<T>(client: &Client, scope: &Scope, labels: &str) -> impl Stream<Item = watcher::Result<Event<T>>> + Send + use<T>
where
    T: Watched + Resource<Scope = k8s_openapi::NamespaceResourceScope>,
{
    let api: Api<T> = match scope {
        Scope::ClusterScoped | Scope::Cluster => Api::all(client.clone()),
        Scope::Namespace(namespace) => Api::namespaced(client.clone(), namespace),
    };
    let label_selector = (!labels.is_empty()).then(|| labels.to_owned());
    watcher(api, config(label_selector))
}

/// Feeds `cache` from `events`, for ever; `listing` is told when everything is listed, and when that is refused.
pub async fn feed<T: Watched, S: Stream<Item = watcher::Result<Event<T>>> + Send>(
    cache: Arc<Cache<T>>,
    scope: Scope,
    events: impl Fn(&Scope) -> S + Send,
    strip: fn(&mut T),
    tell: impl Fn(&T, Change) + Send + Sync,
    listing: Listing,
) {
    let mut stream = Box::pin(events(&scope));
    let (mut wait, mut has_failed) = (SHORTEST, false);
    let resource = T::plural(&());
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                // A watch that cannot list begins anew each time: only what follows shows that it works.
                if !matches!(event, Event::Init) {
                    wait = SHORTEST;
                    if std::mem::take(&mut has_failed) {
                        listing.works(&scope, &resource);
                    }
                }
                if cache.take(&scope, event.modify(strip), &tell) {
                    debug!(kind = %T::kind(&()), ?scope, "listed");
                    listing.listed(&scope);
                }
            }
            Err(error) => {
                has_failed = true;
                listing.failed(&scope, &resource, &error);
                warn!(kind = %T::kind(&()), ?scope, %error, ?wait, "a watch failed and is tried again");
                tokio::time::sleep(wait).await;
                wait = LONGEST.min(wait * 2);
                // One that may not go on begins with a list: that it is let in again would be told by no event.
                if matches!(error, watcher::Error::WatchStartFailed(_)) {
                    stream = Box::pin(events(&scope));
                }
            }
        }
    }
}

/// Events of every object of the kind in `scope`, for ever; each is read as far as it can be, so that none stops another.
pub fn objects<K: Served>(client: &Client, scope: &Scope) -> impl Stream<Item = watcher::Result<Event<K::Object>>> + Send + use<K> {
    let resource = ApiResource::erase::<K::Object>(&());
    let api: Api<DynamicObject> = match scope {
        Scope::ClusterScoped | Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespace(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
    };
    let events = watcher(api, config(None));
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
