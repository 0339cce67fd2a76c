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
use x509_cert::Certificate;
use x509_cert::der::Decode;

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
    /// Empty where somebody else signs.
    pub(super) authority_key: Vec<u8>,
    pub(super) leaf: Vec<u8>,
    pub(super) leaf_key: Vec<u8>,
}

/// What a check or a signature stumbled over; it quotes no key.
pub(super) type Fault = Box<dyn std::error::Error + Send + Sync>;

impl Keys {
    /// A new authority with a leaf for `names`.
    pub(super) fn new(names: &[String], now: Timestamp) -> Result<Self, Fault> {
        let key = KeyPair::generate()?;
        let mut params = authority_params()?;
        date(&mut params, now - SKEW, now + AUTHORITY)?;
        let authority = params.self_signed(&key)?.pem().into_bytes();
        let authority_key = key.serialize_pem().into_bytes();
        Keys { authority, authority_key, leaf: Vec::new(), leaf_key: Vec::new() }.renewed(names, now)
    }

    /// The same authority with a new leaf.
    pub(super) fn renewed(&self, names: &[String], now: Timestamp) -> Result<Self, Fault> {
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
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Would a client that trusts the authority believe the leaf, under each name, at that time?
    pub(super) fn check(&self, names: &[String], at: Timestamp) -> Result<(), Fault> {
        self.serving()?;
        let mut roots = RootCertStore::empty();
        for authority in certificates(&self.authority)? {
            // Go checks the authority's own dates, which webpki does not.
            if expires(&authority)? < at {
                return Err("the authority is expired".into());
            }
            roots.add(authority)?;
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build()?;
        let chain = certificates(&self.leaf)?;
        let (leaf, between) = chain.split_first().ok_or("there is no certificate")?;
        let at = UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(at.as_second())?));
        for name in names {
            verifier.verify_server_cert(leaf, between, &ServerName::try_from(name.as_str())?, &[], at)?;
        }
        Ok(())
    }

    /// Is it believed now, and will it be for as long as a renewal may have to be tried again?
    fn lasts(&self, names: &[String], now: Timestamp) -> Result<(), Fault> {
        self.check(names, now)?;
        self.check(names, now + LEAF / 3)?;
        if now + AUTHORITY / 3 > earliest(&self.authority)? {
            return Err("the authority is near its end".into());
        }
        Ok(())
    }

    /// When the leaf ends, and when its authority.
    pub(super) fn ends(&self) -> Result<(Timestamp, Timestamp), Fault> {
        Ok((earliest(&self.leaf)?, earliest(&self.authority)?))
    }
}

/// The names under which the server is called; the first one is the API server's.
pub(super) fn names(namespace: &str) -> Vec<String> {
    let service = format!("pointsman.{namespace}.svc");
    vec![service.clone(), format!("{service}.cluster.local"), "pointsman".to_owned(), "localhost".to_owned()]
}

/// What somebody asks to have made anew before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    /// The leaf.
    Leaf,
    /// The authority, and with it the leaf.
    Authority,
}

/// What to store in the place of `stored`, and why; nothing where it may stand. Where it is lost or spoilt, and the keys that
/// are presented are right, those are stored again: callers believe them. The first of the names is the one that is called: a
/// pair that another made need not be for the others.
pub(super) fn settled(
    stored: Option<&Keys>,
    presented: Option<&Keys>,
    names: &[String],
    asked: Option<Renewal>,
    now: Timestamp,
) -> Result<Option<(Keys, String)>, Fault> {
    let called = &names[..1];
    let why = match (asked, stored.map(|stored| stored.lasts(called, now))) {
        (Some(Renewal::Authority), Some(_)) => return Ok(Some((Keys::new(names, now)?, "a new authority is asked for".to_owned()))),
        (Some(Renewal::Leaf), Some(_)) => "a new leaf is asked for".to_owned(),
        (None, Some(Ok(()))) => return Ok(None),
        (None, Some(Err(why))) => why.to_string(),
        (_, None) => "no usable keys are stored".to_owned(),
    };
    let renewed = stored.and_then(|stored| stored.renewed(names, now).ok()).filter(|renewed| renewed.lasts(names, now).is_ok());
    let right = || presented.filter(|presented| presented.lasts(called, now).is_ok()).cloned();
    let keys = renewed.or_else(right).map_or_else(|| Keys::new(names, now), Ok)?;
    Ok(Some((keys, why)))
}

/// The certificates of a text.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>()?;
    if chain.is_empty() { Err("there is no certificate".into()) } else { Ok(chain) }
}

/// When the first of these certificates ends.
fn earliest(pem: &[u8]) -> Result<Timestamp, Fault> {
    let ends = certificates(pem)?.iter().map(expires).collect::<Result<Vec<_>, _>>()?;
    Ok(ends.into_iter().min().ok_or("there is no certificate")?)
}

fn expires(certificate: &CertificateDer<'_>) -> Result<Timestamp, Fault> {
    let end = Certificate::from_der(certificate)?.tbs_certificate().validity().not_after.to_unix_duration();
    Ok(Timestamp::from_second(i64::try_from(end.as_secs())?)?)
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
        settled(Some(stored), None, &names(), None, now).expect("keys are made").map(|(keys, _)| keys)
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
    fn what_is_asked_for_is_made_anew() {
        let keys = keys();
        let made = |asked| settled(Some(&keys), None, &names(), Some(asked), NOW).expect("keys are made").expect("renewed").0;
        let (leaf, authority) = (made(Renewal::Leaf), made(Renewal::Authority));
        assert!(leaf.authority == keys.authority && leaf.leaf != keys.leaf);
        assert!(authority.authority != keys.authority && authority.leaf != keys.leaf);
        for keys in [leaf, authority] {
            assert_eq!(keys.ends().expect("dates"), (NOW + LEAF, NOW + AUTHORITY));
        }
    }

    #[test]
    fn keys_that_are_presented_are_stored_again_where_those_are_lost_or_spoilt() {
        let keys = keys();
        let garbage = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec();
        let spoilt = Keys { authority: garbage, authority_key: Vec::new(), ..keys.clone() };
        for stored in [None, Some(&spoilt)] {
            let again = |now| settled(stored, Some(&keys), &names(), None, now).expect("keys are made").expect("stored").0;
            assert!(again(NOW) == keys);
            assert!(again(NOW + LEAF).authority != keys.authority, "the presented ones are expired");
        }
    }

    #[test]
    fn what_is_expired_is_believed_by_nobody() {
        let keys = keys();
        let after = |life: SignedDuration| keys.check(&names(), NOW + life + SignedDuration::from_secs(1));
        assert!(keys.check(&names(), NOW + LEAF).is_ok());
        assert!(after(LEAF).is_err());
        let words = after(AUTHORITY).expect_err("expired").to_string();
        assert_eq!(words, "the authority is expired");
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
        let renamed = settled(Some(&keys), None, &["elsewhere.svc".to_owned()], None, NOW).expect("keys are made");
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
