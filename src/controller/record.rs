//! Third verb: the decision's status, stored before anything is done about it.

use super::cache::version_in;
use super::calls::{Answer, Unanswered, call};
use crate::kinds::{Decision, Served};
use kube::api::{Patch, PatchParams};
use kube::core::Request;
use kube::core::object::HasStatus;
use kube::{Client, Resource, ResourceExt};
use serde_json::{Value, json};
use thiserror::Error;

/// The field manager of the status.
const MANAGER: &str = "pointsman-status";

/// What became of the status.
#[derive(Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It says already what it should.
    Unchanged,
    /// It was stored, in this version of the object.
    Stored(u64),
    /// The object has changed since it was seen: the decision is void, and the next look decides.
    Outdated,
    /// The object is gone.
    Gone,
}

/// The status was not stored.
#[derive(Debug, Error)]
pub enum Error {
    /// The API server refuses it.
    #[error("the status was refused: {0}")]
    Refused(Box<kube::core::Status>),
    /// Nobody knows whether it was stored.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
}

/// Stores the decision's status over the very version of `observed` that it was decided on.
///
/// # Errors
/// When the API server refuses it or does not answer.
pub async fn record<K: Served>(client: &Client, observed: &K::Object, decision: &Decision<K>) -> Result<Recorded, Error> {
    let status = json(&decision.status)?;
    if observed.status().map(json).transpose()?.as_ref() == Some(&status) {
        return Ok(Recorded::Unchanged);
    }
    let (name, namespace) = (observed.name_any(), observed.namespace().unwrap_or_default());
    let meta = json!({ "name": name, "namespace": namespace, "uid": observed.uid(), "resourceVersion": observed.resource_version() });
    let body = json!({ "apiVersion": K::Object::api_version(&()), "kind": K::Object::kind(&()), "metadata": meta, "status": status });
    let params = PatchParams::apply(MANAGER).force();
    let objects = Request::new(K::Object::url_path(&(), Some(&namespace)));
    match call(client, objects.patch_subresource("status", &name, &params, &Patch::Apply(&body))).await? {
        Answer::Done { meta, .. } => Ok(Recorded::Stored(version_in(&meta))),
        Answer::Refused(status) if status.code == 409 => Ok(Recorded::Outdated),
        Answer::Refused(status) if status.code == 404 => Ok(Recorded::Gone),
        Answer::Refused(status) => Err(Error::Refused(status)),
    }
}

fn json(status: &impl serde::Serialize) -> Result<Value, Unanswered> {
    serde_json::to_value(status).map_err(|error| Unanswered::Call(kube::Error::SerdeError(error)))
}
