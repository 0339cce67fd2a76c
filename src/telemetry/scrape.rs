//! `/metrics`: what was counted, and what is seen of objects at this moment.

use super::record::Renewed;
use super::table::{REGISTERS, metrics};
use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The objects of one kind, as this replica knows them at the moment of a scrape. Nothing of an object is kept here, so
/// nothing is left of one that is gone.
pub trait Census: Send + Sync {
    /// Does this replica look after them? Two that both told would double them.
    fn leads(&self) -> bool;
    /// The controller's name.
    fn controller(&self) -> &'static str;
    /// How many objects wait for a look.
    fn waiting(&self) -> usize;
    /// Tells each object.
    fn each(&self, tell: &mut dyn FnMut(&Sighting<'_>));
}

/// What is told of one object. Times are seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its state.
    pub state: &'a str,
    /// When it entered that state.
    pub entered: i64,
    /// The time of the scrape.
    pub now: i64,
    /// When the operator gives up waiting for it.
    pub deadline: Option<i64>,
    /// The reason of its open question.
    pub question: Option<&'a str>,
    /// The conditions that only its kind has, and whether each holds.
    pub conditions: &'a [(&'a str, bool)],
}

/// A page is no older when it is told: all who ask within that time, and however slowly they take it, share it.
const AGE: Duration = Duration::from_secs(1);

/// `GET /metrics`, in the text format of `OpenMetrics`.
pub fn router(censuses: Vec<Arc<dyn Census>>) -> Router {
    const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let mut seen = Registry::default();
    seen.register_collector(Box::new(Seen(censuses)));
    let pages = Arc::new((Renewed::every(AGE), seen));
    let told = move || async move {
        let (page_now, seen) = pages.as_ref();
        ([(CONTENT_TYPE, TYPE)], page_now.get(|| Bytes::from(page(seen))))
    };
    Router::new().route("/metrics", get(told))
}

fn page(seen: &Registry) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = encode_registry(&mut page, &REGISTERS.registry)
        .and_then(|()| encode_registry(&mut page, seen))
        .and_then(|()| encode_eof(&mut page));
    page
}

struct Seen(Vec<Arc<dyn Census>>);

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seen({} kinds)", self.0.len())
    }
}

impl Collector for Seen {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (all, to) = (metrics(), &mut encoder);
        let censuses = || self.0.iter().filter(|census| census.leads());
        let each = |tell: &mut dyn FnMut(&Sighting<'_>)| censuses().for_each(|census| census.each(tell));
        all.state.encode(to, |row| each(&mut |of| row([of.kind, of.namespace, of.name, of.state], 1)))?;
        all.state_seconds
            .encode(to, |row| each(&mut |of| row([of.kind, of.namespace, of.name], of.now.saturating_sub(of.entered).max(0))))?;
        all.state_entered.encode(to, |row| each(&mut |of| row([of.kind, of.namespace, of.name], of.entered)))?;
        all.deadline.encode(to, |row| {
            each(&mut |of| {
                if let Some(deadline) = of.deadline {
                    row([of.kind, of.namespace, of.name], deadline);
                }
            });
        })?;
        all.interventions.encode(to, |row| {
            each(&mut |of| {
                if let Some(reason) = of.question {
                    row([of.kind, of.namespace, of.name, reason], 1);
                }
            });
        })?;
        all.conditions.encode(to, |row| {
            each(&mut |of| {
                for (condition, holds) in of.conditions {
                    row([of.kind, of.namespace, of.name, condition], i64::from(*holds));
                }
            });
        })?;
        all.depth.encode(to, |row| {
            for census in censuses() {
                row([census.controller(); 2], i64::try_from(census.waiting()).unwrap_or(i64::MAX));
            }
        })
    }
}
