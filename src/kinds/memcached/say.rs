//! The status' words: for people, and the same for programs.

use super::facts::{Look, counts};
use super::trouble;
use super::v1::{self, KeptSpec};
use super::words::Phase;
use crate::kinds::intervention::{ANSWER, Intervention};
use crate::kinds::order::ChildKind;
use crate::kinds::pods::counted;
use crate::kinds::reason::Reason;
use crate::kinds::status::{Claim, Status, WaitingFor, conditions};
use crate::machine::Word;
use kube::{Resource, ResourceExt};

/// The longest message.
const MESSAGE: usize = 120;

/// Writes message, `waitingFor` and conditions for an object that is now in `phase`.
pub fn report(status: &mut Status<KeptSpec>, look: &Look<'_>, phase: Phase) {
    let seen = look.seen;
    let message = message(status, look, phase);
    status.message = Some(fitting(&message));
    status.waiting_for = waiting_for(look, phase);
    let claims = claims(status, look, phase, &message);
    let generation = seen.object.meta().generation.unwrap_or_default();
    status.conditions = conditions(&status.conditions, claims, generation, seen.now);
}

/// A message that fits. A command that is cut off helps nobody, so a long one loses it whole; `waitingFor` has it.
fn fitting(message: &str) -> String {
    let fits = message.chars().count() <= MESSAGE;
    let command = message.find("kubectl ").filter(|_| !fits).unwrap_or(message.len());
    message[..command].trim_end_matches([' ', ';', ':']).chars().take(MESSAGE).collect()
}

fn message(status: &Status<KeptSpec>, look: &Look<'_>, phase: Phase) -> String {
    let pods = counted(look.replicas());
    let trouble = trouble::waiting_for(look.seen).into_iter().next();
    let troubled =
        |kind: &str, name: &str, what: &str| if kind == "Pod" { format!("; {name}: {what}") } else { format!("; {kind} {name}: {what}") };
    let trouble = trouble.map(|trouble| troubled(&trouble.kind, &trouble.name, &trouble.what)).unwrap_or_default();
    match phase {
        Phase::Pending => String::new(),
        Phase::Creating => format!("creating {pods}{trouble}"),
        Phase::Ready => format!("{pods} ready"),
        Phase::Scaling => format!("scaling to {pods}{trouble}"),
        Phase::Updating => format!("updating {pods}, one at a time{trouble}"),
        Phase::Degraded => {
            let drift = trouble::drift(look).into_iter().next();
            let drift = drift.map(|drift| troubled(&drift.kind, &drift.name, &drift.words));
            format!("repairing: {pods} wanted{}", drift.unwrap_or(trouble))
        }
        Phase::Stopped => stopped(&look.seen.object),
        Phase::HumanIntervention => status.intervention.as_ref().map(|question| asking(question, look)).unwrap_or_default(),
        Phase::Deleting => going(&look.seen.object),
    }
}

fn asking(question: &Intervention, look: &Look<'_>) -> String {
    let reason = question.reason.word();
    let taken = look.conflicts().next().filter(|_| question.reason == Reason::ChildConflict);
    match taken {
        Some((child, _)) => format!("{reason}: {} {} is not ours; delete it, or use another name", child.kind.name(), child.name),
        None => format!("{reason}: see status.intervention; change the spec, or annotate {ANSWER}=retry-{}", question.id),
    }
}

/// A command that is cut off helps nobody: where both names are long, the namespace is left to the reader.
fn stopped(object: &v1::Memcached) -> String {
    let (name, namespace) = (object.name_any(), object.namespace().unwrap_or_default());
    let start = |place: &str| format!("stopped; to start: kubectl scale mc/{name}{place} --replicas=1");
    let whole = start(&format!(" -n {namespace}"));
    if whole.len() <= MESSAGE { whole } else { start("") }
}

fn going(object: &v1::Memcached) -> String {
    // The garbage collector's own: under them the children go first, or are let go.
    let holds = object.finalizers().iter().find(|name| !["foregroundDeletion", "orphan"].contains(&name.as_str()));
    match holds {
        None => "being deleted; its owner references remove the children".to_owned(),
        Some(name) => format!("being deleted; its children stay while a finalizer holds it: {name}"),
    }
}

fn waiting_for(look: &Look<'_>, phase: Phase) -> Vec<WaitingFor> {
    let wait = |kind: String, name: String, what: String| WaitingFor { kind, name, what };
    match phase {
        Phase::Creating | Phase::Scaling | Phase::Updating | Phase::Degraded => {
            let what = format!("{} of this generation to be ready", counted(look.replicas()));
            let workload = wait(ChildKind::Deployment.name(), look.seen.object.name_any(), what);
            std::iter::once(workload).chain(trouble::waiting_for(look.seen)).collect()
        }
        Phase::HumanIntervention => vec![wait("Person".to_owned(), String::new(), "an answer, or another spec".to_owned())],
        Phase::Pending | Phase::Ready | Phase::Stopped | Phase::Deleting => Vec::new(),
    }
}

fn claims(status: &Status<KeptSpec>, look: &Look<'_>, phase: Phase, message: &str) -> Vec<Claim> {
    let reason = &status.reason.clone().unwrap_or_else(|| phase.text());
    let claim = |name, holds, reason: &str, message: &str| Claim { name, holds, reason: reason.to_owned(), message: message.to_owned() };
    let ready = matches!(phase, Phase::Ready | Phase::Stopped);
    let working = matches!(phase, Phase::Creating | Phase::Scaling | Phase::Updating | Phase::Degraded);
    let serving = counts(look.seen).available;
    let (available, serves) = if serving > 0 { ("PodsServe", "at least one pod serves") } else { ("NoPodServes", "no pod serves") };
    let stalled = phase == Phase::HumanIntervention;
    let (current, why) = up_to_date(status, look, phase);
    vec![
        claim("Ready", ready, reason, message),
        claim("Available", serving > 0, available, serves),
        claim("Reconciling", working, reason, if working { message } else { "nothing is under way" }),
        claim("Stalled", stalled, reason, &status.intervention.as_ref().map_or("no question is open".to_owned(), Intervention::summary)),
        claim("UpToDate", current == "UpToDate", current, why),
    ]
}

fn up_to_date(status: &Status<KeptSpec>, look: &Look<'_>, phase: Phase) -> (&'static str, &'static str) {
    if look.wanted.is_err() {
        ("SpecInvalid", "the spec is not valid, so nothing was made of it")
    } else if status.applied.is_none() {
        ("NothingOrdered", "nothing was ordered yet")
    } else if look.seen.refusal.is_some() {
        ("Refused", "the API server refuses what was ordered")
    } else if phase == Phase::HumanIntervention && !look.changes.is_empty() {
        ("Held", "the spec is held until the open question is closed")
    } else if look.older_rendering().is_some() {
        ("NewerRendering", "this operator would render the pods otherwise; they stand until the spec changes")
    } else {
        ("UpToDate", "what was ordered is what the spec asks for")
    }
}
