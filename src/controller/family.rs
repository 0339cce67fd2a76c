//! Whose is the object that stands under a child's name? Answered from caches, without a call.

use super::cache::{Cache, Key, Scope, version};
use super::caches::Caches;
use crate::kinds::Served;
use crate::kinds::children::{Lookup, Slot};
use crate::kinds::order::Child;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::PartialObjectMeta;
use kube::{Resource, ResourceExt};
use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;

/// All objects of one type: ours in full, the others by name only.
pub struct Family<T: Child> {
    /// Those that carry our label.
    pub ours: Arc<Cache<T>>,
    /// Those that do not.
    pub strangers: Arc<Cache<PartialObjectMeta<T>>>,
}

impl<T: Child> Family<T> {
    /// Two empty caches.
    pub fn new(scopes: &[Scope]) -> Self {
        Family { ours: Arc::new(Cache::new(scopes)), strangers: Arc::new(Cache::new(scopes)) }
    }
}

/// What can be asked of a family without naming its type.
pub trait Kin: Any + Send + Sync {
    /// The newest resourceVersion that has arrived of our children in `namespace`.
    fn newest(&self, namespace: &str) -> u64;
    /// The uid and version of our child at `key`, unless it is being deleted.
    fn alive(&self, key: &Key) -> Option<(String, u64)>;
}

impl<T: Child> Kin for Family<T> {
    fn newest(&self, namespace: &str) -> u64 {
        self.ours.newest(namespace)
    }
    fn alive(&self, key: &Key) -> Option<(String, u64)> {
        alive(self.ours.get(key)?.as_ref())
    }
}

/// The uid and version of an object, unless it is being deleted.
pub fn alive(object: &impl Resource) -> Option<(String, u64)> {
    let meta = object.meta();
    meta.uid.clone().filter(|_| meta.deletion_timestamp.is_none()).map(|uid| (uid, version(object)))
}

/// Who controls an object.
pub fn controller(object: &impl Resource) -> Option<&OwnerReference> {
    object.owner_references().iter().find(|owner| owner.controller == Some(true))
}

/// Is `owner` an object of kind `K`?
pub fn is_of_kind<K: Served>(owner: &OwnerReference) -> bool {
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    owner.kind == K::Object::kind(&()) && group == K::Object::group(&())
}

/// The relatives of one object, as the caches know them.
pub struct Relatives<'a, K: Served> {
    caches: &'a Caches<K>,
    object: &'a K::Object,
    uid: String,
    live_pods: Option<Vec<Arc<Pod>>>,
    orphaned: Cell<bool>,
}

impl<'a, K: Served> Relatives<'a, K> {
    /// The relatives of `object`; `live_pods` instead of the cached ones, where they were read.
    pub fn of(caches: &'a Caches<K>, object: &'a K::Object, live_pods: Option<Vec<Arc<Pod>>>) -> Self {
        Relatives { caches, object, uid: object.uid().unwrap_or_default(), live_pods, orphaned: Cell::new(false) }
    }

    /// Was a child seen of an earlier object of the same name? The garbage collector is about to
    /// remove it.
    pub fn orphaned(&self) -> bool {
        self.orphaned.get()
    }

    fn is_controlled(&self, child: &impl Resource) -> bool {
        controller(child).is_some_and(|owner| owner.uid == self.uid)
    }

    fn foreign<T>(&self, child: &impl Resource) -> Slot<T> {
        let owner = controller(child);
        if owner.is_some_and(|owner| is_of_kind::<K>(owner) && owner.name == self.object.name_any()) {
            self.orphaned.set(true);
        }
        let owner =
            owner.map_or_else(|| "nobody controls it".to_owned(), |owner| format!("it is controlled by {} {}", owner.kind, owner.name));
        Slot::Foreign { uid: child.meta().uid.clone().unwrap_or_default(), owner }
    }
}

impl<K: Served> Lookup for Relatives<'_, K> {
    fn slot<T: Child>(&self, name: &str) -> Slot<T> {
        let key = Key { namespace: self.object.namespace().unwrap_or_default(), name: name.to_owned() };
        let family = self.caches.family::<T>();
        if let Some(child) = family.ours.get(&key) {
            return if self.is_controlled(child.as_ref()) { Slot::Ours(child) } else { self.foreign(child.as_ref()) };
        }
        match family.strangers.get(&key) {
            None => Slot::Free,
            Some(child) if self.is_controlled(child.as_ref()) => Slot::Unlabelled { uid: child.uid().unwrap_or_default() },
            Some(child) => self.foreign(child.as_ref()),
        }
    }

    fn pods(&self) -> Vec<Arc<Pod>> {
        let selector = K::selector(self.object);
        let candidates = self.live_pods.clone().unwrap_or_else(|| self.caches.pods_of(&Key::of(self.object)));
        let selected = |pod: &Arc<Pod>| selector.iter().all(|(key, value)| pod.labels().get(key) == Some(value));
        candidates.into_iter().filter(selected).collect()
    }
}
