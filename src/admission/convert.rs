//! The version of objects, changed: total, never refuses a known version, keeps the order.
//!
//! Objects stay text: only `apiVersion` and `spec` are written anew, all else is passed on as it
//! came, byte for byte.

use super::limits::{self, CONVERSION_BYTES, Fault, read};
use super::pieces;
use crate::kinds::of_each;
use crate::telemetry::Webhook;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use kube::Resource;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::sync::Arc;

const API_VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "ConversionReview";

/// How one kind is converted.
pub struct Convertible {
    group: String,
    kind: String,
    versions: Vec<String>,
    convert: fn(&Value, &str) -> Option<Value>,
}

/// All that converting needs.
pub struct Converter {
    table: Vec<Convertible>,
    webhook: Webhook,
}

impl Converter {
    /// For every kind, at this path.
    pub fn new(path: &str) -> Self {
        Converter { table: table(), webhook: Webhook::converting(path) }
    }
}

/// Every kind.
fn table() -> Vec<Convertible> {
    of_each!(K: Convertible => {
        let versions = K::definition().spec.versions.into_iter().map(|version| version.name).collect();
        let (group, kind) = (K::Object::group(&()).into(), K::Object::kind(&()).into());
        Convertible { group, kind, versions, convert: K::convert }
    })
}

#[derive(Deserialize)]
struct Asked<'a> {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired: String,
    #[serde(borrow)]
    objects: Vec<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReviewAnswered<'a> {
    api_version: &'a str,
    kind: &'a str,
    response: Answered<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answered<'a> {
    uid: &'a str,
    converted_objects: Vec<Converted<'a>>,
    result: Outcome,
}

