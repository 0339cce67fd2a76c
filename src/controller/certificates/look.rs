//! What is known of one object that is watched, and written by ourselves.

use crate::controller::cache::version;
use kube::Resource;

/// What a watch, or the answer to a write of ours, last said of an object.
pub(super) enum Look<T> {
    Unread,
    Absent,
    There(Box<T>),
}

impl<T: Resource> Look<T> {
    /// What was read now.
    pub(super) fn of(read: Option<T>) -> Self {
        read.map_or(Look::Absent, |object| Look::There(Box::new(object)))
    }

    /// News of the watch. What was true before a write of ours comes late, and is none.
    pub(super) fn hear(&mut self, news: Option<T>) {
        let late = |known: &T, new: &T| known.meta().uid == new.meta().uid && version(new) < version(known);
        match (&self, &news) {
            (Look::There(known), Some(new)) if late(known, new) => {}
            _ => *self = Look::of(news),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Secret;
    use kube::api::ObjectMeta;

    fn secret(uid: &str, version: u64) -> Secret {
        let metadata = ObjectMeta { uid: Some(uid.to_owned()), resource_version: Some(version.to_string()), ..ObjectMeta::default() };
        Secret { metadata, ..Secret::default() }
    }

    #[test]
    fn late_news_of_the_same_object_is_none() {
        let known = |look: &Look<Secret>| match look {
            Look::There(secret) => version(secret.as_ref()),
            Look::Absent | Look::Unread => 0,
        };
        let mut look = Look::of(Some(secret("a", 7)));
        for (news, after) in [(Some(secret("a", 5)), 7), (Some(secret("a", 8)), 8), (Some(secret("b", 6)), 6), (None, 0)] {
            look.hear(news);
            assert_eq!(known(&look), after);
        }
    }
}
