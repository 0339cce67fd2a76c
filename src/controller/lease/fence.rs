//! The fence at the very edge: nothing but a read leaves this process while it may not act.
//!
//! It stands behind every queue, rate limit and retry, so that a look which hangs over the loss of the Lease writes
//! nothing after it; and what has not been answered when the term ends is dropped.

use super::Leadership;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, Request};
use kube::client::Body;
use std::task::{Context, Poll};
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

/// Puts the fence around a client.
#[derive(Clone, Debug)]
pub struct FenceLayer(pub Leadership);

impl<S> Layer<S> for FenceLayer {
    type Service = Fence<S>;

    fn layer(&self, inner: S) -> Fence<S> {
        Fence { inner, leadership: self.0.clone() }
    }
}

/// A client behind the fence.
#[derive(Clone, Debug)]
pub struct Fence<S> {
    inner: S,
    leadership: Leadership,
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
        if !self.leadership.leads() {
            return async move { Err(Fenced { method, path, what: What::NotSent }.into()) }.boxed();
        }
        let (answer, leadership) = (self.inner.call(request), self.leadership.clone());
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
