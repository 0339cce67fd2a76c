//! Fields of children that a person has left to another writer: by an answer on one object, or by `--yield` on every one.
//!
//! Such a field is written as it stands. What was answered holds for as long as the operator still wants there what it wanted
//! when it gave way: another spec is another wish.

use super::children::{Place, Siblings};
use super::digest;
use super::drift::{differing, projection};
use super::intervention::Subject;
use super::look::{Compared, Look};
use super::order::{ChildKind, ChildRef};
use super::rendered::Rendered;
use super::{Kind, Observation};
use jsonptr::Pointer;
use kube::ResourceExt;
use kube::core::object::HasStatus;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// What the operator finds its children by, and what leads clients to them: never left to anybody.
const KEPT: [&str; 4] = ["/metadata", "/spec/selector", "/spec/ports", "/spec/template/metadata/labels"];

/// In place of a name: every child of its kind.
const EVERY: &str = "*";

fn is_kept(field: &str) -> bool {
    KEPT.iter().any(|kept| is_within(field, kept))
}

/// Is this the field, or one below it?
fn is_within(field: &str, around: &str) -> bool {
    field.strip_prefix(around).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The field of every child of a kind that `KIND:POINTER` names.
///
/// # Errors
/// What is wrong with it.
pub fn everywhere(text: &str) -> Result<Subject, String> {
    // Jobs and pods are made, and never changed.
    let changes = |kind: &&ChildKind| kind.serves() && !matches!(kind, ChildKind::Job | ChildKind::Pod);
    let kinds = || ChildKind::ALL.iter().filter(changes).map(|kind| kind.name());
    let (kind, field) = text.split_once(':').ok_or("write KIND:POINTER, as in Deployment:/spec/replicas")?;
    if !kinds().any(|known| known == kind) {
        return Err(format!("{kind} is no kind that has fields to leave; these are: {}", kinds().collect::<Vec<_>>().join(", ")));
    }
    if !field.starts_with('/') || Pointer::parse(field).is_err() {
        return Err(format!("{field} is no JSON pointer, which is written as /spec/replicas"));
    }
    if is_kept(field) || KEPT.iter().any(|kept| is_within(kept, field)) {
        return Err(format!("{field} is never left to anybody: by it children are found, or clients are led to them"));
    }
    Ok(Subject { kind: kind.to_owned(), name: EVERY.to_owned(), uid: None, field: Some(field.to_owned()), wanted: None })
}

impl<K: Kind> Observation<K> {
    /// The fields of children that are left to another writer.
    pub fn yielded(&self) -> Cow<'_, [Subject]> {
        let answered = self.object.status().map(|status| status.yielded.as_slice()).unwrap_or_default();
        match self.settings.yielded.as_slice() {
            [] => Cow::Borrowed(answered),
            everywhere => Cow::Owned([answered, everywhere].concat()),
        }
    }

    /// Is all that the open question is about left to another writer on every object by now?
    pub fn has_yielded_all(&self) -> bool {
        let covers = |left: &Subject, subject: &Subject| {
            let fields = subject.field.as_ref().zip(left.field.as_ref());
            subject.kind == left.kind && fields.is_some_and(|(field, left)| is_within(field, left))
        };
        let is_left = |subject: &Subject| self.settings.yielded.iter().any(|left| covers(left, subject));
        let asked = self.object.status().and_then(|status| status.intervention.as_ref());
        asked.is_some_and(|question| !question.subjects.is_empty() && question.subjects.iter().all(is_left))
    }
}

impl<K: Compared> Look<'_, K> {
    /// Has a child of this object a field that is left to another writer on every object?
    pub fn leaves_fields_everywhere(&self) -> bool {
        let left = &self.seen.settings.yielded;
        let places = || self.children.places(&self.seen.object.name_any());
        let is_left = |place: &dyn Place| left.iter().any(|subject| subject.kind == place.kind().name()) && place.live().is_some();
        !left.is_empty() && places().into_iter().any(|(_, place)| is_left(place))
    }
}

/// The fields in which `live` differs from what is rendered; none where one of them is not to be left to anybody.
pub fn subjects(child: &ChildRef, live: &Value, rendered: &Value) -> Vec<Subject> {
    let fields = differing(live, rendered);
    if fields.iter().any(|field| is_kept(field)) {
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
    yielded.iter().filter(named).any(|subject| subject.wanted.as_ref().is_none_or(|then| *then == digest::of(wanted)))
}

/// Is the field still wanted as it was when it was left to another writer? Another wish ends that for good.
pub fn stands(subject: &Subject, rendered: &[Rendered]) -> bool {
    let (Some(field), Some(wanted)) = (&subject.field, &subject.wanted) else { return true };
    let child = rendered.iter().find(|one| one.child.kind.name() == subject.kind && one.child.name == subject.name);
    child.is_none_or(|child| digest::of(&child.object.pointer(field)) == *wanted)
}

/// Writes into `rendered` what stands in `live`, in every field that is left to another writer.
pub fn follow(child: &ChildRef, live: &Value, rendered: &mut Value, yielded: &[Subject]) {
    let of_it = |subject: &&Subject| subject.kind == child.kind.name() && [EVERY, &child.name].contains(&subject.name.as_str());
    let seen = projection(live, rendered);
    for (field, wanted) in yielded.iter().filter(of_it).filter_map(|subject| Some((subject.field.as_ref()?, &subject.wanted))) {
        if wanted.as_ref().is_some_and(|wanted| digest::of(&rendered.pointer(field)) != *wanted) {
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
