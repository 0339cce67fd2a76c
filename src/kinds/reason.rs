//! Every reason to stop and ask, with its words and its answers: the table of questions.

pub use super::about::About;
pub use super::verb::{Risk, Verb, event};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One reason: its words, and its answers, the safe one first.
struct Row {
    about: About,
    answers: &'static [Verb],
    says: &'static str,
    meaning: &'static str,
    remedy: &'static str,
    not_done: &'static str,
}

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $reason:ident { $($row:tt)* })*) => {
        /// Why the operator stopped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Reason { $($(#[doc = $doc])+ $reason),* }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Reason] = &[$(Reason::$reason),*];

            const fn row(self) -> Row {
                match self { $(Reason::$reason => Row { $($row)* }),* }
            }
        }
    };
}

reasons! {
    /// The stored spec breaks today's rules.
    SpecInvalid {
        about: About::Spec,
        answers: &[Verb::Retry],
        says: "the stored spec is not valid",
        meaning: "The stored spec breaks today's rules: it was stored before them, or without them",
        remedy: "Change the spec",
        not_done: "nothing was applied from this spec; what ran before still runs",
    }
    /// A child's name is taken by somebody else's object.
    ChildConflict {
        about: About::Names,
        answers: &[Verb::Retry, Verb::Adopt],
        says: "a name that this object needs is taken",
        meaning: "An object of a name that a child needs is somebody else's",
        remedy: "Delete that object, or create this one under another name",
        not_done: "the other object was not written to, and nothing that depends on its name was changed",
    }
    /// The first pods did not become ready in time.
    ProvisioningStuck {
        about: About::Pods,
        answers: &[Verb::Retry],
        says: "the first pods did not become ready in time",
        meaning: "The first pods did not become ready in time",
        remedy: "Change the spec",
        not_done: "nothing was removed; the children that were made stay as they are and may still become ready",
    }
    /// A roll-out did not end in time.
    RolloutStuck {
        about: About::Pods,
        answers: &[Verb::Retry, Verb::Rollback],
        says: "the roll-out made no progress in time",
        meaning: "A roll-out or a change of the count made no progress in time",
        remedy: "Change the spec",
        not_done: "nothing was rolled back or removed; pods that serve keep serving",
    }
    /// Pods that were ready before did not come back in time.
    PodsUnavailable {
        about: About::Pods,
        answers: &[Verb::Retry, Verb::Rollback],
        says: "pods that were ready did not come back in time",
        meaning: "Pods that were ready before did not come back in time",
        remedy: "Change the spec",
        not_done: "nothing was removed or replaced; pods that serve keep serving",
    }
    /// Another writer keeps changing a child.
    DriftFought {
        about: About::Fields,
        answers: &[Verb::Retry, Verb::Yield],
        says: "another writer undoes every repair",
        meaning: "Another writer keeps changing a child, and every repair was undone",
        remedy: "Stop the other writer, or leave the field to it on every object with --yield",
        not_done: "the last change of the other writer stands, and is not repaired until this is answered",
    }
    /// The wanted image could not be asked, or does not fit the data.
    ProbeFailed {
        about: About::Data,
        answers: &[Verb::Retry],
        says: "what the spec asks of the image cannot be had",
        meaning: "The wanted image could not be asked what it is, or is of another major version than the data, or lacks what the spec asks for",
        remedy: "Change the image, or what spec.parameters or spec.extensions ask of it",
        not_done: "no pod was touched for it; what ran before was left as it was",
    }
    /// The Job that makes role, its rights and the extensions has failed.
    InitJobFailed {
        about: About::Data,
        answers: &[Verb::Retry],
        says: "what its users need could not be made",
        meaning: "The Job that makes the role, its rights and the extensions has failed",
        remedy: "Change the spec",
        not_done: "nothing was dropped; what the Job made before it failed stays, and it may run again",
    }
    /// The Job that brings a backup back has failed.
    RestoreFailed {
        about: About::Work,
        answers: &[Verb::Retry],
        says: "the backup was not brought back",
        meaning: "The Job that brings the data back from a backup has failed, or took too long",
        remedy: "Name another backup in spec.restoreFrom",
        not_done: "the backup was only read; nobody was let in to data that is half restored",
    }
    /// The Secret of the passwords is gone or was edited.
    CredentialsLost {
        about: About::Loss,
        answers: &[Verb::Retry, Verb::ResetPasswords],
        says: "the passwords are not what was made",
        meaning: "A Secret with passwords is gone, or was edited by hand",
        remedy: "Put the Secret back as it was",
        not_done: "no password was made or changed; who is connected stays connected",
    }
    /// The volume of the primary is gone.
    PrimaryVolumeLost {
        about: About::Loss,
        answers: &[Verb::Retry],
        says: "the volume of the primary is gone",
        meaning: "The claim of the primary was deleted, or another one stands under its name: it would be empty",
        remedy: "Create another object that restores a backup of this one (spec.restoreFrom); what replicas hold can still be read and dumped",
        not_done: "nothing empty was put in its place, no replica was promoted, and no volume was removed",
    }
    /// The servers are told less than their volumes have seen.
    TopologyBehind {
        about: About::Loss,
        answers: &[Verb::Retry, Verb::BelieveVolumes],
        says: "the volumes know of a later primary",
        meaning: "Volumes have seen a later epoch than this cluster knows: its data was put back to a time before the primary moved",
        remedy: "Where the last primary has no pod any more, bring its claim back, raise spec.replicas to it and answer retry; a volume that cannot come back is given up by deleting its claim",
        not_done: "no server whose volume knows more was started, nobody is led to write to one that knows less, and no volume was removed",
    }
    /// A volume of a replica holds writes that the primary lacks.
    ReplicaDiverged {
        about: About::Loss,
        answers: &[Verb::Retry],
        says: "a replica holds writes that the primary lacks",
        meaning: "The volume of a replica has a history of its own, with writes that the primary does not have",
        remedy: "Look at what that volume holds",
        not_done: "the replica was not started, and none of its files was removed",
    }
    /// The node of a server answers nobody.
    NodeLost {
        about: About::Loss,
        answers: &[Verb::Retry],
        says: "a node answers nobody",
        meaning: "The node of the primary answers nobody, so nobody knows whether its server still runs",
        remedy: "Bring the node back, or delete it once its machine is surely off",
        not_done: "no second primary was started: two would divide the data",
    }
    /// Nobody could take over from the primary.
    SwitchoverStuck {
        about: About::Loss,
        answers: &[Verb::Retry],
        says: "nobody can take over from the primary",
        meaning: "The primary ended three times so that a replica could take over, and each time none held all that it had written, or it did not end cleanly",
        remedy: "See why the replicas lag behind, or raise spec.replicas again, so that the primary stays",
        not_done: "no replica that lacks writes was promoted; the primary serves as before",
    }
    /// A volume is smaller than wanted, and cannot grow.
    StorageNotExpandable {
        about: About::Data,
        answers: &[Verb::Retry],
        says: "a volume cannot grow",
        meaning: "A volume is smaller than the spec wants, and its StorageClass does not let it grow, or it did not grow in time",
        remedy: "Let the StorageClass expand volumes, or go back to the size before",
        not_done: "no volume was replaced; every server keeps the one that it has",
    }
    /// The last dump before the deletion has failed.
    SnapshotFailed {
        about: About::Work,
        answers: &[Verb::Retry, Verb::KeepVolumes, Verb::ResetPasswords, Verb::SkipSnapshot],
        says: "there is no last dump",
        meaning: "The Job that takes the last dump before the deletion has failed, or took too long",
        remedy: "Mend what the Job says",
        not_done: "nothing is removed while this question is open",
    }
    /// A last dump of the primary would lack what another volume holds.
    DumpIncomplete {
        about: About::Loss,
        answers: &[Verb::Retry, Verb::KeepVolumes, Verb::SkipSnapshot],
        says: "a last dump would not hold all that was written",
        meaning: "A volume holds what was written and the primary lacks, or knows of a later primary: a dump of the primary would lack that, and the volume goes with the object",
        remedy: "Look at what that volume holds; give it up by deleting its claim and its pod",
        not_done: "no last dump was taken, and nothing is removed while this question is open",
    }
    /// Children do not go.
    RemovalStuck {
        about: About::Data,
        answers: &[Verb::Retry, Verb::KeepVolumes],
        says: "what is to be removed does not go",
        meaning: "A child was told to go and is still there after its time",
        remedy: "See who holds it: its finalizers, or a pod that uses it",
        not_done: "the finalizer was not taken off; what is left is named in the evidence",
    }
    /// The object is protected, and is being deleted.
    Protected {
        about: About::Protection,
        answers: &[Verb::Retry, Verb::KeepVolumes],
        says: "the object is protected",
        meaning: "The object was deleted although it is annotated to be protected",
        remedy: "Take the protection off to let it go",
        not_done: "nothing is removed while this question is open",
    }
}

impl Reason {
    /// The reason as it is stored and shown.
    pub fn word(self) -> String {
        format!("{self:?}")
    }
    /// What the question is about.
    pub fn about(self) -> About {
        self.row().about
    }
    /// The answers that may be offered, the safe one first.
    pub fn answers(self) -> &'static [Verb] {
        self.row().answers
    }
    /// The beginning of the question's message.
    pub fn says(self) -> &'static str {
        self.row().says
    }
    /// What happened.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }
    /// What a person can do about it, besides answering.
    pub fn remedy(self) -> &'static str {
        self.row().remedy
    }
    /// What was not done, and why that is safe.
    pub fn not_done(self) -> &'static str {
        self.row().not_done
    }
}
