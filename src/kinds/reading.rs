//! What a look needs besides the object and its children: Secrets, and what is the cluster's.
//!
//! A kind declares it in `Served::READINGS`; from that alone the controller knows it before the children are looked at, and the
//! rights for it are printed. What is the cluster's is watched. A Secret is read by its name, since who may list Secrets may
//! read every one. A look whose reading fails is tried again: nothing is decided on an absence that was not seen.

use super::Served;
use super::order::ChildKind;
use k8s_openapi::api::{core, storage};
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// What a reading said.
#[derive(Clone)]
pub enum Reading<T> {
    /// It is there.
    Found(Arc<T>),
    /// It was read, and is not there.
    Absent,
    /// The kind did not declare it for this object, so nobody knows.
    Unread,
}

impl<T> Reading<T> {
    /// It, if it is there.
    pub fn found(&self) -> Option<&T> {
        match self {
            Reading::Found(found) => Some(found),
            Reading::Absent | Reading::Unread => None,
        }
    }
}

impl<T> fmt::Debug for Reading<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Reading::Found(_) => "Found(not shown)",
            Reading::Absent => "Absent",
            Reading::Unread => "Unread",
        })
    }
}

/// A type that a look can need.
pub trait Readable: Resource<DynamicType = ()> + DeserializeOwned + Clone + Send + Sync + 'static {
    /// Which kind it is.
    const KIND: ReadKind;
}

/// Every kind of object that a look can need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadKind {
    /// A namespace; the object's own is all that can be named.
    Namespace,
    /// A secret in the object's namespace.
    Secret,
    /// How the cluster makes volumes.
    StorageClass,
}

impl Readable for core::v1::Namespace {
    const KIND: ReadKind = ReadKind::Namespace;
}
impl Readable for core::v1::Secret {
    const KIND: ReadKind = ReadKind::Secret;
}
impl Readable for storage::v1::StorageClass {
    const KIND: ReadKind = ReadKind::StorageClass;
}

impl ReadKind {
    /// The API group, empty for the core group.
    pub fn group(self) -> &'static str {
        match self {
            ReadKind::Namespace | ReadKind::Secret => "",
            ReadKind::StorageClass => "storage.k8s.io",
        }
    }
    /// The resource's name in rules.
    pub fn plural(self) -> &'static str {
        match self {
            ReadKind::Namespace => "namespaces",
            ReadKind::Secret => "secrets",
            ReadKind::StorageClass => "storageclasses",
        }
    }
    /// Does it stand in no namespace? Then it is watched, and the right to it is granted for the whole cluster: what is granted
    /// inside of a namespace goes with it, and that it goes is to be seen then.
    pub fn is_the_clusters(self) -> bool {
        matches!(self, ReadKind::StorageClass | ReadKind::Namespace)
    }
    /// The kind that is read, where children of this kind are.
    fn of(child: ChildKind) -> Option<Self> {
        child.is_secret().then_some(ReadKind::Secret)
    }
}

/// What the looks at a kind of object need.
#[derive(Clone, Copy, Debug)]
pub struct Source<O: 'static> {
    /// Which kind of thing.
    pub kind: ReadKind,
    /// Which ones.
    pub which: Which<O>,
    /// Are they made, changed and removed too?
    pub written: bool,
}

/// Which things of a kind are read.
#[derive(Clone, Copy, Debug)]
pub enum Which<O: 'static> {
    /// Those of these names.
    Named(fn(&O) -> Vec<String>),
    /// Every one.
    All,
}

impl<O> Source<O> {
    /// Things that are read by their names.
    pub const fn named(kind: ReadKind, names: fn(&O) -> Vec<String>) -> Self {
        Source { kind, which: Which::Named(names), written: false }
    }
    /// All things of a kind of which a cluster has a few.
    pub const fn all(kind: ReadKind) -> Self {
        Source { kind, which: Which::All, written: false }
    }
    /// The same, where they are children: made, changed and removed.
    #[must_use]
    pub const fn written(self) -> Self {
        Source { written: true, ..self }
    }
    /// What must be allowed for it.
    pub fn verbs(&self) -> Vec<&'static str> {
        // One by its name is also read where something is decided on a live read.
        let named = matches!(self.which, Which::Named(_)).then_some("get");
        let watched: &[&str] = if self.kind.is_the_clusters() { &["list", "watch"] } else { &[] };
        let written: &[&str] = if self.written { &["create", "patch", "delete"] } else { &[] };
        named.into_iter().chain(watched.iter().chain(written).copied()).collect()
    }
}

/// One thing by its name, or all of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// Which kind of thing.
    pub kind: ReadKind,
    /// Its name; nothing for all of them.
    pub name: Option<String>,
}

/// All that a look at `object` needs.
pub fn wanted<K: Served>(object: &K::Object) -> BTreeSet<Wanted> {
    let names = |source: &Source<K::Object>| match source.which {
        Which::Named(names) => names(object).into_iter().map(Some).collect(),
        Which::All => vec![None],
    };
    K::READINGS.iter().flat_map(|source| names(source).into_iter().map(|name| Wanted { kind: source.kind, name })).collect()
}

