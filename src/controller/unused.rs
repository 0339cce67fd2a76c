//! What every object of a kind in a namespace shares, and nobody needs any more: no object is there, or it is of an earlier
//! release and nobody mounts it. The API server itself says so before it is removed.

use super::caches::Caches;
use super::calls::{Unanswered, fetch};
use super::live::listed;
use super::perform::{Owner, perform};
use super::site::Site;
use super::sweep::is_written_here;
use crate::kinds::Served;
use crate::kinds::apply::removal;
use crate::kinds::children::{ChildVisitor, is_shared};
use crate::kinds::order::Child;
use crate::kinds::rendered::SHARED_BY;
use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::ListParams;
use kube::core::{ObjectList, PartialObjectMeta, Request};
use kube::{Client, Resource, ResourceExt};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked for; only what was found twice is removed. A look reads what mounts it.
const EVERY: Duration = Duration::from_mins(5);

/// Removes it for as long as it is polled.
pub async fn removing<K: Served>(site: Arc<Site<K>>) {
    if K::shared().is_none() {
        return std::future::pending().await;
    }
    let mut before = BTreeSet::new();
    loop {
        let found = unused(&site.caches);
        let twice: Vec<_> = found.iter().filter(|map| map.uid().is_some_and(|uid| before.contains(&uid))).cloned().collect();
        before = found.iter().filter_map(|map| map.uid()).collect();
        for map in twice {
            let (namespace, name) = (map.namespace().unwrap_or_default(), map.name_any());
            match remove(&site, &map).await {
                Ok(true) => tracing::info!(namespace, name, "nobody needs it any more: removed"),
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, namespace, name, "what nobody needs any more was not removed"),
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// What nobody needs, as far as the caches tell.
fn unused<K: Served>(caches: &Caches<K>) -> Vec<Arc<ConfigMap>> {
    let mut maps = caches.family::<ConfigMap>().ours.all();
    maps.retain(|map| is_of_kind::<K>(map) && map.metadata.deletion_timestamp.is_none());
    if !maps.is_empty() {
        let objects = caches.objects.all();
        let needing: BTreeSet<_> = objects.iter().filter_map(|object| object.meta().namespace.as_deref()).collect();
        let is_to_be_there =
            |map: &ConfigMap| is_current::<K>(map) && map.metadata.namespace.as_deref().is_some_and(|it| needing.contains(it));
        maps.retain(|map| !is_to_be_there(map) && !Seen { caches, map, mounted: false }.of_each_type());
    }
    maps
}

fn is_of_kind<K: Served>(map: &ConfigMap) -> bool {
    is_shared(map) && map.labels().get(SHARED_BY).is_some_and(|kind| *kind == K::Object::kind(&()))
}

fn is_current<K: Served>(map: &ConfigMap) -> bool {
    K::shared() == Some(map.name_any().as_str())
}

/// Removes it where the API server itself says that nobody needs it.
async fn remove<K: Served>(site: &Site<K>, map: &ConfigMap) -> Result<bool, Unanswered> {
    let namespace = map.namespace().unwrap_or_default();
    let mut lists = Lists { client: &site.client, map, calls: Vec::new() };
    K::child_types(&mut lists);
    // A server that was not made anew yet mounts what no template names any more.
    lists.of::<Pod>();
    for mounted in lists.calls {
        if mounted.await? {
            return Ok(false);
        }
    }
    if is_current::<K>(map) {
        let objects = Request::new(K::Object::url_path(&(), Some(&namespace))).list_metadata(&ListParams::default().limit(1));
        let objects = fetch::<ObjectList<PartialObjectMeta>>(&site.client, objects).await?;
        // Where nothing is told of the kind, nothing is known.
        if objects.is_none_or(|objects| !objects.items.is_empty()) {
            return Ok(false);
        }
    }
    let Some(order) = removal(map) else { return Ok(false) };
    // What was copied, or restored from a backup, may be there before what mounts it.
    if !is_written_here(&site.client, &namespace, &order).await? {
        return Ok(false);
    }
    let performed = perform(&site.client, &Owner::gone::<K>(&namespace, "", ""), &[order]).await;
    let whole = performed.whole();
    performed.failure.map_or(Ok(whole), Err)
}

/// Whatever runs pods and may mount a map, as the caches have it.
struct Seen<'a, K: Served> {
    caches: &'a Caches<K>,
    map: &'a ConfigMap,
    mounted: bool,
}

impl<K: Served> Seen<'_, K> {
    fn of_each_type(mut self) -> bool {
        K::child_types(&mut self);
        self.mounted
    }
}

impl<K: Served> ChildVisitor for Seen<'_, K> {
    fn child<T: Child>(&mut self) {
        if T::KIND.serves() && !self.mounted {
            self.mounted = self.caches.family::<T>().ours.all().iter().any(|child| mounts(child.as_ref(), self.map));
        }
    }
}

/// The same as the API server has it, whoever made it.
struct Lists<'a> {
    client: &'a Client,
    map: &'a ConfigMap,
    calls: Vec<BoxFuture<'a, Result<bool, Unanswered>>>,
}

impl Lists<'_> {
    fn of<T: Child>(&mut self) {
        let (client, map) = (self.client, self.map);
        let call = async move {
            let all = listed::<T>(client, &map.namespace().unwrap_or_default(), "").await?;
            Ok(all.iter().any(|child| mounts(child.as_ref(), map)))
        };
        self.calls.push(call.boxed());
    }
}

impl ChildVisitor for Lists<'_> {
    fn child<T: Child>(&mut self) {
        if T::KIND.serves() {
            self.of::<T>();
        }
    }
}

fn mounts<T: Child>(child: &T, map: &ConfigMap) -> bool {
    let name = format!("\"{}\"", map.name_any());
    child.namespace() == map.namespace() && serde_json::to_string(child).is_ok_and(|text| text.contains(&name))
}
