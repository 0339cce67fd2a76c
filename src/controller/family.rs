//! Children of one type: ours, and strangers of the same type.

use super::cache::{Cache, Key, version};
use super::listing::Scope;
use crate::kinds::Served;
use crate::kinds::children::labelled_owner;
use crate::kinds::order::Child;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use kube::core::PartialObjectMeta;
use std::any::Any;
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
        // The label alone: what a controller owns is found by its name, and costs no place in an index.
        Family { ours: Arc::new(Cache::grouped(scopes, labelled_owner)), strangers: Arc::new(Cache::grouped(scopes, labelled_owner)) }
    }
}

/// What can be asked of a family without naming its type.
pub trait Kin: Any + Send + Sync {
    /// The newest resourceVersion that has arrived of our children in `namespace`.
    fn newest(&self, namespace: &str) -> u64;
    /// The uid and version of what stands at `key`, unless it is being deleted: not every child carries our label.
    fn alive(&self, key: &Key) -> Option<(String, u64)>;
}

impl<T: Child> Kin for Family<T> {
    fn newest(&self, namespace: &str) -> u64 {
        self.ours.newest(namespace)
    }
    fn alive(&self, key: &Key) -> Option<(String, u64)> {
        match self.ours.get(key) {
            Some(child) => alive(child.as_ref()),
            None => alive(self.strangers.get(key)?.as_ref()),
        }
    }
}

/// The uid and version of an object, unless it is being deleted.
pub fn alive(object: &impl Resource) -> Option<(String, u64)> {
    let meta = object.meta();
    meta.uid.clone().filter(|_| meta.deletion_timestamp.is_none()).map(|uid| (uid, version(object)))
}

/// Is `owner` an object of kind `K`?
pub fn is_of_kind<K: Served>(owner: &OwnerReference) -> bool {
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    owner.kind == K::Object::kind(&()) && group == K::Object::group(&())
}
