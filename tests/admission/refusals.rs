//! Golden refusals: what kubectl prints is made of these.

use crate::desk::{ready, review, router, scale, with, write};
use pointsman::kinds::intervention::id;
use serde_json::{Value, json};

const VALIDATE: &str = "/validate/memcached/secret";

async fn judged(body: &Value) -> Value {
    review(router(vec![ready("cache", 3)], &[]), VALIDATE, body).await
}

/// The fields and messages of a refusal, as kubectl prints them behind the bullets.
fn bullets(answer: &Value) -> Vec<String> {
    let causes = answer["status"]["details"]["causes"].as_array().expect("a refusal has causes");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    causes.iter().map(|cause| format!("{}: {}", text(&cause["field"]), text(&cause["message"]))).collect()
}

#[tokio::test]
async fn an_unsupported_change_is_refused_in_full_form() {
    let old = ready("cache", 3);
    let answer = judged(&write("UPDATE", "v1", &old, &with(old.clone(), "/spec/port", json!(11311)))).await;
    let text = "Forbidden: unsupported: 11211 -> 11311; the port is part of the address that clients hold. Create a second Memcached and move the clients.";
    assert_eq!(
        answer,
        json!({
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "allowed": false,
            "status": {
                "status": "Failure",
                "code": 422,
                "reason": "Invalid",
                "message": format!("Memcached.cache.example.com \"cache\" is invalid: spec.port: {text}"),
                "details": {
                    "group": "cache.example.com", "kind": "Memcached", "name": "cache",
                    "causes": [{ "reason": "FieldValueForbidden", "field": "spec.port", "message": text }],
                },
            },
        })
    );
}

#[tokio::test]
async fn every_violation_is_told_at_once_in_the_users_version() {
    let bad =
        [("/spec/replicas", json!(101)), ("/spec/port", json!(80)), ("/spec/maxConnections", json!(1)), ("/spec/image", json!("no image"))];
    let new = bad.into_iter().fold(ready("cache", 3), |object, (field, value)| with(object, field, value));
    let told = |version: &'static str| {
        let new = new.clone();
        async move { bullets(&judged(&write("CREATE", version, &Value::Null, &new)).await) }
    };
    let image = "Forbidden: \"no image\" is not an image reference; write [registry/]name[:tag][@digest], for example docker.io/library/memcached:1.6";
    assert_eq!(
        told("v1").await,
        [
            format!("spec.image: {image}"),
            "spec.replicas: Forbidden: 101 is not from 0 to 100".to_owned(),
            "spec.maxConnections: Forbidden: 1 is not from 64 to 65535".to_owned(),
            "spec.port: Forbidden: 80 is not from 1024 to 65535".to_owned(),
        ]
    );
    assert_eq!(
        told("v1alpha1").await,
        [
            format!("spec.v1.image: {image}"),
            "spec.size: Forbidden: 101 is not from 0 to 100".to_owned(),
            "spec.v1.maxConnections: Forbidden: 1 is not from 64 to 65535".to_owned(),
            "spec.v1.port: Forbidden: 80 is not from 1024 to 65535".to_owned(),
        ]
    );
    let message = judged(&write("CREATE", "v1", &Value::Null, &new)).await["status"]["message"].clone();
    let message = message.as_str().expect("text");
    assert!(
        message.starts_with("Memcached.cache.example.com \"cache\" is invalid: [spec.image: ") && message.ends_with("65535]"),
        "{message}"
    );
}

#[tokio::test]
async fn an_edit_of_what_is_being_deleted_is_refused_as_busy() {
    let old = with(ready("cache", 3), "/metadata/deletionTimestamp", json!("2026-01-02T03:04:05Z"));
    let answer = judged(&write("UPDATE", "v1alpha1", &old, &with(old.clone(), "/spec/replicas", json!(4)))).await;
    assert_eq!(
        bullets(&answer),
        [
            "spec.size: Forbidden: busy: 3 -> 4; the object was deleted at 2026-01-02T03:04:05Z; its deletion goes on, or asks in status.intervention. Once it is gone, create it anew"
        ]
    );
    let router = router(vec![old], &[]);
    let answer = review(router, VALIDATE, &scale("cache", Some(4))).await;
    assert_eq!(
        bullets(&answer),
        [
            "spec.replicas: Forbidden: busy: 3 -> 4; the object was deleted at 2026-01-02T03:04:05Z; its deletion goes on, or asks in status.intervention. Once it is gone, create it anew"
        ]
    );
}

