//! What questions are about: where their evidence is found, and what ends them.

/// What a question is about: where its evidence is found, and what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The spec: it ends when that is valid.
    Spec,
    /// Names that others hold: it ends when they are free.
    Names,
    /// Fields that others write: it ends when they are left to them on every object.
    Fields,
    /// Pods that are not ready: it ends when they are.
    Pods,
    /// Protection: it ends when that is taken off.
    Protection,
    /// A Job that takes as long as there is data: it ends when that ends well after all.
    Work,
    /// Something that was lost, or came apart: no spec brings it back, and it ends when it is so no longer.
    Loss,
    /// Something of the kind's own: it does not end by itself.
    Data,
}

impl About {
    /// Can another spec end it? Where something was lost, that waits for as long as it is so.
    pub fn heeds_spec(self) -> bool {
        self != About::Loss
    }

    /// When such a question closes by itself.
    pub fn closes(self) -> &'static str {
        match self {
            About::Spec => "when the spec obeys the rules",
            About::Names => "when no such object is left",
            About::Fields => "when --yield names the field; else at no time: who fights is not seen, and may come back",
            About::Pods => "when every pod that was ordered is ready; a count that was changed meanwhile follows then",
            About::Protection => "when the protection is taken off",
            About::Work => "when its Job, which goes on, ends well after all",
            About::Loss => "when it is so no longer; another spec waits until then",
            About::Data => "at no time",
        }
    }
}
