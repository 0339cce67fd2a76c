//! An API server that answers as it is told, and what a migration makes of each answer.

use super::kind;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use pointsman::migrate::migrate_kind;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const LIST: &str = "GET /apis/example.com/v2/caches";
pub const STATUS: &str = "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/caches.example.com/status";

/// An answer, where it is another one than that of an API server to which nothing happens; it is asked with the call and
/// the number of like calls before.
type Answer = dyn Fn(&str, usize) -> Option<(u16, Value)> + Send + Sync;

/// Every call in its order, with what was sent.
type Calls = Arc<Mutex<Vec<(String, Value)>>>;

/// Migrates two objects in a cluster that migrates nothing by itself; gives what was said, and what was asked.
async fn migrated(
    answer: impl Fn(&str, usize) -> Option<(u16, Value)> + Send + Sync + 'static,
) -> (Result<String, String>, Vec<(String, Value)>) {
    migrated_as(false, answer).await
}

/// The same, of objects that are only to be rewritten, or not.
pub async fn migrated_as(
    rewrite_only: bool,
    answer: impl Fn(&str, usize) -> Option<(u16, Value)> + Send + Sync + 'static,
) -> (Result<String, String>, Vec<(String, Value)>) {
    let (calls, answer): (Calls, Arc<Answer>) = (Arc::default(), Arc::new(answer));
    let (seen, service) = (calls.clone(), tower::service_fn(move |request| serve(calls.clone(), answer.clone(), request)));
    let said = migrate_kind(&Client::new(service, "default"), &kind(), rewrite_only).await;
    let seen = seen.lock().unwrap().clone();
    (said.map(|said| said.expect("the kind is known")), seen)
}

async fn serve(calls: Calls, answer: Arc<Answer>, request: Request<Body>) -> Result<Response<Body>, std::convert::Infallible> {
    let (parts, body) = request.into_parts();
    let continued = if parts.uri.query().unwrap_or_default().contains("continue=") { " continued" } else { "" };
    let call = format!("{} {}{continued}", parts.method, parts.uri.path());
    let body = serde_json::from_slice(&body.collect_bytes().await.unwrap()).unwrap_or_default();
    let before = {
        let mut calls = calls.lock().unwrap();
        calls.push((call.clone(), body));
        calls.iter().filter(|(other, _)| *other == call).count() - 1
    };
    let (code, body) = answer(&call, before).unwrap_or_else(|| usual(&call));
    Ok(Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap())
}

fn usual(call: &str) -> (u16, Value) {
    match call {
        LIST => (200, list(&[object("one", "1"), object("two", "1")], "")),
        call if call.contains("/customresourcedefinitions/") => (200, definition(&["v1", "v2"])),
        call if call.contains("storagemigration.k8s.io") => fault(404, "the server could not find the requested resource"),
        call => (200, object(call.rsplit('/').next().unwrap(), if call.starts_with("PUT") { "2" } else { "1" })),
    }
}

/// The definition, with the versions that it says objects may be stored in.
pub fn definition(stored: &[&str]) -> Value {
    let version = |name: &str| json!({ "name": name, "served": true, "storage": name == "v2" });
    json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "caches.example.com", "generation": 7 },
        "spec": { "group": "example.com", "scope": "Namespaced", "names": { "kind": "Cache", "plural": "caches" },
            "versions": [version("v2"), version("v1")] },
        "status": { "storedVersions": stored } })
}

fn object(name: &str, resource_version: &str) -> Value {
    json!({ "apiVersion": "example.com/v2", "kind": "Cache", "spec": { "new": 1 },
        "metadata": { "name": name, "namespace": "shop", "resourceVersion": resource_version } })
}

fn list(items: &[Value], rest: &str) -> Value {
    json!({ "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": { "continue": rest }, "items": items })
}

pub fn fault(code: u16, message: &str) -> (u16, Value) {
    let reason = if code == 404 { "NotFound" } else { "" };
    (code, json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message, "reason": reason }))
}

pub fn one(verb: &str) -> String {
    format!("{verb} /apis/example.com/v2/namespaces/shop/caches/one")
}

pub fn count(calls: &[(String, Value)], wanted: &str) -> usize {
    calls.iter().filter(|(call, _)| call.starts_with(wanted)).count()
}

#[tokio::test]
async fn the_definition_is_told_last_and_only_as_it_was_read() {
    let (said, calls) = migrated(|_, _| None).await;
    assert!(said.as_ref().is_ok_and(|said| said.contains("2 written anew, 0 were so before")), "{said:?}");
    let (last, sent) = calls.last().unwrap();
    assert_eq!((last.as_str(), count(&calls, "PUT")), (STATUS, 2));
    assert_eq!(
        *sent,
        json!([
            { "op": "test", "path": "/metadata/generation", "value": 7 },
            { "op": "test", "path": "/status/storedVersions", "value": ["v1", "v2"] },
            { "op": "replace", "path": "/status/storedVersions", "value": ["v2"] },
        ])
    );
}

#[tokio::test]
async fn whoever_is_faster_keeps_what_they_wrote() {
    let (said, calls) = migrated(|call, before| match before {
        0 if call == one("PUT") => Some(fault(409, "the object has been modified")),
        1 if call == one("GET") => Some((200, object("one", "9"))),
        _ => None,
    })
    .await;
    assert!(said.is_ok_and(|said| said.contains("2 written anew")));
    let sent: Vec<&Value> =
        calls.iter().filter(|(call, _)| *call == one("PUT")).map(|(_, sent)| &sent["metadata"]["resourceVersion"]).collect();
    assert_eq!(sent, ["1", "9"]);
}

