//! How soon an object is looked at again, and what waits meanwhile.

use super::memory::Memory;
use super::observe::Moment;
use crate::kinds::{Decision, Served};
use kube::Resource;
use std::time::Duration;

/// An object at rest is looked at again after this time, in case an event was lost; a look at an
/// object that is as it should be writes nothing.
pub const SAFETY: Duration = Duration::from_mins(10);
/// And while work goes on: such a look writes nothing.
const WORKING: Duration = Duration::from_secs(30);
/// A status without a move is stored at most once in this time: a roll-out changes counts many
/// times a second, and nobody reads them so fast.
const COUNTED: Duration = Duration::from_secs(1);
/// The wait for the event that shows why a status was outdated.
pub const OUTDATED: Duration = Duration::from_secs(1);
/// The wait where something of an object's namespace is not listed yet.
pub const UNLISTED: Duration = Duration::from_secs(2);

/// How long this decision has to wait: orders soon after the same orders, anything soon after a failure,
/// mere counts soon after a status. What a person has just said, by a spec or by an answer, is
/// never kept waiting.
pub fn held_back<K: Served>(memory: &Memory, observed: &K::Object, decision: &Decision<K>, moment: Moment) -> Option<Duration> {
    let answered = decision.told.as_ref().is_some_and(|told| told.answer.is_some());
    let waits = memory.backoff.failing() || (!decision.orders.is_empty() && !answered);
    let counts = decision.told.is_none() && decision.orders.is_empty();
    let counted = memory.recorded.filter(|_| counts).map(|last| COUNTED.saturating_sub(moment.at.saturating_duration_since(last)));
    let backoff = memory.backoff.wait(moment.at, generation(observed), &decision.orders).filter(|_| waits);
    backoff.or(counted.filter(|wait| !wait.is_zero()))
}

/// When the next look is due: a second after the deadline, or when it is time for safety. While work goes on, some
/// things come true by time alone.
pub fn due<K: Served>(decision: &Decision<K>, moment: Moment) -> Duration {
    let deadline = decision.status.deadline_time.as_ref().map(|deadline| deadline.0.duration_since(moment.now));
    let left = deadline.and_then(|left| Duration::try_from(left).ok()).filter(|left| !left.is_zero());
    left.map_or(SAFETY, |left| WORKING.min(left + Duration::from_secs(1)))
}

/// The generation of the spec, which a back-off belongs to.
pub fn generation(object: &impl Resource) -> i64 {
    object.meta().generation.unwrap_or_default()
}