#[derive(Serialize)]
struct Outcome {
    status: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

/// An object's fields as they came, and what takes the place of two of them.
struct Converted<'a> {
    fields: BTreeMap<String, &'a RawValue>,
    /// The wanted version and its spec, as text, since that takes the least room; nothing where the object is of that version
    /// already.
    anew: Option<(&'a str, Box<RawValue>)>,
}

impl Serialize for Converted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some((version, spec)) = &self.anew {
            map.serialize_entry("apiVersion", version)?;
            map.serialize_entry("spec", spec)?;
        }
        let kept = |name: &str| self.anew.is_none() || !["apiVersion", "spec"].contains(&name);
        for (name, value) in self.fields.iter().filter(|(name, _)| kept(name)) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// `POST /convert`.
pub async fn convert(State(converter): State<Arc<Converter>>, request: Request) -> Response {
    converter.webhook.answers(async { reviewed(&converter.table, request).await.into_response() }).await
}

async fn reviewed(table: &[Convertible], request: Request) -> Result<Response, Fault> {
    let body = read(request, CONVERSION_BYTES).await?;
    let asked = limits::asked(&body.bytes, API_VERSION, KIND)?;
    let response = answered(table, &asked);
    tracing::debug!(objects = asked.objects.len(), to = asked.desired, message = response.result.message, "converted");
    let answer = super::json(&ReviewAnswered { api_version: API_VERSION, kind: KIND, response });
    Ok(super::answer::sent(answer, body.room))
}

fn answered<'a>(table: &[Convertible], asked: &'a Asked<'_>) -> Answered<'a> {
    let converted: Result<Vec<_>, String> = asked.objects.iter().map(|object| converted(table, object, &asked.desired)).collect();
    let (converted_objects, result) = match converted {
        Ok(objects) => (objects, Outcome { status: "Success", message: String::new() }),
        Err(message) => (Vec::new(), Outcome { status: "Failed", message }),
    };
    Answered { uid: &asked.uid, converted_objects, result }
}

fn converted<'a>(table: &[Convertible], object: &'a RawValue, desired: &'a str) -> Result<Converted<'a>, String> {
    let fields: BTreeMap<String, &RawValue> =
        serde_json::from_str(object.get()).map_err(|fault| format!("an object is not readable: {fault}"))?;
    let text = |name: &str| fields.get(name).and_then(|value| serde_json::from_str::<String>(value.get()).ok()).unwrap_or_default();
    let (from, kind) = (text("apiVersion"), text("kind"));
    let group = |version: &str| version.rsplit_once('/').map(|(group, _)| group.to_owned()).unwrap_or_default();
    let known = table.iter().find(|known| known.kind == kind && known.group == group(&from));
    let known = known.ok_or_else(|| format!("no kind {kind:?} of group {:?} is known here", group(&from)))?;
    for version in [&from, desired] {
        let name = version.strip_prefix(&format!("{}/", known.group));
        if !name.is_some_and(|name| known.versions.iter().any(|known| known == name)) {
            return Err(format!("{kind} has no version {version:?}; the versions of {} are {}", known.group, known.versions.join(", ")));
        }
    }
    if from == desired {
        return Ok(Converted { fields, anew: None });
    }
    let spec: Value = match fields.get("spec") {
        Some(spec) if pieces::are_too_many(spec.get()) => {
            return Err(format!("the spec of an object is not readable: {}", pieces::TOO_MANY));
        }
        Some(spec) => serde_json::from_str(spec.get()).map_err(|fault| format!("the spec of an object is not readable: {fault}"))?,
        None => Value::Null,
    };
    let version = desired.rsplit('/').next().unwrap_or_default();
    let spec = (known.convert)(&spec, version).ok_or_else(|| format!("{kind} is not converted to {desired}"))?;
    let spec = to_raw_value(&spec).map_err(|fault| format!("the spec of an object cannot be written: {fault}"))?;
    Ok(Converted { fields, anew: Some((desired, spec)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Webhooks;
    use crate::telemetry::scrape;
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::StatusCode;
    use axum::routing::post;
    use futures::FutureExt;
    use serde_json::json;
    use tower::ServiceExt;

    async fn ask(router: Router, method: &str, path: &str, body: String) -> (StatusCode, String) {
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        let response = router.oneshot(request.body(Body::from(body)).expect("a request")).await.expect("a router always answers");
        let (status, body) = (response.status(), to_bytes(response.into_body(), usize::MAX).await.expect("the answer is read"));
        (status, String::from_utf8(body.to_vec()).expect("the answer is text"))
    }

    #[tokio::test]
    async fn a_bug_in_a_conversion_is_answered_with_500_and_counted_and_the_next_one_is_converted() {
        let convert = |spec: &Value, _: &str| {
            assert_ne!(*spec, Value::Null, "a bug");
            Some(spec.clone())
        };
        let versions = vec!["v1".to_owned(), "v2".to_owned()];
        let table = vec![Convertible { group: "example.com".to_owned(), kind: "Thing".to_owned(), versions, convert }];
        let converter = Converter { table, webhook: Webhook::converting("/convert") };
        let routes = Router::new().route("/convert/{secret}", post(super::convert).with_state(Arc::new(converter)));
        let webhooks = Webhooks { routes, watched: Arc::new([]) }.router(Arc::new(|_| std::future::ready(true).boxed()));
        let review = |spec: Value| {
            let object = json!({ "apiVersion": "example.com/v1", "kind": "Thing", "spec": spec });
            let request = json!({ "uid": "1", "desiredAPIVersion": "example.com/v2", "objects": [object] });
            json!({ "apiVersion": API_VERSION, "kind": KIND, "request": request }).to_string()
        };
        let (status, text) = ask(webhooks.clone(), "POST", "/convert/secret", review(Value::Null)).await;
        assert_eq!(
            (status, text.as_str()),
            (StatusCode::INTERNAL_SERVER_ERROR, "this request met a bug in the operator; its log names the line\n")
        );
        let (_, page) = ask(scrape::router(Vec::new()), "GET", "/metrics", String::new()).await;
        assert!(page.contains("\ncontroller_runtime_conversion_webhook_panics_total 1\n"), "{page}");
        let (status, text) = ask(webhooks, "POST", "/convert/secret", review(json!({ "a": 1 }))).await;
        assert!(status == StatusCode::OK && text.contains("Success"), "{text}");
    }
}
