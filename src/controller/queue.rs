//! Which objects are to be looked at: a set, so that a burst of events is one look.

use super::cache::Key;
use futures::stream::{self, Stream, StreamExt};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// How long events are gathered before they become looks. A window of fixed length: an object
/// whose events never pause is looked at all the same.
const GATHERED: Duration = Duration::from_millis(50);

/// Objects that wait for a look; never more than there are objects.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Mutex<HashSet<Key>>,
    bell: Notify,
}

impl Queue {
    /// Asks for a look at an object.
    pub fn add(&self, key: Key) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        self.bell.notify_one();
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
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
