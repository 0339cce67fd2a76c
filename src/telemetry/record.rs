//! What is counted and timed while it happens. The one clock of telemetry.

use super::table::metrics;
use http::Response;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is made anew at most once in a while, however often it is asked for.
#[derive(Debug)]
pub(super) struct Renewed<T> {
    every: Duration,
    /// Held by who makes it.
    making: Mutex<()>,
    last: Mutex<Option<(Instant, T)>>,
}

impl<T: Clone> Renewed<T> {
    /// Nothing yet.
    pub(super) fn every(every: Duration) -> Self {
        Renewed { every, making: Mutex::default(), last: Mutex::default() }
    }

    /// What was made last, or what `make` makes now. Who asks while another makes it gets the one before: nobody waits for a page
    /// but for the first.
    pub(super) fn get(&self, make: impl FnOnce() -> T) -> T {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_fresh = |(at, _): &(Instant, T)| at.elapsed() < self.every;
        if let Some((_, value)) = last().filter(is_fresh) {
            return value;
        }
        let turn = self
            .making
            .try_lock()
            .or_else(|_| if last().is_none() { Ok(self.making.lock().unwrap_or_else(PoisonError::into_inner)) } else { Err(()) });
        match (turn, last()) {
            (Ok(_), Some(fresh)) if is_fresh(&fresh) => fresh.1,
            (Err(()), Some((_, value))) => value,
            _ => {
                let value = make();
                *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), value.clone()));
                value
            }
        }
    }
}

/// Counts a stored move.
pub fn transition(kind: &str, from: &str, to: &str) {
    metrics().transitions.with([kind, from, to]).inc();
}

/// Counts so many volumes that go with their namespace; none at first, so that the first one is seen as one more.
pub fn volumes_go(kind: &str, count: usize) {
    metrics().volumes_gone.with([kind]).inc_by(u64::try_from(count).unwrap_or(u64::MAX));
}

/// Counts a connection that was closed for want of a place.
pub fn connection_refused() {
    metrics().connections_refused.inc();
}

/// Counts a call at a path that the API server was not told.
pub fn unknown_caller() {
    metrics().unknown_callers.inc();
}

/// Counts a refused field of a write; `reason` is one of a few words.
pub fn refusal(kind: &str, reason: &str) {
    metrics().refusals.with([kind, reason]).inc();
}

/// Says by how many seconds this machine's clock is ahead of the API server's.
pub fn clock(ahead: i64) {
    metrics().clock.set(ahead);
}

/// Says whether this process leads, that is, holds the Lease `name`.
pub fn leader(name: &str, leads: bool) {
    metrics().leader.set(i64::from(leads));
    metrics().master.with([name]).set(i64::from(leads));
}

/// Says when a certificate, `leaf` or `authority`, runs out; in seconds since 1970.
pub fn certificate_expiry(certificate: &str, at: i64) {
    metrics().certificate_expiry.with([certificate]).set(at);
}

/// Says whether a resource cannot be listed; the namespace is empty where that is so everywhere.
pub fn blind(namespace: &str, resource: &str, is_so: bool) {
    metrics().blind.with([namespace, resource]).set(i64::from(is_so));
}

/// Says whether a bundle that the API server trusts does not fit the leaf that is presented.
pub fn certificate_mismatch(differs: bool) {
    metrics().certificate_mismatch.set(i64::from(differs));
}

/// Counts an object that is to be looked at.
pub fn queued(controller: &str) {
    metrics().adds.with([controller, controller]).inc();
}

/// Counts a request to the API server; no code where there was no answer.
pub(super) fn requested(code: Option<u16>, method: &str, host: &str) {
    let code = code.map_or_else(|| "<error>".to_owned(), |code| code.to_string());
    metrics().requests.with([&code, method, host]).inc();
}

/// How a look ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Well; nothing more is due.
    Well,
    /// Well; and the next look is set.
    Again,
    /// In an error.
    Failed,
    /// In a bug.
    Panicked,
}

/// A controller begins to look at the objects of its kind, at so many at once. What can be counted starts at nothing: a
/// counter that appears with its first event hides that event from every rate.
pub fn controller(name: &str, concurrency: u16) {
    metrics().concurrency.with([name]).set(i64::from(concurrency));
    metrics().active.with([name]);
    for result in ["success", "requeue_after", "error"] {
        metrics().reconciles.with([name, result]);
    }
    metrics().reconcile_errors.with([name]);
    metrics().reconcile_panics.with([name]);
    metrics().reconcile_time.with([name]);
}

/// A look that takes place.
#[derive(Debug)]
pub struct Look {
    controller: &'static str,
    began: Instant,
    active: Gauge,
}

impl Look {
    /// One begins.
    pub fn begins(controller: &'static str) -> Self {
        let active = metrics().active.with([controller]);
        active.inc();
        Look { controller, began: Instant::now(), active }
    }

    /// It has ended.
    pub fn ended(self, how: Ended) {
        let result = match how {
            Ended::Well => "success",
            Ended::Again => "requeue_after",
            Ended::Failed | Ended::Panicked => "error",
        };
        metrics().reconciles.with([self.controller, result]).inc();
        if matches!(how, Ended::Failed | Ended::Panicked) {
            metrics().reconcile_errors.with([self.controller]).inc();
        }
        if how == Ended::Panicked {
            metrics().reconcile_panics.with([self.controller]).inc();
        }
        metrics().reconcile_time.with([self.controller]).observe(self.began.elapsed().as_secs_f64());
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        self.active.dec();
    }
}

/// A path that the API server calls. What is set at every call is looked up once.
#[derive(Debug)]
pub struct Webhook {
    path: String,
    in_flight: Gauge,
    time: Histogram,
    well: Counter,
    panics: Counter,
}

/// A call that is being answered.
struct Call<'a> {
    webhook: &'a Webhook,
    began: Instant,
    code: Option<u16>,
}

impl Webhook {
    /// One that judges writes.
    pub fn judging(path: &str) -> Self {
        Webhook::new(path, metrics().review_panics.clone())
    }

    /// One that converts objects.
    pub fn converting(path: &str) -> Self {
        Webhook::new(path, metrics().conversion_panics.clone())
    }

    fn new(path: &str, panics: Counter) -> Self {
        let all = metrics();
        all.reviews.with([path, "500"]);
        Webhook {
            path: path.to_owned(),
            in_flight: all.reviews_in_flight.with([path]),
            time: all.review_time.with([path]),
            well: all.reviews.with([path, "200"]),
            panics,
        }
    }

    /// It is called, and answers.
    pub async fn answers<B>(&self, answer: impl Future<Output = Response<B>>) -> Response<B> {
        self.in_flight.inc();
        let mut call = Call { webhook: self, began: Instant::now(), code: None };
        let answer = answer.await;
        call.code = Some(answer.status().as_u16());
        answer
    }
}

/// A call without a code met a bug, which is answered with 500; or its sender is gone, and nobody is answered.
impl Drop for Call<'_> {
    fn drop(&mut self) {
        let webhook = self.webhook;
        webhook.in_flight.dec();
        let panicked = std::thread::panicking();
        let Some(code) = self.code.or_else(|| panicked.then_some(500)) else { return };
        if panicked {
            webhook.panics.inc();
        }
        match code {
            200 => webhook.well.inc(),
            code => metrics().reviews.with([&webhook.path, &code.to_string()]).inc(),
        };
        webhook.time.observe(self.began.elapsed().as_secs_f64());
    }
}
