//! What keeps the operator from looking after an object, and a person can mend. It is told by an Event, since the status cannot.

use super::calls::missing_right;
use super::reconcile::Cause;
use super::record::Error;
use std::time::Duration;

/// How long a complaint counts as told: an Event is kept for an hour.
pub const TOLD: Duration = Duration::from_mins(10);

/// One complaint, with the API server's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complaint<'a> {
    /// It refuses the object's status.
    StatusRefused(&'a str),
    /// It refuses the operator a right.
    RightMissing(&'a str),
}

impl<'a> Complaint<'a> {
    /// What there is to tell of a look that did not end.
    pub fn of(cause: &'a Cause) -> Option<Self> {
        match cause {
            Cause::Record(error) => {
                let refused = || error.about_the_object().map(Complaint::StatusRefused);
                let right = if let Error::Refused(status) = error { missing_right(status) } else { None };
                right.map(Complaint::RightMissing).or_else(refused)
            }
            Cause::Read(fault) | Cause::Reading(fault) | Cause::Perform(fault) => fault.missing_right().map(Complaint::RightMissing),
            Cause::Unlisted(words) => Some(Complaint::RightMissing(words)),
            Cause::Panicked => None,
        }
    }

    /// The reason of its Event, what was tried, and what it says.
    pub fn told(self) -> (&'static str, &'static str, String) {
        match self {
            Complaint::StatusRefused(words) => {
                let note = "nothing is done, since the API server refuses this object's status; mend the spec, or delete the object";
                ("StatusRefused", "Record", format!("{note}: {words}"))
            }
            Complaint::RightMissing(words) => {
                let note = "nothing is done, since the operator lacks a right here; give it back to its ServiceAccount";
                ("RightMissing", "Look", format!("{note}: {words}"))
            }
        }
    }
}
