//! The annotations that a user writes.

use kube::Resource;

/// The annotation that answers a question: `<verb>-<id>`.
pub const ANSWER: &str = "pointsman.dev/answer";
/// The annotation that has the object left alone: `"true"`.
pub const PAUSED: &str = "pointsman.dev/paused";
/// The annotation that keeps the object from being deleted: `"true"`.
pub const PROTECTED: &str = "pointsman.dev/protected";
/// The annotation that has pods of an older rendering rendered anew: the number of the rendering.
pub const REFRESH: &str = "pointsman.dev/refresh";

/// Before every annotation, label and finalizer of this operator.
pub const PREFIX: &str = "pointsman.dev/";
/// Every annotation that a user writes on an object.
pub const ALL: [&str; 4] = [ANSWER, PAUSED, PROTECTED, REFRESH];

/// Annotations that look like this operator's, and are not.
pub fn strange(object: &impl Resource) -> impl Iterator<Item = &String> {
    object.meta().annotations.iter().flatten().map(|(key, _)| key).filter(|key| key.starts_with(PREFIX) && !ALL.contains(&key.as_str()))
}

/// One of an object's annotations.
pub fn annotation<'a>(object: &'a impl Resource, key: &str) -> Option<&'a String> {
    object.meta().annotations.as_ref()?.get(key)
}

/// The answer annotation as it stands.
pub fn answer(object: &impl Resource) -> Option<&String> {
    annotation(object, ANSWER)
}

/// Does one of the object's annotations say `"true"`?
pub fn is_set(object: &impl Resource, key: &str) -> bool {
    annotation(object, key).is_some_and(|value| value == "true")
}
