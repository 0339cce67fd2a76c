//! The conditions of an object: whether each holds, and why. Every reason is declared beside its condition.

use super::Served;
use super::annotations::{PAUSED, PROTECTED, REFRESH, is_set};
use super::conditions::{Because, Declared};
use super::intervention::Intervention;
use super::look::{Compared, Look};
use super::order::{Fate, Order};
use super::status::{Claim, Status};
use super::telling::{Tells, command, is_paused};
use crate::machine::{Role, Word};
use Because::{Question, State, Word as Reason};
use kube::Resource;

const READY: Declared = Declared {
    name: "Ready",
    meaning: "everything that the spec asks for is in place and ready",
    holds: &[Reason(CHILDREN_READY), Reason("AllStopped")],
    fails: &[State, Question],
};
const RECONCILING: Declared = Declared {
    name: "Reconciling",
    meaning: "the operator works towards the spec, or removes the object",
    holds: &[State],
    fails: &[Reason("Idle")],
};
const STALLED: Declared = Declared {
    name: "Stalled",
    meaning: "the operator has stopped and asks a question",
    holds: &[Question],
    fails: &[Reason("NoQuestion")],
};
const UP_TO_DATE: Declared = Declared {
    name: "UpToDate",
    meaning: "the spec is applied, as this release renders it",
    holds: &[Reason("UpToDate")],
    fails: &[
        Reason("SpecInvalid"),
        Reason("Deleting"),
        Reason("NothingOrdered"),
        Reason("Refused"),
        Reason("Undone"),
        Reason("RolledBack"),
        Reason("Held"),
        Reason("NotMade"),
        Reason("NotOrdered"),
        Reason("NewerRendering"),
        Reason("Yielded"),
        Reason("OlderThanDefault"),
    ],
};
const PAUSE: Declared = Declared {
    name: "Paused",
    meaning: "the operator leaves the object alone",
    holds: &[Reason("Annotated")],
    fails: &[Reason("NotAnnotated"), Reason("Deferred"), Reason("Deleting")],
};
const PROTECTION: Declared = Declared {
    name: "Protected",
    meaning: "the object is protected against deletion",
    holds: &[Reason("Annotated")],
    fails: &[Reason("NotAnnotated")],
};
/// The condition that says whether it serves.
pub const AVAILABLE: &str = "Available";
/// Why everything is ready, where pods are wanted.
pub const CHILDREN_READY: &str = "ChildrenReady";

/// Every condition of a kind, in the order in which they are told.
pub fn declared<K: Served>() -> Vec<Declared> {
    let shared = [READY, K::AVAILABLE, RECONCILING, STALLED, UP_TO_DATE, PAUSE, PROTECTION];
    shared.into_iter().chain(K::CONDITIONS.iter().copied()).collect()
}

/// What is claimed of an object that is now in `phase`, about which `message` is told.
pub fn claims<K: Tells>(status: &Status<K::Spec>, look: &Look<'_, K>, phase: K::Phase, message: &str) -> Vec<Claim> {
    let state = phase.text();
    let question = status.intervention.as_ref().filter(|_| K::role(phase) == Role::Asks);
    let asked = question.map(|question| question.reason.word());
    // Who is paused is ready where nothing is left to be done.
    let rests = is_paused::<K>(phase) && look.settled && look.wanted.is_ok() && !look.refused();
    let ready = K::ready(phase).or(rests.then_some(CHILDREN_READY));
    let working = matches!(K::role(phase), Role::Works { .. });
    let (serves, available, how) = K::serving(look);
    let (current, why) = up_to_date(status, look, phase);
    let (paused, pause, pause_words) = pause(look, phase);
    let (protected, protection, protection_words) = protection(look, phase);
    let claim = |name, holds, reason: &str, message: &str| Claim { name, holds, reason: reason.to_owned(), message: message.to_owned() };
    let claims = vec![
        claim(READY.name, ready.is_some(), ready.or(asked.as_deref()).unwrap_or(&state), message),
        claim(AVAILABLE, serves, available, how),
        claim(RECONCILING.name, working, if working { &state } else { "Idle" }, if working { message } else { "nothing is under way" }),
        claim(
            STALLED.name,
            question.is_some(),
            asked.as_deref().unwrap_or("NoQuestion"),
            &question.map_or("nothing to decide".to_owned(), Intervention::summary),
        ),
        claim(UP_TO_DATE.name, current == UP_TO_DATE.name, current, &why),
        claim(PAUSE.name, paused, pause, pause_words),
        claim(PROTECTION.name, protected, protection, protection_words),
    ];
    claims.into_iter().chain(K::more(look, status)).collect()
}

