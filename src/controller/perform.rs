//! Last verb: the orders, one call each.
//!
//! Orders about one child end at its first refusal. Orders about other children are carried out
//! all the same: a quota on pods must not keep a deleted Service from coming back. The first
//! refusal is handed to the next look; where the API server does not answer at all, the rest of
//! the orders is left to a later look.

use super::cache::version_in;
use super::calls::{Answer, Unanswered, call, failed_test};
use super::memory::Awaited;
use crate::kinds::Refusal;
use crate::kinds::order::{ChildRef, Order};
use kube::Client;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions, ValidationDirective};
use kube::core::{ObjectMeta, Request, Status};
use serde_json::{Value, json};

/// The field manager of the children.
const MANAGER: &str = "pointsman";

/// What became of the orders.
#[derive(Debug, Default)]
pub struct Performed {
    /// What the caches have to show before the next step.
    pub awaited: Vec<Awaited>,
    /// The first refusal.
    pub refusal: Option<Refusal>,
    /// Why the rest was not tried.
    pub failure: Option<Unanswered>,
}

/// What became of one order.
enum Outcome {
    Done(Awaited),
    /// The child is not what it was when it was seen: the next look sees it as it is.
    Outdated,
    Refused(Refusal),
}

/// Carries out `orders` about children in `namespace`.
pub async fn perform(client: &Client, namespace: &str, orders: &[Order]) -> Performed {
    let mut performed = Performed::default();
    let mut refused: Vec<&ChildRef> = Vec::new();
    for order in orders {
        if refused.contains(&order.child()) {
            continue;
        }
        match carry_out(client, namespace, order).await {
            Ok(Outcome::Done(awaited)) => performed.awaited.push(awaited),
            Ok(Outcome::Outdated) => tracing::debug!(child = ?order.child(), "the child has changed since it was seen"),
            Ok(Outcome::Refused(refusal)) => {
                tracing::warn!(child = ?refusal.child, words = refusal.words, "an order was refused");
                refused.push(order.child());
                performed.refusal.get_or_insert(refusal);
            }
            Err(unanswered) => {
                performed.failure = Some(unanswered);
                break;
            }
        }
    }
    performed
}

async fn carry_out(client: &Client, namespace: &str, order: &Order) -> Result<Outcome, Unanswered> {
    let children = collection(order.child(), namespace);
    let name = &order.child().name;
    match order {
        Order::Apply { child, object, uid: None } => {
            let answer = call(client, children.patch(name, &applied(), &Patch::Apply(object))).await?;
            first_applied(client, &children, child, object, answer).await
        }
        Order::Apply { child, object, uid: Some(uid) } => {
            let mut object = object.clone();
            object["metadata"]["uid"] = json!(uid);
            let answer = call(client, children.patch(name, &applied().force(), &Patch::Apply(&object))).await?;
            // Forced, so no field can conflict: 409 says that the uid is another one.
            Ok(changed(child, answer, |status| status.code == 409))
        }
        Order::Patch { child, patch } => {
            let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
            let answer = call(client, children.patch(name, &params, &Patch::<()>::Json(patch.clone()))).await?;
            Ok(changed(child, answer, |status| [404, 409].contains(&status.code) || failed_test(status)))
        }
        Order::Delete { child, uid, resource_version } => {
            let only = Preconditions { uid: Some(uid.clone()), resource_version: Some(resource_version.clone()) };
            let params = DeleteParams { preconditions: Some(only), ..DeleteParams::background() };
            Ok(match call(client, children.delete(name, &params)).await? {
                Answer::Done { .. } => Outcome::Done(Awaited::Removed(child.clone(), uid.clone())),
                Answer::Refused(status) if [404, 409].contains(&status.code) => Outcome::Outdated,
                Answer::Refused(status) => refused(child, &status, false),
            })
        }
    }
}

/// The answer to the first apply of a child. It was not forced, so a field that somebody else
/// wrote is a conflict; where they share no field, the answer shows who was there before.
async fn first_applied(
    client: &Client,
    children: &Request,
    child: &ChildRef,
    object: &Value,
    answer: Answer,
) -> Result<Outcome, Unanswered> {
    let meta = match answer {
        Answer::Done { created: false, meta } => meta,
        Answer::Done { created: true, meta } => return Ok(Outcome::Done(Awaited::Child(child.clone(), version_in(&meta)))),
        Answer::Refused(status) => return Ok(refused(child, &status, status.code == 409)),
    };
    let Some(writer) = other_writer(&meta) else {
        // An earlier order of ours that arrived late.
        return Ok(Outcome::Done(Awaited::Child(child.clone(), version_in(&meta))));
    };
    give_back(client, children, child, object, &meta).await?;
    let words = format!("it was there before, written by {writer}");
    Ok(Outcome::Refused(Refusal { child: child.clone(), words, conflict: true }))
}

/// Takes every field of ours out of a stranger's object that appeared while we created ours:
/// with our owner reference it would be deleted together with our object.
async fn give_back(client: &Client, children: &Request, child: &ChildRef, object: &Value, meta: &ObjectMeta) -> Result<(), Unanswered> {
    let empty = json!({
        "apiVersion": object["apiVersion"],
        "kind": object["kind"],
        "metadata": { "name": meta.name, "namespace": meta.namespace, "uid": meta.uid },
    });
    match call(client, children.patch(&child.name, &applied().force(), &Patch::Apply(&empty))).await? {
        Answer::Done { .. } => tracing::warn!(?child, "a stranger's object of that name appeared; it was given back"),
        Answer::Refused(status) => tracing::error!(?child, words = status.message, "a stranger's object could not be given back"),
    }
    Ok(())
}

/// Kubernetes' own controllers annotate a Deployment of ours as soon as it is there.
const BYSTANDER: &str = "kube-controller-manager";

/// Somebody else who wrote more than a subresource of the object.
fn other_writer(meta: &ObjectMeta) -> Option<&str> {
    let mut writers = meta.managed_fields.iter().flatten().filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty());
    writers.find_map(|entry| entry.manager.as_deref().filter(|manager| ![MANAGER, BYSTANDER].contains(manager)))
}

fn changed(child: &ChildRef, answer: Answer, outdated: impl Fn(&Status) -> bool) -> Outcome {
    match answer {
        Answer::Done { meta, .. } => Outcome::Done(Awaited::Child(child.clone(), version_in(&meta))),
        Answer::Refused(status) if outdated(&status) => Outcome::Outdated,
        Answer::Refused(status) => refused(child, &status, false),
    }
}

fn refused(child: &ChildRef, status: &Status, conflict: bool) -> Outcome {
    let words = if status.message.is_empty() { format!("{} {}", status.code, status.reason) } else { status.message.clone() };
    Outcome::Refused(Refusal { child: child.clone(), words, conflict })
}

fn applied() -> PatchParams {
    PatchParams { field_manager: Some(MANAGER.to_owned()), field_validation: Some(ValidationDirective::Strict), ..PatchParams::default() }
}

fn collection(child: &ChildRef, namespace: &str) -> Request {
    let root = if child.kind.group().is_empty() { "api" } else { "apis" };
    Request::new(format!("/{root}/{}/namespaces/{namespace}/{}", child.kind.api_version(), child.kind.plural()))
}
