//! What the controller remembers of an object between two looks. Losing it costs a needless write
//! at most: everything that matters is in the object's status.

use super::backoff::Backoff;
use super::caches::Caches;
use super::complaint::{Complaint, TOLD};
use super::read::Secrets;
use crate::kinds::Served;
use crate::kinds::digest::fnv;
use crate::kinds::order::{ChildRef, Fate, Order, Refusal};
use crate::kinds::status::Move;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tracing::warn;

/// How long a look waits for a cache. It passes without the event only when an event was lost in
/// a watch that was broken off and an object deleted meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a look waits for a deleted namesake's children to go: the garbage collector asks for new kinds every 30 s.
const ORPHANS: Duration = Duration::from_secs(45);

/// A write of ours that the caches have to show before the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The object in this version or a newer one.
    Object(u64),
    /// A child in this version or a newer one; or deleted since.
    Child(ChildRef, u64),
    /// A child of this uid gone, or going.
    Removed(ChildRef, String),
}

impl Awaited {
    fn arrived<K: Served>(&self, caches: &Caches<K>, namespace: &str) -> bool {
        match self {
            Awaited::Object(version) => caches.objects.newest(namespace) >= *version,
            Awaited::Child(child, version) => {
                caches.newest(child.kind, namespace) >= *version || caches.alive(child, namespace).is_some_and(|(_, seen)| seen >= *version)
            }
            Awaited::Removed(child, uid) => caches.alive(child, namespace).is_none_or(|(seen, _)| seen != *uid),
        }
    }
}

/// What is remembered of one object.
#[derive(Debug, Default)]
pub struct Memory {
    /// What the last orders met, for the next look.
    pub refusal: Option<Refusal>,
    /// How soon it may be written again.
    pub backoff: Backoff,
    /// When its status was stored last.
    pub recorded: Option<Instant>,
    /// A move that may have been stored, and was not told: nobody knows until it is seen.
    pub doubted: Option<Move>,
    /// The Secrets that were read last.
    pub secrets: Option<Secrets>,
    /// Has anything happened since then, or does work go on?
    pub has_news: bool,
    awaited: Vec<Awaited>,
    awaiting_since: Option<Instant>,
    orphaned_since: Option<Instant>,
    /// A digest of the orders that were carried out last.
    carried_out: Option<u64>,
    /// A digest of the complaint that was told last, and when.
    complained: Option<(u64, Instant)>,
}

impl Memory {
    /// What orders that were carried out met in the end: those that are asked for again at once did not stay.
    pub fn met(&mut self, orders: &[Order]) -> Option<Refusal> {
        let before = std::mem::replace(&mut self.carried_out, (!orders.is_empty()).then(|| fnv(format!("{orders:?}").as_bytes())));
        let first = orders.first().filter(|_| before.is_some() && before == self.carried_out)?;
        let words = "it was written and accepted, and it is not so: something changes it back".to_owned();
        Some(Refusal { child: first.child().cloned(), words, fate: Fate::Undone })
    }

    /// Is this to be told: another complaint than the last, or one that was told long ago?
    pub fn complains(&mut self, complaint: Complaint<'_>, at: Instant) -> bool {
        let digest = fnv(format!("{complaint:?}").as_bytes());
        let told = self.complained.is_some_and(|(last, then)| last == digest && at.saturating_duration_since(then) < TOLD);
        if !told {
            self.complained = Some((digest, at));
        }
        !told
    }

    /// When something has to be read again that nobody watches.
    pub fn reads_again(&self, at: Instant) -> Option<Duration> {
        self.secrets.as_ref().map(|secrets| secrets.left(self.has_news, at))
    }

    /// Forgets what was read of children that these orders write.
    pub fn writes(&mut self, orders: &[Order]) {
        if orders.iter().filter_map(Order::child).any(|child| child.kind.is_secret()) {
            self.secrets = None;
        }
    }

    /// Waits from now on for `written` to arrive.
    pub fn await_all(&mut self, written: impl IntoIterator<Item = Awaited>) {
        self.awaited.extend(written);
    }

    /// How much longer to wait for what was written to arrive; nothing once it has.
    pub fn behind<K: Served>(&mut self, caches: &Caches<K>, namespace: &str, at: Instant) -> Option<Duration> {
        self.awaited.retain(|awaited| !awaited.arrived(caches, namespace));
        let behind = patience(PATIENCE, &mut self.awaiting_since, !self.awaited.is_empty(), at);
        if behind.is_none() && !self.awaited.is_empty() {
            warn!(awaited = ?self.awaited, "a cache did not show what was written; going on without it");
            self.awaited.clear();
            self.awaiting_since = None;
            // Whether it stayed is not known.
            self.carried_out = None;
        }
        behind
    }

    /// How much longer to wait where a child of a deleted object of the same name still stands in the way: the garbage
    /// collector is about to remove it.
    pub fn orphaned(&mut self, stands: bool, at: Instant) -> Option<Duration> {
        patience(ORPHANS, &mut self.orphaned_since, stands, at)
    }
}

/// What is left of a patience with something that `holds` since `since`.
fn patience(patience: Duration, since: &mut Option<Instant>, holds: bool, at: Instant) -> Option<Duration> {
    if !holds {
        *since = None;
        return None;
    }
    let waited = at.saturating_duration_since(*since.get_or_insert(at));
    Some(patience.saturating_sub(waited)).filter(|left| !left.is_zero())
}

/// The memories of every object, by uid: an object of the same name is another object. Nothing stands for one that is
/// being looked at.
#[derive(Debug, Default)]
pub struct Memories(Mutex<HashMap<String, Option<Memory>>>);

impl Memories {
    /// Takes out what is remembered, for the one reconcile that runs; nothing of an object that was never looked at, or that
    /// was forgotten.
    pub fn take(&self, uid: &str) -> Option<Memory> {
        self.lock().insert(uid.to_owned(), None).map(Option::unwrap_or_default)
    }
    /// Puts it back, unless the object was forgotten meanwhile.
    pub fn keep(&self, uid: &str, memory: Memory) {
        if let Some(place) = self.lock().get_mut(uid) {
            *place = Some(memory);
        }
    }
    /// Forgets every object.
    pub fn clear(&self) {
        self.lock().clear();
    }
    /// Forgets an object that is gone. Was it ever looked at?
    pub fn forget(&self, uid: &str) -> bool {
        self.lock().remove(uid).is_some()
    }
    // Whole entries are put in and taken out, so what a panic leaves behind is sound.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Option<Memory>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
