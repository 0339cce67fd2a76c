//! Which objects are to be looked at: each once, so that a burst of events is one look.
//!
//! Namespaces take turns, and none takes all the looks that may run at once: however many of its objects change, those of another
//! are looked at.

use super::cache::Key;
use crate::telemetry;
use futures::stream::{self, Stream};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::Bound;
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
    /// How many looks may run.
    at_once: usize,
    keys: Mutex<Keys>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Keys {
    /// Those that wait.
    waiting: HashSet<Key>,
    /// The same of the last moment, which come into a line after it.
    gathered: Vec<Key>,
    /// The line of each namespace. Who waits no more is passed over.
    lines: BTreeMap<String, VecDeque<Key>>,
    /// The namespace whose turn was last.
    last: String,
    /// Handed on, and not yet looked at.
    handed: HashSet<Key>,
    /// How many of each namespace are handed on, or looked at.
    taken: BTreeMap<String, usize>,
}

impl Queue {
    /// An empty one, of the controller of this name that looks at so many objects at once.
    pub fn new(controller: &'static str, at_once: u16) -> Self {
        Queue { controller, at_once: usize::from(at_once).max(1), keys: Mutex::default(), bell: Notify::new() }
    }

    /// Asks for a look at an object. One that is about to be looked at is not asked for again: what has happened is seen then.
    pub fn add(&self, key: Key) {
        let mut keys = self.keys();
        if !keys.handed.contains(&key) && keys.waiting.insert(key.clone()) {
            telemetry::queued(self.controller);
            keys.gathered.push(key);
            self.bell.notify_one();
        }
    }

    /// Nothing is there any more that could be looked at. While nobody listens, what is gone would pile up.
    pub fn remove(&self, key: &Key) {
        let mut keys = self.keys();
        keys.waiting.remove(key);
        keys.gathered.retain(|gathered| gathered != key);
        if keys.handed.remove(key) {
            keys.free(&key.namespace);
        }
        self.bell.notify_one();
    }

    /// A look begins; what happens from now on asks for another.
    pub fn begun(self: &Arc<Self>, key: &Key) -> Turn {
        let mut keys = self.keys();
        let is_asked_for = keys.handed.remove(key);
        if !is_asked_for {
            *keys.taken.entry(key.namespace.clone()).or_default() += 1;
        }
        Turn { queue: self.clone(), namespace: key.namespace.clone(), is_asked_for }
    }

    /// Nobody looks any more at what was handed on.
    pub fn begins_anew(&self) {
        let mut keys = self.keys();
        keys.handed.clear();
        keys.taken.clear();
        // Who listened before may have been told of what waits, and is gone.
        self.bell.notify_one();
    }

    /// How many objects wait.
    pub fn waiting(&self) -> usize {
        let keys = self.keys();
        keys.waiting.len() + keys.handed.len()
    }

    /// The objects to look at, for as long as anybody listens: one more as soon as a look ends.
    pub fn looks(self: Arc<Self>) -> impl Stream<Item = Key> + Send {
        stream::unfold(self, |queue| async move {
            loop {
                if let Some(key) = queue.next() {
                    return Some((key, queue));
                }
                queue.bell.notified().await;
                if !queue.keys().gathered.is_empty() {
                    tokio::time::sleep(GATHERED).await;
                    queue.keys().line_up();
                }
            }
        })
    }

    /// The next one, where another look may run.
    fn next(&self) -> Option<Key> {
        let mut keys = self.keys();
        let share = self.at_once - self.at_once / 4;
        while keys.taken.values().sum::<usize>() < self.at_once {
            let key = keys.turn(share)?;
            if keys.waiting.remove(&key) {
                *keys.taken.entry(key.namespace.clone()).or_default() += 1;
                keys.handed.insert(key.clone());
                return Some(key);
            }
        }
        None
    }

