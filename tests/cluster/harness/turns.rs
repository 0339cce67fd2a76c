//! Which tests run at once: first those that others may run beside, a few at a time; then, one after another, those that hold
//! the cluster for themselves. So nobody waits for the slowest of a few again and again. Turns are taken in the order of asking,
//! which is that of the tests' names.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Instant;

/// More would keep two cores busy for longer than the operator's deadlines last.
const AT_ONCE: usize = 4;

#[derive(Debug)]
struct Cluster {
    /// Who waits for a shared turn, in the order of their coming.
    waiting: VecDeque<ThreadId>,
    shared: usize,
    alone: bool,
}

static CLUSTER: Mutex<Cluster> = Mutex::new(Cluster { waiting: VecDeque::new(), shared: 0, alone: false });
static CHANGED: Condvar = Condvar::new();

/// A turn that others share.
#[derive(Debug)]
pub struct Shared(Instant);

/// A turn of one's own.
#[derive(Debug)]
pub struct Alone(Instant);

/// Held by a test that others may run beside.
pub fn shared() -> Shared {
    let me = std::thread::current().id();
    let mut cluster = cluster();
    cluster.waiting.push_back(me);
    let mut cluster = wait_while(cluster, |cluster| cluster.alone || cluster.shared == AT_ONCE || cluster.waiting.front() != Some(&me));
    cluster.waiting.pop_front();
    cluster.shared += 1;
    // The next one may have its turn as well.
    CHANGED.notify_all();
    Shared(Instant::now())
}

/// Held by a test that stops the operator or counts its writes.
pub fn alone() -> Alone {
    let mut cluster = wait_while(cluster(), |cluster| cluster.alone || cluster.shared > 0 || !cluster.waiting.is_empty());
    cluster.alone = true;
    Alone(Instant::now())
}

impl Drop for Shared {
    fn drop(&mut self) {
        let last = {
            let mut cluster = cluster();
            cluster.shared -= 1;
            cluster.shared == 0 && cluster.waiting.is_empty()
        };
        // Whoever started the tests may have use for the time that is left from now on.
        if let Some(file) = std::env::var_os("POINTSMAN_ONE_BY_ONE").filter(|_| last) {
            let _ = std::fs::write(file, "");
        }
        over("beside others", self.0);
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        cluster().alone = false;
        over("alone", self.0);
    }
}

fn over(how: &str, began: Instant) {
    CHANGED.notify_all();
    println!("ran {how} for {} s", began.elapsed().as_secs());
}

fn cluster() -> MutexGuard<'static, Cluster> {
    CLUSTER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_while(cluster: MutexGuard<'static, Cluster>, waits: impl Fn(&Cluster) -> bool) -> MutexGuard<'static, Cluster> {
    CHANGED.wait_while(cluster, |cluster| waits(cluster)).unwrap_or_else(PoisonError::into_inner)
}
