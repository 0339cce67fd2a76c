//! What an object's status remembers and claims, and how far that is believed.

use super::annotations::{REFRESH, annotation};
use super::image::is_reference;
use super::intervention::{Intervention, about, id};
use super::status::Status;
use super::{Kind, Settings, Violation};
use crate::machine::Role;
use kube::Resource;
use kube::core::object::HasStatus;

/// The plans that a change is compared with.
#[derive(Clone, Debug)]
pub struct Known<K: Kind> {
    /// What was ready last: *unsupported* is judged against this.
    pub last_good: Option<K::Plan>,
    /// What was ordered last: *which move* is judged against this.
    pub applied: Option<K::Plan>,
    /// What was rolled back.
    pub refused: Option<K::Plan>,
    /// Do the pods stand as an older operator rendered them, and does a person want them anew?
    pub refreshed: bool,
    /// What stands in the world; nothing where nobody has looked, so that nothing is judged by it.
    pub ground: Option<K::Ground>,
}

impl<K: Kind> Known<K> {
    /// Nothing: the object is new.
    pub const NOTHING: Self = Known { last_good: None, applied: None, refused: None, refreshed: false, ground: None };

    /// What the object's status remembers.
    pub fn of(object: &K::Object, settings: &Settings) -> Self {
        // What is kept names its image, and was judged before it was kept.
        let plan = |spec: &K::Spec| K::parse(spec, "").ok();
        let Some(status) = object.status() else { return Self::NOTHING };
        let outdated = status.applied.as_ref().is_some_and(|applied| applied.template.is_some() && applied.renderer != settings.renderer);
        Known {
            last_good: status.last_good.as_ref().and_then(|good| plan(&good.spec)),
            applied: status.applied.as_ref().and_then(|applied| plan(&applied.spec)),
            refused: status.refused.as_ref().and_then(|refused| plan(&refused.spec)),
            refreshed: outdated && annotation(object, REFRESH) == Some(&settings.renderer.to_string()),
            ground: None,
        }
    }

    /// The same, with what stands in the world.
    #[must_use]
    pub fn on(mut self, ground: Option<K::Ground>) -> Self {
        self.ground = ground;
        self
    }
}

/// The plan of an object's spec; where it names no image, the default that was kept for it, or today's.
///
/// # Errors
/// Every rule that the spec breaks.
pub fn plan<K: Kind>(object: &K::Object, settings: &Settings) -> Result<K::Plan, Vec<Violation>> {
    let kept = object.status().and_then(|status| status.default_image.as_deref()).filter(|image| is_reference(image));
    K::parse(&K::Spec::from(object), kept.unwrap_or(&settings.default_image))
}

/// Where the machine starts: the state that the status claims, or the very start where that cannot be so, as in a status
/// that somebody restored.
pub fn claimed<K: Kind>(object: &K::Object) -> K::Phase {
    let phase = object.status().map_or(K::START, Status::phase);
    let so = match K::role(phase) {
        Role::Asks => question::<K>(object).is_some(),
        Role::Ends => object.meta().deletion_timestamp.is_some(),
        Role::Junction | Role::Works { .. } | Role::Rests => true,
    };
    if so { phase } else { K::START }
}

/// The question that is open on the object. One that was asked of another object, and came with a backup, is none; nor
/// is one that somebody wrote into a status that does not ask.
pub fn question<K: Kind>(object: &K::Object) -> Option<&Intervention> {
    let status = object.status().filter(|status| K::role(status.phase()) == Role::Asks)?;
    let meta = object.meta();
    let own = |question: &&Intervention| {
        question.id == id(meta.uid.as_deref().unwrap_or_default(), question.number)
            && question.generation <= meta.generation.unwrap_or_default()
    };
    status.intervention.as_ref().filter(own)
}

/// Is there a spec that is newer than the question, and another one, its count aside?
pub fn renewed<K: Kind>(question: &Intervention, object: &K::Object) -> bool {
    object.meta().generation.unwrap_or_default() > question.generation && question.about != about(&K::Spec::from(object))
}
