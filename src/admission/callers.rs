//! Who calls: the API server alone knows the whole path, since the operator writes it where it alone reads. Whoever calls another
//! path is answered before anything of his body is read.

use super::Told;
use super::answer;
use super::connections::{Place, Running};
use super::limits::Fault;
use crate::telemetry;
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Hears who calls as the API server was told.
pub(super) async fn heard(State(told): State<Told>, place: Option<Extension<Arc<Place>>>, request: Request, next: Next) -> Response {
    if !told(request.uri().path()).await {
        telemetry::unknown_caller();
        return unknown(request.uri().path()).into_response();
    }
    let running = place.map(|Extension(place)| Running::on(place));
    answer::keeping(next.run(request).await, running)
}

/// What is said to others.
pub(super) fn unknown(path: &str) -> Fault {
    Fault::new(StatusCode::NOT_FOUND, format!("nothing is served at {path}"))
}
