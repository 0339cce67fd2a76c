//! Every metric: one row each. The registry, the functions that set them and `docs/metrics.md` come from here.
//!
//! A metric that no row declares cannot be set, one with another number of labels does not compile, and a row that nothing
//! sets is dead code. Names that start with something else than `pointsman_` are those of controller-runtime and client-go,
//! with their labels and their buckets, so that dashboards that exist show this operator too.

use super::families::{Counters, Gauges, Histograms, Looks, Registered, Reviews, Sights, Typed};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::LazyLock;

/// What is told of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name, as a query writes it; a histogram's is followed by `_bucket`, `_sum` and `_count`.
    pub name: &'static str,
    /// `counter`, `gauge` or `histogram`.
    pub sort: &'static str,
    /// Is it computed at the scrape, by the replica that leads, and by no other?
    pub seen: bool,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it tells.
    pub help: &'static str,
}

macro_rules! table {
    ($($field:ident: $sort:ty = $name:literal [$($label:literal),*] $help:literal;)+) => {
        /// Every metric, in the order in which it is printed.
        pub const TABLE: &[Row] = &[$(
            Row { name: $name, sort: <$sort as Typed>::SORT, seen: <$sort as Typed>::SEEN, labels: &[$($label),*], help: $help }
        ),+];

        pub(super) struct Metrics { $(pub(super) $field: $sort),+ }

        impl Metrics {
            fn registered(registry: &mut Registry) -> Self {
                $(let $field = <$sort as Registered<_>>::registered(registry, $name, [$($label),*], $help);)+
                Metrics { $($field),+ }
            }
        }
    };
}

#[rustfmt::skip]
table! {
    state: Sights<4> = "pointsman_state" ["kind", "namespace", "name", "state"]
        "1 for the state that an object is in";
    state_seconds: Sights<3> = "pointsman_state_seconds" ["kind", "namespace", "name"]
        "How long an object has been in its state, in seconds";
    state_entered: Sights<3> = "pointsman_state_entered_timestamp_seconds" ["kind", "namespace", "name"]
        "When an object entered its state, in seconds since 1970: it changes with every move";
    deadline: Sights<3> = "pointsman_deadline_timestamp_seconds" ["kind", "namespace", "name"]
        "When the operator gives up waiting for an object that it works on, and asks; in seconds since 1970. Progress moves it, and where nothing is waited for there is none";
    interventions: Sights<4> = "pointsman_interventions" ["kind", "namespace", "name", "reason"]
        "1 for each question that waits for a person";
    conditions: Sights<4> = "pointsman_condition" ["kind", "namespace", "name", "condition"]
        "1 where a condition that only objects of its kind have holds, 0 where it does not; the page of the kind's states names them";
    transitions: Counters<3> = "pointsman_transitions_total" ["kind", "from", "to"]
        "Moves that were stored";
    volumes_gone: Counters<1> = "pointsman_volumes_gone_total" ["kind"]
        "Volumes that went with their namespace while an object of ours held data in them; the Event and the log name them";
    refusals: Counters<2> = "pointsman_admission_refusals_total" ["kind", "reason"]
        "Fields in writes that the webhook refused; the reason is unsupported, busy or invalid";
    connections_refused: Counter = "pointsman_webhook_connections_refused_total" []
        "Connections to the webhooks that were closed to make room for others, or were let in no more: their address, or all addresses together, held as many as may be";
    unknown_callers: Counter = "pointsman_webhook_unknown_callers_total" []
        "Calls at a path that the API server was not told to call: they are answered with 404, and nothing of their bodies is read";
    certificate_expiry: Gauges<1> = "pointsman_certificate_expiry_timestamp_seconds" ["certificate"]
        "When the leaf that the webhooks present, or the authority that signed it, runs out; in seconds since 1970";
    certificate_mismatch: Gauge = "pointsman_certificate_mismatch" []
        "1 where a bundle that the API server trusts does not fit the leaf that is presented, so that it cannot call the webhooks";
    clock: Gauge = "pointsman_clock_skew_seconds" []
        "How far this machine's clock is ahead of the API server's, in seconds; decisions go by the API server's, and up to 4 s count as none";
    blind: Gauges<2> = "pointsman_blind" ["namespace", "resource"]
        "1 while the API server does not let the operator list and watch a resource: nothing is done for objects in that namespace, or in any where none is named";
    leader: Gauge = "pointsman_leader" []
        "1 where this replica looks after objects, 0 where it stands by";
    reconciles: Counters<2> = "controller_runtime_reconcile_total" ["controller", "result"]
        "Looks at objects; the result is success (nothing more is due: the object is gone), requeue_after (the next look is set) or error";
    reconcile_errors: Counters<1> = "controller_runtime_reconcile_errors_total" ["controller"]
        "Looks that ended in an error, panics included";
    reconcile_panics: Counters<1> = "controller_runtime_reconcile_panics_total" ["controller"]
        "Looks that met a bug: the object is tried again, ever more seldom, and the others are looked at";
    reconcile_time: Histograms<1, Looks> = "controller_runtime_reconcile_time_seconds" ["controller"]
        "How long a look took, its calls included";
    concurrency: Gauges<1> = "controller_runtime_max_concurrent_reconciles" ["controller"]
        "How many objects of a kind may be looked at at once";
    active: Gauges<1> = "controller_runtime_active_workers" ["controller"]
        "How many are looked at now";
    reviews: Counters<2> = "controller_runtime_webhook_requests_total" ["webhook", "code"]
        "Reviews and conversions that were answered, by HTTP status; a refusal is an answer with 200";
    review_time: Histograms<1, Reviews> = "controller_runtime_webhook_latency_seconds" ["webhook"]
        "How long a review or a conversion took, the arrival of its body included";
    reviews_in_flight: Gauges<1> = "controller_runtime_webhook_requests_in_flight" ["webhook"]
        "Reviews and conversions that are being answered";
    review_panics: Counter = "controller_runtime_webhook_panics_total" []
        "Reviews that met a bug and were answered with 500";
    conversion_panics: Counter = "controller_runtime_conversion_webhook_panics_total" []
        "Conversions that met a bug and were answered with 500";
    depth: Sights<2> = "workqueue_depth" ["name", "controller"]
        "Objects that an event asked to look at, and that nobody has looked at yet; looks that are due by time alone are not in it";
    adds: Counters<2> = "workqueue_adds_total" ["name", "controller"]
        "Objects that an event asked to look at, each once until its look begins; looks that are due by time alone are not in it";
    requests: Counters<3> = "rest_client_requests_total" ["code", "method", "host"]
        "Requests to the API server, by HTTP status; <error> where there was no answer. A watch is one request";
    master: Gauges<1> = "leader_election_master_status" ["name"]
        "1 where this replica holds the Lease of that name; group by it";
}

pub(super) struct Registers {
    pub(super) registry: Registry,
    pub(super) metrics: Metrics,
}

pub(super) static REGISTERS: LazyLock<Registers> = LazyLock::new(|| {
    let mut registry = Registry::default();
    let metrics = Metrics::registered(&mut registry);
    Registers { registry, metrics }
});

/// Every metric, to be set.
pub(super) fn metrics() -> &'static Metrics {
    &REGISTERS.metrics
}
