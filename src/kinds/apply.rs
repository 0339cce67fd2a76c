//! A child as it is seen, and as it is wanted -> the order that makes it so. One that would change nothing is not given.

use super::children::{Place, Siblings, Slot};
use super::intervention::Subject;
use super::order::{Cascade, Child, ChildRef, Order, patch_of};
use super::rendered::{MANAGED_BY, Rendered};
use super::{drift, tangles, yielded};
use json_patch::{AddOperation, Patch, PatchOperation, ReplaceOperation, TestOperation};
use jsonptr::PointerBuf;
use serde_json::{Value, json};

/// What makes the child what is rendered, but for the fields that are left to another writer. One whose label was lost gets that
/// back first: until then nobody knows how it stands.
pub fn apply<T: Child>(slot: &Slot<T>, rendered: Rendered, yielded: &[Subject]) -> Option<Order> {
    if let Some(again) = relabel(slot, rendered.child.name.clone()) {
        return Some(again);
    }
    let Rendered { child, mut object } = rendered;
    if let Some(live) = slot.ours().filter(|_| !yielded.is_empty()) {
        yielded::follow(&child, &json!(live), &mut object, yielded);
    }
    if matches!(slot, Slot::Foreign { .. }) || slot.ours().is_some_and(|live| differences(live, &object).0.is_empty()) {
        return None;
    }
    if let Some(patch) = slot.ours().and_then(|live| tangles::tangles(live, &object)) {
        return Some(Order::Patch { child, patch });
    }
    Some(Order::Apply { child, object, uid: slot.uid(), whole: slot.adopted().is_some() })
}

/// The same of a child that is not always wanted: one that is ours goes where it is not.
pub fn apply_or_remove<T: Child>(slot: &Slot<T>, rendered: Option<Rendered>, yielded: &[Subject]) -> Option<Order> {
    match rendered {
        Some(rendered) => apply(slot, rendered, yielded),
        None => slot.ours().and_then(removal),
    }
}

/// Orders that would take over what stands where a child is wanted.
pub fn adoption(owner: &str, children: &impl Siblings, wanted: Vec<Rendered>) -> Vec<Order> {
    let over = |Rendered { child, object }: Rendered| {
        let uid = children.place(owner, &child)?.stranger()?.0.to_owned();
        Some(Order::Apply { child, object, uid: Some(uid), whole: true })
    };
    wanted.into_iter().filter_map(over).collect()
}

/// Our label alone, on the child of this name, where that was taken from it: it is seen by name only.
pub fn relabel(place: &dyn Place, name: String) -> Option<Order> {
    let (uid, bare) = place.unlabelled()?;
    let (label, value) = MANAGED_BY;
    let labels = PointerBuf::from_tokens(["metadata", "labels"]);
    let ours = if bare {
        AddOperation { path: labels, value: json!({ label: value }) }
    } else {
        AddOperation { path: labels.with_trailing_token(label), value: json!(value) }
    };
    let child = ChildRef { kind: place.kind(), name };
    Some(Order::Patch { child, patch: patch_of(Some(uid), [PatchOperation::Add(ours)]) })
}

/// One number alone, in a write that touches nothing else.
pub fn count<T: Child>(live: &T, child: ChildRef, field: &[&str], from: i32, to: i32) -> Order {
    let path = PointerBuf::from_tokens(field.iter().copied());
    let before = TestOperation { path: path.clone(), value: json!(from) };
    let after = ReplaceOperation { path, value: json!(to) };
    let uid = live.meta().uid.as_deref();
    Order::Patch { child, patch: patch_of(uid, [PatchOperation::Test(before), PatchOperation::Replace(after)]) }
}

/// The end of one object, as it was seen and no newer one.
pub fn removal<T: Child>(live: &T) -> Option<Order> {
    removal_with(live, Cascade::Background)
}

/// The same, where it matters what becomes of what it owns.
pub fn removal_with<T: Child>(live: &T, cascade: Cascade) -> Option<Order> {
    let meta = live.meta();
    let child = ChildRef { kind: T::KIND, name: meta.name.clone()? };
    Some(Order::Delete { child, uid: meta.uid.clone()?, resource_version: meta.resource_version.clone()?, cascade })
}

/// The making of a child that is never overwritten.
pub fn creation(rendered: Rendered) -> Order {
    let Rendered { child, object } = rendered;
    Order::Create { child, object }
}

/// The fields of children that orders would change.
pub fn fields<'a>(owner: &str, orders: impl Iterator<Item = &'a Order>, children: &impl Siblings) -> Vec<Subject> {
    let changed = |order: &Order| match order {
        Order::Apply { child, object, .. } if !child.kind.is_secret() => {
            let live = children.place(owner, child).and_then(Place::live);
            live.map(|live| yielded::subjects(child, &live, &typeless(object))).unwrap_or_default()
        }
        Order::Apply { .. } | Order::Create { .. } | Order::Own { .. } | Order::Patch { .. } | Order::Delete { .. } => Vec::new(),
    };
    orders.flat_map(changed).collect()
}

/// Why an order is given, in words; nothing where it is the first apply of a child that is not there.
pub fn why(owner: &str, order: &Order, children: &impl Siblings) -> Option<String> {
    match order {
        Order::Apply { child, object, .. } => {
            let place = children.place(owner, child)?;
            if place.unlabelled().is_some() {
                return Some(format!("its label {} was taken away", MANAGED_BY.0));
            }
            let live = place.live()?;
            // Words would quote what it holds.
            if child.kind.is_secret() { Some("it was changed".to_owned()) } else { drift::in_words(&live, &typeless(object)) }
        }
        Order::Create { .. } => Some("it is missing".to_owned()),
        Order::Patch { child, .. } if child.kind.is_secret() => Some("it was changed".to_owned()),
        Order::Own { patch } | Order::Patch { patch, .. } => drift::of_patch(patch),
        Order::Delete { .. } => Some("it is wanted no more".to_owned()),
    }
}

/// How a live child differs from what is rendered.
pub fn differences<T: serde::Serialize>(live: &T, rendered: &Value) -> Patch {
    drift::differences(&serde_json::to_value(live).unwrap_or_default(), &typeless(rendered))
}

/// A typed object does not print its own type.
fn typeless(rendered: &Value) -> Value {
    let mut rendered = rendered.clone();
    if let Some(fields) = rendered.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    rendered
}
