//! Who the primary is: one ConfigMap, changed in place, that every server reads before it starts.
//!
//! The transitions here are pure. That they are taken in order is up to whoever writes them: another primary is named
//! only once the pod object of the old one is gone. A change is a patch that tests the whole of what was there, so that
//! of two writers one is refused.

use super::kept;
use super::{names, network};
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::order::patch_of;
use crate::kinds::pod_template::Strings;
use crate::kinds::rendered::{RENDERED, Rendered};
use json_patch::{AddOperation, Patch, PatchOperation, ReplaceOperation, TestOperation};
use jsonptr::PointerBuf;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CLAIM: &str = "claim-";
const RECLONE: &str = "reclone-";

/// What the servers are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The ordinal of the primary; nobody may be it where there is none.
    pub primary: Option<u32>,
    /// Who was it when nobody was named: named again, it is no other primary. The servers do not read this.
    pub fenced: Option<u32>,
    /// One more with each other primary, from 1.
    pub epoch: u32,
    /// The system identifier of the data, once a server has told it: from then on no volume is ever initialised.
    pub systemid: Option<String>,
    /// The uid of each ordinal's claim.
    pub claims: BTreeMap<u32, String>,
    /// Where each server is asked what it is.
    pub peers: BTreeMap<u32, String>,
    /// Ordinals that may give up what they hold, each at one epoch.
    pub reclone: BTreeMap<u32, u32>,
}

/// A key of the ConfigMap that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key {key} of the topology is {value:?}, which makes no sense")]
pub struct Nonsense {
    /// The key.
    pub key: String,
    /// What stands there; nothing where it is missing.
    pub value: String,
}

impl Topology {
    /// Before the first server starts: ordinal 0 initialises its volume.
    pub fn first(object: &Object, claims: BTreeMap<u32, String>) -> Self {
        let nobody = BTreeMap::new();
        Topology {
            primary: Some(0),
            fenced: None,
            epoch: 1,
            systemid: None,
            claims: nobody,
            peers: BTreeMap::new(),
            reclone: BTreeMap::new(),
        }
        .with_claims(object, claims)
    }

    /// With the claims of these ordinals, and no others.
    #[must_use]
    pub fn with_claims(self, object: &Object, claims: BTreeMap<u32, String>) -> Self {
        let peers = claims.keys().map(|ordinal| (*ordinal, network::host(object, *ordinal))).collect();
        Topology { claims, peers, ..self }
    }

    /// Nobody may be the primary: it ends with FENCED at its next start.
    #[must_use]
    pub fn fenced(self) -> Self {
        Topology { fenced: self.primary.or(self.fenced), primary: None, ..self }
    }

    /// This ordinal is the primary, at the next epoch unless it was the primary before.
    #[must_use]
    pub fn handed_over(self, to: u32) -> Self {
        let epoch = if self.primary.or(self.fenced) == Some(to) { self.epoch } else { self.epoch.saturating_add(1) };
        Topology { primary: Some(to), fenced: None, epoch, ..self }
    }

    /// The data exists, and is this system's.
    #[must_use]
    pub fn known(self, systemid: &str) -> Self {
        Topology { systemid: Some(systemid.to_owned()), ..self }
    }

    /// A person has said that this ordinal may give up what it holds; at another epoch the word counts no more.
    #[must_use]
    pub fn reclonable(mut self, ordinal: u32) -> Self {
        self.reclone.insert(ordinal, self.epoch);
        self
    }

    /// The topology that a ConfigMap holds.
    ///
    /// # Errors
    /// The first key that makes no sense.
    pub fn of(map: &ConfigMap) -> Result<Self, Nonsense> {
        let empty = Strings::new();
        let data = map.data.as_ref().unwrap_or(&empty);
        let epoch = number(data, "epoch")?.filter(|epoch| *epoch > 0).ok_or_else(|| nonsense(data, "epoch"))?;
        let systemid = text(data, "systemid");
        if !systemid.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(nonsense(data, "systemid"));
        }
        Ok(Topology {
            primary: number(data, "primary")?,
            fenced: number(data, "fenced")?,
            epoch,
            systemid: Some(systemid.to_owned()).filter(|systemid| !systemid.is_empty()),
            claims: numbered(data, CLAIM, |uid| Some(uid.to_owned()).filter(|uid| !uid.is_empty()))?,
            peers: parse_peers(text(data, "peers")).ok_or_else(|| nonsense(data, "peers"))?,
            reclone: numbered(data, RECLONE, |epoch| epoch.parse().ok())?,
        })
    }

    /// The ConfigMap.
    pub fn config_map(&self, object: &Object) -> Rendered {
        kept::<ConfigMap>(object, &names::topology(&object.name_any()), "server", json!({ "data": self.data() }))
    }

    /// From this topology to `next`, in the very ConfigMap of this uid, and only if it holds this topology still.
    pub fn change(&self, next: &Topology, object: &Object, uid: &str) -> Patch {
        let digest = next.config_map(object).object["metadata"]["annotations"][RENDERED].take();
        let replace = |tokens: &[&str], value: Value| {
            PatchOperation::Replace(ReplaceOperation { path: PointerBuf::from_tokens(tokens.iter().copied()), value })
        };
        let unchanged = TestOperation { path: PointerBuf::from_tokens(["data"]), value: json!(self.data()) };
        let changes = [
            PatchOperation::Test(unchanged),
            replace(&["data"], json!(next.data())),
            replace(&["metadata", "annotations", RENDERED], digest),
        ];
        patch_of(Some(uid), changes)
    }

    /// This topology in the very ConfigMap of this uid, whatever a hand has made of it.
    pub fn instead(&self, object: &Object, uid: &str) -> Patch {
        let rendered = self.config_map(object).object;
        let add = |tokens: &[&str], value: Value| {
            PatchOperation::Add(AddOperation { path: PointerBuf::from_tokens(tokens.iter().copied()), value })
        };
        patch_of(
            Some(uid),
            [add(&["data"], json!(self.data())), add(&["metadata", "annotations"], rendered["metadata"]["annotations"].clone())],
        )
    }

    fn data(&self) -> Strings {
        let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
        let mut data: Strings = [
            ("primary", number(self.primary)),
            ("fenced", number(self.fenced)),
            ("epoch", self.epoch.to_string()),
            ("systemid", self.systemid.clone().unwrap_or_default()),
            ("peers", peers(&self.peers)),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into();
        data.extend(self.claims.iter().map(|(ordinal, uid)| (format!("{CLAIM}{ordinal}"), uid.clone())));
        data.extend(self.reclone.iter().map(|(ordinal, epoch)| (format!("{RECLONE}{ordinal}"), epoch.to_string())));
        data
    }
}

