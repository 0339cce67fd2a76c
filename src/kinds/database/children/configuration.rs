//! The servers' settings: what a plan makes of `postgresql.conf` and `pg_hba.conf`.
//!
//! Two ConfigMaps hold them, so that a change restarts no server that could do with a reload:
//!
//! - `NAME-config-DIGEST` never changes. It holds `pg_hba.conf`, and in `postgresql.conf` the settings that only a start
//!   reads. The pod template names it, so another such setting is another pod template: pods are outdated and restart
//!   one at a time, and a server that crashes meanwhile comes back with the settings that it had.
//! - `NAME-settings` is changed in place and included by the first. It holds what a running server can read, and
//!   `pointsman.generation`, which tells by `SHOW` which text a server has read. A server that crashes reads tomorrow's
//!   text early, and for settings of this kind that is a reload.
//!
//! Which setting is of which kind, the image's own `pg_settings` says; one that the image does not know is taken for one
//! that needs a restart. What follows from the size of the volume or the number of servers must never restart anybody:
//! sizes of the log of writes are reloaded, and the places for replicas are as many as there can be replicas.

use super::kept;
use super::{names, pod};
use crate::kinds::database::object::fields::REPLICAS;
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::plan::Plan;
use crate::kinds::database::reports::results::{Availability, Context, Probe};
use crate::kinds::digest;
use crate::kinds::pod_template::Strings;
use crate::kinds::rendered::Rendered;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const HBA: &str = "local all postgres peer
host replication,postgres pointsman_replication all scram-sha-256
host all pointsman_replication all reject
host all all all scram-sha-256
";
/// The file of the settings that are reloaded.
const RELOADED: &str = "reloaded.conf";
const MIB: i64 = 1024 * 1024;
/// The log of writes may take twice an eighth of the volume, and no more than this each, in MB.
const WAL_SIZE: i64 = 4096;
/// Beside the replicas: two clones at once, each with two connections.
const MORE_SENDERS: i32 = 4;

const SENDERS: &str = "max_wal_senders";
const LIBRARIES: &str = "shared_preload_libraries";

/// What is known beside the plan: what an image has told of the settings and the extensions that a plan names, and how large the
/// volumes are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// When each setting is read; one that is not here was never asked about, or is unknown.
    pub contexts: BTreeMap<String, Context>,
    /// Extensions whose library has to be loaded when the server starts.
    pub libraries: BTreeSet<String>,
    /// The size of the smallest volume, in bytes, where there is one: a log of writes has to fit before the volume has grown.
    pub room: Option<i64>,
}

impl From<&Probe> for Learned {
    fn from(probe: &Probe) -> Self {
        let known = probe.settings.iter().filter_map(|(name, setting)| Some((name.clone(), setting.as_ref()?.context)));
        let preloaded = probe.extensions.iter().filter(|(_, found)| **found == Availability::Preloaded);
        Learned { contexts: known.collect(), libraries: preloaded.map(|(name, _)| name.clone()).collect(), room: None }
    }
}

/// The ConfigMap of what only a start reads.
pub fn at_start(object: &Object, plan: &Plan, learned: &Learned) -> Rendered {
    kept::<ConfigMap>(object, &name(object, plan, learned), "server", json!({ "immutable": true, "data": files(plan, learned) }))
}

/// Its name, by its digest.
pub fn name(object: &Object, plan: &Plan, learned: &Learned) -> String {
    names::configuration(&object.name_any(), &at_start_digest(plan, learned))
}

/// A digest of what only a start reads.
pub fn at_start_digest(plan: &Plan, learned: &Learned) -> String {
    digest::of(&files(plan, learned))
}

/// The mark of what is reloaded: another text has another one, and the same text the same.
pub fn mark(plan: &Plan, learned: &Learned) -> i64 {
    let digest = digest::fnv(text(&reloaded_settings(plan, learned, 0)).as_bytes());
    i64::try_from(digest >> 1).unwrap_or_default()
}

/// The ConfigMap of what is reloaded, with the mark by which a server that has read it is known.
pub fn reloaded(object: &Object, plan: &Plan, learned: &Learned) -> Rendered {
    let settings = reloaded_settings(plan, learned, mark(plan, learned));
    kept::<ConfigMap>(object, &names::settings(&object.name_any()), "server", json!({ "data": { RELOADED: text(&settings) } }))
}

/// Does the ConfigMap of what is reloaded hold the text of this mark?
pub fn holds(map: &ConfigMap, mark: i64) -> bool {
    let text = map.data.as_ref().and_then(|data| data.get(RELOADED));
    text.is_some_and(|text| text.contains(&format!("'g{mark}'")))
}

/// The names of the settings that need a restart.
pub fn need_restart<'a>(plan: &'a Plan, learned: &Learned) -> BTreeSet<&'a str> {
    let waits = |name: &&str| learned.contexts.get(*name).is_none_or(|context| context.needs_restart());
    plan.parameters.keys().map(String::as_str).filter(waits).collect()
}

