//! One installation per cluster: a second would fight over every object. The older one runs.

use super::calls::bounded;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams};
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt};
use std::time::Duration;

/// The first wait for an API server that does not answer, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// Another installation was here first.
#[derive(Debug, thiserror::Error)]
#[error(
    "another installation runs in this cluster: the Deployment {name} in namespace {namespace}; this one, of namespace {ours}, does not start beside it"
)]
pub struct NotAlone {
    name: String,
    namespace: String,
    ours: String,
}

/// Makes sure that the installation in `namespace` is the only one, or the first. An API server that does not answer is
/// waited for: a process that ended instead would be started again ever later.
///
/// # Errors
/// Another was here first.
pub async fn alone(client: &Client, namespace: &str) -> Result<(), NotAlone> {
    let deployments: Api<Deployment> = Api::all(client.clone());
    let named = ListParams::default().labels("app.kubernetes.io/name=pointsman");
    let mut wait = WAITS.0;
    loop {
        match bounded(deployments.list_metadata(&named)).await {
            Ok(found) => return judge(&found.items, namespace),
            Err(fault) => tracing::warn!(%fault, ?wait, "cannot look for another installation; it is tried again"),
        }
        tokio::time::sleep(wait).await;
        wait = WAITS.1.min(wait * 2);
    }
}

fn judge(found: &[PartialObjectMeta<Deployment>], namespace: &str) -> Result<(), NotAlone> {
    let (ours, others): (Vec<_>, Vec<_>) = found.iter().partition(|one| one.namespace().as_deref() == Some(namespace));
    let rank = |one: &PartialObjectMeta<Deployment>| (one.creation_timestamp(), one.namespace());
    // Outside the cluster there is none of ours, and anybody else was first.
    let first = ours.iter().map(|ours| rank(ours)).min();
    match others.iter().find(|other| first.as_ref().is_none_or(|first| rank(other) < *first)) {
        Some(other) => {
            Err(NotAlone { name: other.name_any(), namespace: other.namespace().unwrap_or_default(), ours: namespace.to_owned() })
        }
        None => Ok(()),
    }
}