/// What was read of one thing, or of all of a kind; what holds secrets is never shown.
type Found = Option<Arc<dyn Any + Send + Sync>>;

/// All that was read for one look.
#[derive(Clone, Default)]
pub struct Readings(BTreeMap<Wanted, Found>);

impl Readings {
    /// Takes in one thing, if it is there.
    pub fn took<T: Readable>(&mut self, name: String, found: Option<Arc<T>>) {
        let found: Found = found.map(|found| -> Arc<dyn Any + Send + Sync> { found });
        self.0.insert(Wanted { kind: T::KIND, name: Some(name) }, found);
    }

    /// Takes in all things of a kind.
    pub fn took_all<T: Readable>(&mut self, found: Vec<Arc<T>>) {
        self.0.insert(Wanted { kind: T::KIND, name: None }, Some(Arc::new(found)));
    }

    /// Takes in what was read before.
    pub fn took_again(&mut self, before: &Readings) {
        self.0.extend(before.0.iter().map(|(wanted, found)| (wanted.clone(), found.clone())));
    }

    /// Was nothing read?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Is this all that a look at `object` needs?
    pub fn serve<K: Served>(&self, object: &K::Object) -> bool {
        wanted::<K>(object).iter().all(|wanted| self.0.contains_key(wanted))
    }

    /// One thing by its name.
    pub fn one<T: Readable>(&self, name: &str) -> Reading<T> {
        if let Reading::Found(all) = self.all::<T>() {
            return all.iter().find(|one| one.name_any() == name).map_or(Reading::Absent, |one| Reading::Found(one.clone()));
        }
        self.read(&Wanted { kind: T::KIND, name: Some(name.to_owned()) })
    }

    /// All things of a kind.
    pub fn all<T: Readable>(&self) -> Reading<Vec<Arc<T>>> {
        self.read(&Wanted { kind: T::KIND, name: None })
    }

    /// A child that is read, and never watched.
    pub fn child<T: super::order::Child>(&self, name: &str) -> Reading<T> {
        match ReadKind::of(T::KIND) {
            Some(kind) => self.read(&Wanted { kind, name: Some(name.to_owned()) }),
            None => Reading::Unread,
        }
    }

    fn read<T: Send + Sync + 'static>(&self, wanted: &Wanted) -> Reading<T> {
        match self.0.get(wanted) {
            None => Reading::Unread,
            Some(None) => Reading::Absent,
            Some(Some(found)) => found.clone().downcast().map_or(Reading::Unread, Reading::Found),
        }
    }
}

impl fmt::Debug for Readings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = self.0.iter().map(|(wanted, found)| (wanted, if found.is_some() { "found" } else { "absent" }));
        out.debug_map().entries(there).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Secret;
    use k8s_openapi::api::storage::v1::StorageClass;
    use serde_json::{from_value, json};

    fn secret() -> Secret {
        from_value(json!({ "metadata": { "name": "shop-app" }, "data": { "password": "aHVudGVyMg==" } })).expect("a secret")
    }

    #[test]
    fn what_was_not_read_is_not_absent() {
        let mut read = Readings::default();
        assert!(matches!(read.one::<Secret>("shop-app"), Reading::Unread));
        read.took::<Secret>("shop-app".to_owned(), None);
        assert!(matches!(read.one::<Secret>("shop-app"), Reading::Absent));
        assert!(matches!(read.one::<Secret>("shop-internal"), Reading::Unread));
        read.took("shop-app".to_owned(), Some(Arc::new(secret())));
        assert_eq!(read.one::<Secret>("shop-app").found(), Some(&secret()));
        assert_eq!(read.child::<Secret>("shop-app").found(), Some(&secret()));
    }

    #[test]
    fn who_was_not_in_a_full_list_is_absent() {
        let mut read = Readings::default();
        let fast: StorageClass = from_value(json!({ "metadata": { "name": "fast" }, "provisioner": "p" })).expect("a class");
        read.took_all(vec![Arc::new(fast)]);
        assert_eq!(read.one::<StorageClass>("fast").found().map(|class| class.provisioner.as_str()), Some("p"));
        assert!(matches!(read.one::<StorageClass>("slow"), Reading::Absent));
    }

    #[test]
    fn what_was_read_is_not_shown() {
        let mut read = Readings::default();
        read.took("shop-app".to_owned(), Some(Arc::new(secret())));
        let shown = format!("{read:?} {:?}", read.one::<Secret>("shop-app"));
        for value in ["hunter2", "aHVudGVyMg", "104, 117"] {
            assert!(!shown.contains(value), "{shown}");
        }
        assert!(shown.contains("shop-app"));
    }

    #[test]
    fn rights_follow_from_what_is_read() {
        assert_eq!(Source::<()>::all(ReadKind::StorageClass).verbs(), ["list", "watch"]);
        assert_eq!(Source::<()>::named(ReadKind::Namespace, |()| Vec::new()).verbs(), ["get", "list", "watch"]);
        let secrets = Source::<()>::named(ReadKind::Secret, |()| vec!["shop-app".to_owned()]);
        assert_eq!(secrets.verbs(), ["get"]);
        assert_eq!(secrets.written().verbs(), ["get", "create", "patch", "delete"]);
    }
}
