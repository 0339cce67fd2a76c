//! EDGE: watches and acts. One loop of four verbs for every kind, one file per verb:
//! [`observe`] -> `kinds::decide` -> [`record`] -> [`perform`]; [`reconcile`] calls them in this order.
//!
//! What is read comes from caches ([`caches`], fed by [`watch`]); what is written is awaited in
//! them ([`memory`]) before the object steps again; what does not last is written ever more seldom
//! ([`backoff`]). No kind is named here: a new kind needs no edit in this folder.

pub mod backoff;
pub mod cache;
pub mod caches;
pub mod calls;
pub mod certificates;
pub mod events;
pub mod family;
pub mod memory;
pub mod observe;
pub mod perform;
pub mod queue;
pub mod reconcile;
pub mod record;
pub mod relatives;
pub mod site;
pub mod watch;

use crate::config::Config;
use crate::kinds::{Served, Settings};
use crate::telemetry;
use cache::{Cache, Key};
use caches::{Caches, Watch};
use futures::{FutureExt, StreamExt, stream};
use kube::Client;
use kube::runtime::applier;
use kube::runtime::controller::{self, Action};
use kube::runtime::reflector::ObjectRef;
use memory::Memories;
use queue::Queue;
use reconcile::{Failed, reconcile};
use site::Site;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Looks after every object of one kind.
pub struct Controller<K: Served> {
    site: Arc<Site<K>>,
    queue: Arc<Queue>,
    watches: Vec<Watch>,
    concurrency: u16,
}

/// The objects of one kind as they were seen last; cheap to clone.
pub struct Objects<K: Served>(Arc<Cache<K::Object>>);

impl<K: Served> Clone for Objects<K> {
    fn clone(&self) -> Self {
        Objects(self.0.clone())
    }
}

impl<K: Served> Objects<K> {
    /// One object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K::Object>> {
        self.0.get(&Key { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Was everything listed once? Before, an object that is not found may well be there.
    pub fn is_synced(&self) -> bool {
        self.0.synced()
    }
}

impl<K: Served> Controller<K> {
    /// Sets up the caches; nothing runs yet.
    pub fn new(client: Client, config: &Config) -> Self {
        let (queue, memories) = (Arc::new(Queue::default()), Arc::new(Memories::default()));
        let forget = memories.clone();
        let (caches, watches) = Caches::new(client.clone(), &config.watch_namespaces, &queue, move |uid| forget.forget(uid));
        let settings = config.kinds.get(K::PATH).cloned().unwrap_or_else(Settings::of::<K>);
        let site = Site { client, settings, caches, memories, instance: instance() };
        Controller { site: Arc::new(site), queue, watches, concurrency: config.concurrency }
    }

    /// A handle to the objects, for readers.
    pub fn objects(&self) -> Objects<K> {
        Objects(self.site.caches.objects.clone())
    }

    /// Watches and acts until `shutdown`; then ends the looks that run, and returns.
    ///
    /// # Panics
    /// When a watch panics: without it every look would be blind.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send + 'static) {
        let mut watches: JoinSet<()> = self.watches.into_iter().collect();
        let objects = self.site.caches.objects.store();
        let synced = {
            let site = self.site.clone();
            async move { site.caches.synced().await }
        };
        // No step before every watched kind has been listed once.
        let looks = stream::once(synced).filter_map(|()| std::future::ready(None)).chain(self.queue.looks());
        let looks = looks.map(|key| Ok::<_, Infallible>(ObjectRef::new(&key.name).within(&key.namespace)));
        let look = |object: Arc<K::Object>, site: Arc<Site<K>>| reconcile(site, Key::of(object.as_ref())).boxed();
        let again = |_, failed: &Failed, _| Action::requeue(failed.again);
        let config = controller::Config::default().concurrency(self.concurrency);
        let work = applier(look, again, self.site, objects, looks.boxed().take_until(shutdown), config).for_each(report::<K, _>);
        tokio::select! {
            () = work => {}
            Some(ended) = watches.join_next() => match ended {
                Ok(()) => unreachable!("a watch ends only by a panic"),
                Err(panic) => std::panic::resume_unwind(panic.into_panic()),
            }
        }
    }
}

async fn report<K: Served, O>(looked: Result<(O, Action), controller::Error<Failed, Infallible>>) {
    match looked {
        Ok(_) => {}
        Err(controller::Error::ObjectNotFound(object)) => tracing::debug!(%object, "gone before it was looked at"),
        Err(error) => {
            telemetry::reconcile_error(&<K::Object as kube::Resource>::kind(&()));
            tracing::warn!(%error, "a look failed");
        }
    }
}

/// The pod's name, or the machine's.
fn instance() -> String {
    let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = std::env::var("POD_NAME").ok().or_else(|| std::env::var("HOSTNAME").ok()).or_else(host);
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "pointsman".to_owned())
}
