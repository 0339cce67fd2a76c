//! A name is taken: the first apply of a child, or its making. Whoever was there before keeps what is theirs.

use super::cache::version_in;
use super::calls::{Answer, Unanswered, call, fetch};
use super::memory::Awaited;
use super::outcome::{Outcome, applied, refused};
use crate::kinds::children::{belongs, controller};
use crate::kinds::order::{ChildRef, Fate, Refusal};
use crate::kinds::rendered::{MANAGER, SHARED_BY};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::Client;
use kube::api::{GetParams, ListParams, Patch, PostParams};
use kube::core::{ObjectList, ObjectMeta, PartialObjectMeta, Request};
use serde_json::{Value, json};

/// Does a child that was not seen stand there after all? A cache may be late, and who wrote to a child of ours would then
/// pass for a stranger whose object it is.
pub(super) async fn stands(client: &Client, children: &Request, child: &ChildRef, owner: &str) -> Result<bool, Unanswered> {
    Ok(standing(client, children, child).await?.is_some_and(|found| belongs(&found, owner)))
}

/// Who stands under the child's name.
pub(super) async fn standing(client: &Client, children: &Request, child: &ChildRef) -> Result<Option<PartialObjectMeta>, Unanswered> {
    // Who may not list secrets may read one by its name.
    if child.kind.is_secret() {
        return fetch(client, children.get_metadata(&child.name, &GetParams::default())).await;
    }
    let one = ListParams::default().fields(&format!("metadata.name={}", child.name));
    let found: Option<ObjectList<PartialObjectMeta>> = fetch(client, children.list_metadata(&one)).await?;
    Ok(found.and_then(|found| found.items.into_iter().next()))
}

/// Makes a child; one that is there already stays as it is.
pub(super) async fn create(
    client: &Client,
    children: &Request,
    child: &ChildRef,
    object: &Value,
    owner: &str,
) -> Result<Outcome, Unanswered> {
    let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
    let status = match call(client, children.create(&params, object.to_string().into_bytes())).await? {
        Answer::Done { meta, .. } => return Ok(Outcome::Done(Awaited::Child(child.clone(), version_in(&meta)))),
        Answer::Refused(status) => status,
    };
    if status.code != 409 {
        return Ok(refused(child, &status, Fate::Refused));
    }
    // Ours, or another's that shares it, or gone again, or a quota that somebody else counted on meanwhile: the next look sees it.
    let is_shared = !object["metadata"]["labels"][SHARED_BY].is_null();
    let stranger = standing(client, children, child).await?.filter(|found| !is_shared && !belongs(found, owner));
    let Some(stranger) = stranger.filter(|_| status.reason == "AlreadyExists") else { return Ok(Outcome::Outdated) };
    let whose = controller(&stranger).map_or("nobody controls it".to_owned(), |owner| format!("{} {} controls it", owner.kind, owner.name));
    Ok(Outcome::Refused(Refusal { child: Some(child.clone()), words: format!("it was there before; {whose}"), fate: Fate::Taken }))
}

/// The answer to the first apply of a child. It was not forced, so a field that somebody else
/// wrote is a conflict; where they share no field, the answer shows who was there before.
pub(super) async fn first_applied(
    client: &Client,
    children: &Request,
    child: &ChildRef,
    object: &Value,
    answer: Answer,
) -> Result<Outcome, Unanswered> {
    let meta = match answer {
        Answer::Done { created: false, meta } => meta,
        Answer::Done { created: true, meta } => return Ok(Outcome::Done(Awaited::Child(child.clone(), version_in(&meta)))),
        Answer::Refused(status) if status.code == 409 => return Ok(refused(child, &status, Fate::Taken)),
        Answer::Refused(status) => return Ok(refused(child, &status, Fate::Refused)),
    };
    let Some(writer) = other_writer(&meta) else {
        // An earlier order of ours that arrived late.
        return Ok(Outcome::Done(Awaited::Child(child.clone(), version_in(&meta))));
    };
    give_back(client, children, child, object, &meta).await?;
    let words = format!("it was there before, written by {writer}");
    Ok(Outcome::Refused(Refusal { child: Some(child.clone()), words, fate: Fate::Taken }))
}

