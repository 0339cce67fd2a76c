//! What can be set for a kind.

use super::Served;
use super::intervention::Subject;
use crate::machine::Word;
use jiff::SignedDuration;
use std::collections::BTreeMap;

/// What a platform team sets for one kind.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The image where a spec names none.
    pub default_image: String,
    /// How long a working state may take without progress, by state.
    pub deadlines: BTreeMap<String, SignedDuration>,
    /// The version of the rendering.
    pub renderer: i64,
    /// Fields of children that are left to another writer on every object.
    pub yielded: Vec<Subject>,
}

impl Settings {
    /// The settings of a kind as they are when nothing is set.
    pub fn of<K: Served>() -> Self {
        Settings {
            default_image: K::DEFAULT_IMAGE.to_owned(),
            deadlines: K::DEADLINES.iter().map(|(phase, limit)| (phase.text(), *limit)).collect(),
            renderer: K::RENDERER,
            yielded: Vec::new(),
        }
    }

    /// How long `phase` may take without progress.
    pub fn deadline(&self, phase: impl Word) -> SignedDuration {
        self.deadlines.get(&phase.text()).copied().unwrap_or(SignedDuration::from_mins(10))
    }
}
