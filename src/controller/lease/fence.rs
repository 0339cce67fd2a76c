//! The fence at the very edge: nothing but a read leaves this process while it may not act.
//!
//! It stands behind every queue, rate limit and retry, so that a look which hangs over the loss of the Lease writes
//! nothing after it; and what has not been answered when the term ends is dropped. The API server may still be at it then, so
//! it is given no longer than until another replica may lead.

use super::Leadership;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, Request, Uri};
use kube::client::Body;
use std::task::{Context, Poll};
use std::time::Duration;
use tower::{BoxError, Layer, Service};

/// A request that was not sent, or whose answer was not awaited.
#[derive(Debug, thiserror::Error)]
#[error("{method} {path} {what}: this process does not lead{}", reason(*what))]
pub struct Fenced {
    method: Method,
    path: String,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    NotSent,
    Dropped,
}

impl std::fmt::Display for What {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            What::NotSent => "was not sent",
            What::Dropped => "was given up",
        })
    }
}

fn reason(what: What) -> &'static str {
    match what {
        What::NotSent => "",
        What::Dropped => " any more, and whether it was done is not known",
    }
}

/// What the API server gives a request that asks for no other time.
const USUAL: Duration = Duration::from_mins(1);
/// Of the time between two terms, what is left for clocks of other rates and for the API server to end a request.
const MARGIN: Duration = Duration::from_secs(1);

/// With less than this nothing is begun; and no time at all means any time to the API server.
const LEAST: Duration = Duration::from_millis(100);

/// Puts the fence around a client.
#[derive(Clone, Debug)]
pub struct FenceLayer {
    /// When it lets writes pass.
    pub leadership: Leadership,
    /// How long after the end of a term another replica's may begin at the earliest.
    pub between: Duration,
}

impl<S> Layer<S> for FenceLayer {
    type Service = Fence<S>;

    fn layer(&self, inner: S) -> Fence<S> {
        Fence { inner, fence: self.clone() }
    }
}

/// A client behind the fence.
#[derive(Clone, Debug)]
pub struct Fence<S> {
    inner: S,
    fence: FenceLayer,
}

impl<S> Service<Request<Body>> for Fence<S>
where
    S: Service<Request<Body>>,
    S::Future: Send + 'static,
    S::Response: 'static,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<S::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if request.method() == Method::GET {
            return self.inner.call(request).map(|answer| answer.map_err(Into::into)).boxed();
        }
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let FenceLayer { leadership, between } = self.fence.clone();
        let left = leadership.left().map(|left| (left + between).saturating_sub(MARGIN).min(USUAL));
        if !leadership.leads() || left.is_some_and(|left| left < LEAST) {
            return async move { Err(Fenced { method, path, what: What::NotSent }.into()) }.boxed();
        }
        let answer = self.inner.call(if let Some(left) = left { within(left, request) } else { request });
        async move {
            tokio::select! {
                biased;
                () = leadership.ended() => Err(Fenced { method, path, what: What::Dropped }.into()),
                answer = answer => answer.map_err(Into::into),
            }
        }
        .boxed()
    }
}

/// The same request, which the API server gives up after that time.
fn within(time: Duration, request: Request<Body>) -> Request<Body> {
    let (mut parts, body) = request.into_parts();
    let (path, query) = (parts.uri.path(), parts.uri.query().map(|query| format!("{query}&")).unwrap_or_default());
    let mut uri = parts.uri.clone().into_parts();
    // A path and a query that were legal stay so.
    uri.path_and_query = format!("{path}?{query}timeout={}ms", time.as_millis()).parse().ok();
    if let Ok(uri) = Uri::from_parts(uri) {
        parts.uri = uri;
    }
    Request::from_parts(parts, body)
}
