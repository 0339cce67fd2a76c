//! What the children have in common: their labels, and who removes them.
//!
//! Each file beside this one renders some of them, from a plan and only the fields that we own: `claims`, `secrets`,
//! `configuration`, `scripts`, `topology`, `network`, `servers`, `jobs`.

pub mod claims;
pub mod configuration;
pub mod credentials;
pub mod jobs;
mod meshes;
pub mod names;
pub mod network;
mod pod;
pub mod scripts;
pub mod secrets;
pub mod servers;
pub mod topology;

use super::object::v1::Database as Object;
use crate::kinds::order::Child;
use crate::kinds::pod_template::Strings;
use crate::kinds::rendered::{INSTANCE, KIND, MANAGED_BY, Rendered};
use kube::{Resource, ResourceExt};
use serde_json::Value;

/// The version of what is rendered into pods. A change that alters a pod template takes the next number: what an older
/// one rendered then stands until a change makes the pods anew.
pub const RENDERER: i64 = if cfg!(feature = "next-rendering") { 2 } else { 1 };

/// The label that says what a child is part of.
pub(super) const NAME: &str = "app.kubernetes.io/name";
/// The label that says what a child is for.
pub(super) const COMPONENT: &str = "app.kubernetes.io/component";

/// The labels that find the servers' pods, and no Job's. They never change.
pub fn selector(object: &Object) -> Strings {
    labelled(object, "postgresql").into()
}

/// The labels of everything that is not a Job's.
pub(super) fn labels(object: &Object, component: &str) -> Strings {
    with_component(labelled(object, "postgresql"), component)
}

/// The labels of a Job and of its pods: a Service or a budget that selects servers has nothing to do with them.
pub(super) fn job_labels(object: &Object, component: &str) -> Strings {
    with_component(labelled(object, "postgresql-job"), component)
}

/// A child that stays until the operator removes it: whatever holds data or serves it, and what these need.
pub(super) fn kept<T: Child>(object: &Object, name: &str, component: &str, body: Value) -> Rendered {
    Rendered::kept::<T>(object, name, &labels(object, component), body)
}

/// The namespace of the object, and of every child.
pub(super) fn namespace(object: &Object) -> String {
    object.namespace().unwrap_or_default()
}

/// The labels that every pod of a Job carries.
pub(super) fn workers(object: &Object) -> Strings {
    labelled(object, "postgresql-job").into()
}

fn labelled(object: &Object, part: &str) -> [(String, String); 3] {
    let instance = object.meta().name.as_deref().unwrap_or_default();
    [(NAME, part), (INSTANCE, instance), (KIND, "Database")].map(|(key, value)| (key.to_owned(), value.to_owned()))
}

fn with_component(labels: [(String, String); 3], component: &str) -> Strings {
    let more = [(COMPONENT, component), MANAGED_BY].map(|(key, value)| (key.to_owned(), value.to_owned()));
    labels.into_iter().chain(more).collect()
}
