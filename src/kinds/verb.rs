//! Every answer that a question may have, and what it can cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Look afresh, apply every child, give a new deadline.
    Retry,
    /// Go back to the pod template that was ready last.
    Rollback,
    /// Take over what stands under the children's names.
    Adopt,
    /// Leave a field of a child to the other writer.
    Yield,
    /// Make new passwords.
    ResetPasswords,
    /// Believe what the volumes say of the primary.
    BelieveVolumes,
    /// Let the object go, and keep its volumes.
    KeepVolumes,
    /// Remove the volumes without a last dump.
    SkipSnapshot,
}

impl Verb {
    /// Every verb.
    pub const ALL: &'static [Verb] = &[
        Verb::Retry,
        Verb::Rollback,
        Verb::Adopt,
        Verb::Yield,
        Verb::ResetPasswords,
        Verb::BelieveVolumes,
        Verb::KeepVolumes,
        Verb::SkipSnapshot,
    ];

    /// The verb as it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Retry => "retry",
            Verb::Rollback => "rollback",
            Verb::Adopt => "adopt",
            Verb::Yield => "yield",
            Verb::ResetPasswords => "reset-passwords",
            Verb::BelieveVolumes => "believe-volumes",
            Verb::KeepVolumes => "keep-volumes",
            Verb::SkipSnapshot => "skip-snapshot",
        }
    }

    /// The name of the fact that the answer was given.
    pub fn event(self) -> String {
        event(self.word())
    }

    /// What answering with it does.
    pub fn effect(self) -> &'static str {
        match self {
            Verb::Retry => "looks afresh, takes up again what has stopped, removes pods that wait on an error, and starts a new deadline",
            Verb::Rollback => {
                "rolls the pods back to what was ready last; the spec stays as it is, and is tried again once it asks for something else"
            }
            Verb::Adopt => {
                "takes over the objects that stand under the children's names: overwrites them now, and deletes them later with this object"
            }
            Verb::Yield => "leaves the fields that are fought over to the other writer, until the spec asks for another value there",
            Verb::ResetPasswords => "makes new passwords and restarts the primary with them; clients need the new ones from the Secret",
            Verb::BelieveVolumes => {
                "makes the server the primary that the volumes of the latest epoch name; what another one took since stays on that one's volume alone"
            }
            Verb::KeepVolumes => {
                "removes the children but the volumes, which stay with all their data and are nobody's then, those aside that were told to go before"
            }
            Verb::SkipSnapshot => "removes the volumes now, without a last dump: what no earlier backup holds is gone for good",
        }
    }

    /// When it is offered.
    pub fn offered(self) -> &'static str {
        match self {
            Verb::Rollback => "where something was ready before, and it is something else than what failed",
            Verb::Adopt => "where the API server would let every such object be taken over",
            Verb::Yield => "where the fields are not those by which the operator finds its children",
            Verb::Retry => "always",
            Verb::KeepVolumes => {
                "always; it costs nothing unless the primary's volume was told to go before. Where that is so only later, the question is asked anew"
            }
            Verb::ResetPasswords => {
                "where a Secret with passwords is gone, or was edited, and a restart of the primary would not cost its volume"
            }
            Verb::BelieveVolumes => {
                "where every server has spoken, the volumes of the latest epoch name one primary, and its volume is the one of before"
            }
            Verb::SkipSnapshot => "where the object is not protected",
        }
    }

    /// The most that answering with it can cost.
    pub fn risk(self) -> Risk {
        match self {
            Verb::Retry | Verb::Yield => Risk::None,
            Verb::Rollback | Verb::ResetPasswords => Risk::Disruption,
            Verb::Adopt | Verb::BelieveVolumes | Verb::SkipSnapshot | Verb::KeepVolumes => Risk::DataLoss,
        }
    }
}

/// The name of the fact that an answer with this verb was given.
pub fn event(verb: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    verb.split('-').map(capital).chain(["Answered".to_owned()]).collect()
}

/// What an answer can cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Risk {
    /// Nothing that serves is touched.
    None,
    /// Something that serves may be interrupted.
    Disruption,
    /// Data may be lost for good.
    DataLoss,
}
