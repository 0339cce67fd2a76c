//! EDGE: watches and acts. One loop of four verbs for every kind, one file per verb:
//! [`observe`] -> `kinds::decide` -> [`record`] -> [`perform`]; [`reconcile`] calls them in this order.
//!
//! What is read comes from caches ([`caches`], fed by [`watch`]), but for what nobody may watch ([`read`]) and what a removal
//! is decided on ([`live`]); what is written is awaited in them ([`memory`]) before the object steps again; what does not last
//! is written ever more seldom ([`backoff`]), and an object at rest is looked at seldom ([`pace`]). Every replica watches; the
//! one that holds the [`lease`] looks and writes. No kind is named here: a new kind needs no edit in this folder.

pub mod access;
pub mod alone;
pub mod backoff;
mod bereft;
pub mod cache;
pub mod caches;
pub mod calls;
pub mod census;
pub mod certificates;
pub mod clients;
mod clock;
mod cluster_scoped;
pub mod complaint;
pub mod definitions;
pub mod events;
pub mod family;
mod first;
pub mod kept;
pub mod lease;
pub mod listing;
pub mod live;
pub mod memory;
mod names;
pub mod observe;
mod outcome;
pub mod pace;
mod patched;
pub mod perform;
pub mod queue;
pub mod read;
pub mod reconcile;
pub mod record;
pub mod relatives;
mod seize;
pub mod site;
mod sweep;
mod unused;
pub mod watch;

use crate::config::Config;
use crate::kinds::{Served, Settings};
use crate::telemetry::{self, scrape};
use cache::Key;
use caches::{Caches, Watch};
use census::Census;
use futures::future::{BoxFuture, join};
use futures::{FutureExt, StreamExt, stream};
use kube::Client;
use kube::ResourceExt;
use kube::runtime::applier;
use kube::runtime::controller::{self, Action};
use kube::runtime::reflector::ObjectRef;
use lease::Leadership;
use memory::Memories;
use queue::Queue;
use reconcile::{Failed, reconcile};
use relatives::Relatives;
use site::Site;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long a review waits for the lists: the API server gives it 5 s.
const PATIENCE: Duration = Duration::from_secs(2);

/// Looks after every object of one kind.
pub struct Controller<K: Served> {
    site: Arc<Site<K>>,
    concurrency: u16,
}

/// The watches that feed the caches of one kind.
pub struct Watches(Vec<Watch>);

/// The objects of one kind as they were seen last; cheap to clone.
pub struct Objects<K: Served>(Arc<Site<K>>);

impl<K: Served> Clone for Objects<K> {
    fn clone(&self) -> Self {
        Objects(self.0.clone())
    }
}

