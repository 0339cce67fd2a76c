//! Objects whose finalizer a hand took off, and that are gone: what served of theirs is removed, once the API server itself
//! says that they are. What holds data or passwords stays, and is told of. What was copied or restored stays too: this operator
//! did not write it.
//!
//! Where children have an owner reference the garbage collector does this; those that outlive `--cascade=foreground` have none.

use super::bereft::is_ending;
use super::caches::Caches;
use super::calls::{Unanswered, fetch};
use super::events;
use super::first::standing;
use super::perform::{Owner, collection, perform};
use super::site::Site;
use crate::kinds::Served;
use crate::kinds::apply::removal;
use crate::kinds::children::{ChildVisitor, controller, is_written_by};
use crate::kinds::order::{Child, Order};
use crate::kinds::prose::listed;
use crate::kinds::rendered::{INSTANCE, MANAGER};
use kube::api::ListParams;
use kube::core::{ObjectList, PartialObjectMeta, Request};
use kube::{Client, Resource, ResourceExt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked for them; only what was found twice is removed.
const EVERY: Duration = Duration::from_secs(30);

/// Looks for them for as long as it is polled; a kind whose children all have owner references needs none of it.
pub async fn sweeping<K: Served>(site: Arc<Site<K>>) {
    if K::FINALIZER.is_none() {
        return std::future::pending().await;
    }
    let (mut before, mut others) = (BTreeSet::new(), BTreeMap::new());
    loop {
        let mut left = Left { caches: &site.caches, found: BTreeMap::new() };
        K::child_types(&mut left);
        left.found.retain(|_, rest| !rest.serving.is_empty());
        let twice = std::mem::replace(&mut before, left.found.keys().cloned().collect());
        // What others wrote is looked at again when there is more or less of it.
        others.retain(|gone, _| left.found.contains_key(gone));
        for (gone, rest) in left.found.into_iter().filter(|(gone, _)| twice.contains(gone)) {
            let count = rest.serving.len();
            if others.get(&gone) == Some(&count) {
                continue;
            }
            match sweep(&site, &gone, rest).await {
                Ok(true) => {}
                Ok(false) => drop(others.insert(gone, count)),
                Err(error) => {
                    tracing::warn!(%error, uid = gone.uid, namespace = gone.namespace, "what is left of an object that is gone was not removed");
                }
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// An object that no cache holds any more.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Gone {
    namespace: String,
    uid: String,
}

/// What is left of it.
#[derive(Default)]
struct Rest {
    /// Its name.
    name: String,
    /// The removal of each child that serves.
    serving: Vec<Order>,
    /// The names of those that hold data.
    kept: Vec<String>,
}

/// Children that carry the uid of no object.
struct Left<'a, K: Served> {
    caches: &'a Caches<K>,
    found: BTreeMap<Gone, Rest>,
}

impl<K: Served> Left<'_, K> {
    fn each<T: Child>(&mut self, note: impl Fn(&mut Rest, &T)) {
        for group in self.caches.family::<T>().ours.groups() {
            let (namespace, uid) = (group.namespace, group.name);
            if !self.caches.objects.members(&namespace, &uid).is_empty() {
                continue;
            }
            let children = self.caches.labelled::<T>(&namespace, &uid);
            let rest = self.found.entry(Gone { namespace, uid }).or_default();
            for child in children.iter().filter(|child| controller(child.as_ref()).is_none()) {
                rest.name = child.labels().get(INSTANCE).cloned().unwrap_or_default();
                note(rest, child);
            }
        }
    }
}

impl<K: Served> ChildVisitor for Left<'_, K> {
    fn child<T: Child>(&mut self) {
        if T::KIND.serves() {
            self.each::<T>(|rest, child| {
                rest.serving.extend(removal(child).filter(|_| child.meta().deletion_timestamp.is_none()));
            });
        }
    }

    fn precious<T: Child>(&mut self) {
        self.each::<T>(|rest, child| rest.kept.push(format!("{} {}", T::KIND.name(), child.name_any())));
    }
}

/// Removes what this operator wrote; false where it wrote none of it.
async fn sweep<K: Served>(site: &Site<K>, gone: &Gone, rest: Rest) -> Result<bool, Unanswered> {
    let objects = Request::new(K::Object::url_path(&(), Some(&gone.namespace)));
    let standing = fetch::<ObjectList<PartialObjectMeta>>(&site.client, objects.list_metadata(&ListParams::default())).await?;
    // Where nothing is told of the kind, nothing is known.
    let stands = standing.is_none_or(|objects| objects.items.iter().any(|object| object.uid().as_ref() == Some(&gone.uid)));
    // With a namespace everything in it goes, and the finalizer was taken off by the operator itself.
    if stands || is_ending(&site.client, &gone.namespace).await?.unwrap_or(true) {
        return Ok(true);
    }
    let Rest { name, serving, kept } = rest;
    let owner = Owner::gone::<K>(&gone.namespace, &name, &gone.uid);
    let mut ours = Vec::new();
    for removal in serving {
        if is_written_here(&site.client, &gone.namespace, &removal).await? {
            ours.push(removal);
        }
    }
    let serving = ours;
    if serving.is_empty() {
        let Gone { namespace, uid } = gone;
        tracing::info!(uid, namespace, name, "what carries the labels of an object that is not here is left alone: others wrote it");
        return Ok(false);
    }
    let performed = perform(&site.client, &owner, &serving).await;
    let removed = listed(serving.iter().filter_map(Order::child).map(|child| format!("{} {}", child.kind.name(), child.name)));
    let kept = listed(kept.into_iter().chain(["Secrets and ConfigMaps".to_owned()]));
    events::tell_sweep::<K>(&site.client, &site.instance, &owner, &removed, &kept).await;
    performed.failure.map_or(Ok(true), Err)
}

/// Does the API server say that this operator wrote the child where it stands?
pub(super) async fn is_written_here(client: &Client, namespace: &str, removal: &Order) -> Result<bool, Unanswered> {
    let Some(child) = removal.child() else { return Ok(false) };
    let found = standing(client, &collection(child, namespace), child).await?;
    Ok(found.is_some_and(|found| is_written_by(&found.metadata, MANAGER)))
}
