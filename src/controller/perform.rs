//! Last verb: the orders, one call each.
//!
//! Orders about one child end at its first refusal. Orders about other children are carried out
//! all the same: a quota on pods must not keep a deleted Service from coming back. The first
//! refusal is handed to the next look; where the API server does not answer at all, the rest of
//! the orders is left to a later look, and so it is where an order about the object itself comes to nothing.

use super::cache::version_in;
use super::calls::{Answer, Unanswered, call, failed_test};
use super::first::{create, first_applied, stands};
use super::memory::Awaited;
use super::outcome::{Outcome, applied, managed, refusal, refused, words};
use super::patched::patched;
use super::seize::seize;
use crate::kinds::Served;
use crate::kinds::order::{Cascade, ChildRef, Fate, Order, Refusal, Trial, patch_of};
use crate::kinds::rendered::MANAGER;
use json_patch::{AddOperation, PatchOperation, TestOperation};
use jsonptr::PointerBuf;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::object::HasStatus;
use kube::core::{Request, Status};
use kube::{Client, Resource, ResourceExt};
use serde_json::{Value, json};

/// The field manager of what is tried and never stored.
const TRIAL: &str = "pointsman-trial";

/// The object that orders are about, or whose children.
#[derive(Debug)]
pub struct Owner {
    /// Where objects of its kind stand.
    objects: Request,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The version that the record of the decision left it in.
    version: Option<String>,
    /// Has it had children before?
    had_children: bool,
}

impl Owner {
    /// The object that was looked at; `stored` is the version that it is in since, if it was written.
    pub fn of<K: Served>(observed: &K::Object, stored: Option<u64>) -> Self {
        let namespace = observed.namespace().unwrap_or_default();
        Owner {
            objects: Request::new(K::Object::url_path(&(), Some(&namespace))),
            name: observed.name_any(),
            uid: observed.uid().unwrap_or_default(),
            version: stored.map(|version| version.to_string()).or_else(|| observed.resource_version()),
            had_children: observed.status().is_some_and(|status| status.applied.is_some()),
            namespace,
        }
    }

    /// One that is there no more, and left children behind.
    pub fn gone<K: Served>(namespace: &str, name: &str, uid: &str) -> Self {
        let objects = Request::new(K::Object::url_path(&(), Some(namespace)));
        let [namespace, name, uid] = [namespace, name, uid].map(str::to_owned);
        Owner { objects, namespace, name, uid, version: None, had_children: true }
    }
}

/// What became of the orders.
#[derive(Debug, Default)]
pub struct Performed {
    /// What the caches have to show before the next step.
    pub awaited: Vec<Awaited>,
    /// The first refusal.
    pub refusal: Option<Refusal>,
    /// Why the rest was not tried.
    pub failure: Option<Unanswered>,
    /// Was a child not what it was when it was seen?
    pub outdated: bool,
}

impl Performed {
    /// Was every order carried out?
    pub fn whole(&self) -> bool {
        self.refusal.is_none() && self.failure.is_none() && !self.outdated
    }
}

/// Carries out `orders` about an object and its children.
pub async fn perform(client: &Client, owner: &Owner, orders: &[Order]) -> Performed {
    let mut performed = Performed::default();
    let mut refused: Vec<&ChildRef> = Vec::new();
    for order in orders {
        if order.child().is_some_and(|child| refused.contains(&child)) {
            continue;
        }
        match carry_out(client, owner, order).await {
            Ok(Outcome::Done(awaited)) => {
                performed.awaited.push(awaited);
                continue;
            }
            Ok(Outcome::Outdated) => {
                tracing::debug!(child = ?order.child(), "what the order is about has changed since it was seen");
                performed.outdated = true;
            }
            Ok(Outcome::Refused(refusal)) => {
                tracing::warn!(child = ?refusal.child, words = refusal.words, "an order was refused");
                refused.extend(order.child());
                performed.refusal.get_or_insert(refusal);
            }
            Err(unanswered) => {
                performed.failure = Some(unanswered);
                break;
            }
        }
        // What the finalizer is to guard is not made without it.
        if order.child().is_none() {
            break;
        }
    }
    performed
}

/// Would the API server let ours take the place of these objects? Nothing is stored. An apply of all of it would be no trial:
/// what others own in the spec stays under it, until that is made ours, and to make it ours is to store it. So metadata are
/// applied, by nobody who owns anything there yet, and what is beside them is put in its place.
///
/// # Errors
/// When the API server does not answer.
pub async fn attempt(client: &Client, namespace: &str, orders: &[Order]) -> Result<Trial, Unanswered> {
    for order in orders {
        let Order::Apply { child, object, uid: Some(uid), .. } = order else { continue };
        let params = PatchParams { dry_run: true, field_manager: Some(TRIAL.to_owned()), ..PatchParams::default() };
        let (children, (metadata, rest)) = (collection(child, namespace), replacing(object, uid));
        let placed = children.patch(&child.name, &params.clone().force(), &Patch::Apply(&metadata));
        let replaced = children.patch(&child.name, &params, &Patch::<()>::Json(rest));
        for request in [placed, replaced] {
            if let Answer::Refused(status) = call(client, request).await? {
                return Ok(Trial::Failed(refusal(child, &status, Fate::Refused)));
            }
        }
    }
    Ok(Trial::Passed)
}

