//! One installation per cluster: a second would fight over every object. The older one runs.
//!
//! Anybody who may make a Deployment can call it what ours is called. An installation is one whose `ServiceAccount` has rights
//! that only an administrator of the cluster gives.

use super::access::Access;
use super::calls::bounded;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::authentication::v1::UserInfo;
use k8s_openapi::api::authorization::v1::ResourceAttributes;
use kube::api::{Api, ListParams};
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
pub async fn alone(client: &Client, access: &Access, namespace: &str) -> Result<(), NotAlone> {
    let mut wait = WAITS.0;
    loop {
        match first(client, access, namespace).await {
            Ok(None) => return Ok(()),
            Ok(Some(other)) => {
                return Err(NotAlone {
                    name: other.name_any(),
                    namespace: other.namespace().unwrap_or_default(),
                    ours: namespace.to_owned(),
                });
            }
            Err(fault) => tracing::warn!(fault, ?wait, "cannot look for another installation; it is tried again"),
        }
        tokio::time::sleep(wait).await;
        wait = WAITS.1.min(wait * 2);
    }
}

/// The installation that was here before this one.
async fn first(client: &Client, access: &Access, namespace: &str) -> Result<Option<Deployment>, String> {
    let deployments: Api<Deployment> = Api::all(client.clone());
    let named = ListParams::default().labels("app.kubernetes.io/name=pointsman");
    let found = bounded(deployments.list(&named)).await.map_err(|fault| fault.to_string())?;
    for other in earlier(found.items, namespace) {
        if access.clone().may(account(&other), keeps_a_bundle()).await? {
            return Ok(Some(other));
        }
        let (name, namespace) = (other.name_any(), other.namespace().unwrap_or_default());
        tracing::warn!(name, namespace, "a Deployment is labelled as this operator and has none of its rights: it is not taken for one");
    }
    Ok(None)
}

/// Those that were made before ours. Outside the cluster there is none of ours, and anybody else was first.
fn earlier(found: Vec<Deployment>, namespace: &str) -> Vec<Deployment> {
    let rank = |one: &Deployment| (one.creation_timestamp(), one.namespace());
    let (ours, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| one.namespace().as_deref() == Some(namespace));
    let first = ours.iter().map(rank).min();
    others.into_iter().filter(|other| first.as_ref().is_none_or(|first| rank(other) < *first)).collect()
}

/// As whom the pods of a Deployment speak.
fn account(deployment: &Deployment) -> UserInfo {
    let namespace = deployment.namespace().unwrap_or_default();
    let pods = deployment.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
    let name = pods.and_then(|pods| pods.service_account_name.as_deref()).unwrap_or("default");
    let groups = ["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}"), "system:authenticated".to_owned()];
    UserInfo { username: Some(format!("system:serviceaccount:{namespace}:{name}")), groups: Some(groups.into()), ..UserInfo::default() }
}

/// What each installation may do, and no tenant: write its bundle into the webhooks' configuration.
fn keeps_a_bundle() -> ResourceAttributes {
    ResourceAttributes {
        verb: Some("patch".to_owned()),
        group: Some("admissionregistration.k8s.io".to_owned()),
        resource: Some("validatingwebhookconfigurations".to_owned()),
        name: Some("pointsman".to_owned()),
        ..ResourceAttributes::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn deployment(namespace: &str, made: &str) -> Deployment {
        let metadata = json!({ "name": "pointsman", "namespace": namespace, "creationTimestamp": made });
        let spec = json!({ "selector": {}, "template": { "spec": { "containers": [], "serviceAccountName": "pointsman" } } });
        serde_json::from_value(json!({ "metadata": metadata, "spec": spec })).expect("a Deployment")
    }

    #[test]
    fn who_was_made_before_ours_is_looked_at() {
        let (old, new) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
        let found = || vec![deployment("b", old), deployment("ours", new), deployment("c", "2026-01-03T00:00:00Z"), deployment("a", new)];
        let names = |namespace: &str| earlier(found(), namespace).iter().filter_map(ResourceExt::namespace).collect::<Vec<_>>();
        assert_eq!(names("ours"), ["b", "a"]);
        assert_eq!(names("elsewhere"), ["b", "ours", "c", "a"]);
    }

    #[test]
    fn its_pods_speak_as_their_service_account() {
        assert_eq!(account(&deployment("b", "2026-01-01T00:00:00Z")).username.as_deref(), Some("system:serviceaccount:b:pointsman"));
    }
}
