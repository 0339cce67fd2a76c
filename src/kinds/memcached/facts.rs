//! Observation -> the facts that are true of it.

use super::Memcached;
use super::compare::proved;
use super::words::Event;
use crate::kinds::annotations::{PAUSED, answer, is_set};
use crate::kinds::intervention::Intervention;
use crate::kinds::look::Look;
use crate::kinds::reason::Verb;
use crate::kinds::{question, renewed};
use crate::machine::Word;
use kube::Resource;
use kube::core::object::HasStatus;
use std::collections::BTreeSet;

/// Every fact that is true.
pub fn events(look: &Look<'_, Memcached>) -> BTreeSet<Event> {
    let question = question::<Memcached>(&look.seen.object);
    Event::ALL.iter().copied().filter(|event| holds(*event, look, question)).collect()
}

/// One arm per event, so that a new event does not compile until its fact is written.
fn holds(event: Event, look: &Look<'_, Memcached>, question: Option<&Intervention>) -> bool {
    let seen = look.seen;
    let answered = |verb| question.is_some_and(|question| question.answered(verb, answer(&seen.object).map(String::as_str)));
    match event {
        Event::DeletionRequested => seen.object.meta().deletion_timestamp.is_some(),
        Event::PauseRequested => is_set(&seen.object, PAUSED),
        Event::Resumed => !is_set(&seen.object, PAUSED),
        Event::SpecInvalid => look.wanted.is_err(),
        Event::ChildConflict => look.conflicts().next().is_some(),
        Event::SpecRenewed => question.is_some_and(|question| renewed::<Memcached>(question, &seen.object)),
        Event::RollbackAnswered => answered(Verb::Rollback) && look.can_roll_back(),
        Event::AdoptAnswered => answered(Verb::Adopt),
        Event::YieldAnswered => answered(Verb::Yield),
        Event::RetryAnswered => answered(Verb::Retry),
        Event::ObstacleGone => question.is_some_and(|question| look.obstacle_gone(question.reason)),
        Event::FirstRollout => seen.object.status().is_none_or(|status| status.last_good.is_none()),
        Event::SpecRefused => look.refused(),
        Event::NothingRefused => !look.refused(),
        Event::TemplateChanged | Event::ReplicasChanged => look.changes.contains(&event),
        Event::AllStopped => look.settled && look.replicas() == 0,
        Event::ChildrenReady => look.settled && look.replicas() > 0,
        Event::DeadlinePassed => look.is_overdue(),
        Event::DriftFought => look.is_fought_over(),
        Event::ChildrenDrifted => !look.missing.is_empty(),
        Event::PodsLost => !look.settled && proved(look),
        Event::PodsPending => !look.settled && !proved(look),
    }
}