#[tokio::test]
async fn a_wrong_answer_is_refused_with_the_legal_ones() {
    let old = with(ready("cache", 3), "/metadata/uid", json!("6f1c"));
    let (id, other) = (id("6f1c", 1), id("6f1c", 2));
    let question = json!({
        "generation": 1, "id": id, "number": 1, "reason": "RolloutStuck", "message": "", "notDone": "", "runbook": "", "time": "2026-01-02T03:04:05Z",
        "about": "", "answers": [{ "verb": "retry", "effect": "", "risk": "None", "command": "" }],
    });
    let old = with(with(old, "/status/intervention", question), "/status/state", json!("HumanIntervention"));
    let answered =
        |answer: &str| write("UPDATE", "v1", &old, &with(old.clone(), "/metadata/annotations", json!({ "pointsman.dev/answer": answer })));
    assert_eq!(judged(&answered(&format!("retry-{id}"))).await["allowed"], true);
    let paused = with(old.clone(), "/metadata/annotations", json!({ "pointsman.dev/paused": "true" }));
    let warned = judged(&write("UPDATE", "v1", &old, &paused)).await["warnings"][0].as_str().expect("a warning").to_owned();
    assert!(
        warned.starts_with("mc/cache: HumanIntervention -> Paused; ")
            && warned.ends_with("; its question closes, and all is looked at afresh then"),
        "{warned}"
    );
    let wrong = format!("retry-{other} does not answer question {id}; the legal answers are: retry-{id}");
    let field = "metadata.annotations[pointsman.dev/answer]: Forbidden";
    assert_eq!(bullets(&judged(&answered(&format!("retry-{other}"))).await), [format!("{field}: {wrong}")]);
    // A backup brought the question of another object: it asks nothing here.
    let old = with(old.clone(), "/metadata/uid", json!("7a2d"));
    let restored =
        write("UPDATE", "v1", &old, &with(old.clone(), "/metadata/annotations", json!({ "pointsman.dev/answer": format!("retry-{id}") })));
    let none = format!("no question is open; retry-{id} would answer nothing. Remove the annotation: pointsman.dev/answer-");
    assert_eq!(bullets(&judged(&restored).await), [format!("{field}: {none}")]);
    let settled = ready("cache", 3);
    let unasked = with(settled.clone(), "/metadata/annotations", json!({ "pointsman.dev/answer": "retry-k7m2q" }));
    assert_eq!(
        bullets(&judged(&write("UPDATE", "v1", &settled, &unasked)).await),
        [
            "metadata.annotations[pointsman.dev/answer]: Forbidden: no question is open; retry-k7m2q would answer nothing. Remove the annotation: pointsman.dev/answer-",
        ]
    );
}

#[tokio::test]
async fn every_field_that_does_not_decode_is_named() {
    let bad = [("/spec/replicas", json!("three")), ("/spec/port", json!(1.5)), ("/spec/memory", json!([]))];
    let new = bad.into_iter().fold(ready("cache", 3), |object, (field, value)| with(object, field, value));
    let answer = judged(&write("CREATE", "v1", &Value::Null, &new)).await;
    assert_eq!(answer["status"]["details"]["name"], "cache");
    assert_eq!(
        bullets(&answer),
        [
            "spec.memory: Forbidden: data did not match any variant of untagged enum Quantity",
            "spec.port: Forbidden: invalid type: floating point `1.5`, expected i32",
            "spec.replicas: Forbidden: invalid type: string \"three\", expected i32",
        ]
    );
    let answer = judged(&write("CREATE", "v1", &Value::Null, &with(ready("cache", 3), "/metadata/generation", json!("5")))).await;
    assert_eq!(bullets(&answer), ["spec: Forbidden: this object is not readable: invalid type: string \"5\", expected i64"]);
}

#[tokio::test]
async fn a_status_from_the_future_keeps_nobody_from_editing() {
    let old = with(ready("cache", 3), "/status/intervention", json!({ "reason": "NotKnownYet" }));
    let edited = |field: &str, value: Value| write("UPDATE", "v1", &old, &with(old.clone(), field, value));
    assert_eq!(judged(&edited("/spec/replicas", json!(4))).await["allowed"], true);
    assert_eq!(bullets(&judged(&edited("/spec/replicas", json!(101))).await), ["spec.replicas: Forbidden: 101 is not from 0 to 100"]);
}

#[tokio::test]
async fn an_object_of_older_types_can_be_mended() {
    let old = with(ready("cache", 3), "/spec/replicas", json!("three"));
    assert_eq!(judged(&write("UPDATE", "v1", &old, &ready("cache", 3))).await["allowed"], true);
    // What a write does not change is not its fault: a pause, or an answer, says nothing about the spec.
    let paused = with(old.clone(), "/metadata/annotations", json!({ "pointsman.dev/paused": "true" }));
    assert_eq!(judged(&write("UPDATE", "v1", &old, &paused)).await["allowed"], true);
    assert_eq!(judged(&write("UPDATE", "v1", &old, &with(paused, "/spec/port", json!(11212)))).await["allowed"], false);
}
