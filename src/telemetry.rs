//! Logs and metrics: what the operator says of itself.

use crate::config::LogFormat;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use std::io::IsTerminal;
use std::sync::LazyLock;
use tracing_subscriber::EnvFilter;

type Labels = Vec<(&'static str, String)>;

struct Metrics {
    registry: Registry,
    transitions: Family<Labels, Counter>,
    refusals: Family<Labels, Counter>,
    errors: Family<Labels, Counter>,
}

static METRICS: LazyLock<Metrics> = LazyLock::new(|| {
    let mut registry = Registry::with_prefix("pointsman");
    let mut family = |name: &str, help: &str| {
        let family = Family::<Labels, Counter>::default();
        registry.register(name, help, family.clone());
        family
    };
    let transitions = family("transitions", "Moves that were stored");
    let refusals = family("admission_refusals", "Writes that the webhook refused");
    let errors = family("reconcile_errors", "Looks at an object that ended in an error");
    Metrics { registry, transitions, refusals, errors }
});

/// Starts logging; `level` is a filter of tracing that was checked before.
pub fn log(level: &str, format: LogFormat) {
    let filter = EnvFilter::new(directives(level));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
}

/// A bare level is meant for our own lines: what the libraries say below `info` hides them.
fn directives(level: &str) -> String {
    match level {
        "debug" | "trace" => format!("info,pointsman={level}"),
        other => other.to_owned(),
    }
}

/// Counts a stored move.
pub fn transition(kind: &str, from: &str, to: &str) {
    let labels = vec![("kind", kind.to_owned()), ("from", from.to_owned()), ("to", to.to_owned())];
    METRICS.transitions.get_or_create(&labels).inc();
}

/// Counts a refused write; `reason` is one of a few words.
pub fn refusal(kind: &str, reason: &str) {
    METRICS.refusals.get_or_create(&vec![("kind", kind.to_owned()), ("reason", reason.to_owned())]).inc();
}

/// Counts a look that ended in an error.
pub fn reconcile_error(kind: &str) {
    METRICS.errors.get_or_create(&vec![("kind", kind.to_owned())]).inc();
}

/// `GET /metrics`, in the text format of `OpenMetrics`.
pub fn metrics() -> Router {
    const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Router::new().route("/metrics", get(|| async { ([(CONTENT_TYPE, TYPE)], page()) }))
}

fn page() -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = encode(&mut page, &METRICS.registry);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_shown() {
        transition("kind", "Creating", "Ready");
        refusal("kind", "unsupported");
        reconcile_error("kind");
        let page = page();
        for line in [
            r#"pointsman_transitions_total{kind="kind",from="Creating",to="Ready"} 1"#,
            r#"pointsman_admission_refusals_total{kind="kind",reason="unsupported"} 1"#,
            r#"pointsman_reconcile_errors_total{kind="kind"} 1"#,
        ] {
            assert!(page.contains(line), "{page}");
        }
    }
}
