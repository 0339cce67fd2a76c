//! The question that an object asks: why, the evidence, what was not done, the answers.

use super::annotations::{ANSWER, answer};
use super::apply;
use super::intervention::{Evidence, Intervention, Offer, SUBJECTS, Subject, about, id};
use super::look::{Compared, Conflict, Look};
use super::order::{Order, Trial, named};
use super::prose::listed;
use super::reason::{About, Reason, Risk, Verb};
use super::{Served, Violation};
use crate::machine::Step;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{Resource, ResourceExt};

/// How much of an object's words is quoted.
const WORDS: usize = 600;

/// What a kind says of its troubles, so that a question can be asked about them.
pub trait Asks: Compared + Served {
    /// Why `step` asks.
    fn reason(look: &Look<'_, Self>, step: &Step<Self>) -> Reason;
    /// Would this answer, which is one of the reason's, help at all?
    fn helps(_look: &Look<'_, Self>, _verb: Verb) -> bool {
        true
    }
    /// What this answer would do, as things stand.
    fn does(_look: &Look<'_, Self>, verb: Verb) -> String {
        verb.effect().to_owned()
    }
    /// The data that this answer would take with it, as things stand, beyond what it always does.
    fn costs(_look: &Look<'_, Self>, _verb: Verb) -> Option<String> {
        None
    }
    /// Everything that was seen to go wrong.
    fn evidence(look: &Look<'_, Self>, reason: Reason) -> Vec<Evidence>;
}

/// The question that `step` opens, the object's `number`th.
pub fn question<K: Asks>(look: &Look<'_, K>, step: &Step<K>, number: i64) -> Intervention {
    let object = &look.seen.object;
    let reason = K::reason(look, step);
    let evidence = evidence(look, reason);
    let subjects = subjects(look, reason);
    let (id, answers) = answers(look, reason, &subjects, number);
    Intervention {
        generation: object.meta().generation.unwrap_or_default(),
        number,
        reason,
        message: message(look, reason, &evidence),
        evidence,
        not_done: reason.not_done().to_owned(),
        runbook: format!("docs/states/{}.md#{}", K::PATH, reason.word().to_lowercase()),
        answers,
        subjects,
        time: Time(look.seen.now),
        about: about(&K::Spec::from(object)),
        // What is longer than a legal answer can be answers nothing, and would not fit the schema.
        unheard: answer(object).filter(|stale| stale.len() <= 64).cloned(),
        id,
    }
}

/// Would an answer to the open question take data of which nothing was said when it was offered, do something else with it, or
/// do nothing any more?
pub fn is_out_of_date<K: Asks>(look: &Look<'_, K>) -> bool {
    let differs = |offer: &Offer| {
        let verb = Verb::ALL.iter().find(|verb| verb.word() == offer.verb);
        let takes_more = |verb| offer.risk == Risk::None && K::costs(look, verb).is_some();
        let does_otherwise = |verb| verb == Verb::BelieveVolumes && K::does(look, verb) != offer.effect;
        verb.is_some_and(|verb| takes_more(*verb) || does_otherwise(*verb) || !K::helps(look, *verb))
    };
    super::question::<K>(&look.seen.object).is_some_and(|question| question.answers.iter().any(differs))
}

/// The same question, as the object's `number`th, with its answers as things stand.
pub fn anew<K: Asks>(look: &Look<'_, K>, question: Intervention, number: i64) -> Intervention {
    let (id, answers) = answers(look, question.reason, &question.subjects, number);
    Intervention { id, number, answers, time: Time(look.seen.now), ..question }
}

/// The id of the object's `number`th question, and the answers that carry it.
fn answers<K: Asks>(look: &Look<'_, K>, reason: Reason, subjects: &[Subject], number: i64) -> (String, Vec<Offer>) {
    let id = id(look.seen.object.meta().uid.as_deref().unwrap_or_default(), number);
    let offers = reason.answers().iter().filter_map(|verb| offer(look, *verb, &id, subjects)).collect();
    (id, offers)
}

fn message<K: Asks>(look: &Look<'_, K>, reason: Reason, evidence: &[Evidence]) -> String {
    let because = match reason.about() {
        About::Spec => violations(look).iter().map(|fault| format!("{}: {}", fault.field, fault.text)).collect::<Vec<_>>().join("; "),
        About::Names | About::Fields | About::Pods | About::Protection | About::Work | About::Loss | About::Data => evidence
            .first()
            .map_or_else(|| "no object says why".to_owned(), |first| format!("{} {} says: {}", first.kind, first.name, first.words)),
    };
    let says = if reason == Reason::RolloutStuck && look.refused() {
        "going back to what was ready last made no progress in time"
    } else if reason == Reason::PodsUnavailable && look.seen.refusal.is_some() {
        "a repair was refused until time was over"
    } else {
        reason.says()
    };
    format!("{says}: {because}").chars().take(1000).collect()
}

fn evidence<K: Asks>(look: &Look<'_, K>, reason: Reason) -> Vec<Evidence> {
    match reason.about() {
        About::Spec => {
            let (kind, name) = (K::Object::kind(&()), look.seen.object.name_any());
            let words = |fault: &Violation| quote(&kind, &name, &format!("{}: {}", fault.field, fault.text));
            violations(look).iter().take(8).map(words).collect()
        }
        About::Names => {
            let whose = |Conflict { child, owner, .. }: Conflict| {
                quote(&child.kind.name(), &child.name, owner.as_deref().unwrap_or("nobody controls it"))
            };
            let impossible = match &look.seen.adoption {
                Trial::Failed(refusal) => {
                    let words = format!("it cannot be adopted: {}", refusal.words);
                    let (kind, name) = refusal.about(&look.seen.object);
                    Some(quote(&kind, &name, &words))
                }
                Trial::Untried | Trial::Passed => None,
            };
            look.conflicts().map(whose).chain(impossible).collect()
        }
        About::Fields => fought(look),
        About::Pods | About::Protection | About::Work | About::Loss | About::Data => K::evidence(look, reason),
    }
}

/// Children that are not what they should be: the first difference of each.
pub fn drift<K: Compared>(look: &Look<'_, K>) -> Vec<Evidence> {
    let owner = look.seen.object.name_any();
    let words = |order: &Order| {
        let (kind, name) = named(order.child(), &look.seen.object);
        Some(quote(&kind, &name, &apply::why(&owner, order, &look.children)?))
    };
    look.missing.iter().filter_map(words).collect()
}

/// The same of a fight, in which a child may be taken away again and again.
fn fought<K: Compared>(look: &Look<'_, K>) -> Vec<Evidence> {
    let owner = look.seen.object.name_any();
    let words = |order: &Order| {
        let (kind, name) = named(order.child(), &look.seen.object);
        let why = apply::why(&owner, order, &look.children).unwrap_or_else(|| "it was removed, again and again".to_owned());
        quote(&kind, &name, &why)
    };
    look.drifted().map(words).collect()
}

/// Words of an object, as evidence.
pub fn quote(kind: &str, name: &str, words: &str) -> Evidence {
    Evidence { kind: kind.to_owned(), name: name.to_owned(), words: words.trim().chars().take(WORDS).collect() }
}

/// What the answers are about: the very objects that stand in the way, the very fields that are fought over.
fn subjects<K: Compared>(look: &Look<'_, K>, reason: Reason) -> Vec<Subject> {
    let object = |Conflict { child, uid, .. }: Conflict| Subject {
        kind: child.kind.name(),
        name: child.name,
        uid: Some(uid),
        field: None,
        wanted: None,
    };
    match reason.about() {
        About::Names => look.conflicts().map(object).collect(),
        About::Fields => apply::fields(&look.seen.object.name_any(), look.drifted(), &look.children).into_iter().take(SUBJECTS).collect(),
        About::Spec | About::Pods | About::Protection | About::Work | About::Loss | About::Data => Vec::new(),
    }
}

fn violations<'a, K: Compared>(look: &'a Look<'_, K>) -> &'a [Violation] {
    look.wanted.as_ref().err().map(Vec::as_slice).unwrap_or_default()
}

/// The verb as an answer, where it is one that can be given.
fn offer<K: Asks>(look: &Look<'_, K>, verb: Verb, id: &str, subjects: &[Subject]) -> Option<Offer> {
    let objects = || match subjects {
        // Children are often named alike, and a name may be long.
        [first, .., last] if subjects.iter().all(|subject| subject.name == last.name) && first != last => {
            format!("{} ({})", last.name, listed(subjects.iter().map(|subject| subject.kind.clone())))
        }
        _ => listed(subjects.iter().map(|subject| format!("{} {}", subject.kind, subject.name))),
    };
    let fields = || listed(subjects.iter().filter_map(|subject| Some(format!("{} of {}", subject.field.as_ref()?, subject.kind))));
    let (possible, effect, risk) = match verb {
        Verb::Retry | Verb::ResetPasswords | Verb::BelieveVolumes | Verb::SkipSnapshot => {
            (K::helps(look, verb), K::does(look, verb), verb.risk())
        }
        Verb::KeepVolumes => match K::costs(look, verb) {
            None => (true, verb.effect().to_owned(), Risk::None),
            Some(cost) => (true, format!("{cost}; {}", verb.effect()), verb.risk()),
        },
        Verb::Rollback => (look.can_roll_back(), verb.effect().to_owned(), Risk::Disruption),
        Verb::Adopt => {
            let effect = format!("overwrites now, and deletes later with this object: {}", objects());
            (look.seen.adoption == Trial::Passed, effect, verb.risk())
        }
        Verb::Yield => {
            let effect = format!("leaves {} to the other writer, until the spec asks for another value there", fields());
            (!subjects.is_empty(), effect, Risk::None)
        }
    };
    let object = &look.seen.object;
    let (name, namespace, short) = (object.name_any(), object.namespace().unwrap_or_default(), K::SHORT);
    let command = format!("kubectl annotate {short}/{name} -n {namespace} {ANSWER}={}-{id} --overwrite", verb.word());
    possible.then(|| Offer { verb: verb.word().to_owned(), effect: effect.chars().take(256).collect(), risk, command })
}
