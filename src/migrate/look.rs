//! What is in the cluster: the definition, and the objects by name.

use super::decide::{Found, Late, Version};
use super::{Kind, Name, owners, words};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::PartialObjectMeta;
use kube::{Client, Error, ResourceExt};

/// How many names are asked for at once.
const PAGE: u32 = 500;
/// How often a list is begun: the API server forgets after some minutes where a long one stopped.
const TRIES: usize = 5;

/// The definition of a kind, where there is one.
pub(super) async fn definition(client: &Client, kind: &Kind) -> Result<Option<Found>, String> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let found = api.get_opt(&kind.definition).await;
    let found = found.map_err(|fault| words::not_read(kind, &format!("read CustomResourceDefinition {}", kind.definition), &fault))?;
    Ok(found.map(|definition| Found {
        generation: definition.metadata.generation.unwrap_or_default(),
        versions: definition
            .spec
            .versions
            .into_iter()
            .map(|version| Version { name: version.name, served: version.served, storage: version.storage })
            .collect(),
        stored: definition.status.and_then(|status| status.stored_versions).unwrap_or_default(),
    }))
}

/// Every object.
pub(super) async fn names(client: &Client, kind: &Kind) -> Result<Vec<Name>, String> {
    list(client, kind, |object| Some(name(object))).await
}

/// Every object of which a manager owns fields through another version than the stored one.
pub(super) async fn late(client: &Client, kind: &Kind) -> Result<Vec<Late>, String> {
    let late = |object: &PartialObjectMeta<DynamicObject>| {
        let managers = owners::elsewhere(kind, object.managed_fields());
        (!managers.is_empty()).then(|| Late { name: name(object), managers })
    };
    list(client, kind, late).await
}

fn name(object: &PartialObjectMeta<DynamicObject>) -> Name {
    Name { namespace: object.namespace().unwrap_or_default(), name: object.name_any() }
}

async fn list<T>(client: &Client, kind: &Kind, take: impl Fn(&PartialObjectMeta<DynamicObject>) -> Option<T>) -> Result<Vec<T>, String> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind.resource);
    let mut tries = TRIES;
    let (mut taken, mut page) = (Vec::new(), ListParams::default().limit(PAGE));
    loop {
        let found = match api.list_metadata(&page).await {
            Ok(found) => found,
            Err(Error::Api(status)) if status.code == 410 && tries > 1 => {
                tries -= 1;
                (taken, page) = (Vec::new(), ListParams::default().limit(PAGE));
                continue;
            }
            Err(fault) => return Err(words::not_read(kind, &format!("list {}", kind.definition), &fault)),
        };
        taken.extend(found.items.iter().filter_map(&take));
        match found.metadata.continue_.filter(|rest| !rest.is_empty()) {
            Some(rest) => page = ListParams::default().limit(PAGE).continue_token(&rest),
            None => return Ok(taken),
        }
    }
}
