//! Counts what a client asks the API server.

use super::record::requested;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, Response};
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::{Layer, Service};

/// Counts every request that leaves for `host`, and what came back.
#[derive(Clone, Debug)]
pub struct CountLayer(Arc<str>);

impl CountLayer {
    /// For requests to this host, with its port where the address names one.
    pub fn new(host: &str) -> Self {
        CountLayer(host.into())
    }
}

impl<S> Layer<S> for CountLayer {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        Counted { inner, host: self.0.clone() }
    }
}

/// A client whose requests are counted.
#[derive(Clone, Debug)]
pub struct Counted<S> {
    inner: S,
    host: Arc<str>,
}

impl<S, B, R> Service<Request<B>> for Counted<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: 'static,
    R: 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (method, host) = (request.method().clone(), self.host.clone());
        let count = move |answer: &Result<S::Response, S::Error>| {
            requested(answer.as_ref().ok().map(|answer| answer.status().as_u16()), method.as_str(), &host);
        };
        self.inner.call(request).inspect(count).boxed()
    }
}
