//! May this write pass? The webhook's answer, as a value.

use super::intervention::{ANSWER, Intervention, about};
use super::prose::beginning;
use super::{Known, Served, Settings, Violation, claimed, plan, preview, question};
use crate::machine::Word;
use crate::machine::diagram::ChangeRow;
use kube::core::object::HasStatus;
use kube::{Resource, ResourceExt};
use serde_json::Value;
use std::collections::BTreeSet;

/// Annotations of a later release: accepted, and said to have no effect.
const WITHOUT_EFFECT: [&str; 3] = ["pointsman.dev/paused", "pointsman.dev/protected", "pointsman.dev/refresh"];

/// A quoted value is cut here: a pod template can be pages long.
const VALUE_CHARACTERS: usize = 80;

/// One write, as the webhook is asked about it.
#[derive(Clone, Debug)]
pub struct Review<'a, K: Served> {
    /// The object before; absent when it is created.
    pub old: Option<&'a K::Object>,
    /// The object after.
    pub new: &'a K::Object,
    /// The operator's settings for the kind.
    pub settings: &'a Settings,
    /// Is it only tried?
    pub dry_run: bool,
    /// Does the operator watch the object's namespace?
    pub watched: bool,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may pass; each warning is one line.
    Allow(Vec<String>),
    /// It may not, and every reason why.
    Deny(Vec<Violation>),
}

/// Judges one write.
pub fn judge<K: Served>(review: &Review<'_, K>) -> Verdict {
    let (mut violations, mut warnings) = (Vec::new(), Vec::new());
    answer_judged(review, &mut violations, &mut warnings);
    spec_judged(review, &mut violations, &mut warnings);
    if !violations.is_empty() {
        return Verdict::Deny(violations);
    }
    let named = |key: &&&str| changed(review, key).is_some();
    warnings
        .extend(WITHOUT_EFFECT.iter().filter(named).map(|key| format!("{}: {key} has no effect yet", title::<K>(&review.new.name_any()))));
    if !review.watched {
        warnings.push(unwatched::<K>(&review.new.name_any()));
    }
    Verdict::Allow(warnings)
}

fn spec_judged<K: Served>(review: &Review<'_, K>, violations: &mut Vec<Violation>, warnings: &mut Vec<String>) {
    let spec = K::Spec::from(review.new);
    if review.old.is_some_and(|old| K::Spec::from(old) == spec) {
        return;
    }
    let before = review.old.unwrap_or(review.new);
    if let Some(since) = &before.meta().deletion_timestamp {
        let why = format!("the object is being deleted since {}; wait until it is gone, then create it anew", since.0);
        return violations.extend(edits(review).into_iter().map(|edit| Violation::busy(edit.row.field, edit.from, edit.to, &why)));
    }
    let known = review.old.map_or(Known { last_good: None, applied: None }, Known::of);
    let phase = review.old.map_or(K::START, claimed::<K>);
    let judged = plan::<K>(review.new, review.settings).and_then(|plan| Ok((K::changes(&known, &plan)?, plan)));
    let (mut raised, plan) = match judged {
        Ok(judged) => judged,
        Err(faults) => return violations.extend(faults),
    };
    let busy = |raises: &Result<K::Event, _>| raises.is_ok_and(|event| raised.contains(&event) && !K::claims(phase, event));
    let why = format!("not possible while {}; wait until that is over", phase.text());
    let unclaimed = edits(review).into_iter().filter(|edit| busy(&edit.row.raises));
    violations.extend(unclaimed.map(|edit| Violation::busy(edit.row.field, edit.from, edit.to, &why)));
    let consequence = review.old.and_then(|_| K::consequence(&known, &plan, &raised));
    let held = asked(review).map(|question| question.about == about(&spec));
    if held == Some(false) {
        raised.insert(K::RENEWAL);
    }
    if consequence.is_some() || held == Some(true) || review.dry_run {
        warnings.push(planned(review, phase, (raised, K::success(&plan)), consequence));
    }
}

/// The question that is open on the object before the write.
fn asked<'a, K: Served>(review: &Review<'a, K>) -> Option<&'a Intervention> {
    question::<K>(review.old?)
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

/// The way that an accepted edit takes, in one line with the object's name.
fn planned<K: Served>(
    review: &Review<'_, K>,
    phase: K::Phase,
    (mut raised, success): (BTreeSet<K::Event>, Option<K::Event>),
    consequence: Option<String>,
) -> String {
    if review.old.and_then(HasStatus::status).is_none_or(|status| status.last_good.is_none()) {
        raised.insert(K::first_time());
    }
    let path: Vec<String> = preview::<K>(phase, &raised, success).into_iter().map(Word::text).collect();
    let (fate, consequence) = match asked(review) {
        // Nothing happens before it is answered.
        Some(question) if path.len() == 1 => {
            let ends = format!("{}, or answer {}", question.reason.remedy(), question.legal());
            (format!("held while {} asks, since a count alone closes no question. {ends}", question.reason.word()), String::new())
        }
        _ => (path.join(" -> "), consequence.map(|text| format!("; {text}")).unwrap_or_default()),
    };
    format!("{}: {fate}{consequence}", title::<K>(&review.new.name_any()))
}

fn answer_judged<K: Served>(review: &Review<'_, K>, violations: &mut Vec<Violation>, warnings: &mut Vec<String>) {
    let Some(given) = changed(review, ANSWER) else { return };
    let answer = beginning(given, VALUE_CHARACTERS);
    let field = format!("metadata.annotations[{ANSWER}]");
    if review.old.is_none() {
        return warnings.push(format!(
            "{}: {ANSWER}={answer} answers nothing, since no question is open on a new object",
            title::<K>(&review.new.name_any())
        ));
    }
    match asked(review) {
        None => violations.push(Violation::invalid(
            &field,
            format!("no question is open; {answer} would answer nothing. Remove the annotation: {ANSWER}-"),
        )),
        Some(question) if let Some(offer) = question.offer(given) => {
            if review.dry_run {
                warnings.push(format!("{}: {answer} {}", title::<K>(&review.new.name_any()), offer.effect));
            }
        }
        Some(question) => violations.push(Violation::invalid(
            &field,
            format!("{answer} does not answer question {}; the legal answers are: {}", question.id, question.legal()),
        )),
    }
}

/// The new value of an annotation, where the write changes it to something.
fn changed<'a, K: Served>(review: &Review<'a, K>, key: &str) -> Option<&'a String> {
    let before = review.old.and_then(|old| old.annotations().get(key));
    review.new.annotations().get(key).filter(|after| Some(*after) != before)
}

/// What is said of a write in a namespace that the operator does not watch.
pub fn unwatched<K: Served>(name: &str) -> String {
    format!("{}: nobody watches this namespace; the object is stored and nothing will happen", title::<K>(name))
}

fn title<K: Served>(name: &str) -> String {
    format!("{}/{name}", K::SHORT)
}
