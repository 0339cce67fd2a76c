//! An object whose namespace goes, and took the operator's rights in it along: the role binding stood there too. Nothing can be
//! read or recorded any more, and nothing is won by holding on.

use super::calls::{Unanswered, fetch};
use super::complaint::Complaint;
use super::pace::OUTDATED;
use super::perform::{Owner, perform};
use super::reconcile::Cause;
use super::site::Site;
use crate::kinds::Served;
use crate::kinds::finalizer;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::GetParams;
use kube::core::{PartialObjectMeta, Request};
use kube::{Client, Resource, ResourceExt};
use std::time::Duration;

/// Lets such an object go. Returns when to look again.
///
/// # Errors
/// `cause`, which is why a look did not end, where the object is none of those; and why it was not let go.
pub async fn let_go<K: Served>(site: &Site<K>, object: &K::Object, cause: Cause) -> Result<Duration, Cause> {
    let is_bereft = matches!(Complaint::of(&cause), Some(Complaint::RightMissing(_))) && object.meta().deletion_timestamp.is_some();
    let namespace = object.namespace().unwrap_or_default();
    let Some(release) = finalizer::release::<K>(object).filter(|_| is_bereft) else { return Err(cause) };
    if is_ending(&site.client, &namespace).await.map_err(Cause::Reading)? != Some(true) {
        return Err(cause);
    }
    let performed = perform(&site.client, &Owner::of::<K>(object, None), &[release]).await;
    if let Some(failure) = performed.failure {
        return Err(Cause::Perform(failure));
    }
    if performed.whole() {
        let (kind, name, uid) = (K::Object::kind(&()), object.name_any(), object.uid().unwrap_or_default());
        tracing::warn!(%kind, namespace, name, uid, "the namespace goes, and the operator's rights in it went first: let go without a last status");
    }
    Ok(OUTDATED)
}

/// Does the namespace go? Nothing where there is none.
///
/// # Errors
/// When the API server does not say.
pub async fn is_ending(client: &Client, namespace: &str) -> Result<Option<bool>, Unanswered> {
    let namespaces = Request::new(Namespace::url_path(&(), None));
    let read = fetch::<PartialObjectMeta>(client, namespaces.get_metadata(namespace, &GetParams::default())).await?;
    Ok(read.map(|namespace| namespace.metadata.deletion_timestamp.is_some()))
}
