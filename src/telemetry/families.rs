//! What a row of the table may be: metrics of one name that differ by their labels, or a single one.

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Metric, Registry};
use std::fmt;
use std::marker::PhantomData;

type Labels<const N: usize> = [(&'static str, String); N];

/// What the table tells of a sort of metric.
pub(super) trait Typed {
    /// Its type, as Prometheus calls it.
    const SORT: &'static str;
    /// Is it computed at the scrape?
    const SEEN: bool = false;
}

/// A metric with `N` labels that can be declared by a row.
pub(super) trait Registered<const N: usize> {
    fn registered(registry: &mut Registry, name: &'static str, labels: [&'static str; N], help: &'static str) -> Self;
}

/// Counters that differ by `N` labels.
pub(super) struct Counters<const N: usize>([&'static str; N], Family<Labels<N>, Counter>);

/// Gauges that differ by `N` labels.
pub(super) struct Gauges<const N: usize>([&'static str; N], Family<Labels<N>, Gauge>);

/// Histograms that differ by `N` labels.
pub(super) struct Histograms<const N: usize, B: Buckets>(
    [&'static str; N],
    Family<Labels<N>, Histogram, fn() -> Histogram>,
    PhantomData<B>,
);

/// Gauges that nobody keeps: they are computed at the scrape.
pub(super) struct Sights<const N: usize> {
    name: &'static str,
    labels: [&'static str; N],
    help: String,
}

/// The bounds of a histogram.
pub(super) trait Buckets: 'static {
    fn histogram() -> Histogram;
}

/// controller-runtime's for its reconciles.
pub(super) struct Looks;

/// controller-runtime's for its webhooks.
pub(super) struct Reviews;

impl Buckets for Looks {
    fn histogram() -> Histogram {
        const BOUNDS: [f64; 40] = [
            0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5,
            3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0,
        ];
        Histogram::new(BOUNDS)
    }
}

impl Buckets for Reviews {
    fn histogram() -> Histogram {
        Histogram::new(exponential_buckets(10e-9, 10.0, 12))
    }
}

impl<const N: usize> Counters<N> {
    /// The counter with these values of its labels.
    pub(super) fn with(&self, values: [&str; N]) -> Counter {
        self.1.get_or_create_owned(&labelled(self.0, values))
    }
}

impl<const N: usize> Gauges<N> {
    /// The gauge with these values of its labels.
    pub(super) fn with(&self, values: [&str; N]) -> Gauge {
        self.1.get_or_create_owned(&labelled(self.0, values))
    }
}

impl<const N: usize, B: Buckets> Histograms<N, B> {
    /// The histogram with these values of its labels.
    pub(super) fn with(&self, values: [&str; N]) -> Histogram {
        self.1.get_or_create_owned(&labelled(self.0, values))
    }
}

impl<const N: usize> Sights<N> {
    /// Writes what `each` tells: the values of the labels, and that of the gauge.
    pub(super) fn encode(&self, encoder: &mut DescriptorEncoder<'_>, each: impl FnOnce(&mut dyn FnMut([&str; N], i64))) -> fmt::Result {
        let mut family: MetricEncoder<'_> = encoder.encode_descriptor(self.name, &self.help, None, MetricType::Gauge)?;
        let mut written = Ok(());
        each(&mut |values, value| {
            let labels: [(&str, &str); N] = std::array::from_fn(|at| (self.labels[at], values[at]));
            let one = |()| family.encode_family(&labels)?.encode_gauge(&value);
            written = written.and_then(one);
        });
        written
    }
}

fn labelled<const N: usize>(labels: [&'static str; N], values: [&str; N]) -> Labels<N> {
    std::array::from_fn(|at| (labels[at], values[at].to_owned()))
}

/// The library itself ends a counter's name.
fn register(registry: &mut Registry, name: &'static str, help: &'static str, metric: impl Metric) {
    registry.register(name.strip_suffix("_total").unwrap_or(name), help, metric);
}

impl<const N: usize> Registered<N> for Counters<N> {
    fn registered(registry: &mut Registry, name: &'static str, labels: [&'static str; N], help: &'static str) -> Self {
        let family = Family::default();
        register(registry, name, help, family.clone());
        Counters(labels, family)
    }
}

impl<const N: usize> Registered<N> for Gauges<N> {
    fn registered(registry: &mut Registry, name: &'static str, labels: [&'static str; N], help: &'static str) -> Self {
        let family = Family::default();
        register(registry, name, help, family.clone());
        Gauges(labels, family)
    }
}

impl<const N: usize, B: Buckets> Registered<N> for Histograms<N, B> {
    fn registered(registry: &mut Registry, name: &'static str, labels: [&'static str; N], help: &'static str) -> Self {
        let family = Family::new_with_constructor(B::histogram as fn() -> Histogram);
        register(registry, name, help, family.clone());
        Histograms(labels, family, PhantomData)
    }
}

impl<const N: usize> Registered<N> for Sights<N> {
    fn registered(_: &mut Registry, name: &'static str, labels: [&'static str; N], help: &'static str) -> Self {
        // As the registry does with the others.
        Sights { name, labels, help: format!("{help}.") }
    }
}

impl Registered<0> for Counter {
    fn registered(registry: &mut Registry, name: &'static str, _: [&'static str; 0], help: &'static str) -> Self {
        let counter = Counter::default();
        register(registry, name, help, counter.clone());
        counter
    }
}

impl Registered<0> for Gauge {
    fn registered(registry: &mut Registry, name: &'static str, _: [&'static str; 0], help: &'static str) -> Self {
        let gauge = Gauge::default();
        register(registry, name, help, gauge.clone());
        gauge
    }
}

impl<const N: usize> Typed for Counters<N> {
    const SORT: &'static str = "counter";
}
impl<const N: usize> Typed for Gauges<N> {
    const SORT: &'static str = "gauge";
}
impl<const N: usize, B: Buckets> Typed for Histograms<N, B> {
    const SORT: &'static str = "histogram";
}
impl<const N: usize> Typed for Sights<N> {
    const SORT: &'static str = "gauge";
    const SEEN: bool = true;
}
impl Typed for Counter {
    const SORT: &'static str = "counter";
}
impl Typed for Gauge {
    const SORT: &'static str = "gauge";
}