/// Peers as scripts read them: `0=HOST 1=HOST`.
pub fn peers(peers: &BTreeMap<u32, String>) -> String {
    peers.iter().map(|(ordinal, host)| format!("{ordinal}={host}")).collect::<Vec<_>>().join(" ")
}

fn parse_peers(text: &str) -> Option<BTreeMap<u32, String>> {
    let peer = |word: &str| {
        let (ordinal, host) = word.split_once('=')?;
        Some((parse(ordinal)?, host.to_owned())).filter(|_| !host.is_empty())
    };
    text.split_ascii_whitespace().map(peer).collect()
}

fn text<'a>(data: &'a Strings, key: &str) -> &'a str {
    data.get(key).map(|value| value.trim()).unwrap_or_default()
}

fn number(data: &Strings, key: &str) -> Result<Option<u32>, Nonsense> {
    match text(data, key) {
        "" => Ok(None),
        text => parse(text).map(Some).ok_or_else(|| nonsense(data, key)),
    }
}

/// The keys of a beginning and an ordinal.
fn numbered<T>(data: &Strings, beginning: &str, read: impl Fn(&str) -> Option<T>) -> Result<BTreeMap<u32, T>, Nonsense> {
    let keys = data.keys().filter_map(|key| Some((key, key.strip_prefix(beginning)?)));
    keys.map(|(key, ordinal)| parse(ordinal).zip(read(text(data, key))).ok_or_else(|| nonsense(data, key))).collect()
}

/// Digits alone: a sign is none.
fn parse(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

fn nonsense(data: &Strings, key: &str) -> Nonsense {
    Nonsense { key: key.to_owned(), value: text(data, key).to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> Object {
        let mut object = Object::new("db", crate::kinds::database::object::v1::DatabaseSpec::default());
        object.metadata.namespace = Some("shop".to_owned());
        object
    }

    fn first() -> Topology {
        Topology::first(&object(), [(0, "uid-0".to_owned()), (1, "uid-1".to_owned())].into())
    }

    fn stored(topology: &Topology) -> ConfigMap {
        serde_json::from_value(topology.config_map(&object()).object).expect("a ConfigMap")
    }

    #[test]
    fn it_is_read_back_as_it_was_written() {
        let topologies = [first(), first().known("7300000000000000001"), first().fenced(), first().fenced().handed_over(1).reclonable(0)];
        for topology in topologies {
            assert_eq!(Topology::of(&stored(&topology)), Ok(topology));
        }
        assert_eq!(first().data()["peers"], "0=db-0.db-pods.shop.svc 1=db-1.db-pods.shop.svc");
    }

    #[test]
    fn the_epoch_counts_other_primaries_and_no_fences() {
        assert_eq!(first().fenced().handed_over(0), first(), "a fence that is taken back");
        assert_eq!(first().fenced().fenced(), first().fenced());
        let other = first().fenced().handed_over(1);
        assert_eq!((other.primary, other.epoch), (Some(1), 2));
        assert_eq!(other.clone().handed_over(1), other);
        assert_eq!(other.handed_over(0).epoch, 3);
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let cases = [
            ("epoch", "0"),
            ("epoch", ""),
            ("primary", "-1"),
            ("primary", "+1"),
            ("claim-x", "uid"),
            ("claim-1", " "),
            ("peers", "0"),
            ("systemid", "7x"),
            ("reclone-0", "soon"),
        ];
        for (key, value) in cases {
            let mut map = stored(&first());
            map.data.as_mut().expect("data").insert(key.to_owned(), value.to_owned());
            let fault = Topology::of(&map).expect_err(key);
            assert_eq!((fault.key.as_str(), fault.value.as_str()), (key, value.trim()));
        }
        assert_eq!(Topology::of(&ConfigMap::default()).expect_err("it says nothing").key, "epoch");
    }

    #[test]
    fn of_two_writers_one_is_refused() {
        let (before, after) = (first(), first().fenced());
        let live = |topology: &Topology| {
            let mut live = topology.config_map(&object()).object;
            live["metadata"]["uid"] = json!("uid-of-map");
            live
        };
        let patch = before.change(&after, &object(), "uid-of-map");
        let mut map = live(&before);
        json_patch::patch(&mut map, &patch).expect("it is as it was");
        assert_eq!(map, live(&after));
        json_patch::patch(&mut map, &patch).expect_err("it is fenced already");
        json_patch::patch(&mut live(&before), &before.change(&after, &object(), "another")).expect_err("it is another map");
    }
}
