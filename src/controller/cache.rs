//! One cache: what its watches said last, in which group each object is, and how far they have come.

use super::listing::Scope;
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::watcher::Event;
use kube::{Resource, ResourceExt};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// An object's namespace and name; the namespace is empty where it stands in none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Key {
    /// Where an object stands.
    pub fn of(object: &impl Resource) -> Self {
        Key { namespace: object.namespace().unwrap_or_default(), name: object.name_any() }
    }
}

/// What a watch event did to one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is there, new or changed.
    Stands,
    /// It is there no more.
    Gone,
}

/// How far one watch has come.
#[derive(Debug, Default)]
struct Progress {
    /// Has it listed everything once?
    synced: bool,
    /// The newest resourceVersion that is in the cache.
    newest: u64,
    /// While it lists: what it has listed so far, and the newest version among it.
    listed: HashSet<Key>,
    listed_newest: u64,
}

/// What the watches of one type said last.
///
/// Unlike a plain reflector it may be fed by several watches, one a namespace; a list that lacks
/// an object which the cache holds tells that object's end; and it knows its newest
/// resourceVersion, so that a reader can tell whether a write of its own has arrived.
pub struct Cache<T: Resource<DynamicType = ()> + Clone + 'static> {
    store: Store<T>,
    writer: Mutex<Writer<T>>,
    progress: Mutex<BTreeMap<Scope, Progress>>,
    groups: RwLock<HashMap<Key, BTreeSet<String>>>,
    group: fn(&T) -> Option<&String>,
}

