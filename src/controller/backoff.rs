//! How soon an object may be written again: at once, unless the last writes did not last.

use crate::kinds::order::{ChildRef, Order};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// The wait after the first write that did not last.
const SHORTEST: Duration = Duration::from_millis(500);
/// The longest wait.
pub const LONGEST: Duration = Duration::from_mins(1);
/// An object that wanted nothing for so long, and for twice its last wait, has rested.
const RESTED: Duration = Duration::from_secs(10);

/// The writes of one object that did not last: refused, failed, or undone by another writer. What is written for the first
/// time is never kept waiting: a kind makes its children in stages.
#[derive(Clone, Debug, Default)]
pub struct Backoff {
    /// How often each child was ordered since the object rested; of the object itself, under no child.
    ordered: BTreeMap<Option<ChildRef>, u32>,
    /// Attempts in a row that failed before the API server answered, or in the status.
    failures: u32,
    last: Option<Instant>,
    /// The generation that the last attempt was for: a new spec is never kept waiting.
    generation: i64,
}

impl Backoff {
    /// How long to wait before `generation` may be written so; nothing when it may be now.
    pub fn wait(&self, at: Instant, generation: i64, orders: &[Order]) -> Option<Duration> {
        if generation != self.generation || self.rested(at) {
            return None;
        }
        let attempts = self.failures.max(self.most(orders));
        let ready = self.last? + delay(attempts)?;
        Some(ready.saturating_duration_since(at)).filter(|wait| !wait.is_zero())
    }

    /// Did the last attempt fail, so that even a status has to wait?
    pub fn failing(&self) -> bool {
        self.failures > 0
    }

    /// Children were ordered; how long until the same may be ordered again.
    pub fn acted(&mut self, at: Instant, generation: i64, orders: &[Order]) -> Duration {
        self.begin(at, generation);
        for order in orders {
            let count = self.ordered.entry(order.child().cloned()).or_default();
            *count = count.saturating_add(1);
        }
        delay(self.most(orders)).unwrap_or(SHORTEST)
    }

    /// A write failed; how long until the next one.
    pub fn failed(&mut self, at: Instant, generation: i64) -> Duration {
        self.begin(at, generation);
        self.failures = self.failures.saturating_add(1);
        delay(self.failures).unwrap_or(SHORTEST)
    }

    /// Everything that was to be written was.
    pub fn settled(&mut self) {
        self.failures = 0;
    }

    fn begin(&mut self, at: Instant, generation: i64) {
        if generation != self.generation || self.rested(at) {
            *self = Backoff { generation, ..Backoff::default() };
        }
        self.last = Some(at);
    }

    /// How often the one of these was ordered that was ordered most.
    fn most(&self, orders: &[Order]) -> u32 {
        orders.iter().filter_map(|order| self.ordered.get(&order.child().cloned())).copied().max().unwrap_or_default()
    }

    fn rested(&self, at: Instant) -> bool {
        let attempts = self.ordered.values().copied().max().unwrap_or_default().max(self.failures);
        let long = delay(attempts).map_or(RESTED, |delay| RESTED.max(delay * 2));
        self.last.is_none_or(|last| at.saturating_duration_since(last) >= long)
    }
}

/// After so many attempts 0.5 s, 1 s, 2 s and so on; nothing before the first.
fn delay(attempts: u32) -> Option<Duration> {
    Some(SHORTEST.saturating_mul(1 << attempts.checked_sub(1)?.min(16)).min(LONGEST))
}
