//! What is told to people: of a stored move one Event beside the object and one line in the log, which outlives the object;
//! of a condition that turned, and of what else has happened, an Event; its end, in the log alone; and what keeps the operator from it.

use super::calls::bounded;
use super::complaint::Complaint;
use super::observe::stamp;
use super::perform::Owner;
use crate::kinds::Served;
use crate::kinds::intervention::Intervention;
use crate::kinds::news::News;
use crate::kinds::prose::listed;
use crate::kinds::status::{Move, Status, turned};
use crate::machine::{Role, Word};
use crate::telemetry;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
use kube::api::PostParams;
use kube::core::ObjectMeta;
use kube::core::object::HasStatus;
use kube::{Api, Client, Resource, ResourceExt};

/// The most that the API server takes as a note, in bytes.
const NOTE: usize = 1024;
/// Who reports.
const CONTROLLER: &str = "pointsman";

/// Where the lifecycle ends, as its diagrams write it.
const END: &str = "[*]";

/// Tells a stored move, and what the status says since. An Event that cannot be written is not worth an error: the move is
/// in `status.history` and in the log.
pub async fn tell<K: Served>(client: &Client, instance: &str, object: &K::Object, told: &Move, status: &Status<K::Spec>) {
    let kind = K::Object::kind(&());
    telemetry::transition(&kind, &told.from, &told.to);
    let question = status.intervention.as_ref().map(Intervention::summary);
    let text = question.as_deref().or(status.message.as_deref()).unwrap_or_default();
    log_move::<K>(object, told, text);
    let note = format!("{} -> {}: {text}", told.from, told.to);
    let warning = is_warning::<K>(&told.to);
    write::<K>(client, instance, object, Told { warning, reason: &told.cause, action: &told.to, note }).await;
}

/// Tells each condition of the object's own kind that holds no more, or holds again.
pub async fn tell_turns<K: Served>(client: &Client, instance: &str, object: &K::Object, status: &Status<K::Spec>) {
    let before = object.status().map(|status| status.conditions.as_slice()).unwrap_or_default();
    for (condition, holds) in turned(K::CONDITIONS, before, &status.conditions) {
        let note = format!("{} is {}: {}", condition.type_, condition.status, condition.message);
        write::<K>(client, instance, object, Told { warning: !holds, reason: &condition.reason, action: &condition.type_, note }).await;
    }
}

/// Tells what has happened beside moves and conditions.
pub async fn tell_news<K: Served>(client: &Client, instance: &str, object: &K::Object, news: &[News]) {
    for one in news {
        match one {
            News::Failed { reason, action, words } => {
                write::<K>(client, instance, object, Told { warning: true, reason, action, note: words.clone() }).await;
            }
            News::VolumesGo(claims) => tell_volumes::<K>(client, instance, object, claims).await,
        }
    }
}

/// Tells the volumes that go with their namespace. Nothing can be written in it any more: the Event is about the namespace
/// itself, and stands where those about the cluster's own objects stand.
async fn tell_volumes<K: Served>(client: &Client, instance: &str, object: &K::Object, claims: &[String]) {
    let (kind, name, namespace) = (K::Object::kind(&()), object.name_any(), object.namespace().unwrap_or_default());
    let (uid, volumes) = (object.uid().unwrap_or_default(), listed(claims.iter().cloned()));
    tracing::warn!(%kind, namespace, name, uid, volumes, "the namespace goes, and these volumes with it");
    telemetry::volumes_go(&kind, claims.len());
    let note = format!("{kind} {name} is let go with the namespace, and its volumes with it: {volumes}");
    let regarding = ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("Namespace".to_owned()),
        name: Some(namespace),
        ..ObjectReference::default()
    };
    send(client, instance, regarding, Told { warning: true, reason: "VolumesGo", action: "Release", note }).await;
}