impl<T: Resource<DynamicType = ()> + Clone + 'static> Cache<T> {
    /// An empty cache, to be fed by one watch for each scope.
    pub fn new(scopes: &[Scope]) -> Self {
        Cache::grouped(scopes, |_| None)
    }

    /// An empty cache whose objects can also be found by namespace and group.
    pub fn grouped(scopes: &[Scope], group: fn(&T) -> Option<&String>) -> Self {
        let mut writer = Writer::new(());
        // The store's own readiness knows one watch only; it is opened here and `synced` counts.
        writer.apply_watcher_event(&Event::Init);
        writer.apply_watcher_event(&Event::InitDone);
        let progress = scopes.iter().map(|scope| (scope.clone(), Progress::default())).collect();
        Cache { store: writer.as_reader(), writer: Mutex::new(writer), progress: Mutex::new(progress), groups: RwLock::default(), group }
    }

    /// The store behind it, as kube's runtime wants it.
    pub fn store(&self) -> Store<T> {
        self.store.clone()
    }

    /// The object that stands at `key`.
    pub fn get(&self, key: &Key) -> Option<Arc<T>> {
        let named = ObjectRef::new(&key.name);
        self.store.get(&if key.namespace.is_empty() { named } else { named.within(&key.namespace) })
    }

    /// Every object.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.store.state()
    }

    /// The objects of one group in one namespace.
    pub fn members(&self, namespace: &str, group: &str) -> Vec<Arc<T>> {
        let place = Key { namespace: namespace.to_owned(), name: group.to_owned() };
        let groups = self.groups.read().unwrap_or_else(PoisonError::into_inner);
        let names = groups.get(&place).into_iter().flatten();
        names.filter_map(|name| self.get(&Key { namespace: namespace.to_owned(), name: name.clone() })).collect()
    }

    /// Every namespace with a group in it: its name is the group's.
    pub fn groups(&self) -> Vec<Key> {
        self.groups.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Has every watch listed everything once?
    pub fn synced(&self) -> bool {
        self.progress().values().all(|progress| progress.synced)
    }

    /// The newest resourceVersion that has arrived from `namespace`. One watch tells the changes of its type in the order of
    /// their versions, so everything up to this one is in the cache.
    pub fn newest(&self, namespace: &str) -> u64 {
        let progress = self.progress();
        progress.iter().find(|(scope, _)| scope.covers(namespace)).map_or(0, |(_, progress)| progress.newest)
    }

    /// Takes in one event of the watch over `scope` and tells every change; true when the watch
    /// has listed everything for the first time.
    pub fn take(&self, scope: &Scope, event: Event<T>, tell: &dyn Fn(&T, Change)) -> bool {
        match event {
            Event::Init => self.advance(scope, |progress| {
                progress.listed.clear();
                progress.listed_newest = 0;
            }),
            Event::InitApply(object) => {
                let (key, version) = (Key::of(&object), version(&object));
                self.put(object, tell);
                self.advance(scope, |progress| {
                    progress.listed.insert(key);
                    progress.listed_newest = progress.listed_newest.max(version);
                });
            }
            Event::InitDone => return self.listed(scope, tell),
            Event::Apply(object) => {
                let version = version(&object);
                self.put(object, tell);
                self.advance(scope, |progress| progress.newest = progress.newest.max(version));
            }
            Event::Delete(object) => {
                let version = version(&object);
                self.remove(object, tell);
                self.advance(scope, |progress| progress.newest = progress.newest.max(version));
            }
        }
        false
    }

    /// A list is complete: what it lacks is gone, although no event said so.
    fn listed(&self, scope: &Scope, tell: &dyn Fn(&T, Change)) -> bool {
        let listed = self.progress().get_mut(scope).map(|progress| std::mem::take(&mut progress.listed)).unwrap_or_default();
        for object in self.all() {
            let key = Key::of(object.as_ref());
            if scope.covers(&key.namespace) && !listed.contains(&key) {
                self.remove(object.as_ref().clone(), tell);
            }
        }
        let mut first = false;
        self.advance(scope, |progress| {
            first = !std::mem::replace(&mut progress.synced, true);
            // An API server that was restored to an older moment counts on from there.
            progress.newest = progress.listed_newest;
        });
        first
    }

    fn put(&self, object: T, tell: &dyn Fn(&T, Change)) {
        let before = self.get(&Key::of(&object));
        let change = before.as_ref().and_then(|before| {
            let left = (self.group)(before) != (self.group)(&object) || before.owner_references() != object.owner_references();
            // Another uid is another object, and nobody may have said that the one before has gone.
            if before.uid() == object.uid() { left.then_some(Change::Stands) } else { Some(Change::Gone) }
        });
        self.regroup(&object, (self.group)(&object));
        let event = Event::Apply(object);
        self.writer().apply_watcher_event(&event);
        if let (Some(before), Some(change)) = (before, change) {
            tell(&before, change);
        }
        if let Event::Apply(object) = &event {
            tell(object, Change::Stands);
        }
    }

    fn remove(&self, object: T, tell: &dyn Fn(&T, Change)) {
        self.regroup(&object, None);
        let event = Event::Delete(object);
        self.writer().apply_watcher_event(&event);
        if let Event::Delete(object) = &event {
            tell(object, Change::Gone);
        }
    }

    /// Files the object under its new group, and under no other.
    fn regroup(&self, object: &T, group: Option<&String>) {
        let key = Key::of(object);
        let before = self.get(&key);
        let before = before.as_ref().and_then(|before| (self.group)(before.as_ref()));
        if before.is_none() && group.is_none() {
            return;
        }
        let place = |group: &String| Key { namespace: key.namespace.clone(), name: group.clone() };
        let mut groups = self.groups.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = before.filter(|before| Some(*before) != group).map(place)
            && let Some(names) = groups.get_mut(&before)
        {
            names.remove(&key.name);
            if names.is_empty() {
                groups.remove(&before);
            }
        }
        if let Some(group) = group {
            groups.entry(place(group)).or_default().insert(key.name.clone());
        }
    }

    fn advance(&self, scope: &Scope, change: impl FnOnce(&mut Progress)) {
        if let Some(progress) = self.progress().get_mut(scope) {
            change(progress);
        }
    }

    // Each of these locks guards whole assignments only, so what a panic leaves behind is sound.
    fn progress(&self) -> MutexGuard<'_, BTreeMap<Scope, Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn writer(&self) -> MutexGuard<'_, Writer<T>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An object's resourceVersion as a number.
pub fn version(object: &impl Resource) -> u64 {
    version_in(object.meta())
}

/// The same out of metadata alone; 0, which is older than every other, where it has none.
pub fn version_in(meta: &kube::core::ObjectMeta) -> u64 {
    meta.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or_default()
}