/// Takes every field of ours out of a stranger's object that appeared while we created ours:
/// with our owner reference it would be deleted together with our object.
async fn give_back(client: &Client, children: &Request, child: &ChildRef, object: &Value, meta: &ObjectMeta) -> Result<(), Unanswered> {
    let empty = json!({
        "apiVersion": object["apiVersion"],
        "kind": object["kind"],
        "metadata": { "name": meta.name, "namespace": meta.namespace, "uid": meta.uid },
    });
    let Answer::Refused(status) = call(client, children.patch(&child.name, &applied().force(), &Patch::Apply(&empty))).await? else {
        tracing::warn!(?child, "a stranger's object of that name appeared; it was given back");
        return Ok(());
    };
    // What its pods may do is not for us to write. That it is nobody's of ours is.
    let mut ownerless = object.clone();
    ownerless["metadata"] = empty["metadata"].clone();
    match call(client, children.patch(&child.name, &applied().force(), &Patch::Apply(&ownerless))).await? {
        Answer::Done { .. } => {
            tracing::error!(?child, words = status.message, "a stranger's object was let go with what was written to it");
        }
        Answer::Refused(status) => tracing::error!(?child, words = status.message, "a stranger's object could not be given back"),
    }
    Ok(())
}

/// Kubernetes' own controllers annotate a Deployment of ours as soon as it is there.
const BYSTANDER: &str = "kube-controller-manager";

/// Somebody else who wrote more than a subresource of the object before we did. An apply that changes nothing keeps the time of
/// the one before: where ours is as old as the object, ours made it, and who wrote later came to it, as a cloud's controller does
/// that puts its finalizer on a Service.
fn other_writer(meta: &ObjectMeta) -> Option<&str> {
    let created = meta.creation_timestamp.as_ref();
    let is_later = |entry: &ManagedFieldsEntry| entry.time.as_ref().zip(created).is_some_and(|(time, created)| time > created);
    let writers = || meta.managed_fields.iter().flatten().filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty());
    let is_ours = |entry: &&ManagedFieldsEntry| entry.manager.as_deref() == Some(MANAGER);
    let is_made_by_us = writers().any(|entry| is_ours(&entry) && !is_later(entry));
    let came_to_it = |entry: &ManagedFieldsEntry| is_made_by_us && (is_later(entry) || owns_metadata_alone(entry));
    let mut others = writers().filter(|entry| !is_ours(entry) && entry.manager.as_deref() != Some(BYSTANDER));
    others.find(|entry| !came_to_it(entry)).and_then(|entry| entry.manager.as_deref())
}

/// Nobody makes an object of metadata alone: a finalizer was put on it, or an annotation.
fn owns_metadata_alone(entry: &ManagedFieldsEntry) -> bool {
    let fields = entry.fields_v1.as_ref().and_then(|fields| fields.0.as_object());
    fields.is_some_and(|fields| !fields.is_empty() && fields.keys().all(|field| field == "f:metadata"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It puts a finalizer on a Service.
    const CLOUD: &str = "cloud-controller-manager";

    /// An object that was created at second 5, with who wrote it, and when.
    fn written(writers: &[(&str, u8)]) -> ObjectMeta {
        let at = |second: u8| format!("2026-01-02T03:04:{second:02}Z");
        let fields = |manager: &str| if manager == CLOUD { json!({ "f:metadata": {} }) } else { json!({ "f:metadata": {}, "f:spec": {} }) };
        let entry = |(manager, second): &(&str, u8)| json!({ "manager": manager, "operation": "Apply", "time": at(*second), "fieldsV1": fields(manager) });
        let meta = json!({ "creationTimestamp": at(5), "managedFields": writers.iter().map(entry).collect::<Vec<_>>() });
        serde_json::from_value(meta).expect("metadata")
    }

    #[test]
    fn who_comes_to_what_an_earlier_apply_of_ours_made_was_not_there_before() {
        let before = |writers: &[(&str, u8)]| other_writer(&written(writers)).map(str::to_owned);
        assert_eq!(before(&[("pointsman", 5)]), None);
        assert_eq!([5, 6].map(|second| before(&[("pointsman", 5), (CLOUD, second)])), [None, None]);
        assert_eq!(before(&[("kubectl", 5), (CLOUD, 5), ("pointsman", 5)]).as_deref(), Some("kubectl"));
        assert_eq!(before(&[("pointsman", 5), (BYSTANDER, 5)]), None);
        // A stranger made it, and wrote to it again, before or after we applied ours.
        for stranger in [5, 6, 7, 8] {
            assert_eq!(before(&[("kubectl", stranger), ("pointsman", 7)]).as_deref(), Some("kubectl"), "{stranger}");
        }
        // Of one second nobody knows who was first.
        assert_eq!(before(&[("kubectl", 5), ("pointsman", 5)]).as_deref(), Some("kubectl"));
    }
}