fn pause<K: Tells>(look: &Look<'_, K>, phase: K::Phase) -> (bool, &'static str, &'static str) {
    let annotated = is_set(&look.seen.object, PAUSED);
    let goes = look.seen.object.meta().deletion_timestamp.is_some();
    match (is_paused::<K>(phase), annotated, goes) {
        (true, _, _) => (true, "Annotated", "paused"),
        (false, true, true) => (false, "Deleting", "not paused, since the object is being deleted"),
        (false, true, false) => (false, "Deferred", "not paused yet: the operator first ends a step that must not stop halfway"),
        (false, false, _) => (false, "NotAnnotated", "not paused"),
    }
}

fn protection<K: Tells>(look: &Look<'_, K>, phase: K::Phase) -> (bool, &'static str, &'static str) {
    let goes = look.seen.object.meta().deletion_timestamp.is_some() && K::role(phase) != Role::Asks;
    match (is_set(&look.seen.object, PROTECTED), goes) {
        (true, false) => (true, "Annotated", "protected against deletion"),
        (true, true) => (true, "Annotated", "protected against deletion, but it is being deleted already"),
        (false, _) => (false, "NotAnnotated", "not protected against deletion"),
    }
}

fn up_to_date<K: Tells>(status: &Status<K::Spec>, look: &Look<'_, K>, phase: K::Phase) -> (&'static str, String) {
    let renderer = look.seen.settings.renderer;
    let held = !look.changes.is_empty() || look.waits();
    let (reason, why) = if look.wanted.is_err() {
        ("SpecInvalid", "the spec is not valid, and nothing of it is applied")
    } else if look.seen.object.meta().deletion_timestamp.is_some() {
        ("Deleting", "the object is being deleted, and no spec is applied any more")
    } else if status.applied.is_none() {
        ("NothingOrdered", "nothing is applied yet")
    } else if let Some(refusal) = &look.seen.refusal {
        match refusal.fate {
            Fate::Refused | Fate::Taken => ("Refused", "the API server refuses what the operator writes"),
            Fate::Undone => ("Undone", "the API server accepts what the operator writes, and something changes it back"),
        }
    } else if status.refused.is_some() {
        ("RolledBack", "the spec asks for what was rolled back; what was ready last is applied until it asks for something else")
    } else if K::role(phase) == Role::Asks && held {
        ("Held", "the spec is held until the open question is closed")
    } else if is_paused::<K>(phase) && held {
        ("Held", "the spec is held until the object is resumed")
    } else if (K::role(phase) == Role::Asks || is_paused::<K>(phase)) && lacks(look) {
        ("NotMade", "an object that the spec needs is missing, or its name is taken by another")
    } else if look.waits() {
        ("NotOrdered", "the image has not told yet what it can do, and the spec is applied after that")
    } else if look.older_rendering().is_some() {
        let refresh = command::<K>(&look.seen.object, "annotate", &format!("{REFRESH}={renderer} --overwrite"));
        let stand = "the pods stand as an older release renders them, until a change of the spec makes them anew, or until you type";
        return ("NewerRendering", format!("{stand}: {refresh}"));
    } else if !status.yielded.is_empty() {
        ("Yielded", "fields that are named in status.yielded are left to another writer")
    } else if let Some(why) = K::newer_default(look, status) {
        return ("OlderThanDefault", why);
    } else if look.leaves_fields_everywhere() {
        ("Yielded", "the fields that --yield names are left to another writer")
    } else {
        ("UpToDate", "the spec is applied")
    };
    (reason, why.to_owned())
}

/// Is a child missing, or somebody else's?
fn lacks<K: Compared>(look: &Look<'_, K>) -> bool {
    let makes = |order: &Order| matches!(order, Order::Apply { uid: None, .. } | Order::Create { .. });
    look.missing.iter().any(makes) || look.conflicts().next().is_some()
}