/// Tells the end of an object, as it was seen last: no status is left that could say it.
pub fn tell_end<K: Served>(object: &K::Object) {
    let from = object.status().and_then(|status| status.state.clone()).unwrap_or_else(|| K::START.text());
    let end = Move {
        from,
        to: END.to_owned(),
        cause: "Removed".to_owned(),
        time: Time(stamp()),
        generation: object.meta().generation.unwrap_or_default(),
        answer: None,
    };
    log_move::<K>(object, &end, "the object is gone");
}

/// One line a move: the archive of every object's life. Its fields are promised in docs/logs.md.
fn log_move<K: Served>(object: &K::Object, told: &Move, text: &str) {
    let (kind, name, namespace) = (K::Object::kind(&()), object.name_any(), object.namespace().unwrap_or_default());
    let uid = object.uid().unwrap_or_default();
    let Move { from, to, cause, generation, answer, .. } = told;
    tracing::info!(%kind, namespace, name, uid, from, to, cause, generation, answer, text, "moved");
}

/// Tells what keeps the operator from looking after an object.
pub async fn complain<K: Served>(client: &Client, instance: &str, object: &K::Object, complaint: Complaint<'_>) {
    let (reason, action, note) = complaint.told();
    write::<K>(client, instance, object, Told { warning: true, reason, action, note }).await;
}

/// Tells what was removed of an object whose finalizer a hand took off, and what was kept.
pub async fn tell_sweep<K: Served>(client: &Client, instance: &str, gone: &Owner, removed: &str, kept: &str) {
    let (kind, Owner { namespace, name, uid, .. }) = (K::Object::kind(&()), gone);
    tracing::warn!(%kind, namespace, name, uid, removed, kept, "swept: the object is gone, and its finalizer was taken off by hand");
    let note =
        format!("the object is gone, and its finalizer was taken off by hand; removed: {removed}; kept, since it may hold data: {kept}");
    let regarding = reference::<K>(name, namespace, uid);
    send(client, instance, regarding, Told { warning: true, reason: "FinalizerTakenOff", action: "Sweep", note }).await;
}

/// What an Event says.
struct Told<'a> {
    warning: bool,
    reason: &'a str,
    action: &'a str,
    note: String,
}

async fn write<K: Served>(client: &Client, instance: &str, object: &K::Object, told: Told<'_>) {
    let (namespace, uid) = (object.namespace().unwrap_or_default(), object.uid().unwrap_or_default());
    send(client, instance, reference::<K>(&object.name_any(), &namespace, &uid), told).await;
}

fn reference<K: Served>(name: &str, namespace: &str, uid: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some(K::Object::api_version(&()).into_owned()),
        kind: Some(K::Object::kind(&()).into_owned()),
        name: Some(name.to_owned()),
        namespace: Some(namespace.to_owned()),
        uid: Some(uid.to_owned()),
        ..ObjectReference::default()
    }
}

async fn send(client: &Client, instance: &str, regarding: ObjectReference, told: Told<'_>) {
    let namespace = regarding.namespace.clone().unwrap_or_else(|| "default".to_owned());
    let event = Event {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", regarding.name.as_deref().unwrap_or_default())),
            namespace: Some(namespace.clone()),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(stamp())),
        type_: Some(if told.warning { "Warning" } else { "Normal" }.to_owned()),
        reason: Some(told.reason.to_owned()),
        action: Some(told.action.to_owned()),
        note: Some(told.note[..told.note.floor_char_boundary(NOTE)].to_owned()),
        regarding: Some(regarding),
        reporting_controller: Some(CONTROLLER.to_owned()),
        reporting_instance: Some(instance.to_owned()),
        ..Event::default()
    };
    let events: Api<Event> = Api::namespaced(client.clone(), &namespace);
    let params = PostParams { field_manager: Some(CONTROLLER.to_owned()), ..PostParams::default() };
    if let Err(error) = bounded(events.create(&params, &event)).await {
        tracing::warn!(%error, "an Event was not written");
    }
}

fn is_warning<K: Served>(state: &str) -> bool {
    <K::Phase as Word>::from_text(state).is_some_and(|phase| K::role(phase) == Role::Asks || K::TROUBLED.contains(&phase))
}
