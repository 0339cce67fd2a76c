//! What an accepted write will lead to, in one line: said where pods, data or an address are at stake, and of every trial.

use super::annotations::{PAUSED, is_set};
use super::intervention::Offer;
use super::reason::Risk;
use super::review::Review;
use super::{Known, Served, preview};
use crate::machine::{Machine, Role, Word};
use kube::ResourceExt;
use kube::core::object::HasStatus;
use std::collections::BTreeSet;

/// The line, with the object's name in it; nothing where nothing is at stake.
pub(super) fn foreseen<K: Served>(
    review: &Review<'_, K>,
    phase: K::Phase,
    raised: &BTreeSet<K::Event>,
    given: Option<&(String, &Offer)>,
    known: &Known<K>,
    plan: &K::Plan,
) -> Option<String> {
    let consequence = review.old.and_then(|old| K::consequence(old, known, plan, raised));
    let mut raised = raised.clone();
    raised.extend(review.old.map(|old| K::brought_about(old, known, plan)).unwrap_or_default());
    if let Some(left) = review.old.filter(|_| raised.contains(&K::RESUMPTION)).and_then(|old| K::left(old, known)) {
        raised.insert(left);
    }
    if review.old.and_then(HasStatus::status).is_none_or(|status| status.last_good.is_none()) {
        raised.insert(K::first_time());
    }
    let resumes_work = raised.contains(&K::RESUMPTION) && raised.len() > 1;
    let stays = preview::<K>(phase, &raised, K::success(plan)).len() <= 1;
    let (fate, at_stake) = if let Some((answer, offer)) = given {
        let way = if straight::<K>(phase, &raised) { way::<K>(phase, &raised, K::success(plan)) + "; " } else { String::new() };
        (format!("{way}{answer} {}{}", offer.effect, stake(consequence.as_ref())), offer.risk > Risk::None || consequence.is_some())
    } else if raised.contains(&K::PAUSE) {
        let goes_on = "nothing is written to its children until it is resumed; what was ordered before goes on";
        let closes = review.asked().map_or("", |_| "; its question closes, and all is looked at afresh then");
        (format!("{}; {goes_on}{closes}", way::<K>(phase, &raised, None)), true)
    } else if let Some(held) = held_by(review, stays) {
        (held, true)
    } else {
        (way::<K>(phase, &raised, K::success(plan)) + &stake(consequence.as_ref()), consequence.is_some() || resumes_work)
    };
    (at_stake || review.dry_run).then(|| format!("{}: {fate}", review.title()))
}

fn stake(consequence: Option<&String>) -> String {
    consequence.map(|text| format!("; {text}")).unwrap_or_default()
}

/// What keeps an edit waiting, and what ends that.
fn held_by<K: Served>(review: &Review<'_, K>, stays: bool) -> Option<String> {
    if is_set(review.new, PAUSED) && review.turned(PAUSED).is_none() {
        let (name, namespace) = (review.new.name_any(), review.new.namespace().unwrap_or_default());
        return Some(format!("held while paused; to resume: kubectl annotate {}/{name} -n {namespace} {PAUSED}-", K::SHORT));
    }
    review.asked().filter(|_| stays).map(|question| {
        let about = question.reason.about();
        let why = if about.heeds_spec() { "a count alone closes no question" } else { "no spec brings back what was lost" };
        format!("held while {} asks, since {why}. {}, or answer {}", question.reason.word(), question.remedy(), question.legal())
    })
}

/// Do these facts lead to a place that is known before anybody has looked at the cluster?
fn straight<M: Machine>(phase: M::Phase, raised: &BTreeSet<M::Event>) -> bool {
    let step = M::step(phase, raised);
    step.moved() && M::role(step.next()) != Role::Junction
}

/// The states on the way, junctions left out.
fn way<K: Served>(phase: K::Phase, raised: &BTreeSet<K::Event>, success: Option<K::Event>) -> String {
    preview::<K>(phase, raised, success).into_iter().map(Word::text).collect::<Vec<_>>().join(" -> ")
}