async fn carry_out(client: &Client, owner: &Owner, order: &Order) -> Result<Outcome, Unanswered> {
    match order {
        Order::Apply { child, object, uid: None, .. } => {
            let children = collection(child, &owner.namespace);
            if owner.had_children && stands(client, &children, child, &owner.uid).await? {
                return Ok(Outcome::Outdated);
            }
            let answer = call(client, children.patch(&child.name, &applied(), &Patch::Apply(object))).await?;
            first_applied(client, &children, child, object, answer).await
        }
        Order::Apply { child, object, uid: Some(uid), whole } => {
            let children = collection(child, &owner.namespace);
            if *whole {
                let seized = changed(child, seize(client, &children, child, uid, MANAGER).await?, outdated);
                if !matches!(seized, Outcome::Done(_)) {
                    return Ok(seized);
                }
            }
            let answer = call(client, children.patch(&child.name, &applied().force(), &Patch::Apply(&with_uid(object, uid)))).await?;
            // Forced, so no field can conflict: 409 says that the uid is another one.
            Ok(changed(child, answer, |status| status.code == 409))
        }
        Order::Create { child, object } => create(client, &collection(child, &owner.namespace), child, object, &owner.uid).await,
        Order::Own { patch } => own(client, owner, patch).await,
        Order::Patch { child, patch } => {
            let patch = Patch::<()>::Json(patch.clone());
            Ok(changed(child, call(client, collection(child, &owner.namespace).patch(&child.name, &managed(), &patch)).await?, outdated))
        }
        Order::Delete { child, uid, resource_version, cascade } => {
            let only = Preconditions { uid: Some(uid.clone()), resource_version: Some(resource_version.clone()) };
            let params = DeleteParams { preconditions: Some(only), ..deletion(*cascade) };
            Ok(match call(client, collection(child, &owner.namespace).delete(&child.name, &params)).await? {
                Answer::Done { .. } => Outcome::Done(Awaited::Removed(child.clone(), uid.clone())),
                Answer::Refused(status) if [404, 409].contains(&status.code) => Outcome::Outdated,
                Answer::Refused(status) => refused(child, &status, Fate::Refused),
            })
        }
    }
}

/// A patch of the object itself, in the very version that the record of the decision left it in.
async fn own(client: &Client, owner: &Owner, patch: &json_patch::Patch) -> Result<Outcome, Unanswered> {
    let field = PointerBuf::from_tokens(["metadata", "resourceVersion"]);
    let version = PatchOperation::Test(TestOperation { path: field, value: json!(owner.version) });
    let whole = json_patch::Patch(std::iter::once(version).chain(patch.0.iter().cloned()).collect());
    Ok(match patched(client, &owner.objects, &owner.name, None, MANAGER, whole).await? {
        Answer::Done { meta, .. } => Outcome::Done(Awaited::Object(version_in(&meta))),
        Answer::Refused(status) if outdated(&status) => Outcome::Outdated,
        Answer::Refused(status) => Outcome::Refused(Refusal { child: None, words: words(&status), fate: Fate::Refused }),
    })
}

fn deletion(cascade: Cascade) -> DeleteParams {
    match cascade {
        Cascade::Background => DeleteParams::background(),
        Cascade::Foreground => DeleteParams::foreground(),
        Cascade::Orphan => DeleteParams::orphan(),
    }
}

fn changed(child: &ChildRef, answer: Answer, outdated: impl Fn(&Status) -> bool) -> Outcome {
    match answer {
        Answer::Done { meta, .. } => Outcome::Done(Awaited::Child(child.clone(), version_in(&meta))),
        Answer::Refused(status) if outdated(&status) => Outcome::Outdated,
        Answer::Refused(status) => refused(child, &status, Fate::Refused),
    }
}

/// A patch of an object that is gone, or not what its tests say.
fn outdated(status: &Status) -> bool {
    [404, 409].contains(&status.code) || failed_test(status)
}

/// What says which object it is and whose, to be applied; and what puts the rest in the place of what the object of this uid has.
fn replacing(object: &Value, uid: &str) -> (Value, json_patch::Patch) {
    let mut metadata = with_uid(object, uid);
    let mut rest = Vec::new();
    if let Some(fields) = metadata.as_object_mut() {
        fields.retain(|field, value| {
            let stays = ["apiVersion", "kind", "metadata"].contains(&field.as_str());
            if !stays {
                rest.push(AddOperation { path: PointerBuf::from_tokens([field.as_str()]), value: value.take() });
            }
            stays
        });
    }
    (metadata, patch_of(Some(uid), rest.into_iter().map(PatchOperation::Add)))
}

/// The object, for the very child of this uid and no other.
fn with_uid(object: &Value, uid: &str) -> Value {
    let mut object = object.clone();
    object["metadata"]["uid"] = json!(uid);
    object
}

pub(super) fn collection(child: &ChildRef, namespace: &str) -> Request {
    let root = if child.kind.group().is_empty() { "api" } else { "apis" };
    Request::new(format!("/{root}/{}/namespaces/{namespace}/{}", child.kind.api_version(), child.kind.plural()))
}