#[tokio::test]
async fn a_writer_who_is_always_faster_is_told_of() {
    let (said, calls) = migrated(|call, _| (call == one("PUT")).then(|| fault(409, "the object has been modified"))).await;
    let said = said.expect_err("it is not migrated");
    assert!(
        said.starts_with("1 of 2 caches.example.com cannot be written") && said.contains("somebody else changed it each of the 20 times"),
        "{said}"
    );
    assert_eq!(count(&calls, STATUS), 0);
}

#[tokio::test]
async fn what_is_stored_so_is_counted_apart() {
    let (said, _) = migrated(|call, _| (call == one("PUT")).then(|| (200, object("one", "1")))).await;
    assert!(said.is_ok_and(|said| said.contains("1 written anew, 1 were so before")));
}

#[tokio::test]
async fn an_object_that_went_is_no_fault() {
    for verb in ["GET", "PUT"] {
        let (said, calls) = migrated(move |call, _| (call == one(verb)).then(|| fault(404, "not found"))).await;
        assert!(said.is_ok_and(|said| said.contains("1 written anew, 0 were so before, 1 deleted meanwhile")), "{verb}");
        assert_eq!(count(&calls, STATUS), 1);
    }
}

#[tokio::test]
async fn a_list_that_expired_is_begun_again() {
    let (said, calls) = migrated(|call, before| match before {
        0 if call == LIST => Some((200, list(&[object("one", "1")], "rest"))),
        _ if call.ends_with(" continued") => Some(fault(410, "the provided continue parameter is too old")),
        _ => None,
    })
    .await;
    assert!(said.is_ok_and(|said| said.contains("2 written anew")));
    assert_eq!((count(&calls, "PUT"), count(&calls, &format!("{LIST} continued"))), (2, 1));
}

#[tokio::test]
async fn every_page_of_a_list_is_read() {
    let (said, calls) = migrated(|call, _| match call {
        LIST => Some((200, list(&[object("one", "1")], "rest"))),
        call if call.ends_with(" continued") => Some((200, list(&[object("two", "1"), object("three", "1")], ""))),
        _ => None,
    })
    .await;
    assert!(said.is_ok_and(|said| said.contains("3 written anew")));
    assert_eq!(count(&calls, "PUT"), 3);
}

#[tokio::test]
async fn what_cannot_be_written_keeps_the_definition_as_it_is() {
    let (said, calls) = migrated(|call, _| (call == one("PUT")).then(|| fault(422, "spec.port is wrong"))).await;
    let said = said.expect_err("it is not migrated");
    assert!(said.contains("mc/one in namespace shop: spec.port is wrong"), "{said}");
    assert_eq!((count(&calls, "PUT"), count(&calls, STATUS)), (2, 0));
}

#[tokio::test]
async fn a_fault_ends_the_run() {
    let rights = "caches.example.com \"one\" is forbidden: User \"jane\" cannot update resource \"caches\" in API group \"example.com\"";
    for (verb, code, why) in [("GET", 500, "conversion webhook failed"), ("PUT", 500, "conversion webhook failed"), ("PUT", 403, rights)] {
        let (said, calls) = migrated(move |call, _| (call == one(verb)).then(|| fault(code, why))).await;
        let said = said.expect_err("it is not migrated");
        assert!(said.starts_with("Stopped at mc/one in namespace shop after 0 of 2 caches.example.com: "), "{said}");
        assert_eq!((count(&calls, "PUT /apis/example.com/v2/namespaces/shop/caches/two"), count(&calls, STATUS)), (0, 0));
    }
}

#[tokio::test]
async fn what_somebody_elses_policy_refuses_keeps_no_other_from_it() {
    for (code, why) in
        [(403, "admission webhook \"policy.example.com\" denied the request: no"), (400, "admission webhook denied it"), (422, "no")]
    {
        let (said, calls) = migrated(move |call, _| (call == one("PUT")).then(|| fault(code, why))).await;
        let said = said.expect_err("one of them is not migrated");
        assert!(said.starts_with("1 of 2 caches.example.com cannot be written") && said.contains(why), "{said}");
        assert_eq!((count(&calls, "PUT /apis/example.com/v2/namespaces/shop/caches/two"), count(&calls, STATUS)), (1, 0));
    }
}

#[tokio::test]
async fn whoever_wrote_through_another_version_meanwhile_is_named() {
    let (said, calls) = migrated(|call, before| {
        let mut late = object("two", "5");
        late["metadata"]["managedFields"] = json!([{ "manager": "argocd", "operation": "Apply", "apiVersion": "example.com/v1",
            "fieldsType": "FieldsV1", "fieldsV1": { "f:old": {} } }]);
        match (call, before) {
            (LIST, 1) => Some((200, list(&[object("one", "2"), late], ""))),
            ("GET /apis/example.com/v2/namespaces/shop/caches/two", 1) => Some((200, late)),
            _ => None,
        }
    })
    .await;
    assert!(said.is_ok_and(|said| said.contains("1 object was written through another version, by argocd:\n  mc/two in namespace shop\n")));
    let (_, sent) = calls.iter().rfind(|(call, _)| call.starts_with("PUT")).unwrap();
    assert_eq!(sent["metadata"]["managedFields"][0]["fieldsV1"], json!({ "f:new": {} }));
}
