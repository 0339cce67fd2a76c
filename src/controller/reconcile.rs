//! The loop: observe -> decide -> record -> perform.

use super::backoff::LONGEST;
use super::cache::Key;
use super::calls::Unanswered;
use super::events;
use super::memory::{Awaited, Memory};
use super::observe::{self, Moment};
use super::perform::perform;
use super::record::{self, Recorded, record};
use super::site::Site;
use crate::kinds::{Decision, Served, decide};
use crate::machine::Word;
use kube::runtime::controller::Action;
use kube::{Resource, ResourceExt};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tracing::{Instrument, Span, field, info_span};

/// An object at rest is looked at again after this time, in case an event was lost; a look at an
/// object that is as it should be writes nothing.
const SAFETY: Duration = Duration::from_mins(10);
/// And while work goes on: such a look writes nothing.
const WORKING: Duration = Duration::from_secs(30);
/// A status without a move is stored at most once in this time: a roll-out changes counts many
/// times a second, and nobody reads them so fast.
const COUNTED: Duration = Duration::from_secs(1);
/// The wait for the event that shows why a status was outdated.
const OUTDATED: Duration = Duration::from_secs(1);

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
    /// The status was not stored; nothing was ordered.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// An order was not answered.
    #[error("an order: {0}")]
    Perform(#[source] Unanswered),
    /// The look panicked. The object is left as it is, the others are looked at.
    #[error("the look panicked: {0}")]
    Panic(#[source] tokio::task::JoinError),
}

/// Looks at one object; a panic stays within the look.
///
/// # Errors
/// When a call was not answered, a status was refused, or the look panicked.
pub async fn reconcile<K: Served>(site: Arc<Site<K>>, key: Key) -> Result<Action, Failed> {
    let look = tokio::spawn(remembered(site, key));
    look.await.unwrap_or_else(|panic| Err(Failed { cause: Cause::Panic(panic), again: LONGEST }))
}

/// A look, with what is remembered of its object.
async fn remembered<K: Served>(site: Arc<Site<K>>, key: Key) -> Result<Action, Failed> {
    let Some(object) = site.caches.objects.get(&key) else { return Ok(Action::await_change()) };
    let uid = object.uid().unwrap_or_default();
    let span = info_span!("reconcile", kind = %K::Object::kind(&()), name = key.name, namespace = key.namespace, uid,
        from = field::Empty, to = field::Empty, cause = field::Empty);
    let moment = observe::clock();
    let mut memory = site.memories.take(&uid);
    let looked = look(&site, &object, &mut memory, moment).instrument(span).await;
    let generation = object.meta().generation.unwrap_or_default();
    let next = match looked {
        Ok(next) => Ok(Action::requeue(next)),
        Err(cause) => {
            if let Cause::Record(record::Error::Refused(status)) = &cause
                && memory.complains(&status.message)
            {
                events::complain::<K>(&site.client, &site.instance, &object, &status.message).await;
            }
            Err(Failed { cause, again: memory.backoff.failed(moment.at, generation) })
        }
    };
    if site.caches.objects.get(&key).is_some_and(|object| object.uid().is_some_and(|now| now == uid)) {
        site.memories.keep(&uid, memory);
    }
    next
}

/// One look. Returns when the next one is due, should nothing happen before.
async fn look<K: Served>(site: &Site<K>, object: &K::Object, memory: &mut Memory, moment: Moment) -> Result<Duration, Cause> {
    let namespace = object.namespace().unwrap_or_default();
    let sight = observe::cached(site, object, memory.refusal.clone(), moment.now);
    if let Some(wait) = memory.wait(&site.caches, &namespace, sight.orphaned, moment.at) {
        return Ok(wait);
    }
    let mut observed = sight.seen.object.clone();
    let mut decision = decide(sight.seen);
    if decision.is_destructive() {
        let live = observe::live(site, object, memory.refusal.clone(), moment.now).await.map_err(Cause::Read)?;
        let Some(live) = live else { return Ok(SAFETY) };
        observed = live.object.clone();
        decision = decide(live);
    }
    note(&decision);
    if let Some(wait) = held_back(memory, &observed, &decision, moment) {
        return Ok(wait);
    }
    act(site, &observed, &decision, memory, moment).await
}

/// Records the decision, then performs it; a move is told meanwhile.
async fn act<K: Served>(
    site: &Site<K>,
    observed: &K::Object,
    decision: &Decision<K>,
    memory: &mut Memory,
    moment: Moment,
) -> Result<Duration, Cause> {
    let namespace = observed.namespace().unwrap_or_default();
    let performing = perform(&site.client, &namespace, &decision.orders);
    let performed = match record(&site.client, observed, decision).await? {
        Recorded::Unchanged => performing.await,
        Recorded::Stored(version) => {
            memory.recorded = Some(moment.at);
            memory.await_all([Awaited::Object(version)]);
            let telling = events::tell(&site.client, &site.instance, observed, decision);
            tokio::join!(performing, telling).0
        }
        Recorded::Outdated | Recorded::Gone => return Ok(OUTDATED),
    };
    memory.await_all(performed.awaited);
    memory.refusal = performed.refusal.or_else(|| memory.met(&decision.orders));
    if let Some(failure) = performed.failure {
        return Err(Cause::Perform(failure));
    }
    memory.backoff.settled();
    let due = due(decision, moment);
    if decision.orders.is_empty() {
        return Ok(due);
    }
    // An order that changes nothing raises no event, so the next look must not depend on one.
    Ok(due.min(memory.backoff.acted(moment.at, generation(observed))))
}

/// How long this decision has to wait: orders soon after orders, anything soon after a failure,
/// mere counts soon after a status. What a person has just said, by a spec or by an answer, is
/// never kept waiting.
fn held_back<K: Served>(memory: &Memory, observed: &K::Object, decision: &Decision<K>, moment: Moment) -> Option<Duration> {
    let answered = decision.told.as_ref().is_some_and(|told| told.answer.is_some());
    let waits = memory.backoff.failing() || (!decision.orders.is_empty() && !answered);
    let counts = decision.told.is_none() && decision.orders.is_empty();
    let counted = memory.recorded.filter(|_| counts).map(|last| COUNTED.saturating_sub(moment.at.saturating_duration_since(last)));
    let backoff = memory.backoff.wait(moment.at, generation(observed)).filter(|_| waits);
    backoff.or(counted.filter(|wait| !wait.is_zero()))
}

/// When the next look is due: a second after the deadline, or when it is time for safety. While work goes on, some
/// things come true by time alone.
fn due<K: Served>(decision: &Decision<K>, moment: Moment) -> Duration {
    let deadline = decision.status.deadline_time.as_ref().map(|deadline| deadline.0.duration_since(moment.now));
    let left = deadline.and_then(|left| Duration::try_from(left).ok()).filter(|left| !left.is_zero());
    left.map_or(SAFETY, |left| WORKING.min(left + Duration::from_secs(1)))
}

fn generation(object: &impl Resource) -> i64 {
    object.meta().generation.unwrap_or_default()
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
}
