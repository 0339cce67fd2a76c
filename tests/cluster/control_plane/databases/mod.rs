//! Databases whose servers and Jobs are played: what the API server, its controllers and the operator make of each other.
//!
//! A Job's pod ends with the words of a script that went well, or with those that an annotation of the pod template says:
//! see `tests/cluster/config/kwok.yaml`.

mod backups;
mod born;
mod busy;
pub mod carrier;
mod edits;
mod endings;
mod invalid;
mod lives;
pub mod meshes;
mod migrate;
mod plans;
mod questions;
mod refusals;
mod refused;
mod repairs;
mod strangers;

use crate::harness::{Space, Thing};
use serde_json::{Value, json};

/// How long anything may take that needs nobody's deadline.
const SOON: u64 = 60;
/// A question's deadline as `tests/run` sets it, and some.
const ASKS: u64 = 90;

/// Creates a Database with these fields beside the required ones.
#[track_caller]
pub fn create<'a>(space: &'a Space, name: &str, fields: &Value) -> Thing<'a> {
    let mut spec = json!({ "databaseName": "shop", "storage": { "size": "1Gi" } });
    for (field, value) in fields.as_object().expect("fields") {
        spec[field] = value.clone();
    }
    let manifest = json!({ "apiVersion": "stable.imaginedata.com/v1", "kind": "Database", "metadata": { "name": name }, "spec": spec });
    space.applied(&manifest.to_string());
    space.db(name)
}

/// The same, and waits for it.
#[track_caller]
fn ready<'a>(space: &'a Space, name: &str, fields: &Value) -> Thing<'a> {
    let base = create(space, name, fields);
    base.ready_within(SOON);
    base
}

/// The field that has the Job of a component say something else: these words, or `wait`.
fn saying(component: &str, words: &str) -> Value {
    json!({ "metadata": { "annotations": { format!("example.com/{component}"): words } } })
}

/// How the name of what all databases of a namespace run begins.
const SCRIPTS: &str = "configmap/pointsman-database-scripts-";

/// The names that `kubectl get WHAT` lists, without those of other objects that every namespace has.
#[track_caller]
fn names(space: &Space, what: &str) -> Vec<String> {
    let named = |object: Value| {
        let kind = object["kind"].as_str().unwrap().to_lowercase();
        let group = object["apiVersion"].as_str().unwrap().split_once('/').map(|(group, _)| format!(".{group}"));
        format!("{kind}{}/{}", group.unwrap_or_default(), object["metadata"]["name"].as_str().unwrap())
    };
    space.object_list(&[what]).into_iter().map(named).filter(|name| name != "configmap/kube-root-ca.crt").collect()
}

/// The question that is open, once there is one; it has this reason.
#[track_caller]
fn asked(base: &Thing<'_>, reason: &str) -> Value {
    base.reaches("HumanIntervention", ASKS);
    let question = base.status()["intervention"].clone();
    assert_eq!(question["reason"], reason, "{question:#}");
    question
}
