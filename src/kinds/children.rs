//! Children as they are seen: ours in full, a stranger's by name only.

use super::order::Child;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use std::sync::Arc;

/// What stands under one name.
#[derive(Clone, Debug)]
pub enum Slot<T> {
    /// Nothing.
    Free,
    /// Our child.
    Ours(Arc<T>),
    /// Our child by its owner reference, but our label was taken from it: seen by name only.
    Unlabelled {
        /// Its uid.
        uid: String,
        /// Are there no labels at all?
        bare: bool,
    },
    /// Somebody else's object. It is never written to.
    Foreign {
        /// Its uid.
        uid: String,
        /// Who controls it, in words.
        owner: String,
    },
}

impl<T> Slot<T> {
    /// Our child, if it is there and seen in full.
    pub fn ours(&self) -> Option<&T> {
        match self {
            Slot::Ours(child) => Some(child),
            Slot::Free | Slot::Unlabelled { .. } | Slot::Foreign { .. } => None,
        }
    }
}

impl<T: Child> Slot<T> {
    /// The uid that a forced apply must carry.
    pub fn uid(&self) -> Option<String> {
        match self {
            Slot::Ours(child) => child.uid(),
            Slot::Unlabelled { uid, .. } => Some(uid.clone()),
            Slot::Free | Slot::Foreign { .. } => None,
        }
    }
}

/// Who controls an object.
pub fn controller(object: &impl Resource) -> Option<&OwnerReference> {
    object.owner_references().iter().find(|owner| owner.controller == Some(true))
}

/// Where an observation finds children; the controller implements it over its caches.
pub trait Lookup {
    /// What stands under `name` in the owner's namespace.
    fn slot<T: Child>(&self, name: &str) -> Slot<T>;
    /// The pods that carry the owner's selector labels.
    fn pods(&self) -> Vec<Arc<Pod>>;
}

/// A list of child types, visited with each type.
pub trait ChildVisitor {
    /// Called once for each type.
    fn child<T: Child>(&mut self);
}
