//! EDGE: HTTP in, verdict out.
//!
//! It knows no client: what it has to look up is handed in. `limits` reads a body or says why not, `validate` judges one
//! write, `unreadable` says what of it cannot be read, `convert` changes the version of objects, `refusal` is the form of a
//! refusal, `callers` tells the API server from others, `tls` listens, `plain` does so without TLS for metrics and health, and
//! `connections` says to how many. A new kind needs nothing here: `program` adds it by [`Webhooks::kind`], and the
//! conversion finds it by [`crate::kinds::visit`].

mod answer;
mod callers;
mod connections;
mod convert;
pub mod limits;
mod pieces;
pub mod plain;
mod refusal;
pub mod tls;
mod unreadable;
mod validate;

use crate::kinds::{Kind, Served, Settings, paths};
use crate::telemetry::Webhook;
use axum::Router;
use axum::extract::OriginalUri;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::future::BoxFuture;
use limits::Fault;
use serde::Serialize;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

/// Looks an object up by namespace and name, without asking the API server. It may take a while before all are known.
pub type Find<K> = Arc<dyn Fn(String, String) -> BoxFuture<'static, Option<Arc<<K as Kind>::Object>>> + Send + Sync>;

/// Says what stands in the world for an object, as far as that is known, without asking the API server.
pub type Survey<K> = Arc<dyn Fn(&<K as Kind>::Object) -> Option<<K as Kind>::Ground> + Send + Sync>;

/// Says whether a path is one that the API server was told to call. Of one that is not known yet that may take a moment.
pub type Told = Arc<dyn Fn(&str) -> BoxFuture<'static, bool> + Send + Sync>;

/// Says what is still missing before the webhooks can be called, or that they should not be any more: one sentence each.
pub type Missing = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// Every path that the API server calls.
pub struct Webhooks {
    routes: Router,
    watched: Arc<[String]>,
}

impl Webhooks {
    /// The conversion of every kind; `watched` are the namespaces that are looked after, none: all.
    pub fn new(watched: &[String]) -> Self {
        let converter = Arc::new(convert::Converter::new(paths::CONVERSION));
        let routes = Router::new().route(&with_secret(paths::CONVERSION), post(convert::convert).with_state(converter));
        Webhooks { routes, watched: watched.into() }
    }

    /// Adds the judgement of one kind's writes.
    pub fn kind<K: Served>(&mut self, settings: Settings, find: Find<K>, survey: Survey<K>) {
        let (watched, path) = (self.watched.clone(), paths::judgement(K::PATH));
        let gate = Arc::new(validate::Gate { settings, find, survey, watched, webhook: Webhook::judging(&path) });
        self.routes = std::mem::take(&mut self.routes).route(&with_secret(&path), post(validate::validate::<K>).with_state(gate));
    }

    /// The finished router: nobody is heard who does not call as the API server was told.
    pub fn router(&self, told: Told) -> Router {
        answering(self.routes.clone().route_layer(from_fn_with_state(told, callers::heard)))
    }
}

/// A path as it is routed: what ends it is a secret.
fn with_secret(path: &str) -> String {
    format!("{path}/{{secret}}")
}

/// What the kubelet asks.
pub fn health(missing: Missing) -> Router {
    answering(Router::new().route("/healthz", get(async || "ok\n")).route("/readyz", get(async move || readiness(&missing()))))
}

/// With an answer to whatever else is asked.
fn answering(router: Router) -> Router {
    router
        .method_not_allowed_fallback(async |method: Method| {
            Fault::new(StatusCode::METHOD_NOT_ALLOWED, format!("this path does not answer {method}"))
        })
        .fallback(async |OriginalUri(uri): OriginalUri| callers::unknown(uri.path()))
        .layer(CatchPanicLayer::custom(limits::panicked))
}

fn readiness(missing: &[String]) -> (StatusCode, String) {
    match missing {
        [] => (StatusCode::OK, "ok\n".to_owned()),
        missing => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {}\n", missing.join("; "))),
    }
}

/// A review as the body of an answer.
fn json(review: &impl Serialize) -> Response {
    // The keys of a review are strings and its values are JSON.
    let bytes = serde_json::to_vec(review).expect("a review is JSON");
    ([(CONTENT_TYPE, "application/json")], bytes).into_response()
}
