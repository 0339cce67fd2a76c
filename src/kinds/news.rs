//! What is told of an object beside its moves and its conditions.

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Work that no state waits for has failed.
    Failed {
        /// What has, as the reason of an Event.
        reason: &'static str,
        /// What was to be done, as the action of an Event.
        action: &'static str,
        /// Why, in the words of who was to do it.
        words: String,
    },
    /// The object's namespace goes, and these volumes with it, by the names of their claims.
    VolumesGo(Vec<String>),
}
