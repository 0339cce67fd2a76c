//! Whose is the object that stands under a child's name? Answered from caches, without a call.

use super::cache::Key;
use super::caches::Caches;
use super::family::is_of_kind;
use crate::kinds::Served;
use crate::kinds::children::{Lookup, Slot, controller};
use crate::kinds::order::Child;
use k8s_openapi::api::core::v1::Pod;
use kube::{Resource, ResourceExt};
use std::cell::Cell;
use std::sync::Arc;

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
        let owner = match owner {
            None => "nobody controls it".to_owned(),
            Some(owner) if is_of_kind::<K>(owner) && owner.name == self.object.name_any() => {
                self.orphaned.set(true);
                format!("it is controlled by an earlier {} {}, of uid {}, which is gone or going", owner.kind, owner.name, owner.uid)
            }
            Some(owner) => format!("it is controlled by {} {}", owner.kind, owner.name),
        };
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
            Some(child) if self.is_controlled(child.as_ref()) => {
                Slot::Unlabelled { uid: child.uid().unwrap_or_default(), bare: child.labels().is_empty() }
            }
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
