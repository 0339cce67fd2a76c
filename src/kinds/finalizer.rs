//! The object's finalizer: put on before anything that it guards, taken off when nothing is left to be done.

use super::Served;
use super::order::{Order, patch_of};
use json_patch::{AddOperation, PatchOperation, RemoveOperation, TestOperation};
use jsonptr::PointerBuf;
use kube::{Resource, ResourceExt};
use serde_json::json;

/// Puts the finalizer of the kind on; nothing where it is on, where the kind has none, and where the object is being deleted,
/// since the API server lets nobody put one on then.
pub fn hold<K: Served>(object: &K::Object) -> Option<Order> {
    let name = K::FINALIZER?;
    if place::<K>(object).is_some() || object.meta().deletion_timestamp.is_some() {
        return None;
    }
    let add = if object.finalizers().is_empty() {
        AddOperation { path: path(None), value: json!([name]) }
    } else {
        AddOperation { path: path(Some("-")), value: json!(name) }
    };
    Some(Order::Own { patch: patch_of(object.meta().uid.as_deref(), [PatchOperation::Add(add)]) })
}

/// Takes the finalizer of the kind off, and no other; nothing where it is off.
pub fn release<K: Served>(object: &K::Object) -> Option<Order> {
    let place = path(Some(&place::<K>(object)?.to_string()));
    let test = TestOperation { path: place.clone(), value: json!(K::FINALIZER) };
    let changes = [PatchOperation::Test(test), PatchOperation::Remove(RemoveOperation { path: place })];
    Some(Order::Own { patch: patch_of(object.meta().uid.as_deref(), changes) })
}

fn place<K: Served>(object: &K::Object) -> Option<usize> {
    let name = K::FINALIZER?;
    object.finalizers().iter().position(|finalizer| finalizer == name)
}

fn path(place: Option<&str>) -> PointerBuf {
    PointerBuf::from_tokens(["metadata", "finalizers"].into_iter().chain(place))
}