    // Whole keys are put in and taken out, so what a panic leaves behind is sound.
    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keys {
    fn line_up(&mut self) {
        for key in std::mem::take(&mut self.gathered) {
            self.lines.entry(key.namespace.clone()).or_default().push_back(key);
        }
    }

    /// The first in the line of the namespace whose turn it is: of the next one that has less than its share.
    fn turn(&mut self, share: usize) -> Option<Key> {
        let last = std::mem::take(&mut self.last);
        let after = self.lines.range::<str, _>((Bound::Excluded(last.as_str()), Bound::Unbounded));
        let mut turns = after.chain(self.lines.range::<str, _>((Bound::Unbounded, Bound::Included(last.as_str())))).map(|(name, _)| name);
        let Some(namespace) = turns.find(|name| self.taken.get(*name).is_none_or(|taken| *taken < share)).cloned() else {
            self.last = last;
            return None;
        };
        let line = self.lines.get_mut(&namespace)?;
        let key = line.pop_front();
        if line.is_empty() {
            self.lines.remove(&namespace);
        }
        self.last = namespace;
        key
    }

    fn free(&mut self, namespace: &str) {
        if let Some(taken) = self.taken.get_mut(namespace) {
            *taken = taken.saturating_sub(1);
        }
        self.taken.retain(|_, taken| *taken > 0);
    }
}

/// A look that runs.
#[derive(Debug)]
pub struct Turn {
    queue: Arc<Queue>,
    namespace: String,
    /// Was it asked for? Others are due by time.
    pub is_asked_for: bool,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.queue.keys().free(&self.namespace);
        self.queue.bell.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::StreamExt;
    use std::pin::pin;
    use tokio::time::timeout;

    fn key(namespace: &str, name: &str) -> Key {
        Key { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// What is handed on before somebody has to wait.
    async fn handed(looks: &mut (impl Stream<Item = Key> + Unpin)) -> Vec<String> {
        let mut all = Vec::new();
        while let Ok(Some(key)) = timeout(GATHERED * 2, looks.next()).await {
            all.push(format!("{}/{}", key.namespace, key.name));
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn namespaces_take_turns_and_none_takes_every_look() {
        let queue = Arc::new(Queue::new("test", 8));
        let numbered = |namespace: &str, name: usize| key(namespace, &format!("{name:02}"));
        (0..100).for_each(|name| queue.add(numbered("busy", name)));
        let mut looks = pin!(queue.clone().looks());
        let expected: Vec<String> = (0..6).map(|name| format!("busy/0{name}")).collect();
        assert_eq!(handed(&mut looks).await, expected, "three quarters, in their order");
        queue.add(key("calm", "a"));
        (0..3).for_each(|name| queue.add(numbered("other", name)));
        assert_eq!(handed(&mut looks).await, ["calm/a", "other/00"], "the last quarter");
        let turns: Vec<Turn> = (0..6).map(|name| queue.begun(&numbered("busy", name))).collect();
        assert!(turns.iter().all(|turn| turn.is_asked_for));
        drop(turns);
        let next = handed(&mut looks).await;
        assert_eq!(next.iter().filter(|key| key.starts_with("other/")).count(), 2, "{next:?}");
        assert_eq!((next.len(), queue.waiting()), (6, 90 + 8), "as many as ended");
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_one_look_and_what_comes_after_its_begin_is_another() {
        let queue = Arc::new(Queue::new("test", 1));
        let (one, gone) = (key("a", "one"), key("a", "gone"));
        (0..5).for_each(|_| queue.add(one.clone()));
        queue.add(gone.clone());
        let mut looks = pin!(queue.clone().looks());
        assert_eq!(handed(&mut looks).await, ["a/one"]);
        queue.add(one.clone());
        queue.remove(&gone);
        assert_eq!(queue.waiting(), 1);
        let turn = queue.begun(&one);
        queue.add(one.clone());
        assert!(handed(&mut looks).await.is_empty(), "it runs");
        drop(turn);
        assert_eq!(handed(&mut looks).await, ["a/one"]);
        queue.begins_anew();
        queue.add(one);
        assert_eq!(handed(&mut looks).await, ["a/one"], "what another term was handed is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_due_by_time_takes_a_place_too() {
        let queue = Arc::new(Queue::new("test", 1));
        let turn = queue.begun(&key("a", "due"));
        assert!(!turn.is_asked_for);
        queue.add(key("b", "asked"));
        let mut looks = pin!(queue.clone().looks());
        assert!(handed(&mut looks).await.is_empty());
        drop(turn);
        assert_eq!(handed(&mut looks).await, ["b/asked"]);
    }
}
