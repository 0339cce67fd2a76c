//! The Secret that keeps the keys.

use super::MANAGER;
use super::fault::Fault;
use super::keys::{self, Keys, Renewal};
use crate::controller::calls::{Unanswered, bounded};
use crate::controller::lease::claim::installed;
use crate::controller::names::SECRET;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::{Api, ObjectMeta, PostParams};

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

/// What cert-manager writes on a Secret that it looks after: the name of the Certificate.
const CERTIFICATE: &str = "cert-manager.io/certificate-name";

/// What to store in the place of the Secret that was read, and why; nothing where it may stand. What another writes is never
/// written over: it would be written back, and so for ever.
pub(super) fn due(
    before: Option<&Secret>,
    served: Option<&Keys>,
    names: &[String],
    now: Timestamp,
) -> Result<Option<(Keys, String)>, Fault> {
    let stored = before.and_then(read);
    let due = keys::settled(stored.as_ref(), served, names, before.and_then(asked), now).map_err(Fault::Keys)?;
    let certificate = before.and_then(|secret| secret.annotations().get(CERTIFICATE));
    match (due, certificate) {
        (Some((_, why)), Some(certificate)) => Err(Fault::Foreign(certificate.clone(), why)),
        (due, _) => Ok(due),
    }
}

/// What its annotation asks for. A wrong word is told, and keeps nobody from renewing what is due.
fn asked(secret: &Secret) -> Option<Renewal> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn names() -> Vec<String> {
        ["pointsman.pointsman-system.svc", "localhost"].map(str::to_owned).to_vec()
    }

    fn secret(names: &[String], annotations: &[(&str, &str)]) -> Secret {
        let mut secret = written(&Keys::new(names, NOW).expect("keys are made"), None);
        let annotations = annotations.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
        secret.metadata.annotations = Some(annotations.collect());
        secret
    }

    #[test]
    fn a_pair_for_the_name_that_is_called_may_stand() {
        let stored = secret(&names()[..1], &[(CERTIFICATE, "pointsman")]);
        assert!(matches!(due(Some(&stored), None, &names(), NOW), Ok(None)));
    }

    #[test]
    fn what_cert_manager_writes_is_not_written_over() {
        let later = NOW + SignedDuration::from_hours(89 * 24);
        let by_another = [(CERTIFICATE, "pointsman")];
        for (annotations, at) in [(&by_another[..], later), (&[by_another[0], (RENEW, "leaf")][..], NOW)] {
            let fault = due(Some(&secret(&names(), annotations)), None, &names(), at).err().expect("it is left alone").to_string();
            assert!(fault.contains("Certificate pointsman") && fault.contains("--certificates cert-manager"), "{fault}");
        }
        assert!(matches!(due(Some(&secret(&names(), &[])), None, &names(), later), Ok(Some(_))), "our own is renewed");
        assert!(matches!(due(None, None, &names(), NOW), Ok(Some(_))), "what is gone is made anew");
    }
}
