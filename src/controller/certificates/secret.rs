//! The Secret that keeps the keys.

use super::keys::Keys;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::ObjectMeta;
use std::collections::BTreeMap;

/// Its name.
pub(super) const SECRET: &str = "pointsman-certificates";

/// When the stored authority ends: read from here, since nothing else here reads certificates' dates.
const EXPIRES: &str = "pointsman.dev/authority-expires";

/// The keys that a Secret holds, if they are all there.
pub(super) fn read(secret: &Secret) -> Option<Keys> {
    let data = |key: &str| Some(secret.data.as_ref()?.get(key)?.0.clone());
    Some(Keys {
        authority: data("ca.crt")?,
        authority_key: data("ca.key")?,
        authority_expires: secret.annotations().get(EXPIRES)?.parse().ok()?,
        leaf: data("tls.crt")?,
        leaf_key: data("tls.key")?,
    })
}

/// The Secret that holds `keys`, in the place of the one that was read.
pub(super) fn written(keys: &Keys, before: Option<&Secret>) -> Secret {
    let data = [("ca.crt", &keys.authority), ("ca.key", &keys.authority_key), ("tls.crt", &keys.leaf), ("tls.key", &keys.leaf_key)];
    let label = |key: &str| (key.to_owned(), "pointsman".to_owned());
    Secret {
        metadata: ObjectMeta {
            name: Some(SECRET.to_owned()),
            resource_version: before.and_then(ResourceExt::resource_version),
            annotations: Some(BTreeMap::from([(EXPIRES.to_owned(), format!("{:.0}", keys.authority_expires))])),
            labels: Some(BTreeMap::from([label("app.kubernetes.io/name"), label("app.kubernetes.io/part-of")])),
            ..ObjectMeta::default()
        },
        // The type of a Secret cannot be changed.
        type_: before.map_or_else(|| Some("kubernetes.io/tls".to_owned()), |secret| secret.type_.clone()),
        data: Some(data.map(|(key, value)| (key.to_owned(), ByteString(value.clone()))).into()),
        ..Secret::default()
    }
}
