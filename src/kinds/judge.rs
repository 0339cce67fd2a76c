//! May this write pass? The webhook's answer, as a value.

use super::annotations::{self, ANSWER, PAUSED, PROTECTED, REFRESH, is_set, strange};
use super::foresee::foreseen;
use super::intervention::{Offer, about};
use super::prose::beginning;
use super::reason::{Risk, Verb};
use super::review::{Review, title};
use super::verdict::Verdict;
use super::{Known, Served, Violation, claimed, plan};
use crate::machine::Word;
use crate::machine::diagram::ChangeRow;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::object::HasStatus;
use kube::{Resource, ResourceExt};
use serde_json::Value;
use std::collections::BTreeSet;

/// A quoted value is cut here: a pod template can be pages long.
const VALUE_CHARACTERS: usize = 80;

/// What was found wrong, and what is to be said, on the way through a write.
struct Findings<'a, K: Served> {
    violations: Vec<Violation>,
    warnings: Vec<String>,
    /// What the write raises.
    raised: BTreeSet<K::Event>,
    /// The answer that it gives, and what that means.
    given: Option<(String, &'a Offer)>,
}

/// Judges one write.
pub fn judge<K: Served>(review: &Review<'_, K>) -> Verdict {
    let mut found = Findings::<K> { violations: Vec::new(), warnings: Vec::new(), raised: BTreeSet::new(), given: None };
    answer_judged(review, &mut found);
    marks_judged(review, &mut found);
    spec_judged(review, &mut found);
    lone_answer_judged(&mut found);
    if !found.violations.is_empty() {
        return Verdict::Deny(found.violations);
    }
    let mut warnings = found.warnings;
    if !review.watched {
        warnings.push(unwatched::<K>(&review.new.name_any()));
    }
    Verdict::Allow(warnings)
}

fn field(annotation: &str) -> String {
    format!("metadata.annotations[{annotation}]")
}

/// The annotations that say yes or no, and the one that names a rendering.
fn marks_judged<K: Served>(review: &Review<'_, K>, found: &mut Findings<'_, K>) {
    for key in [PAUSED, PROTECTED] {
        if let Some(value) = review.changed(key).filter(|value| !["true", "false"].contains(&value.as_str())) {
            let text = format!(
                "{:?} is neither \"true\" nor \"false\"; write \"true\", or take the annotation off",
                beginning(value, VALUE_CHARACTERS)
            );
            found.violations.push(Violation::invalid(&field(key), text));
        }
    }
    for key in strange(review.new).filter(|key| review.changed(key).is_some()) {
        let (title, key, known) = (review.title(), beginning(key, VALUE_CHARACTERS), annotations::ALL.join(", "));
        found.warnings.push(format!("{title}: {key} is no annotation of this operator and does nothing; those are {known}"));
    }
    match review.turned(PAUSED) {
        Some(true) => drop(found.raised.insert(K::PAUSE)),
        Some(false) => drop(found.raised.insert(K::RESUMPTION)),
        None => {}
    }
    let (renderer, title) = (review.settings.renderer, review.title());
    match review.changed(REFRESH).filter(|_| review.old.is_some()) {
        Some(asked) if *asked != renderer.to_string() => {
            let asked = beginning(asked, VALUE_CHARACTERS);
            let text = format!("{asked:?} is not the rendering of this operator; to have the pods rendered anew, write {renderer}");
            found.violations.push(Violation::invalid(&field(REFRESH), text));
        }
        Some(_) if !Known::<K>::of(review.new, review.settings).refreshed => {
            found.warnings.push(format!("{title}: nothing is rendered anew; the pods are of rendering {renderer} already"));
        }
        Some(_) | None => {}
    }
}

fn spec_judged<K: Served>(review: &Review<'_, K>, found: &mut Findings<'_, K>) {
    let spec = K::Spec::from(review.new);
    let edited = review.old.is_none_or(|old| K::Spec::from(old) != spec);
    let refreshed = review.changed(REFRESH).is_some() && Known::<K>::of(review.new, review.settings).refreshed;
    let asks_anew = refreshed || !found.raised.is_empty();
    if !edited && !asks_anew {
        return;
    }
    if let Some(since) = &review.old.unwrap_or(review.new).meta().deletion_timestamp {
        let why = format!(
            "the object was deleted at {}; its deletion goes on, or asks in status.intervention. Once it is gone, create it anew",
            since.0
        );
        let busy = edits(review).into_iter().map(|edit| Violation::busy(edit.row.field, edit.from, edit.to, &why));
        found.violations.extend(busy);
        return foreseen_of_deletion(review, found);
    }
    let known = review.old.map_or(Known::NOTHING, |_| Known::of(review.new, review.settings).on(review.ground.clone()));
    let phase = review.old.map_or(K::START, claimed::<K>);
    let judged = plan::<K>(review.new, review.settings).and_then(|plan| Ok((K::changes(&known, &plan)?, plan)));
    let (raised, plan) = match judged {
        Ok(judged) => judged,
        // What the write does not change is not its fault.
        Err(_) if !edited => return,
        Err(faults) => return found.violations.extend(faults),
    };
    let busy = |raises: &Result<K::Event, _>| raises.is_ok_and(|event| raised.contains(&event) && !K::claims(phase, event));
    let why = occupied::<K>(review, phase);
    let unclaimed = edits(review).into_iter().filter(|edit| busy(&edit.row.raises));
    found.violations.extend(unclaimed.map(|edit| Violation::busy(edit.row.field, edit.from, edit.to, &why)));
    found.raised.extend(raised);
    if edited && review.asked().is_some_and(|question| question.reason.about().heeds_spec() && question.about != about(&spec)) {
        found.raised.insert(K::RENEWAL);
    }
    let line = foreseen(review, phase, &found.raised, found.given.as_ref(), &known, &plan);
    found.warnings.extend(line);
}

