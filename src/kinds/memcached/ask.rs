//! The question that a Memcached asks: why, the evidence, what was not done, the answers.

use super::facts::Look;
use super::v1::KeptSpec;
use super::words::{Event, Phase};
use super::{Memcached, trouble};
use crate::kinds::intervention::{ANSWER, Evidence, Intervention, Offer, about, id};
use crate::kinds::reason::{Reason, Verb};
use crate::kinds::{Served, Violation, answer};
use crate::machine::Step;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{Resource, ResourceExt};

/// The question that `step` opens, the object's `number`th.
pub fn question(look: &Look<'_>, step: &Step<Memcached>, number: i64) -> Intervention {
    let object = &look.seen.object;
    let reason = reason(step);
    let id = id(object.meta().uid.as_deref().unwrap_or_default(), number);
    let evidence = evidence(look, reason);
    Intervention {
        generation: object.meta().generation.unwrap_or_default(),
        number,
        reason,
        message: message(look, reason, &evidence),
        evidence,
        not_done: reason.not_done().to_owned(),
        runbook: format!("docs/states/{}.md#{}", Memcached::PATH, reason.word().to_lowercase()),
        answers: reason.answers().iter().map(|verb| offer(object, *verb, &id)).collect(),
        time: Time(look.seen.now),
        about: about(&KeptSpec::from(object)),
        // What is longer than a legal answer can be answers nothing, and would not fit the schema.
        unheard: answer(object).filter(|stale| stale.len() <= 64).cloned(),
        id,
    }
}

fn reason(step: &Step<Memcached>) -> Reason {
    match (step.cause(), step.from()) {
        (Some(Event::SpecInvalid), _) => Reason::SpecInvalid,
        (Some(Event::ChildConflict), _) => Reason::ChildConflict,
        (_, Phase::Creating) => Reason::ProvisioningStuck,
        (_, Phase::Degraded) => Reason::PodsUnavailable,
        _ => Reason::RolloutStuck,
    }
}

fn message(look: &Look<'_>, reason: Reason, evidence: &[Evidence]) -> String {
    let because = evidence
        .first()
        .map_or_else(|| "no object says why".to_owned(), |first| format!("{} {} says: {}", first.kind, first.name, first.words));
    let text = match reason {
        Reason::SpecInvalid => format!(
            "the stored spec is not valid: {}",
            violations(look).iter().map(|fault| format!("{}: {}", fault.field, fault.text)).collect::<Vec<_>>().join("; ")
        ),
        Reason::ChildConflict => format!("a name that this object needs is taken: {because}"),
        Reason::ProvisioningStuck => format!("the first pods did not become ready in time: {because}"),
        Reason::RolloutStuck => format!("the roll-out made no progress in time: {because}"),
        Reason::PodsUnavailable if look.seen.refusal.is_some() => format!("a repair was refused until time was over: {because}"),
        Reason::PodsUnavailable => format!("pods that were ready did not come back in time: {because}"),
    };
    text.chars().take(1000).collect()
}

fn evidence(look: &Look<'_>, reason: Reason) -> Vec<Evidence> {
    match reason {
        Reason::SpecInvalid => {
            let name = look.seen.object.name_any();
            let words = |fault: &Violation| Evidence {
                kind: "Memcached".to_owned(),
                name: name.clone(),
                words: format!("{}: {}", fault.field, fault.text).chars().take(trouble::WORDS).collect(),
            };
            violations(look).iter().take(8).map(words).collect()
        }
        Reason::ChildConflict => {
            look.conflicts().map(|(child, owner)| Evidence { kind: child.kind.name(), name: child.name, words: owner }).collect()
        }
        Reason::ProvisioningStuck | Reason::RolloutStuck | Reason::PodsUnavailable => trouble::evidence(look),
    }
}

fn violations<'a>(look: &'a Look<'_>) -> &'a [Violation] {
    look.wanted.as_ref().err().map(Vec::as_slice).unwrap_or_default()
}

fn offer(object: &super::v1::Memcached, verb: Verb, id: &str) -> Offer {
    let (name, namespace) = (object.name_any(), object.namespace().unwrap_or_default());
    let short = Memcached::SHORT;
    Offer {
        verb: verb.word().to_owned(),
        effect: verb.effect().to_owned(),
        risk: verb.risk(),
        command: format!("kubectl annotate {short}/{name} -n {namespace} {ANSWER}={}-{id} --overwrite", verb.word()),
    }
}
