//! One write, as the webhook is asked about it.

use super::annotations::{annotation, is_set};
use super::intervention::Intervention;
use super::{Served, Settings, question};
use kube::ResourceExt;

/// One write, as the webhook is asked about it.
#[derive(Clone, Debug)]
pub struct Review<'a, K: Served> {
    /// The object before; absent when it is created.
    pub old: Option<&'a K::Object>,
    /// The object after.
    pub new: &'a K::Object,
    /// The operator's settings for the kind.
    pub settings: &'a Settings,
    /// What stands in the world for the object, where it is known.
    pub ground: Option<K::Ground>,
    /// Is it only tried?
    pub dry_run: bool,
    /// Does the operator watch the object's namespace?
    pub watched: bool,
}

impl<'a, K: Served> Review<'a, K> {
    /// The question that is open on the object before the write.
    pub fn asked(&self) -> Option<&'a Intervention> {
        question::<K>(self.old?)
    }

    /// The new value of an annotation, where the write changes it to something.
    pub fn changed(&self, key: &str) -> Option<&'a String> {
        let before = self.old.and_then(|old| annotation(old, key));
        annotation(self.new, key).filter(|after| Some(*after) != before)
    }

    /// What an annotation of yes or no says now, where the write turns it.
    pub fn turned(&self, key: &str) -> Option<bool> {
        let now = is_set(self.new, key);
        (now != self.old.is_some_and(|old| is_set(old, key))).then_some(now)
    }

    /// The object as the lines of a plan name it.
    pub fn title(&self) -> String {
        title::<K>(&self.new.name_any())
    }
}

/// An object as the lines of a plan name it.
pub fn title<K: Served>(name: &str) -> String {
    format!("{}/{name}", K::SHORT)
}
