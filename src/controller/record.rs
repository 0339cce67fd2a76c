//! Third verb: the decision's status, stored before anything is done about it.

use super::cache::version_in;
use super::calls::{Answer, Unanswered, call, failed_test};
use super::patched::patched;
use crate::kinds::order::patch_of;
use crate::kinds::status::CONDITIONS;
use crate::kinds::{Decision, Served};
use json_patch::{AddOperation, PatchOperation, TestOperation};
use jsonptr::PointerBuf;
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

impl Error {
    /// What to tell of the object, where it is the object itself that the API server cannot take in. What it says of its own
    /// troubles, of rights or of a webhook that cannot be called is nothing to mend there.
    pub fn about_the_object(&self) -> Option<&str> {
        const ELSEWHERE: [&str; 5] = ["webhook", "etcdserver", "timeout", "timed out", "deadline exceeded"];
        let Error::Refused(status) = self else { return None };
        let passes = [401, 403, 429, 503, 504].contains(&status.code) || ELSEWHERE.iter().any(|word| status.message.contains(word));
        (!passes).then_some(&status.message)
    }
}

/// Stores the decision's status over the very version of `observed` that it was decided on.
///
/// # Errors
/// When the API server refuses it or does not answer.
pub async fn record<K: Served>(client: &Client, observed: &K::Object, decision: &Decision<K>) -> Result<Recorded, Error> {
    let status = json(&decision.status)?;
    let mut before = observed.status().map(json).transpose()?.unwrap_or_default();
    let others = take_others(&mut before, &status);
    if before == status {
        return Ok(Recorded::Unchanged);
    }
    let (name, namespace) = (observed.name_any(), observed.namespace().unwrap_or_default());
    let meta = json!({ "name": name, "namespace": namespace, "uid": observed.uid(), "resourceVersion": observed.resource_version() });
    let body = json!({ "apiVersion": K::Object::api_version(&()), "kind": K::Object::kind(&()), "metadata": meta, "status": status });
    let params = PatchParams::apply(MANAGER).force();
    let objects = Request::new(K::Object::url_path(&(), Some(&namespace)));
    let applied = call(client, objects.patch_subresource("status", &name, &params, &Patch::Apply(&body))).await?;
    let stands = match &applied {
        Answer::Done { meta, .. } => meta.resource_version == observed.resource_version(),
        Answer::Refused(status) => status.code == 422,
    };
    if !stands {
        return recorded(applied);
    }
    // What somebody else wrote into the status stays where an apply leaves it out, so all of ours is replaced.
    recorded(patched(client, &objects, &name, Some("status"), MANAGER, replaced(observed, status, others)).await?)
}

fn recorded(answer: Answer) -> Result<Recorded, Error> {
    match answer {
        Answer::Done { meta, .. } => Ok(Recorded::Stored(version_in(&meta))),
        Answer::Refused(status) if status.code == 409 || failed_test(&status) => Ok(Recorded::Outdated),
        Answer::Refused(status) if status.code == 404 => Ok(Recorded::Gone),
        Answer::Refused(status) => Err(Error::Refused(status)),
    }
}

/// Puts `status` in the place of the one that was seen; conditions of others stay, as far as they can be read and there is room.
fn replaced(observed: &impl Resource, mut status: Value, others: Vec<Value>) -> json_patch::Patch {
    if let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) {
        conditions.extend(others);
        conditions.truncate(CONDITIONS);
    }
    let path = PointerBuf::from_tokens(["metadata", "resourceVersion"]);
    let version = TestOperation { path, value: json!(observed.meta().resource_version) };
    let status = AddOperation { path: PointerBuf::from_tokens(["status"]), value: status };
    patch_of(observed.meta().uid.as_deref(), [PatchOperation::Test(version), PatchOperation::Add(status)])
}

/// Takes the conditions of others out of `before`: those of a type that `status` does not have.
fn take_others(before: &mut Value, status: &Value) -> Vec<Value> {
    let ours: Vec<&Value> = status["conditions"].as_array().into_iter().flatten().map(|condition| &condition["type"]).collect();
    let conditions = before.get_mut("conditions").and_then(Value::as_array_mut);
    conditions.map(|all| all.extract_if(.., |condition| !ours.contains(&&condition["type"])).collect()).unwrap_or_default()
}

fn json(status: &impl serde::Serialize) -> Result<Value, Unanswered> {
    serde_json::to_value(status).map_err(|error| Unanswered::Call(kube::Error::SerdeError(error)))
}
