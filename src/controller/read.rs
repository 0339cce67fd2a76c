//! What a kind reads anew at every look: one call for each thing.

use super::calls::{Unanswered, fetch};
use crate::kinds::Served;
use crate::kinds::reading::{ReadKind, Readable, Readings, Wanted, wanted};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::Client;
use kube::ResourceExt;
use kube::api::{GetParams, ListParams};
use kube::core::{ObjectList, Request};

/// Reads all that a look at `object` needs; no call where its kind declares nothing.
///
/// # Errors
/// When the API server does not say of one of them whether it is there: its absence would be a guess.
pub async fn readings<K: Served>(client: &Client, object: &K::Object) -> Result<Readings, Unanswered> {
    let mut readings = Readings::default();
    let namespace = object.namespace().unwrap_or_default();
    for Wanted { kind, name } in wanted::<K>(object) {
        match kind {
            ReadKind::Namespace => take::<Namespace>(client, &namespace, name, &mut readings).await?,
            ReadKind::Secret => take::<Secret>(client, &namespace, name, &mut readings).await?,
            ReadKind::StorageClass => take::<StorageClass>(client, &namespace, name, &mut readings).await?,
        }
    }
    Ok(readings)
}

async fn take<T: Readable>(client: &Client, namespace: &str, name: Option<String>, readings: &mut Readings) -> Result<(), Unanswered> {
    let inside = (T::KIND == ReadKind::Secret).then_some(namespace);
    let things = Request::new(T::url_path(&(), inside));
    if let Some(name) = name {
        let found = fetch(client, things.get(&name, &GetParams::default())).await?;
        readings.took::<T>(name, found);
    } else {
        let all: Option<ObjectList<T>> = fetch(client, things.list(&ListParams::default())).await?;
        readings.took_all(all.map(|all| all.items).unwrap_or_default());
    }
    Ok(())
}