/// What an answer, or a pause, leads to where the object is being deleted: nothing of its spec counts any more.
fn foreseen_of_deletion<K: Served>(review: &Review<'_, K>, found: &mut Findings<'_, K>) {
    let title = review.title();
    if found.raised.contains(&K::PAUSE) {
        found.warnings.push(format!("{title}: is being deleted, and a pause does not hold that; {PAUSED} does nothing"));
    }
    if let Some((answer, offer)) = found.given.as_ref().filter(|(_, offer)| offer.risk > Risk::None || review.dry_run) {
        found.warnings.push(format!("{title}: {answer} {}", offer.effect));
    }
}

/// What keeps an edit from being made now: since when, and when that gives up.
fn occupied<K: Served>(review: &Review<'_, K>, phase: K::Phase) -> String {
    let status = review.old.and_then(HasStatus::status);
    let told = |words: &str, time: Option<&Time>| time.map(|time| format!("{words}{}", time.0)).unwrap_or_default();
    let since = told(", since ", status.and_then(|status| status.state_time.as_ref()));
    let end = told("; that gives up at ", status.and_then(|status| status.deadline_time.as_ref()));
    format!("not possible while {}{since}{end}; wait until it is over", phase.text())
}

/// One field that a write changes, with both values.
struct Edit<K: Served> {
    row: &'static ChangeRow<K>,
    from: String,
    to: String,
}

/// The fields of the spec that the write changes.
fn edits<K: Served>(review: &Review<'_, K>) -> Vec<Edit<K>> {
    let spec = |object: &K::Object| serde_json::json!({ "spec": K::Spec::from(object) });
    let (old, new) = (review.old.map(spec).unwrap_or_default(), spec(review.new));
    let value = |spec: &Value, field: &str| spec.pointer(&format!("/{}", field.replace('.', "/"))).cloned().unwrap_or_default();
    let fields = K::changes_table().iter().map(|row| (row, value(&old, row.field), value(&new, row.field)));
    fields.filter(|(_, from, to)| from != to).map(|(row, from, to)| Edit { row, from: shown(&from), to: shown(&to) }).collect()
}

/// A value as a refusal quotes it; the rest of a long one is left out.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    beginning(&text, VALUE_CHARACTERS)
}

fn answer_judged<'a, K: Served>(review: &Review<'a, K>, found: &mut Findings<'a, K>) {
    let Some(given) = review.changed(ANSWER) else { return };
    let answer = beginning(given, VALUE_CHARACTERS);
    if review.old.is_none() {
        return found
            .warnings
            .push(format!("{}: {ANSWER}={answer} answers nothing, since no question is open on a new object", review.title()));
    }
    let refusal = match review.asked() {
        None => format!("no question is open; {answer} would answer nothing. Remove the annotation: {ANSWER}-"),
        Some(question)
            if question.offer(given).is_some_and(|offer| offer.verb == Verb::SkipSnapshot.word()) && is_set(review.new, PROTECTED) =>
        {
            format!("the object is protected, and {answer} removes its data; take the protection off first: {PROTECTED}-")
        }
        Some(question) if let Some(offer) = question.offer(given) => {
            let event = <K::Event as Word>::from_text(&offer.event());
            found.raised.extend(event);
            if let Some(before) = review
                .old
                .and_then(annotations::answer)
                .filter(|before| question.unheard.as_ref() != Some(before) && question.offer(before).is_some())
            {
                let before = beginning(before, VALUE_CHARACTERS);
                found.warnings.push(format!("{}: {answer} takes the place of {before}, which nobody has acted upon yet", review.title()));
            }
            found.given = Some((answer, offer));
            return;
        }
        Some(question) => format!("{answer} does not answer question {}; the legal answers are: {}", question.id, question.legal()),
    };
    found.violations.push(Violation::invalid(&field(ANSWER), refusal));
}

/// What closes the question otherwise goes before an answer, which would be lost.
fn lone_answer_judged<K: Served>(found: &mut Findings<'_, K>) {
    let Some((answer, _)) = &found.given else { return };
    let other = [(K::PAUSE, "a pause"), (K::RENEWAL, "a new spec")].into_iter().find(|(event, _)| found.raised.contains(event));
    let Some((_, other)) = other else { return };
    let text =
        format!("{answer} and {other} in one write: {other} closes the question too, and the answer would be lost; write one of them");
    found.violations.push(Violation::invalid(&field(ANSWER), text));
}

/// What is said of a write in a namespace that the operator does not watch.
pub fn unwatched<K: Served>(name: &str) -> String {
    format!("{}: nobody watches this namespace; the object is stored and nothing will happen", title::<K>(name))
}
