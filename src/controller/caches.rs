//! Every cache that a look reads, and the watches that feed them.

use super::cache::{Cache, Change, Key};
use super::cluster_scoped::{self, ClusterScoped};
use super::family::{Family, Kin, alive, is_of_kind};
use super::kept;
use super::listing::{Listing, Scope};
use super::queue::Queue;
use super::watch;
use crate::kinds::Served;
use crate::kinds::children::{ChildVisitor, controller, labelled_owner};
use crate::kinds::order::{Child, ChildKind, ChildRef};
use crate::kinds::rendered::INSTANCE;
use futures::future::BoxFuture;
use futures::{FutureExt, Stream};
use k8s_openapi::api::core::v1::Pod;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{self, Event};
use kube::{Client, Resource, ResourceExt};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// On everything that we own.
const OURS: &str = "app.kubernetes.io/managed-by=pointsman";
/// On everything else.
const NOT_OURS: &str = "app.kubernetes.io/managed-by!=pointsman";

/// Every cache of one kind.
pub struct Caches<K: Served> {
    /// The objects themselves.
    pub objects: Arc<Cache<K::Object>>,
    /// What stands in no namespace.
    pub cluster_scoped: ClusterScoped,
    families: BTreeMap<ChildKind, Arc<dyn Kin>>,
    pods: Arc<Cache<Pod>>,
    listing: Listing,
}

/// A watch that feeds a cache until it is dropped.
pub type Watch = BoxFuture<'static, ()>;

impl<K: Served> Caches<K> {
    /// Empty caches, and the watches that will fill them once they are run; `gone` is told each object that is there no more.
    pub fn new(
        client: Client,
        namespaces: &[String],
        queue: &Arc<Queue>,
        gone: impl Fn(&K::Object) + Clone + Send + Sync + 'static,
    ) -> (Self, Vec<Watch>) {
        let scopes = match namespaces {
            [] => vec![Scope::Cluster],
            // Each once: two watches over one namespace would wait for each other for ever.
            some => BTreeSet::from_iter(some).into_iter().cloned().map(Scope::Namespace).collect(),
        };
        let objects = Arc::new(Cache::grouped(&scopes, |object: &K::Object| object.meta().uid.as_ref()));
        let mut kinds = Count(0);
        K::child_types(&mut kinds);
        // Objects and pods; of each type of children ours, and those of others.
        let listing = Listing::of(&scopes, 2 + 2 * kinds.0, cluster_scoped::read_by::<K>().len());
        let mut plan = Plan::<K> { client, scopes, objects, queue: queue.clone(), listing, families: BTreeMap::new(), watches: Vec::new() };
        plan.watch_objects(gone);
        let pods = plan.watch_pods();
        K::child_types(&mut plan);
        let cluster_scoped = ClusterScoped::watched::<K>(&plan.client, &plan.objects, queue, &plan.listing, &mut plan.watches);
        (Caches { objects: plan.objects, cluster_scoped, families: plan.families, pods, listing: plan.listing }, plan.watches)
    }

    /// Returns when every watch has listed everything once, but where nobody may list.
    pub async fn synced(&self) {
        self.listing.synced().await;
    }

    /// Has everything been listed that stands in this namespace?
    pub fn cover(&self, namespace: &str) -> bool {
        self.listing.covers(namespace)
    }

    /// Why nothing can be listed in this namespace, in the API server's words.
    pub fn refusal(&self, namespace: &str) -> Option<String> {
        self.listing.refusal(namespace)
    }

    /// The caches of one type of children.
    ///
    /// # Panics
    /// When the kind does not declare the type.
    pub fn family<T: Child>(&self) -> &Family<T> {
        let kin = self.families.get(&T::KIND).map(|kin| -> &dyn Any { kin.as_ref() });
        // `Served::children` asks for the types of `Served::child_types`, and `Plan::child` made a family of each.
        kin.and_then(|kin| kin.downcast_ref()).expect("a kind looks only for children of the types that it declares")
    }

    /// The children of one type that carry the uid of an object in a label.
    ///
    /// # Panics
    /// When the kind does not declare the type.
    pub fn labelled<T: Child>(&self, namespace: &str, uid: &str) -> Vec<Arc<T>> {
        self.family::<T>().ours.members(namespace, uid)
    }

    /// The pods that name the object at `key` in a label.
    pub fn pods_of(&self, key: &Key) -> Vec<Arc<Pod>> {
        self.pods.members(&key.namespace, &key.name)
    }

    /// The newest resourceVersion that has arrived of children of `kind` in `namespace`.
    pub fn newest(&self, kind: ChildKind, namespace: &str) -> u64 {
        match self.families.get(&kind) {
            Some(family) => family.newest(namespace),
            None if kind == ChildKind::Pod => self.pods.newest(namespace),
            // What is not watched, and was written, is read again by the next look.
            None => u64::MAX,
        }
    }

    /// The uid and version of a child of ours, unless it is being deleted.
    pub fn alive(&self, child: &ChildRef, namespace: &str) -> Option<(String, u64)> {
        let key = Key { namespace: namespace.to_owned(), name: child.name.clone() };
        match self.families.get(&child.kind) {
            Some(family) => family.alive(&key),
            None if child.kind != ChildKind::Pod => None,
            None => alive(self.pods.get(&key)?.as_ref()),
        }
    }
}

