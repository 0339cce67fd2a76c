//! What stands in no namespace, and looks read: watched as a whole, where the kind declares that it reads it.

use super::cache::{Cache, Key};
use super::caches::Watch;
use super::kept;
use super::listing::{Listing, Scope};
use super::queue::Queue;
use super::watch::{self, Watched};
use crate::kinds::reading::{ReadKind, Readable, Readings, Wanted, wanted};
use crate::kinds::{Served, question};
use futures::FutureExt;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::storage::v1::StorageClass;
use kube::{Client, ResourceExt};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The caches of what stands in no namespace; empty where the kind reads none of it.
pub struct ClusterScoped {
    /// Every namespace.
    pub namespaces: Arc<Cache<Namespace>>,
    /// Every class.
    pub classes: Arc<Cache<StorageClass>>,
}

impl ClusterScoped {
    /// Caches, and the watches that will feed those that the kind reads. Each thing is told anew whenever it is listed, so only
    /// the objects are looked at that wait for it.
    pub fn watched<K: Served>(
        client: &Client,
        objects: &Arc<Cache<K::Object>>,
        queue: &Arc<Queue>,
        listing: &Listing,
        watches: &mut Vec<Watch>,
    ) -> Self {
        let (objects, queue) = (objects.clone(), queue.clone());
        let ask = move |waits: &dyn Fn(&K::Object) -> bool| {
            objects.all().iter().filter(|object| waits(object)).for_each(|object| queue.add(Key::of(object.as_ref())));
        };
        let ask_again = ask.clone();
        let ends = move |namespace: &Namespace| {
            if namespace.metadata.deletion_timestamp.is_some() {
                ask(&|object| object.namespace() == namespace.metadata.name);
            }
        };
        let changes = move |_: &StorageClass| ask_again(&|object| question::<K>(object).is_some());
        let namespaces = fed::<K, _>(client, listing, watches, ends);
        ClusterScoped { namespaces, classes: fed::<K, _>(client, listing, watches, changes) }
    }

    /// What of it a look at `object` needs.
    pub fn readings<K: Served>(&self, object: &K::Object) -> Readings {
        let mut readings = Readings::default();
        for Wanted { kind, name } in wanted::<K>(object) {
            match kind {
                ReadKind::Namespace => take(&self.namespaces, name, &mut readings),
                ReadKind::StorageClass => take(&self.classes, name, &mut readings),
                ReadKind::Secret => {}
            }
        }
        readings
    }
}

/// A cache of every `T`, which is fed where the kind reads some.
fn fed<K: Served, T: Readable + Watched>(
    client: &Client,
    listing: &Listing,
    watches: &mut Vec<Watch>,
    tell: impl Fn(&T) + Send + Sync + 'static,
) -> Arc<Cache<T>> {
    let cache = Arc::new(Cache::new(&[Scope::ClusterScoped]));
    if read_by::<K>().contains(&T::KIND) {
        let client = client.clone();
        let events = move |_: &Scope| watch::all(&client);
        let tell = move |thing: &T, _| tell(thing);
        watches.push(watch::feed(cache.clone(), Scope::ClusterScoped, events, kept::bookkeeping, tell, listing.clone()).boxed());
    }
    cache
}

/// Which of it the kind reads.
pub fn read_by<K: Served>() -> BTreeSet<ReadKind> {
    K::READINGS.iter().map(|source| source.kind).filter(|kind| kind.is_the_clusters()).collect()
}

fn take<T: Readable>(cache: &Cache<T>, name: Option<String>, readings: &mut Readings) {
    if let Some(name) = name {
        let found = cache.get(&Key { namespace: String::new(), name: name.clone() });
        readings.took(name, found);
    } else {
        readings.took_all(cache.all());
    }
}