impl<K: Served> Objects<K> {
    /// One object. Until everything was listed once an object that is not found may well be there: then it takes a while.
    pub async fn find(&self, namespace: &str, name: &str) -> Option<Arc<K::Object>> {
        let _ = tokio::time::timeout(PATIENCE, self.listed()).await;
        self.0.caches.objects.get(&Key { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// What a change of the object is judged by, as far as it is watched: a review asks the API server for nothing. Nothing where it
    /// is not known yet: the look at what is stored judges again.
    pub fn ground(&self, object: &K::Object) -> Option<K::Ground> {
        self.listed().now_or_never()?;
        let readings = read::watched(&self.0, object);
        let relatives = Relatives::of(&self.0.caches, object, &readings, None);
        Some(K::ground(&K::children(&relatives, object)))
    }

    /// Returns when everything that a look reads was listed once.
    pub async fn listed(&self) {
        self.0.caches.synced().await;
    }
}

impl Watches {
    /// Feeds the caches, for ever.
    ///
    /// # Panics
    /// When a watch panics: without it every look would be blind.
    pub async fn run(self) -> Infallible {
        let mut watches: JoinSet<()> = self.0.into_iter().collect();
        match watches.join_next().await {
            Some(Err(panic)) => std::panic::resume_unwind(panic.into_panic()),
            Some(Ok(())) | None => unreachable!("a watch ends only by a panic, and every kind has some"),
        }
    }
}

impl<K: Served> Controller<K> {
    /// Sets up the caches and their watches; nothing runs yet.
    pub fn new(client: Client, config: &Config, leadership: Leadership) -> (Self, Watches) {
        let (queue, memories) = (Arc::new(Queue::new(K::PATH, config.concurrency)), Arc::new(Memories::default()));
        let known = memories.clone();
        let gone = move |object: &K::Object| {
            // One that this process never looked at, or looks at no more, is another replica's to tell.
            if known.forget(object.uid().as_deref().unwrap_or_default()) && leadership.leads() {
                events::tell_end::<K>(object);
            }
        };
        let (caches, watches) = Caches::new(client.clone(), &config.watch_namespaces, &queue, gone);
        let settings = config.kinds.get(K::PATH).cloned().unwrap_or_else(Settings::of::<K>);
        let site = Site { client, settings, caches, memories, queue, instance: instance() };
        (Controller { site: Arc::new(site), concurrency: config.concurrency }, Watches(watches))
    }

    /// A handle to the objects, for readers.
    pub fn objects(&self) -> Objects<K> {
        Objects(self.site.clone())
    }

    /// What is told of the objects at a scrape, while this process leads.
    pub fn census(&self, leadership: Leadership) -> Arc<dyn scrape::Census> {
        Arc::new(Census { site: self.site.clone(), leadership })
    }

    /// Looks at objects in every term of `leadership`, until `stop`.
    pub async fn run(self, leadership: Leadership, stop: impl Future<Output = ()> + Send + 'static) {
        telemetry::controller(K::PATH, self.concurrency);
        if K::FINALIZER.is_some() {
            telemetry::volumes_go(&<K::Object as kube::Resource>::kind(&()), 0);
        }
        let stop = stop.boxed().shared();
        loop {
            tokio::select! {
                () = stop.clone() => return,
                () = leadership.begun() => {}
            }
            let (leading, stop) = (leadership.clone(), stop.clone());
            let end = async move {
                tokio::select! {
                    () = stop => {}
                    () = leading.ended() => {}
                }
            };
            let _acting = leadership.acts().await;
            self.term(end.boxed()).await;
        }
    }

    /// Looks at every object once everything is listed, and at each that changes, until `end`; then ends the looks that run, and
    /// returns. What another replica did meanwhile is not remembered.
    async fn term(&self, end: BoxFuture<'static, ()>) {
        let (objects, queue, site) = (self.objects(), self.site.queue.clone(), self.site.clone());
        site.memories.clear();
        queue.begins_anew();
        let ready = async move {
            // No step before every watched kind has been listed once.
            objects.listed().await;
            site.caches.objects.all().iter().for_each(|object| site.queue.add(Key::of(object.as_ref())));
        };
        let ready = ready.boxed().shared();
        let (listed, site) = (ready.clone(), self.site.clone());
        let sweeps = async move {
            listed.await;
            join(sweep::sweeping(site.clone()), unused::removing(site)).await;
        };
        let looks = stream::once(ready).filter_map(|()| std::future::ready(None)).chain(queue.clone().looks());
        let looks = looks.map(|key| Ok::<_, Infallible>(ObjectRef::new(&key.name).within(&key.namespace)));
        let look = |object: Arc<K::Object>, site: Arc<Site<K>>| reconcile(site, Key::of(object.as_ref())).boxed();
        let again = |_, failed: &Failed, _| Action::requeue(failed.again);
        let config = controller::Config::default().concurrency(self.concurrency);
        let store = self.site.caches.objects.store();
        let looks = applier(look, again, self.site.clone(), store, looks.boxed().take_until(end), config)
            .for_each(async |looked| report::<K, _>(&queue, looked));
        tokio::select! {
            () = looks => {}
            () = sweeps => {}
        }
    }
}

fn report<K: Served, O>(queue: &Arc<Queue>, looked: Result<(O, Action), controller::Error<Failed, Infallible>>) {
    let kind = <K::Object as kube::Resource>::kind(&());
    match looked {
        Ok(_) => {}
        Err(controller::Error::ObjectNotFound(object)) => {
            drop(queue.begun(&Key { namespace: object.namespace.clone().unwrap_or_default(), name: object.name.clone() }));
            tracing::debug!(%object, "gone before it was looked at");
        }
        Err(controller::Error::ReconcilerFailed(failed, object)) => {
            tracing::warn!(%kind, namespace = object.namespace, name = object.name, error = %failed, again = ?failed.again, "a look failed");
        }
        Err(error) => tracing::warn!(%kind, %error, "a look failed"),
    }
}

/// The pod's name, or the machine's.
pub(crate) fn instance() -> String {
    let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = std::env::var("POD_NAME").ok().or_else(|| std::env::var("HOSTNAME").ok()).or_else(host);
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "pointsman".to_owned())
}
