//! The Secret that keeps the keys.

use super::MANAGER;
use super::keys::{Keys, Renewal};
use crate::controller::calls::{Unanswered, bounded};
use crate::controller::lease::claim::installed;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{Api, ObjectMeta, PostParams};

/// Its name.
pub(super) const SECRET: &str = "pointsman-certificates";

/// What somebody wants made anew before its time: `leaf` or `authority`. It goes with the keys that it asked about.
const RENEW: &str = "pointsman.dev/renew";

/// The keys that a Secret holds, if they are all there.
pub(super) fn read(secret: &Secret) -> Option<Keys> {
    let data = |key: &str| Some(secret.data.as_ref()?.get(key)?.0.clone());
    Some(Keys {
        authority: data("ca.crt")?,
        authority_key: data("ca.key").unwrap_or_default(),
        leaf: data("tls.crt")?,
        leaf_key: data("tls.key")?,
    })
}

/// What its annotation asks for. A wrong word is told, and keeps nobody from renewing what is due.
pub(super) fn asked(secret: &Secret) -> Option<Renewal> {
    match secret.annotations().get(RENEW)?.as_str() {
        "leaf" => Some(Renewal::Leaf),
        "authority" => Some(Renewal::Authority),
        other => {
            tracing::warn!("{RENEW}={other} on the Secret {SECRET} asks for nothing; write leaf or authority");
            None
        }
    }
}

/// Stores `keys` in the place of the Secret that was read. Both ways are compare-and-swap: the one by absence, the other by
/// resourceVersion.
pub(super) async fn store(secrets: &Api<Secret>, keys: &Keys, before: Option<&Secret>) -> Result<Secret, Unanswered> {
    let new = written(keys, before);
    let options = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
    match before {
        None => bounded(secrets.create(&options, &new)).await,
        Some(_) => bounded(secrets.replace(SECRET, &options, &new)).await,
    }
}

/// What is said where it could not be written.
pub(super) fn unwritten(before: Option<&Secret>) -> String {
    let remedy = before.filter(|secret| secret.immutable == Some(true)).map_or("", |_| "; it is immutable: delete it");
    format!("the Secret {SECRET} cannot be written{remedy}")
}

/// The Secret that holds `keys`, in the place of the one that was read.
fn written(keys: &Keys, before: Option<&Secret>) -> Secret {
    let data = [("ca.crt", &keys.authority), ("ca.key", &keys.authority_key), ("tls.crt", &keys.leaf), ("tls.key", &keys.leaf_key)];
    Secret {
        metadata: ObjectMeta {
            name: Some(SECRET.to_owned()),
            resource_version: before.and_then(ResourceExt::resource_version),
            labels: Some(installed()),
            ..ObjectMeta::default()
        },
        // The type of a Secret cannot be changed.
        type_: before.map_or_else(|| Some("kubernetes.io/tls".to_owned()), |secret| secret.type_.clone()),
        data: Some(data.map(|(key, value)| (key.to_owned(), ByteString(value.clone()))).into()),
        ..Secret::default()
    }
}