/// The objects that may want a child of this name.
fn wanted_by<K: Served>(child: &impl Resource) -> impl Iterator<Item = Key> {
    let Key { namespace, name } = Key::of(child);
    K::wanted_by(&name).into_iter().map(move |name| Key { namespace: namespace.clone(), name })
}

/// How many types of children a kind has.
struct Count(usize);

impl ChildVisitor for Count {
    fn child<T: Child>(&mut self) {
        self.0 += 1;
    }
}

/// Caches and watches in the making.
struct Plan<K: Served> {
    client: Client,
    scopes: Vec<Scope>,
    objects: Arc<Cache<K::Object>>,
    queue: Arc<Queue>,
    listing: Listing,
    families: BTreeMap<ChildKind, Arc<dyn Kin>>,
    watches: Vec<Watch>,
}

impl<K: Served> Plan<K> {
    fn watch_objects(&mut self, gone: impl Fn(&K::Object) + Clone + Send + Sync + 'static) {
        let (client, queue) = (self.client.clone(), self.queue.clone());
        let tell = move |object: &K::Object, change| match change {
            Change::Stands => queue.add(Key::of(object)),
            Change::Gone => {
                gone(object);
                queue.remove(&Key::of(object));
            }
        };
        self.watch(&self.objects.clone(), move |scope| watch::objects::<K>(&client, scope), kept::object, tell);
    }

    fn watch_pods(&mut self) -> Arc<Cache<Pod>> {
        let pods = Arc::new(Cache::grouped(&self.scopes, |pod: &Pod| pod.labels().get(INSTANCE)));
        let asks = self.asks();
        let tell = move |pod: &Pod, _| {
            if let Some(name) = pod.labels().get(INSTANCE) {
                asks(Key { name: name.clone(), ..Key::of(pod) });
            }
        };
        let client = self.client.clone();
        self.watch(&pods, move |scope| watch::events(&client, scope, OURS), kept::pod, tell);
        pods
    }

    /// Asks for a look at an object, if there is one at the key.
    fn asks(&self) -> impl Fn(Key) + Clone + Send + Sync + use<K> {
        let (objects, queue) = (self.objects.clone(), self.queue.clone());
        move |key| {
            if objects.get(&key).is_some() {
                queue.add(key);
            }
        }
    }

    /// Asks for a look at every object of a namespace, where this is what all of them share.
    fn everybody<T: Resource>(&self) -> impl Fn(&T) + Clone + Send + Sync + use<K, T> {
        let (objects, queue) = (self.objects.clone(), self.queue.clone());
        move |shared| {
            let meta = shared.meta();
            if K::shared().is_some() && meta.name.as_deref() == K::shared() {
                let objects = objects.all();
                objects
                    .iter()
                    .filter(|object| object.meta().namespace == meta.namespace)
                    .for_each(|object| queue.add(Key::of(object.as_ref())));
            }
        }
    }

    fn watch<T: watch::Watched, S: Stream<Item = watcher::Result<Event<T>>> + Send + 'static>(
        &mut self,
        cache: &Arc<Cache<T>>,
        events: impl Fn(&Scope) -> S + Clone + Send + 'static,
        strip: fn(&mut T),
        tell: impl Fn(&T, Change) + Clone + Send + Sync + 'static,
    ) {
        for scope in &self.scopes {
            let feed = watch::feed(cache.clone(), scope.clone(), events.clone(), strip, tell.clone(), self.listing.clone());
            self.watches.push(feed.boxed());
        }
    }
}

impl<K: Served> ChildVisitor for Plan<K> {
    fn child<T: Child>(&mut self) {
        let family = Family::<T>::new(&self.scopes);
        let client = self.client.clone();
        let asks = self.asks();
        let (objects, queue, everybody) = (self.objects.clone(), self.queue.clone(), self.everybody::<T>());
        let tell = move |child: &T, _| {
            if let Some(owner) = controller(child).filter(|owner| is_of_kind::<K>(owner)) {
                asks(Key { name: owner.name.clone(), ..Key::of(child) });
            }
            if let (Some(uid), Some(namespace)) = (labelled_owner(child), &child.meta().namespace) {
                objects.members(namespace, uid).iter().for_each(|owner| queue.add(Key::of(owner.as_ref())));
            }
            everybody(child);
            // It may stand under another object's child's name, or free it.
            wanted_by::<K>(child).for_each(&asks);
        };
        let (ours, others) = (client.clone(), client);
        self.watch(&family.ours, move |scope| watch::events(&ours, scope, OURS), kept::child, tell);
        let (asks, everybody) = (self.asks(), self.everybody::<PartialObjectMeta<T>>());
        let tell = move |stranger: &PartialObjectMeta<T>, _| {
            everybody(stranger);
            wanted_by::<K>(stranger).for_each(&asks);
        };
        self.watch(&family.strangers, move |scope| watch::events(&others, scope, NOT_OURS), kept::stranger, tell);
        self.families.insert(T::KIND, Arc::new(family));
    }
}
