//! Logs and metrics: what the operator says of itself.
//!
//! [`table`] declares every metric; [`record`] counts what happens, [`requests`] what is asked of the API server, and
//! [`scrape`] shows both, and what is seen of objects at that moment. A further metric is a row in the table and a function
//! that sets it. [`log`] starts the lines; what a panic says may quote a secret, so [`panicked`] tells its place.

mod families;
mod record;
pub mod requests;
pub mod scrape;
pub mod table;

pub use record::{
    Ended, Look, Webhook, blind, certificate_expiry, certificate_mismatch, clock, connection_refused, controller, leader, queued, refusal,
    transition, unknown_caller, volumes_go,
};

use crate::config::LogFormat;
use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use tracing::Subscriber;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging; `level` is a filter of tracing that was checked before.
pub fn log(level: &str, format: LogFormat) {
    match format {
        LogFormat::Text => {
            let lines = tracing_subscriber::fmt().with_env_filter(filter(level)).with_ansi(std::io::stderr().is_terminal());
            lines.with_writer(std::io::stderr).init();
        }
        LogFormat::Json => json(level, std::io::stderr).init(),
    }
    std::panic::set_hook(Box::new(panicked));
}

/// Lines of JSON, the fields of each at its top.
pub fn json(level: &str, to: impl for<'a> MakeWriter<'a> + Send + Sync + 'static) -> impl Subscriber + Send + Sync {
    tracing_subscriber::fmt().with_env_filter(filter(level)).with_writer(to).json().flatten_event(true).finish()
}

/// Tells where a panic was, within the look or the review that it was in. Its words are told only where they stand in the
/// code as they are: words that were put together may quote what was read, and that may be a secret.
pub fn panicked(panic: &PanicHookInfo<'_>) {
    let (file, line) = panic.location().map_or(("", 0), |place| (place.file(), place.line()));
    let words = panic.payload().downcast_ref::<&'static str>().copied();
    tracing::error!(file, line, words, "a bug: the code panicked here");
}

fn filter(level: &str) -> EnvFilter {
    EnvFilter::new(directives(level))
}

/// A bare level is meant for our own lines: what the libraries say below `info` hides them.
fn directives(level: &str) -> String {
    match level {
        "debug" | "trace" => format!("info,pointsman={level}"),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::scrape::{Census, Sighting};
    use super::*;
    use axum::body::{Body, to_bytes};
    use std::sync::Arc;
    use tower::{Layer, Service, ServiceExt};

    /// One object with a name that no API server takes.
    struct One;

    impl Census for One {
        fn leads(&self) -> bool {
            true
        }
        fn controller(&self) -> &'static str {
            "one"
        }
        fn waiting(&self) -> usize {
            7
        }
        fn each(&self, tell: &mut dyn FnMut(&Sighting<'_>)) {
            let name = "a\"b\\c\nd";
            tell(&Sighting {
                kind: "One",
                namespace: "shop",
                name,
                state: "Ready",
                entered: 100,
                now: 160,
                deadline: Some(400),
                question: Some("Why"),
                conditions: &[("Fed", true), ("Warm", false)],
            });
        }
    }

    /// Everything that can be counted, once.
    async fn count_everything() {
        transition("One", "Creating", "Ready");
        refusal("One", "unsupported");
        volumes_go("Kind", 1);
        unknown_caller();
        leader("lease", true);
        certificate_expiry("leaf", 1000);
        certificate_mismatch(true);
        queued("one");
        controller("one", 64);
        for how in [Ended::Well, Ended::Again, Ended::Failed, Ended::Panicked] {
            Look::begins("one").ended(how);
        }
        let well = || async { http::Response::new(()) };
        Webhook::judging("/one").answers(well()).await;
        Webhook::converting("/other").answers(well()).await;
        let answers = tower::service_fn(|request: http::Request<()>| async move {
            if request.method() == http::Method::GET { Ok(http::Response::new(())) } else { Err("no answer") }
        });
        let mut client = requests::CountLayer::new("10.96.0.1:443").layer(answers);
        for method in ["GET", "PATCH"] {
            let _ = client.call(http::Request::builder().method(method).body(()).expect("a request")).await;
        }
    }

    #[tokio::test]
    async fn every_row_of_the_table_is_shown_once_it_is_set() {
        count_everything().await;
        let asked = http::Request::get("/metrics").body(Body::empty()).expect("a request");
        let answer = scrape::router(vec![Arc::new(One)]).oneshot(asked).await.expect("an answer");
        let page = to_bytes(answer.into_body(), usize::MAX).await.expect("a page");
        let page = String::from_utf8(page.to_vec()).expect("text");
        for row in table::TABLE {
            let (family, first) = (row.name.trim_end_matches("_total"), if row.sort == "histogram" { "_count" } else { "" });
            assert!(page.contains(&format!("# TYPE {family} {}\n", row.sort)), "{}\n{page}", row.name);
            let lines: Vec<&str> = page.lines().filter(|line| line.starts_with(&format!("{}{first}", row.name))).collect();
            let labels = |line: &str| row.labels.iter().all(|label| line.contains(&format!("{label}=\"")));
            assert!(lines.iter().any(|line| labels(line)), "{}\n{page}", row.name);
        }
        for line in [
            r#"pointsman_state{kind="One",namespace="shop",name="a\"b\\c\nd",state="Ready"} 1"#,
            r#"pointsman_state_seconds{kind="One",namespace="shop",name="a\"b\\c\nd"} 60"#,
            r#"pointsman_transitions_total{kind="One",from="Creating",to="Ready"} 1"#,
            r#"pointsman_condition{kind="One",namespace="shop",name="a\"b\\c\nd",condition="Fed"} 1"#,
            r#"pointsman_condition{kind="One",namespace="shop",name="a\"b\\c\nd",condition="Warm"} 0"#,
            "pointsman_leader 1",
            r#"leader_election_master_status{name="lease"} 1"#,
            r#"controller_runtime_reconcile_total{controller="one",result="error"} 2"#,
            r#"controller_runtime_reconcile_total{controller="one",result="success"} 1"#,
            r#"controller_runtime_reconcile_errors_total{controller="one"} 2"#,
            r#"controller_runtime_reconcile_panics_total{controller="one"} 1"#,
            r#"controller_runtime_reconcile_time_seconds_bucket{le="60.0",controller="one"} 4"#,
            r#"controller_runtime_active_workers{controller="one"} 0"#,
            r#"controller_runtime_max_concurrent_reconciles{controller="one"} 64"#,
            r#"controller_runtime_webhook_requests_in_flight{webhook="/one"} 0"#,
            r#"workqueue_depth{name="one",controller="one"} 7"#,
            r#"rest_client_requests_total{code="200",method="GET",host="10.96.0.1:443"} 1"#,
            r#"rest_client_requests_total{code="<error>",method="PATCH",host="10.96.0.1:443"} 1"#,
        ] {
            assert!(page.lines().any(|shown| shown == line), "{line}\n{page}");
        }
    }
}
