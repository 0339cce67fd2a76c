//! Every reason to stop and ask, with its words and its answers: the table of questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Look afresh, apply every child, give a new deadline.
    Retry,
}

impl Verb {
    /// The verb as it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Retry => "retry",
        }
    }

    /// What answering with it does.
    pub fn effect(self) -> &'static str {
        match self {
            Verb::Retry => "looks afresh, applies the children again, removes pods that wait on an error, and starts a new deadline",
        }
    }

    /// What answering with it can cost.
    pub fn risk(self) -> Risk {
        match self {
            Verb::Retry => Risk::None,
        }
    }
}

/// What an answer can cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Risk {
    /// Nothing that serves is touched.
    None,
    /// Something that serves may be interrupted.
    Disruption,
    /// Data may be lost for good.
    DataLoss,
}

/// Why the operator stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Reason {
    /// The stored spec breaks today's rules.
    SpecInvalid,
    /// A child's name is taken by somebody else's object.
    ChildConflict,
    /// The first pods did not become ready in time.
    ProvisioningStuck,
    /// A roll-out did not end in time.
    RolloutStuck,
    /// Pods that were ready before did not come back in time.
    PodsUnavailable,
}

impl Reason {
    /// Every reason.
    pub const ALL: &'static [Reason] =
        &[Reason::SpecInvalid, Reason::ChildConflict, Reason::ProvisioningStuck, Reason::RolloutStuck, Reason::PodsUnavailable];

    /// The reason as it is stored and shown.
    pub fn word(self) -> String {
        format!("{self:?}")
    }

    /// The answers that are offered, the safe one first.
    pub fn answers(self) -> &'static [Verb] {
        match self {
            Reason::SpecInvalid | Reason::ChildConflict | Reason::ProvisioningStuck | Reason::RolloutStuck | Reason::PodsUnavailable => {
                &[Verb::Retry]
            }
        }
    }

    /// What happened.
    pub fn meaning(self) -> &'static str {
        match self {
            Reason::SpecInvalid => "The stored spec breaks today's rules: it was stored before them, or without them",
            Reason::ChildConflict => "An object of a name that a child needs is somebody else's",
            Reason::ProvisioningStuck => "The first pods did not become ready in time",
            Reason::RolloutStuck => "A roll-out or a change of the count made no progress in time",
            Reason::PodsUnavailable => "Pods that were ready before did not come back in time",
        }
    }

    /// When the question closes by itself.
    pub fn closes(self) -> &'static str {
        match self {
            Reason::SpecInvalid => "when the spec obeys the rules",
            Reason::ChildConflict => "when no such object is left",
            Reason::ProvisioningStuck | Reason::RolloutStuck | Reason::PodsUnavailable => {
                "when every pod that was ordered is ready; a count that was changed meanwhile follows then"
            }
        }
    }

    /// What a person can do about it, besides answering.
    pub fn remedy(self) -> &'static str {
        match self {
            Reason::SpecInvalid | Reason::ProvisioningStuck | Reason::RolloutStuck | Reason::PodsUnavailable => "Change the spec",
            Reason::ChildConflict => "Delete that object, or create this one under another name",
        }
    }

    /// What was not done, and why that is safe.
    pub fn not_done(self) -> &'static str {
        match self {
            Reason::SpecInvalid => "nothing was applied from this spec; what ran before still runs",
            Reason::ChildConflict => "the other object was not written to, and nothing that depends on its name was changed",
            Reason::ProvisioningStuck => "nothing was removed; the children stay as they are and may still become ready",
            Reason::RolloutStuck => "nothing was rolled back or removed; pods that serve keep serving",
            Reason::PodsUnavailable => "nothing was removed or replaced; pods that serve keep serving",
        }
    }
}
