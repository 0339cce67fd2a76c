//! Whose is the object that stands under a child's name? Answered from caches and from what was read, without a call.

use super::cache::Key;
use super::caches::Caches;
use super::family::is_of_kind;
use super::live::Live;
use crate::kinds::Served;
use crate::kinds::children::{Lookup, Slot, belongs, controller, is_left_by, is_shared, labelled_owner};
use crate::kinds::order::Child;
use crate::kinds::pod_template::Strings;
use crate::kinds::reading::{Readable, Reading, Readings};
use crate::kinds::rendered::MANAGED_BY;
use k8s_openapi::api::core::v1::Pod;
use kube::{Resource, ResourceExt};
use std::cell::Cell;
use std::sync::Arc;

/// The relatives of one object, as the caches know them, and as they were read.
pub struct Relatives<'a, K: Served> {
    caches: &'a Caches<K>,
    object: &'a K::Object,
    uid: String,
    readings: &'a Readings,
    live: Option<&'a Live>,
    orphaned: Cell<bool>,
}

impl<'a, K: Served> Relatives<'a, K> {
    /// The relatives of `object`; what is in `live` instead of what is cached.
    pub fn of(caches: &'a Caches<K>, object: &'a K::Object, readings: &'a Readings, live: Option<&'a Live>) -> Self {
        Relatives { caches, object, uid: object.uid().unwrap_or_default(), readings, live, orphaned: Cell::new(false) }
    }

    /// Was a child seen of an earlier object of the same name? The garbage collector is about to
    /// remove it.
    pub fn orphaned(&self) -> bool {
        self.orphaned.get()
    }

    /// The child under `key` that carries our label, whosever it is.
    fn labelled<T: Child>(&self, key: &Key) -> Option<Arc<T>> {
        let cached = self.caches.family::<T>().ours.get(key);
        // What is ours in the cache alone is gone, or ours no more.
        cached.filter(|child| self.live::<T>().is_none() || !self.owns(child))
    }

    /// The children of a type that were read now: they carry the owner's uid, and perhaps not our label any more.
    fn live<T: Child>(&self) -> Option<&[Arc<T>]> {
        self.live.and_then(Live::children::<T>)
    }

    /// What a child is that was read now. Whoever took our label off wanted it for something else, be it watched or read.
    fn read_now<T: Child>(&self, child: &Arc<T>) -> Slot<T> {
        match (self.owns(child), has_label(child.as_ref())) {
            (true, true) => Slot::Ours(child.clone()),
            (true, false) => unlabelled(child.as_ref()),
            (false, _) => self.foreign(child.as_ref()),
        }
    }

    fn owns(&self, child: &Arc<impl Resource>) -> bool {
        belongs(child.as_ref(), &self.uid)
    }

    fn ours_or_foreign<T: Child>(&self, child: Arc<T>) -> Slot<T> {
        if self.owns(&child) { Slot::Ours(child) } else { self.foreign(child.as_ref()) }
    }

    fn foreign<T>(&self, child: &impl Resource) -> Slot<T> {
        let owner = controller(child);
        let owner = match owner {
            None => labelled_owner(child).map(|uid| format!("it is labelled as a child of the object of uid {uid}")),
            Some(owner) if is_of_kind::<K>(owner) && owner.name == self.object.name_any() => {
                self.orphaned.set(true);
                Some(format!("it is controlled by an earlier {} {}, of uid {}, which is gone or going", owner.kind, owner.name, owner.uid))
            }
            Some(owner) => Some(format!("it is controlled by {} {}", owner.kind, owner.name)),
        };
        let left = is_left_by(child, &self.object.name_any(), &K::Object::kind(&()));
        Slot::Foreign { uid: child.meta().uid.clone().unwrap_or_default(), owner, left }
    }
}

/// Does an object carry the label by which ours are watched?
fn has_label(child: &impl Resource) -> bool {
    child.labels().get(MANAGED_BY.0).is_some_and(|manager| manager == MANAGED_BY.1)
}

fn unlabelled<T: Child>(child: &impl Resource) -> Slot<T> {
    Slot::Unlabelled { uid: child.meta().uid.clone().unwrap_or_default(), bare: child.meta().labels.is_none() }
}

impl<K: Served> Lookup for Relatives<'_, K> {
    fn slot<T: Child>(&self, name: &str) -> Slot<T> {
        match self.readings.child::<T>(name) {
            Reading::Found(child) => return self.ours_or_foreign(child),
            Reading::Absent => return Slot::Free,
            Reading::Unread => {}
        }
        let key = Key { namespace: self.object.namespace().unwrap_or_default(), name: name.to_owned() };
        if let Some(child) = self.live::<T>().and_then(|live| live.iter().find(|child| child.name_any() == name)) {
            return self.read_now(child);
        }
        if let Some(child) = self.labelled::<T>(&key) {
            return self.ours_or_foreign(child);
        }
        match self.caches.family::<T>().strangers.get(&key) {
            None => Slot::Free,
            Some(child) if self.owns(&child) => unlabelled(child.as_ref()),
            Some(child) => self.foreign(child.as_ref()),
        }
    }

    fn shared<T: Child>(&self, name: &str) -> Slot<T> {
        let key = Key { namespace: self.object.namespace().unwrap_or_default(), name: name.to_owned() };
        let shared = self.caches.family::<T>().ours.get(&key).filter(|child| is_shared(child.as_ref()));
        shared.map_or_else(|| self.slot(name), Slot::Ours)
    }

    fn read<T: Readable>(&self, name: &str) -> Reading<T> {
        self.readings.one(name)
    }

    fn read_all<T: Readable>(&self) -> Reading<Vec<Arc<T>>> {
        self.readings.all()
    }

    fn all<T: Child>(&self) -> Vec<Arc<T>> {
        let mut children = match self.live::<T>() {
            Some(live) => live.iter().filter(|child| has_label(child.as_ref())).cloned().collect(),
            None => self.caches.labelled(&self.object.namespace().unwrap_or_default(), &self.uid),
        };
        children.retain(|child| self.owns(child));
        children
    }

    fn unlabelled<T: Child>(&self) -> Vec<(String, Slot<T>)> {
        if let Some(live) = self.live::<T>() {
            let lost = live.iter().filter(|child| self.owns(child) && !has_label(child.as_ref()));
            return lost.map(|child| (child.name_any(), unlabelled(child.as_ref()))).collect();
        }
        let strangers = &self.caches.family::<T>().strangers;
        let children = strangers.members(&self.object.namespace().unwrap_or_default(), &self.uid).into_iter();
        children.filter(|child| self.owns(child)).map(|child| (child.name_any(), unlabelled(child.as_ref()))).collect()
    }

    fn below<T: Child>(&self, parent: &str) -> Vec<Arc<T>> {
        let mut children = self.caches.labelled::<T>(&self.object.namespace().unwrap_or_default(), &self.uid);
        children.retain(|child| controller(child.as_ref()).is_some_and(|controller| controller.uid == parent));
        children
    }

    fn pods(&self) -> Vec<Arc<Pod>> {
        self.labelled_pods(&K::selector(self.object))
    }

    fn labelled_pods(&self, labels: &Strings) -> Vec<Arc<Pod>> {
        let live = self.live.map(|live| live.pods.clone());
        let mut pods = live.unwrap_or_else(|| self.caches.pods_of(&Key::of(self.object)));
        pods.retain(|pod| labels.iter().all(|(key, value)| pod.labels().get(key) == Some(value)));
        pods
    }
}
