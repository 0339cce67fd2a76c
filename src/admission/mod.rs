//! EDGE: HTTP in, verdict out.
//!
//! It knows no client: what it has to look up is handed in. `limits` reads a body or says why not,
//! `validate` judges one write, `convert` changes the version of objects, `refusal` is the form of a
//! refusal, `tls` listens. A new kind needs nothing here: `main` adds it by [`Webhooks::kind`], and
//! the conversion finds it by [`crate::kinds::visit`].

mod convert;
pub mod limits;
mod refusal;
pub mod tls;
mod validate;

use crate::kinds::{Kind, Served, Settings};
use axum::Router;
use axum::extract::OriginalUri;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use limits::Fault;
use serde::Serialize;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

/// Looks an object up by namespace and name, without asking the API server.
pub type Find<K> = Arc<dyn Fn(&str, &str) -> Option<Arc<<K as Kind>::Object>> + Send + Sync>;

/// Says what is still missing before the operator is ready: one sentence each.
pub type Missing = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// Every path that the API server and the kubelet ask.
pub struct Webhooks {
    routes: Router,
    watched: Arc<[String]>,
}

impl Webhooks {
    /// The conversion of every kind; `watched` are the namespaces that are looked after, none: all.
    pub fn new(watched: &[String]) -> Self {
        let convertible = Arc::new(convert::table());
        let routes = Router::new().route("/convert", post(convert::convert).with_state(convertible));
        Webhooks { routes, watched: watched.into() }
    }

    /// Adds the judgement of one kind's writes.
    #[must_use]
    pub fn kind<K: Served>(self, settings: Settings, find: Find<K>) -> Self {
        let gate = Arc::new(validate::Gate { settings, find, watched: self.watched.clone() });
        let path = format!("/validate/{}", K::PATH);
        Webhooks { routes: self.routes.route(&path, post(validate::validate::<K>).with_state(gate)), ..self }
    }

    /// The finished router.
    pub fn router(self, missing: Missing) -> Router {
        self.routes
            .route("/healthz", get(async || "ok\n"))
            .route("/readyz", get(async move || readiness(&missing())))
            .method_not_allowed_fallback(async |method: Method, OriginalUri(uri): OriginalUri| {
                Fault::new(StatusCode::METHOD_NOT_ALLOWED, format!("{} does not answer {method}", uri.path()))
            })
            .fallback(async |OriginalUri(uri): OriginalUri| {
                Fault::new(StatusCode::NOT_FOUND, format!("nothing is served at {}", uri.path()))
            })
            .layer(CatchPanicLayer::custom(limits::panicked))
    }
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
