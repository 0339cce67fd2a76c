//! What a destructive order is decided on: the pods and the precious children, read from the API server itself.

use super::calls::{Unanswered, fetch};
use super::kept;
use crate::kinds::Served;
use crate::kinds::children::ChildVisitor;
use crate::kinds::order::{Child, ChildKind};
use crate::kinds::rendered::OWNER_UID;
use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::core::{ObjectList, Request};
use kube::{Client, ResourceExt};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Relatives of one object as the API server itself has them.
pub struct Live {
    /// Its pods.
    pub pods: Vec<Arc<Pod>>,
    /// The children that hold what cannot be made again.
    precious: BTreeMap<ChildKind, Precious>,
}

type Precious = Box<dyn Any + Send + Sync>;

impl Live {
    /// Reads those of `object`: its precious children are found by its uid in their label.
    ///
    /// # Errors
    /// When the API server does not say.
    pub async fn of<K: Served>(client: &Client, object: &K::Object) -> Result<Self, Unanswered> {
        let namespace = object.namespace().unwrap_or_default();
        let labels: Vec<String> = K::pod_labels(object).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        let pods = listed::<Pod>(client, &namespace, &labels.join(",")).await?;
        let uid = format!("{OWNER_UID}={}", object.uid().unwrap_or_default());
        let mut lists = Lists { client, namespace: &namespace, labels: &uid, calls: Vec::new() };
        K::child_types(&mut lists);
        let mut precious = BTreeMap::new();
        for (kind, call) in lists.calls {
            precious.insert(kind, call.await?);
        }
        Ok(Live { pods, precious })
    }

    /// The precious children of a type; nothing where the type is not precious, so that none were read.
    pub fn children<T: Child>(&self) -> Option<&[Arc<T>]> {
        self.precious.get(&T::KIND)?.downcast_ref::<Vec<Arc<T>>>().map(Vec::as_slice)
    }
}

/// The calls for precious children, in the making.
struct Lists<'a> {
    client: &'a Client,
    namespace: &'a str,
    labels: &'a str,
    calls: Vec<(ChildKind, BoxFuture<'a, Result<Precious, Unanswered>>)>,
}

impl ChildVisitor for Lists<'_> {
    fn child<T: Child>(&mut self) {}

    fn precious<T: Child>(&mut self) {
        let (client, namespace, labels) = (self.client, self.namespace, self.labels);
        let call = async move {
            let mut found = listed::<T>(client, namespace, labels).await?;
            found.iter_mut().map(Arc::make_mut).for_each(kept::bookkeeping);
            Ok(Box::new(found) as Precious)
        };
        self.calls.push((T::KIND, call.boxed()));
    }
}

/// All of a type with these labels.
pub(super) async fn listed<T: Child>(client: &Client, namespace: &str, labels: &str) -> Result<Vec<Arc<T>>, Unanswered> {
    let things = Request::new(T::url_path(&(), Some(namespace)));
    let found: Option<ObjectList<T>> = fetch(client, things.list(&ListParams::default().labels(labels))).await?;
    Ok(found.map(|found| found.items).unwrap_or_default().into_iter().map(Arc::new).collect())
}
