//! Which objects are to be looked at: a set, so that a burst of events is one look.

use super::cache::Key;
use crate::telemetry;
use futures::stream::{self, Stream, StreamExt};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// How long events are gathered before they become looks. A window of fixed length: an object
/// whose events never pause is looked at all the same.
const GATHERED: Duration = Duration::from_millis(50);

/// Objects that wait for a look; never more than there are objects.
#[derive(Debug)]
pub struct Queue {
    controller: &'static str,
    keys: Mutex<Keys>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Keys {
    /// Not yet handed on.
    gathered: HashSet<Key>,
    /// Handed on, and not yet looked at: as many looks as may run at once do.
    handed: HashSet<Key>,
}

impl Queue {
    /// An empty one, of the controller of this name.
    pub fn new(controller: &'static str) -> Self {
        Queue { controller, keys: Mutex::default(), bell: Notify::new() }
    }

    /// Asks for a look at an object.
    pub fn add(&self, key: Key) {
        let mut keys = self.keys();
        let waits = keys.handed.contains(&key);
        if keys.gathered.insert(key) && !waits {
            telemetry::queued(self.controller);
        }
        self.bell.notify_one();
    }

    /// Nothing is there any more that could be looked at. While nobody listens, what is gone would pile up.
    pub fn remove(&self, key: &Key) {
        self.keys().gathered.remove(key);
        self.begun(key);
    }

    /// A look begins; what happens from now on asks for another. Was this one asked for?
    pub fn begun(&self, key: &Key) -> bool {
        self.keys().handed.remove(key)
    }

    /// How many objects wait.
    pub fn waiting(&self) -> usize {
        let keys = self.keys();
        keys.gathered.union(&keys.handed).count()
    }

    /// The objects to look at, for as long as anybody listens.
    pub fn looks(self: Arc<Self>) -> impl Stream<Item = Key> + Send {
        stream::unfold(self, |queue| async move {
            let keys = queue.gather().await;
            Some((stream::iter(keys), queue))
        })
        .flatten()
    }

    async fn gather(&self) -> HashSet<Key> {
        self.bell.notified().await;
        tokio::time::sleep(GATHERED).await;
        let mut keys = self.keys();
        let gathered = std::mem::take(&mut keys.gathered);
        keys.handed.extend(gathered.iter().cloned());
        gathered
    }

    // Whole keys are put in and taken out, so what a panic leaves behind is sound.
    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