fn files(plan: &Plan, learned: &Learned) -> Value {
    let settings = text(&start_settings(plan, learned));
    let settings = format!("{settings}include {}\n", quoted(&format!("{}/{RELOADED}", pod::SETTINGS)));
    json!({ "postgresql.conf": settings, "pg_hba.conf": HBA })
}

/// The server takes the last line of a setting: what must be as it is stands last.
fn start_settings(plan: &Plan, learned: &Learned) -> Vec<(String, String)> {
    let waiting = need_restart(plan, learned);
    let shaped = |name: &str| [SENDERS, LIBRARIES].iter().any(|shaped| name.eq_ignore_ascii_case(shaped));
    let users = plan.parameters.iter().filter(|(name, _)| waiting.contains(name.as_str()) && !shaped(name));
    let mut settings = owned(users);
    let libraries = libraries(plan, learned);
    if !libraries.is_empty() {
        settings.push((LIBRARIES.to_owned(), libraries));
    }
    settings.push((SENDERS.to_owned(), senders(plan).to_string()));
    settings.push(("wal_level".to_owned(), "replica".to_owned()));
    settings
}

fn reloaded_settings(plan: &Plan, learned: &Learned, generation: i64) -> Vec<(String, String)> {
    let waiting = need_restart(plan, learned);
    // The user's word counts here, wherever it stands.
    let unsaid = |name: &str| users(plan, name).is_none();
    let defaults = [("log_timezone", "UTC"), ("timezone", "UTC")].into_iter().filter(|(name, _)| unsaid(name));
    let mut settings: Vec<(String, String)> = defaults.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    settings.extend(owned(plan.parameters.iter().filter(|(name, _)| !waiting.contains(name.as_str()))));
    let room = learned.room.map_or(plan.storage.size.bytes, |room| room.min(plan.storage.size.bytes));
    let wal = format!("{}MB", (room / 8 / MIB).min(WAL_SIZE));
    let ours = [
        ("hot_standby_feedback", "on".to_owned()),
        ("max_slot_wal_keep_size", wal.clone()),
        ("max_wal_size", wal.clone()),
        ("min_wal_size", "32MB".to_owned()),
        ("password_encryption", "scram-sha-256".to_owned()),
        ("wal_keep_size", wal),
        ("wal_retrieve_retry_interval", "1s".to_owned()),
        ("pointsman.generation", format!("g{generation}")),
    ];
    settings.extend(ours.map(|(name, value)| (name.to_owned(), value)));
    settings
}

/// Places for replicas: for as many as there can be, so that scaling restarts nobody; more where the user wants more.
fn senders(plan: &Plan) -> i32 {
    let wanted = users(plan, SENDERS).and_then(|value| value.trim().parse().ok()).unwrap_or_default();
    (REPLICAS.1 + MORE_SENDERS).max(wanted)
}

/// The user's libraries, and those that an extension of the plan cannot do without.
fn libraries(plan: &Plan, learned: &Learned) -> String {
    let users = users(plan, LIBRARIES).unwrap_or_default();
    let mut libraries: Vec<&str> = users.split(',').map(|name| name.trim().trim_matches('"')).filter(|name| !name.is_empty()).collect();
    for name in plan.extensions.intersection(&learned.libraries) {
        if !libraries.contains(&name.as_str()) {
            libraries.push(name);
        }
    }
    libraries.join(",")
}

/// What the user says of a setting, in whatever letters.
fn users<'a>(plan: &'a Plan, setting: &str) -> Option<&'a str> {
    plan.parameters.iter().find(|(name, _)| name.eq_ignore_ascii_case(setting)).map(|(_, value)| value.as_str())
}

fn owned<'a>(settings: impl Iterator<Item = (&'a String, &'a String)>) -> Vec<(String, String)> {
    settings.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn text(settings: &[(String, String)]) -> String {
    let lines: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {}\n", quoted(value))).collect();
    lines.concat()
}

/// A value as the server's files take it: whatever it holds, it stays one value on one line.
pub fn quoted(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    text.push('\'');
    for c in value.chars() {
        match c {
            '\'' => text.push_str("''"),
            '\\' => text.push_str("\\\\"),
            c if c.is_ascii_control() => {
                // Writing into a text never fails.
                let _ = write!(text, "\\{:03o}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('\'');
    text
}

/// The user's settings as the server's file takes them, for an image to try.
pub fn tried(parameters: &Strings) -> String {
    text(&owned(parameters.iter()))
}

/// A digest of the values that a plan wants an image to take.
pub fn values(plan: &Plan) -> String {
    digest::of(&plan.parameters)
}

/// The settings that a probe asks about: all that the user names.
pub fn asked(parameters: &Strings) -> String {
    parameters.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
}
