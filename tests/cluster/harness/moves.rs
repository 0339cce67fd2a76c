//! The operator's status writes, read as moves of the machine; and the Events that tell them.

use super::audit::Entry;
use pointsman::kinds::memcached::{Memcached, Phase};
use pointsman::machine::explore::{Arrow, arrows};
use pointsman::machine::{Machine, Role, Word};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One arrow as it is stored: from, cause, to.
pub type Triple = (String, String, String);

/// One stored move of one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moved {
    /// The object's uid.
    pub uid: String,
    /// From, cause, to.
    pub arrow: Triple,
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The operator's writes of a Memcached's status, refused ones too.
pub fn status_writes(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    entries.iter().filter(|entry| entry.by_operator() && entry.what() == "patch memcacheds/status")
}

/// The moves of objects that were created after the log's first entry.
///
/// Each is held against the write before it: the state that it says it left is the state that was stored.
#[track_caller]
pub fn stored(entries: &[Entry]) -> Vec<Moved> {
    let mut before: BTreeMap<String, Value> = BTreeMap::new();
    let mut moves = Vec::new();
    for entry in status_writes(entries).filter(|entry| entry.code() == 200) {
        let (uid, status) = (word(&entry.body()["metadata"]["uid"]), entry.body()["status"].clone());
        let old = before.insert(uid.clone(), status.clone()).unwrap_or_default();
        if old["history"] == status["history"] {
            assert_eq!(old["state"], status["state"], "a state changed without a move: {status}");
            continue;
        }
        let last = status["history"].as_array().and_then(|moves| moves.last()).cloned().unwrap_or_default();
        let from = old["state"].as_str().map_or_else(|| Memcached::START.text(), str::to_owned);
        assert_eq!((&last["from"], &last["to"]), (&from.into(), &status["state"]), "history tells another move than was stored: {status}");
        moves.push(Moved { uid, arrow: (word(&last["from"]), word(&last["cause"]), word(&last["to"])) });
    }
    moves
}

/// The Events that the operator wrote, without the state that was left: uid, cause, to.
pub fn told(entries: &[Entry]) -> Vec<Triple> {
    let events = entries.iter().filter(|entry| entry.by_operator() && entry.what() == "create events" && entry.code() == 201);
    let mut told: Vec<Triple> =
        events.map(Entry::body).map(|event| (word(&event["regarding"]["uid"]), word(&event["reason"]), word(&event["action"]))).collect();
    told.sort();
    told
}

/// What [`told`] should be.
pub fn to_tell(moves: &[Moved]) -> Vec<Triple> {
    let mut told: Vec<Triple> = moves.iter().map(|one| (one.uid.clone(), one.arrow.1.clone(), one.arrow.2.clone())).collect();
    told.sort();
    told
}

/// Every move that the table declares, junctions folded, a phase entered anew included.
pub fn declared() -> BTreeSet<Triple> {
    let arrows: Vec<Arrow<Memcached>> = arrows::<Memcached>().into_iter().filter(|arrow| arrow.moved).collect();
    let is_start = |phase: Phase| phase == Memcached::START;
    let firsts = arrows.iter().filter(|arrow| is_start(arrow.from) || Memcached::role(arrow.from) != Role::Junction);
    firsts.flat_map(|first| ends(&arrows, first.next).into_iter().map(|end| (first.from.text(), first.event.text(), end.text()))).collect()
}

/// Where a move that enters `phase` may end: there, or behind the junctions that follow.
fn ends(arrows: &[Arrow<Memcached>], phase: Phase) -> BTreeSet<Phase> {
    if Memcached::role(phase) != Role::Junction {
        return [phase].into();
    }
    arrows.iter().filter(|arrow| arrow.from == phase).flat_map(|arrow| ends(arrows, arrow.next)).collect()
}
