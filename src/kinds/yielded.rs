//! Fields of children that a person has left to another writer.
//!
//! Such a field is written as it stands, for as long as the operator still wants there what it wanted when it gave way:
//! another spec is another wish.

use super::digest;
use super::drift::{differing, projection};
use super::intervention::Subject;
use super::order::{ChildKind, ChildRef};
use super::rendered::Rendered;
use serde::Serialize;
use serde_json::Value;

/// What the operator finds its children by, and what leads clients to them: never left to anybody.
const KEPT: [&str; 4] = ["/metadata", "/spec/selector", "/spec/ports", "/spec/template/metadata/labels"];

/// The fields in which `live` differs from what is rendered; none where one of them is not to be left to anybody.
pub fn subjects(child: &ChildRef, live: &Value, rendered: &Value) -> Vec<Subject> {
    let fields = differing(live, rendered);
    if fields.iter().any(|field| KEPT.iter().any(|kept| field == kept || field.starts_with(&format!("{kept}/")))) {
        return Vec::new();
    }
    let subject = |field: String| {
        let wanted = Some(digest::of(&rendered.pointer(&field)));
        Subject { kind: child.kind.name(), name: child.name.clone(), uid: None, field: Some(field), wanted }
    };
    fields.into_iter().map(subject).collect()
}

/// Is `field` of a child of this kind left to another writer, where `wanted` is what the spec asks for?
pub fn leaves(yielded: &[Subject], kind: ChildKind, field: &str, wanted: &impl Serialize) -> bool {
    let named = |subject: &&Subject| subject.kind == kind.name() && subject.field.as_deref() == Some(field);
    yielded.iter().filter(named).any(|subject| subject.wanted.as_ref() == Some(&digest::of(wanted)))
}

/// Is the field still wanted as it was when it was left to another writer? Another wish ends that for good.
pub fn stands(subject: &Subject, rendered: &[Rendered]) -> bool {
    let (Some(field), Some(wanted)) = (&subject.field, &subject.wanted) else { return true };
    let child = rendered.iter().find(|one| one.child.kind.name() == subject.kind && one.child.name == subject.name);
    child.is_none_or(|child| digest::of(&child.object.pointer(field)) == *wanted)
}

/// Writes into `rendered` what stands in `live`, in every field that is left to another writer.
pub fn follow(child: &ChildRef, live: &Value, rendered: &mut Value, yielded: &[Subject]) {
    let of_it = |subject: &&Subject| subject.kind == child.kind.name() && subject.name == child.name;
    let seen = projection(live, rendered);
    for (field, wanted) in yielded.iter().filter(of_it).filter_map(|subject| Some((subject.field.as_ref()?, subject.wanted.as_ref()?))) {
        if digest::of(&rendered.pointer(field)) != *wanted {
            continue;
        }
        match (seen.pointer(field), rendered.pointer_mut(field)) {
            (Some(live), Some(place)) => *place = live.clone(),
            (None, Some(_)) => drop(remove(rendered, field)),
            (_, None) => {}
        }
    }
}

fn remove(value: &mut Value, field: &str) -> Option<Value> {
    let (parent, name) = field.rsplit_once('/')?;
    value.pointer_mut(parent)?.as_object_mut()?.remove(&name.replace("~1", "/").replace("~0", "~"))
}
