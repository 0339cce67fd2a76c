//! How soon an object may be written again: at once, unless the last writes did not last.

use std::time::Duration;
use tokio::time::Instant;

/// The wait after the first write that did not last.
const SHORTEST: Duration = Duration::from_millis(500);
/// The longest wait.
pub const LONGEST: Duration = Duration::from_mins(1);
/// An object that wanted nothing for so long, and for twice its last wait, has rested.
const RESTED: Duration = Duration::from_secs(10);

/// The writes of one object that did not last: refused, failed, or undone by another writer.
#[derive(Clone, Debug, Default)]
pub struct Backoff {
    attempts: u32,
    last: Option<Instant>,
    /// The generation that the last attempt was for: a new spec is never kept waiting.
    generation: i64,
    /// Did the last attempt fail before the API server answered, or in the status?
    failing: bool,
}

impl Backoff {
    /// How long to wait before `generation` may be written; nothing when it may be now.
    pub fn wait(&self, at: Instant, generation: i64) -> Option<Duration> {
        if generation != self.generation || self.rested(at) {
            return None;
        }
        let ready = self.last? + self.delay();
        Some(ready.saturating_duration_since(at)).filter(|wait| !wait.is_zero())
    }

    /// Did the last attempt fail, so that even a status has to wait?
    pub fn failing(&self) -> bool {
        self.failing
    }

    /// Children were ordered; how long until the next orders.
    pub fn acted(&mut self, at: Instant, generation: i64) -> Duration {
        self.attempt(at, generation, false)
    }

    /// A write failed; how long until the next one.
    pub fn failed(&mut self, at: Instant, generation: i64) -> Duration {
        self.attempt(at, generation, true)
    }

    /// Everything that was to be written was.
    pub fn settled(&mut self) {
        self.failing = false;
    }

    fn attempt(&mut self, at: Instant, generation: i64, failing: bool) -> Duration {
        let anew = generation != self.generation || self.rested(at);
        self.attempts = if anew { 1 } else { self.attempts.saturating_add(1) };
        (self.last, self.generation, self.failing) = (Some(at), generation, failing);
        self.delay()
    }

    fn rested(&self, at: Instant) -> bool {
        self.last.is_none_or(|last| at.saturating_duration_since(last) >= RESTED.max(self.delay() * 2))
    }

    /// 0.5 s, 1 s, 2 s and so on.
    fn delay(&self) -> Duration {
        SHORTEST.saturating_mul(1 << self.attempts.saturating_sub(1).min(16)).min(LONGEST)
    }
}
