//! Keys and certificates: made, renewed, judged. Pure but for randomness: the time is an argument.

use jiff::{SignedDuration, Timestamp};
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{RootCertStore, ServerConfig};
use std::sync::Arc;
use std::time::Duration;

/// How long the authority lives.
const AUTHORITY: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);
/// How long a leaf lives.
const LEAF: SignedDuration = SignedDuration::from_hours(90 * 24);
/// How far behind ours another machine's clock may be.
const SKEW: SignedDuration = SignedDuration::from_hours(1);

/// An authority and the leaf that it signed, all in PEM.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) authority: Vec<u8>,
    pub(super) authority_key: Vec<u8>,
    pub(super) authority_expires: Timestamp,
    pub(super) leaf: Vec<u8>,
    pub(super) leaf_key: Vec<u8>,
}

/// What a check or a signature stumbled over; it quotes no key.
pub(super) type Fault = Box<dyn std::error::Error + Send + Sync>;

impl Keys {
    /// A new authority with a leaf for `names`.
    pub(super) fn new(names: &[String], now: Timestamp) -> Result<Self, Fault> {
        let authority_expires = now + AUTHORITY;
        let key = KeyPair::generate()?;
        let mut params = authority_params()?;
        date(&mut params, now - SKEW, authority_expires)?;
        let authority = params.self_signed(&key)?.pem().into_bytes();
        let authority_key = key.serialize_pem().into_bytes();
        Keys { authority, authority_key, authority_expires, leaf: Vec::new(), leaf_key: Vec::new() }.renewed(names, now)
    }

    /// The same authority with a new leaf.
    fn renewed(&self, names: &[String], now: Timestamp) -> Result<Self, Fault> {
        let issuer = Issuer::new(authority_params()?, KeyPair::from_pem(std::str::from_utf8(&self.authority_key)?)?);
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "pointsman");
        date(&mut params, now - SKEW, now + LEAF)?;
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let leaf = params.signed_by(&key, &issuer)?.pem().into_bytes();
        Ok(Keys { leaf, leaf_key: key.serialize_pem().into_bytes(), ..self.clone() })
    }

    /// What a server needs to present the leaf; fails where the key is another's.
    pub(super) fn serving(&self) -> Result<ServerConfig, Fault> {
        let chain = certificates(&self.leaf)?;
        let key = PrivateKeyDer::from_pem_slice(&self.leaf_key)?;
        let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
        let mut config = builder.with_no_client_auth().with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Would a client that trusts the authority believe the leaf, under each name, now and for a
    /// third of a leaf's life to come?
    fn check(&self, names: &[String], now: Timestamp) -> Result<(), Fault> {
        self.serving()?;
        let mut roots = RootCertStore::empty();
        for authority in certificates(&self.authority)? {
            roots.add(authority)?;
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build()?;
        let chain = certificates(&self.leaf)?;
        let (leaf, between) = chain.split_first().ok_or("there is no certificate")?;
        for name in names {
            for at in [now, now + LEAF / 3] {
                let at = UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(at.as_second())?));
                verifier.verify_server_cert(leaf, between, &ServerName::try_from(name.as_str())?, &[], at)?;
            }
        }
        // Go checks the authority's own dates, which webpki does not.
        if now + AUTHORITY / 3 > self.authority_expires {
            return Err("the authority is near its end".into());
        }
        Ok(())
    }
}

/// What to store in the place of `stored`, and why; nothing where it may stand.
pub(super) fn settled(stored: Option<&Keys>, names: &[String], now: Timestamp) -> Result<Option<(Keys, String)>, Fault> {
    let Some(stored) = stored else {
        return Ok(Some((Keys::new(names, now)?, "no usable keys are stored".to_owned())));
    };
    let Err(why) = stored.check(names, now) else { return Ok(None) };
    let renewed = stored.renewed(names, now).and_then(|renewed| renewed.check(names, now).map(|()| renewed));
    let keys = renewed.or_else(|_| Keys::new(names, now))?;
    Ok(Some((keys, why.to_string())))
}

