//! The loop: observe -> decide -> record -> perform.

use super::backoff::LONGEST;
use super::bereft;
use super::cache::Key;
use super::calls::Unanswered;
use super::complaint::Complaint;
use super::events;
use super::memory::{Awaited, Memory};
use super::observe::{self, Moment};
use super::pace::{OUTDATED, SAFETY, UNLISTED, due, generation, held_back};
use super::perform::{Owner, attempt, perform};
use super::read;
use super::record::{self, Recorded, record};
use super::site::Site;
use crate::kinds::status::Move;
use crate::kinds::{Decision, Observation, Served, decide};
use crate::machine::Word;
use crate::telemetry::{Ended, Look};
use futures::FutureExt;
use kube::core::object::HasStatus;
use kube::runtime::controller::Action;
use kube::{Resource, ResourceExt};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tracing::{Instrument, Span, field, info_span};

/// A look that did not end.
#[derive(Debug, Error)]
#[error("{cause}")]
pub struct Failed {
    /// Why.
    #[source]
    pub cause: Cause,
    /// When to try again.
    pub again: Duration,
}

/// Why a look did not end.
#[derive(Debug, Error)]
pub enum Cause {
    /// The live read failed.
    #[error("the live read failed: {0}")]
    Read(#[source] Unanswered),
    /// It is not known whether something that the object needs is there; nothing was decided.
    #[error("a reading failed: {0}")]
    Reading(#[source] Unanswered),
    /// The API server lets nobody list what stands in the namespace; nothing was decided.
    #[error("what stands in the namespace cannot be listed: {0}")]
    Unlisted(String),
    /// The status was not stored; nothing was ordered.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// An order was not answered.
    #[error("an order: {0}")]
    Perform(#[source] Unanswered),
    /// The look panicked. The object is left as it is, the others are looked at. What the panic says may quote a secret, so
    /// it is not told here.
    #[error("the look met a bug; a line of the log before this one names its place")]
    Panicked,
}

/// Looks at one object; a panic stays within the look.
///
/// # Errors
/// When a call was not answered, a status was refused, or the look panicked.
pub async fn reconcile<K: Served>(site: Arc<Site<K>>, key: Key) -> Result<Action, Failed> {
    let look = Look::begins(K::PATH);
    let turn = site.queue.begun(&key);
    // A task of its own: looks run beside each other, and none ends the one that starts them all.
    let next = tokio::spawn(remembered(site, key, turn.is_asked_for)).await;
    let next = next.unwrap_or(Err(Failed { cause: Cause::Panicked, again: LONGEST }));
    look.ended(match &next {
        Ok(next) if *next == Action::await_change() => Ended::Well,
        Ok(_) => Ended::Again,
        Err(Failed { cause: Cause::Panicked, .. }) => Ended::Panicked,
        Err(_) => Ended::Failed,
    });
    next
}

/// A look, with what is remembered of its object.
async fn remembered<K: Served>(site: Arc<Site<K>>, key: Key, is_asked_for: bool) -> Result<Action, Failed> {
    let Some(object) = site.caches.objects.get(&key) else { return Ok(Action::await_change()) };
    let uid = object.uid().unwrap_or_default();
    // In JSON `name` is the span's own.
    let span = info_span!("reconcile", kind = %K::Object::kind(&()), object = key.name, namespace = key.namespace, uid,
        from = field::Empty, to = field::Empty, cause = field::Empty);
    let moment = observe::clock();
    let known = site.memories.take(&uid);
    let stands = || site.caches.objects.get(&key).is_some_and(|object| object.uid().is_some_and(|now| now == uid));
    if known.is_none() && !stands() {
        // Its end may have been told before it was taken out: nobody would forget it any more.
        site.memories.forget(&uid);
        return Ok(Action::await_change());
    }
    let mut memory = known.unwrap_or_default();
    memory.has_news |= is_asked_for;
    // A memory holds whole values only, so what a panic leaves behind is sound; and its back-off slows the next tries down.
    let looked = AssertUnwindSafe(look(&site, &object, &mut memory, moment).instrument(span)).catch_unwind().await;
    let looked = match looked.unwrap_or(Err(Cause::Panicked)) {
        Err(cause) => bereft::let_go(&site, &object, cause).await,
        Ok(next) => Ok(next),
    };
    let generation = generation(object.as_ref());
    let next = match looked {
        Ok(next) => {
            memory.has_news |= next < SAFETY;
            Ok(Action::requeue(memory.reads_again(moment.at).map_or(next, |again| next.min(again.max(OUTDATED)))))
        }
        Err(cause) => {
            if let Some(complaint) = Complaint::of(&cause).filter(|complaint| memory.complains(*complaint, moment.at)) {
                events::complain::<K>(&site.client, &site.instance, &object, complaint).await;
            }
            Err(Failed { cause, again: memory.backoff.failed(moment.at, generation) })
        }
    };
    site.memories.keep(&uid, memory);
    next
}

/// One look. Returns when the next one is due, should nothing happen before.
async fn look<K: Served>(site: &Site<K>, object: &K::Object, memory: &mut Memory, moment: Moment) -> Result<Duration, Cause> {
    let namespace = object.namespace().unwrap_or_default();
    // Where a right was lost, what was listed before may be so no more.
    if let Some(words) = site.caches.refusal(&namespace) {
        return Err(Cause::Unlisted(words));
    }
    if !site.caches.cover(&namespace) {
        return Ok(UNLISTED);
    }
    if let Some(wait) = memory.behind(&site.caches, &namespace, moment.at) {
        return Ok(wait);
    }
    let readings = read::readings(site, object, memory, moment.at).await.map_err(Cause::Reading)?;
    // Read only now: what was read while something was awaited may be older than what has arrived since.
    let Some(object) = site.caches.objects.get(&Key::of(object)).filter(|now| now.uid() == object.uid()) else { return Ok(SAFETY) };
    let object = object.as_ref();
    if !readings.serve::<K>(object) {
        // It has changed meanwhile, and wants others.
        return Ok(OUTDATED);
    }
    let sight = observe::cached(site, object, &readings, memory.refusal.clone(), moment);
    if let Some(wait) = memory.orphaned(sight.orphaned, moment.at) {
        return Ok(wait);
    }
    if let (Some(doubted), Some(status)) = (memory.doubted.take_if(|doubted| is_stored::<K>(object, doubted)), object.status()) {
        events::tell::<K>(&site.client, &site.instance, object, &doubted, status).await;
    }
    let Some((observed, decision)) = decided(site, object, sight.seen, memory, moment).await? else { return Ok(SAFETY) };
    note(&decision);
    if let Some(wait) = held_back(memory, &observed, &decision, moment) {
        return Ok(wait);
    }
    act(site, &observed, &decision, memory, moment).await
}

/// A decision, and the object that it was made about: on a live read where it needs one; what offers to take over something, on a
/// trial; nothing where the object is gone.
async fn decided<K: Served>(
    site: &Site<K>,
    object: &K::Object,
    seen: Observation<K>,
    memory: &Memory,
    moment: Moment,
) -> Result<Option<(K::Object, Decision<K>)>, Cause> {
    let (mut observed, mut decision) = (seen.object.clone(), decide(seen));
    let live = || async { observe::live(site, object, memory.refusal.clone(), moment).await.map_err(Cause::Read) };
    let goes_on = held_back(memory, &observed, &decision, moment).is_none();
    if goes_on && decision.needs_a_live_look() {
        let Some(live) = live().await? else { return Ok(None) };
        observed = live.object.clone();
        decision = decide(live);
    }
    if !decision.trial.is_empty() {
        let namespace = observed.namespace().unwrap_or_default();
        let adoption = attempt(&site.client, &namespace, &decision.trial).await.map_err(Cause::Perform)?;
        let Some(live) = live().await? else { return Ok(None) };
        observed = live.object.clone();
        decision = decide(Observation { adoption, ..live });
    }
    Ok(Some((observed, decision)))
}

/// Records the decision, then performs it; a move is told meanwhile.
async fn act<K: Served>(
    site: &Site<K>,
    observed: &K::Object,
    decision: &Decision<K>,
    memory: &mut Memory,
    moment: Moment,
) -> Result<Duration, Cause> {
    let performing = async |stored| perform(&site.client, &Owner::of::<K>(observed, stored), &decision.orders).await;
    let recorded = record(&site.client, observed, decision).await;
    if matches!(recorded, Ok(Recorded::Outdated) | Err(record::Error::Unanswered(_))) {
        // An earlier try may have been stored, and its answer lost on the way.
        memory.doubted = memory.doubted.take().or_else(|| decision.told.clone());
    }
    let performed = match recorded? {
        Recorded::Unchanged => performing(None).await,
        Recorded::Stored(version) => {
            memory.recorded = Some(moment.at);
            memory.doubted = None;
            memory.await_all([Awaited::Object(version)]);
            let telling = async {
                if let Some(told) = &decision.told {
                    events::tell::<K>(&site.client, &site.instance, observed, told, &decision.status).await;
                }
                events::tell_turns::<K>(&site.client, &site.instance, observed, &decision.status).await;
                events::tell_news::<K>(&site.client, &site.instance, observed, &decision.news).await;
            };
            tokio::join!(performing(Some(version)), telling).0
        }
        Recorded::Outdated | Recorded::Gone => return Ok(OUTDATED),
    };
    let met = memory.met(if performed.whole() { &decision.orders } else { &[] });
    memory.await_all(performed.awaited);
    memory.writes(&decision.orders);
    memory.refusal = performed.refusal.or(met);
    if let Some(failure) = performed.failure {
        return Err(Cause::Perform(failure));
    }
    memory.backoff.settled();
    let due = due(decision, moment);
    if decision.orders.is_empty() {
        return Ok(due);
    }
    // An order that changes nothing raises no event, so the next look must not depend on one.
    Ok(due.min(memory.backoff.acted(moment.at, generation(observed), &decision.orders)))
}

/// Is this move the last one that the object remembers? Its time aside: each try has its own.
fn is_stored<K: Served>(object: &K::Object, told: &Move) -> bool {
    let last = object.status().and_then(|status| status.history.last());
    last.is_some_and(|last| Move { time: told.time.clone(), ..last.clone() } == *told)
}

/// Writes onto the look's span what was decided.
fn note<K: Served>(decision: &Decision<K>) {
    let span = Span::current();
    let (Some(first), Some(last)) = (decision.steps.first(), decision.steps.last()) else { return };
    span.record("from", first.from().text());
    span.record("to", last.next().text());
    if let Some(cause) = first.cause() {
        span.record("cause", cause.text());
    }
    tracing::debug!(facts = ?decision.facts, "what was true");
}
