//! What of an installation is in the cluster, and which objects of users.

use super::{Definition, Found, Object, Part, SHARED};
use crate::kinds::annotations::{PREFIX, PROTECTED, is_set};
use crate::kinds::rendered::MANAGED_BY;
use crate::packages::{monitoring, objects};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use kube::core::PartialObjectMeta;
use kube::error::DiscoveryError;
use kube::{Client, Error, Resource, ResourceExt, discovery};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// On everything that was installed.
const OURS: &str = "app.kubernetes.io/name=pointsman,app.kubernetes.io/part-of=pointsman";

/// What goes first: what could refuse the rest while nobody answers, then what acts.
const FIRST: [&str; 4] = ["ValidatingWebhookConfiguration", "ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "Deployment"];

/// Looks at everything that is labelled as an installation's, and at the objects of its definitions.
pub(super) async fn look(client: &Client) -> Result<Found, String> {
    let mut found = Found::default();
    for kind in types() {
        let Some(resource) = resource(client, &kind).await? else { continue };
        if kind.kind == "CustomResourceDefinition" {
            found.definitions = definitions(client, &resource).await?;
        } else {
            found.parts.extend(labelled(client, &resource).await?);
        }
    }
    for part in found.parts.iter_mut().filter(|part| part.resource.kind == "Namespace") {
        part.others = others(client, &part.name).await.map_err(|why| format!("Nothing was removed: {why}\n"))?;
    }
    Ok(found)
}

/// The types of the list, of what may have been added to it, and of what the operator makes that is no object's, in the
/// order in which they go.
fn types() -> Vec<GroupVersionKind> {
    let made = ["Secret", SHARED].map(|kind| json!({ "apiVersion": "v1", "kind": kind }));
    let mut types: Vec<GroupVersionKind> = Vec::new();
    for object in objects().iter().chain(&monitoring()).rev().chain(&made) {
        let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let (group, version) = version.split_once('/').unwrap_or(("", &version));
        let kind = GroupVersionKind::gvk(group, version, &kind);
        if !types.contains(&kind) {
            types.push(kind);
        }
    }
    types.sort_by_key(|kind| FIRST.iter().position(|first| kind.kind == *first).unwrap_or(FIRST.len()));
    types
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The type as this cluster serves it; nothing where it does not.
async fn resource(client: &Client, kind: &GroupVersionKind) -> Result<Option<ApiResource>, String> {
    match discovery::pinned_kind(client, kind).await {
        Ok((resource, _)) => Ok(Some(resource)),
        Err(Error::Discovery(DiscoveryError::MissingKind(_) | DiscoveryError::MissingApiGroup(_))) => Ok(None),
        Err(Error::Api(status)) if status.code == 404 => Ok(None),
        Err(fault) => Err(format!("Nothing was removed: cannot ask the cluster for {}: {fault}\n", kind.kind)),
    }
}

async fn labelled(client: &Client, resource: &ApiResource) -> Result<Vec<Part>, String> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let found = api.list_metadata(&ListParams::default().labels(OURS)).await;
    let found = found.map_err(|fault| format!("Nothing was removed: cannot list {}: {fault}\n", resource.plural))?;
    Ok(found.items.iter().map(|object| part(resource, object)).collect())
}

fn part(resource: &ApiResource, object: &impl ResourceExt) -> Part {
    let annotation = |name: &str| object.annotations().get(name).cloned();
    Part {
        resource: resource.clone(),
        namespace: object.namespace(),
        name: object.name_any(),
        uid: object.uid().unwrap_or_default(),
        release: annotation("meta.helm.sh/release-name").zip(annotation("meta.helm.sh/release-namespace")),
        others: Vec::new(),
    }
}

/// Every namespace has it, by the cluster's own hand, and gets it again.
const EVERYWHERE: [&str; 3] = ["kube-root-ca.crt", "openshift-service-ca.crt", "istio-ca-root-cert"];
/// On what every service account is given by the cluster's own hand. A token that a person has asked for has none of them.
const OF_ACCOUNTS: [&str; 3] =
    ["kubernetes.io/created-by", "openshift.io/token-secret.name", "openshift.io/internal-registry-auth-token.service-account"];

/// What would go with a namespace and is not the installation's: claims, whose data nobody brings back, and what others have put
/// there. Pods that run for an object of ours go or stay with it.
pub(super) async fn others(client: &Client, namespace: &str) -> Result<Vec<String>, String> {
    let all = |_: &BTreeMap<String, String>| true;
    let others = |labels: &BTreeMap<String, String>| !is_ours(labels);
    let mut found = standing::<PersistentVolumeClaim>(client, namespace, all).await?;
    found.extend(standing::<Pod>(client, namespace, others).await?);
    found.extend(standing::<Deployment>(client, namespace, others).await?);
    found.extend(standing::<StatefulSet>(client, namespace, others).await?);
    found.extend(standing::<Secret>(client, namespace, others).await?);
    found.extend(standing::<ConfigMap>(client, namespace, others).await?);
    Ok(found)
}

/// Objects of one type with such labels.
async fn standing<T>(client: &Client, namespace: &str, counts: fn(&BTreeMap<String, String>) -> bool) -> Result<Vec<String>, String>
where
    T: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + DeserializeOwned + Debug,
{
    let listed = Api::<T>::namespaced(client.clone(), namespace).list_metadata(&ListParams::default()).await;
    let listed = listed.map_err(|fault| format!("cannot list {} in namespace {namespace}: {fault}", T::plural(&())))?;
    let counted = listed.items.iter().filter(|one| counts(one.labels()) && !is_the_clusters(*one));
    Ok(counted.map(|one| format!("{} {}", T::kind(&()), one.name_any())).collect())
}

fn is_the_clusters(one: &impl ResourceExt) -> bool {
    EVERYWHERE.contains(&one.name_any().as_str()) || OF_ACCOUNTS.iter().any(|key| one.annotations().contains_key(*key))
}

fn is_ours(labels: &BTreeMap<String, String>) -> bool {
    let is = |(key, value): (&str, &str)| labels.get(key).is_some_and(|found| found == value);
    OURS.split(',').filter_map(|label| label.split_once('=')).all(is) || is(MANAGED_BY)
}

async fn definitions(client: &Client, resource: &ApiResource) -> Result<Vec<Definition>, String> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let found = api.list(&ListParams::default().labels(OURS)).await;
    let mut definitions = Vec::new();
    for one in found.map_err(|fault| format!("Nothing was removed: cannot list definitions: {fault}\n"))? {
        let (spec, names) = (&one.spec, &one.spec.names);
        let version = spec.versions.iter().find(|version| version.storage).map(|version| version.name.as_str()).unwrap_or_default();
        let kind = GroupVersionKind::gvk(&spec.group, version, &names.kind);
        let objects = ApiResource::from_gvk_with_plural(&kind, &names.plural);
        let short = names.short_names.iter().flatten().next().unwrap_or(&names.plural).clone();
        let listed = users(client, &objects).await;
        let stored = one.status.iter().flat_map(|status| status.stored_versions.iter().flatten());
        let earlier = stored.filter(|&stored| stored != version).cloned().collect();
        definitions.push(Definition { part: part(resource, &one), resource: objects, short, earlier, objects: listed });
    }
    Ok(definitions)
}

/// Every object of a definition; an error is kept, since it says that nobody knows what would go.
pub(super) async fn users(client: &Client, resource: &ApiResource) -> Result<Vec<Object>, String> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let listed = api.list_metadata(&ListParams::default()).await;
    let listed = listed.map_err(|fault| if let Error::Api(status) = fault { status.message.clone() } else { fault.to_string() })?;
    let object = |object: &PartialObjectMeta<DynamicObject>| Object {
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
        uid: object.uid().unwrap_or_default(),
        finalizers: object.finalizers().join(", "),
        held: object.finalizers().iter().any(|finalizer| finalizer.starts_with(PREFIX)),
        protected: is_set(object, PROTECTED),
    };
    Ok(listed.items.iter().map(object).collect())
}
