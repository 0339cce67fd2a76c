//! What became of one order, and in whose name it was given.

use super::memory::Awaited;
use crate::kinds::order::{ChildRef, Fate, Refusal};
use crate::kinds::rendered::MANAGER;
use kube::api::{PatchParams, ValidationDirective};
use kube::core::Status;

/// What became of one order.
pub(super) enum Outcome {
    /// It was carried out.
    Done(Awaited),
    /// The child is not what it was when it was seen: the next look sees it as it is.
    Outdated,
    /// It came to nothing.
    Refused(Refusal),
}

pub(super) fn refused(child: &ChildRef, status: &Status, fate: Fate) -> Outcome {
    Outcome::Refused(refusal(child, status, fate))
}

pub(super) fn refusal(child: &ChildRef, status: &Status, fate: Fate) -> Refusal {
    Refusal { child: Some(child.clone()), words: words(status), fate }
}

pub(super) fn words(status: &Status) -> String {
    if status.message.is_empty() { format!("{} {}", status.code, status.reason) } else { status.message.clone() }
}

pub(super) fn applied() -> PatchParams {
    PatchParams { field_validation: Some(ValidationDirective::Strict), ..managed() }
}

pub(super) fn managed() -> PatchParams {
    PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() }
}
