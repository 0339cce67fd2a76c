//! A stored move, told to people: one Event beside the object and one line in the log.

use super::calls::bounded;
use crate::kinds::status::Move;
use crate::kinds::{Decision, Served};
use crate::machine::{Machine, Role, Word};
use crate::telemetry;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::PostParams;
use kube::core::ObjectMeta;
use kube::{Api, Client, Resource, ResourceExt};

/// The most that the API server takes as a note, in bytes.
const NOTE: usize = 1024;
/// A state that nobody wished for, although no question is open yet.
const TROUBLED: &str = "Degraded";
/// Who reports.
const CONTROLLER: &str = "pointsman";

/// Tells a stored move. An Event that cannot be written is not worth an error: the move is in
/// `status.history` and in the log.
pub async fn tell<K: Served>(client: &Client, instance: &str, object: &K::Object, decision: &Decision<K>, now: Timestamp) {
    let Some(told) = &decision.told else { return };
    let (kind, name, namespace) = (K::Object::kind(&()), object.name_any(), object.namespace().unwrap_or_default());
    let uid = object.uid().unwrap_or_default();
    telemetry::transition(&kind, &told.from, &told.to);
    tracing::info!(%kind, name, namespace, uid, from = told.from, to = told.to, cause = told.cause, "moved");
    let event = event::<K>(instance, object, told, decision.status.message.as_deref(), now);
    let events: Api<Event> = Api::namespaced(client.clone(), &namespace);
    let params = PostParams { field_manager: Some(CONTROLLER.to_owned()), ..PostParams::default() };
    if let Err(error) = bounded(events.create(&params, &event)).await {
        tracing::warn!(%error, "the Event of a move was not written");
    }
}

fn event<K: Served>(instance: &str, object: &K::Object, told: &Move, message: Option<&str>, now: Timestamp) -> Event {
    let regarding = ObjectReference {
        api_version: Some(K::Object::api_version(&()).into_owned()),
        kind: Some(K::Object::kind(&()).into_owned()),
        name: Some(object.name_any()),
        namespace: object.namespace(),
        uid: object.uid(),
        ..ObjectReference::default()
    };
    let note = format!("{} -> {}: {}", told.from, told.to, message.unwrap_or_default());
    Event {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", object.name_any())),
            namespace: object.namespace(),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(now)),
        type_: Some(if is_warning::<K>(&told.to) { "Warning" } else { "Normal" }.to_owned()),
        reason: Some(told.cause.clone()),
        action: Some(told.to.clone()),
        note: Some(note[..note.floor_char_boundary(NOTE)].to_owned()),
        regarding: Some(regarding),
        reporting_controller: Some(CONTROLLER.to_owned()),
        reporting_instance: Some(instance.to_owned()),
        ..Event::default()
    }
}

fn is_warning<K: Machine>(state: &str) -> bool {
    let asks = <K::Phase as Word>::from_text(state).is_some_and(|phase| K::role(phase) == Role::Asks);
    asks || state == TROUBLED
}
