//! The status' words: for people, and the same for programs.

use super::Served;
use super::annotations::{ANSWER, PAUSED};
use super::claims::claims;
use super::intervention::Intervention;
use super::look::{Compared, Conflict, Look};
use super::order::ChildKind;
use super::reason::{Reason, Verb};
use super::status::{Claim, Status, WaitingFor, conditions};
use crate::machine::{Machine, Role};
use kube::{Resource, ResourceExt};
use std::collections::BTreeSet;

/// The longest message.
const MESSAGE: usize = 120;

/// What a kind says of an object, in its own words.
pub trait Tells: Compared + Served {
    /// What is so while the object is in `phase`, which asks nothing.
    fn told(look: &Look<'_, Self>, phase: Self::Phase) -> Told;
    /// Does it serve, and how that is said: a word, and a sentence.
    fn serving(look: &Look<'_, Self>) -> (bool, &'static str, &'static str);
    /// Why everything is ready in `phase`; nothing where it is not.
    fn ready(phase: Self::Phase) -> Option<&'static str>;
    /// Conditions that no other kind has: [`Served::CONDITIONS`].
    fn more(_look: &Look<'_, Self>, _status: &Status<Self::Spec>) -> Vec<Claim> {
        Vec::new()
    }
    /// How the default image is newer than what runs, and what to type to have it.
    fn newer_default(_look: &Look<'_, Self>, _status: &Status<Self::Spec>) -> Option<String> {
        None
    }
}

/// What is so, and what is waited for.
#[derive(Debug, Default)]
pub struct Told {
    /// For people; what is too long loses its end.
    pub message: String,
    /// What the operator waits for.
    pub waiting_for: Vec<WaitingFor>,
}

/// Writes message, `waitingFor` and conditions for an object that is now in `phase`.
pub fn report<K: Tells>(status: &mut Status<K::Spec>, look: &Look<'_, K>, phase: K::Phase) {
    let Told { message, waiting_for } = match status.intervention.as_ref().filter(|_| K::role(phase) == Role::Asks) {
        Some(question) => Told {
            message: asking(question, look),
            waiting_for: vec![person(if heeds_spec(question, look) { "an answer, or another spec" } else { "an answer" })],
        },
        None if is_paused::<K>(phase) => Told {
            message: typed::<K>("paused; to resume:", &look.seen.object, "annotate", &format!("{PAUSED}-")),
            waiting_for: vec![person(&format!("the annotation {PAUSED} to be taken off"))],
        },
        None => K::told(look, phase),
    };
    status.message = Some(fitting(&message));
    status.waiting_for = waiting_for;
    let claims = claims(status, look, phase, &message);
    let generation = look.seen.object.meta().generation.unwrap_or_default();
    status.conditions = conditions(&status.conditions, claims, generation, look.seen.now);
}

/// Is `phase` the one that a pause leads to?
pub fn is_paused<K: Machine>(phase: K::Phase) -> bool {
    K::step(K::START, &BTreeSet::from([K::PAUSE])).next() == phase
}

/// A person is waited for.
pub fn person(what: &str) -> WaitingFor {
    WaitingFor { kind: "Person".to_owned(), name: String::new(), what: what.to_owned() }
}

/// What is wrong with another object, to be told behind something else. A pod's name says what it is.
pub fn behind(kind: &str, name: &str, what: &str) -> String {
    if kind == "Pod" { format!("; {name}: {what}") } else { format!("; {kind} {name}: {what}") }
}

/// A message that fits. A command that is cut off, or that names no namespace, helps nobody: the condition has it whole.
fn fitting(message: &str) -> String {
    let fits = message.chars().count() <= MESSAGE;
    match message.find("kubectl ").filter(|_| !fits) {
        Some(command) => format!("{}: see condition Ready", message[..command].trim_end_matches([' ', ';', ':'])),
        None if fits => message.to_owned(),
        None => {
            let room: String = message.chars().take(MESSAGE - 3).collect();
            let words = room.rsplit_once(' ').map_or(room.as_str(), |(words, _)| words);
            format!("{}...", words.trim_end_matches([' ', ';', ':', ',']))
        }
    }
}

fn asking<K: Compared>(question: &Intervention, look: &Look<'_, K>) -> String {
    let reason = question.reason.word();
    let answers = format!("annotate {ANSWER}={}", question.legal().replace(", ", " or "));
    let seen = |what: &str| format!("{reason}: see status.intervention; {what}");
    let taken = look.conflicts().next().filter(|_| question.reason == Reason::ChildConflict);
    let Some(Conflict { child, owner, .. }) = taken else {
        let edit = heeds_spec(question, look).then(|| seen(&format!("change the spec, or {answers}")));
        return first_that_fits(edit.into_iter().chain([seen(&answers)]));
    };
    let taken = format!("{reason}: {} {} is not ours", child.kind.name(), child.name);
    let ends = if [ChildKind::PersistentVolumeClaim, ChildKind::Secret].contains(&child.kind) {
        // Of an earlier object of this name, mostly.
        vec![" and may hold data: restore it, or use another name".to_owned(), "; use another name".to_owned()]
    } else if owner.is_some() {
        // Whoever keeps it would miss it, or make it anew.
        vec!["; it belongs to another: use another name".to_owned(), "; use another name".to_owned()]
    } else if question.offers(Verb::Adopt) {
        vec![format!("; delete it, or annotate {ANSWER}={}-{}", Verb::Adopt.word(), question.id)]
    } else {
        vec!["; delete it, or use another name".to_owned()]
    };
    first_that_fits(ends.into_iter().map(|end| taken.clone() + &end).chain([seen(&answers)]))
}

/// Can another spec close the question? Of an object that is being deleted none is taken.
fn heeds_spec<K: Compared>(question: &Intervention, look: &Look<'_, K>) -> bool {
    question.reason.about().heeds_spec() && look.seen.object.meta().deletion_timestamp.is_none()
}

/// The first text that fits; where none does, the last.
fn first_that_fits(texts: impl IntoIterator<Item = String>) -> String {
    let mut last = String::new();
    for text in texts {
        last = text;
        if last.chars().count() <= MESSAGE {
            break;
        }
    }
    last
}

/// What is so, and the command that changes it.
pub fn typed<K: Served>(so: &str, object: &K::Object, verb: &str, rest: &str) -> String {
    format!("{so} {}", command::<K>(object, verb, rest))
}

/// A command about the object, as it is typed.
pub fn command<K: Served>(object: &K::Object, verb: &str, rest: &str) -> String {
    let (short, name, namespace) = (K::SHORT, object.name_any(), object.namespace().unwrap_or_default());
    format!("kubectl {verb} {short}/{name} -n {namespace} {rest}").trim_end().to_owned()
}