/// The authority's parameters but for its dates: the same every time, so that a leaf can be signed
/// without reading the stored certificate.
fn authority_params() -> Result<CertificateParams, Fault> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, "pointsman authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>()?;
    if chain.is_empty() { Err("there is no certificate".into()) } else { Ok(chain) }
}

fn date(params: &mut CertificateParams, from: Timestamp, to: Timestamp) -> Result<(), Fault> {
    let since_epoch = |at: Timestamp| u64::try_from(at.as_second()).map(Duration::from_secs);
    let epoch = date_time_ymd(1970, 1, 1);
    (params.not_before, params.not_after) = (epoch + since_epoch(from)?, epoch + since_epoch(to)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn names() -> Vec<String> {
        ["pointsman.pointsman-system.svc", "localhost"].map(str::to_owned).to_vec()
    }

    fn keys() -> Keys {
        Keys::new(&names(), NOW).expect("keys are made")
    }

    fn replacement(stored: &Keys, now: Timestamp) -> Option<Keys> {
        settled(Some(stored), &names(), now).expect("keys are made").map(|(keys, _)| keys)
    }

    #[test]
    fn good_keys_stand() {
        let keys = keys();
        assert!(replacement(&keys, NOW).is_none());
        assert!(replacement(&keys, NOW + SignedDuration::from_hours(59 * 24)).is_none());
    }

    #[test]
    fn a_leaf_is_renewed_after_two_thirds_of_its_life() {
        let keys = keys();
        for days in [61, 89, 200] {
            let renewed = replacement(&keys, NOW + SignedDuration::from_hours(days * 24)).expect("renewed");
            assert!(renewed.authority == keys.authority && renewed.leaf != keys.leaf, "{days}");
        }
    }

    #[test]
    fn an_authority_is_renewed_after_two_thirds_of_its_life() {
        let keys = keys();
        let later = NOW + SignedDuration::from_hours(7 * 365 * 24);
        let renewed = replacement(&keys, later).expect("renewed");
        assert!(renewed.authority != keys.authority);
        assert!(replacement(&renewed, later).is_none());
    }

    #[test]
    fn a_leaf_that_does_not_match_is_renewed() {
        let (keys, other) = (keys(), keys());
        let mixed = [
            Keys { leaf: other.leaf.clone(), ..keys.clone() },
            Keys { leaf_key: other.leaf_key.clone(), ..keys.clone() },
            Keys { leaf: other.leaf.clone(), leaf_key: other.leaf_key.clone(), ..keys.clone() },
            Keys { leaf: b"garbage".to_vec(), ..keys.clone() },
            Keys { leaf: Vec::new(), ..keys.clone() },
        ];
        for stored in mixed {
            let renewed = replacement(&stored, NOW).expect("renewed");
            assert!(renewed.authority == keys.authority);
            assert!(replacement(&renewed, NOW).is_none());
        }
        let renamed = settled(Some(&keys), &["elsewhere.svc".to_owned()], NOW).expect("keys are made");
        assert!(renamed.is_some_and(|(renewed, _)| renewed.authority == keys.authority));
    }

    #[test]
    fn an_authority_that_is_garbage_is_made_anew() {
        let keys = keys();
        let other = Keys::new(&names(), NOW).expect("keys are made");
        for stored in [
            Keys { authority: b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec(), ..keys.clone() },
            Keys { authority: other.authority.clone(), ..keys.clone() },
            Keys { authority_key: b"garbage".to_vec(), leaf: Vec::new(), ..keys.clone() },
        ] {
            let renewed = replacement(&stored, NOW).expect("made anew");
            assert!(renewed.authority_key != stored.authority_key && replacement(&renewed, NOW).is_none());
        }
    }
}
