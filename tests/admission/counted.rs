//! What is counted of reviews, refusals and bugs. Other tests of this program are counted beside, so counts are at least.

use crate::desk::{CONVERT, ask, conversion, ready, review, router, scale, with, write};
use axum::http::StatusCode;
use pointsman::telemetry::scrape;
use serde_json::json;

const VALIDATE: &str = "/validate/memcached/secret";

/// The value of one line of the page; nothing where it is not there.
async fn shown(series: &str) -> Option<u64> {
    let (_, page) = ask(scrape::router(Vec::new()), "GET", "/metrics", "", Vec::new()).await;
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ').map(str::to_owned));
    line.map(|value| value.parse().expect("a count"))
}

#[tokio::test]
async fn a_bug_in_a_review_is_answered_with_500_and_counted_once_by_its_path() {
    const PANICS: &str = "controller_runtime_webhook_panics_total";
    const ANSWERED: &str = r#"controller_runtime_webhook_requests_total{webhook="/validate/memcached",code="500"}"#;
    let router = router(Vec::new(), &[]);
    // There before anything happens: a counter that appears with its first event hides it.
    let before = (shown(PANICS).await.expect("it starts at nothing"), shown(ANSWERED).await.expect("it starts at nothing"));
    let body = scale("panic", Some(1)).to_string().into_bytes();
    let (status, text) = ask(router.clone(), "POST", VALIDATE, "application/json", body).await;
    assert_eq!(
        (status, text.as_str()),
        (StatusCode::INTERNAL_SERVER_ERROR, "this request met a bug in the operator; its log names the line\n")
    );
    assert!(shown(PANICS).await > Some(before.0) && shown(ANSWERED).await > Some(before.1));
    assert_eq!(shown("controller_runtime_conversion_webhook_panics_total").await, Some(0));
    // And the next review is answered.
    assert_eq!(review(router, VALIDATE, &write("CREATE", "v1", &json!(null), &ready("cache", 1))).await["allowed"], true);
}

#[tokio::test]
async fn reviews_conversions_and_refusals_are_counted() {
    const REVIEWS: &str = r#"controller_runtime_webhook_requests_total{webhook="/validate/memcached",code="200"}"#;
    const CONVERSIONS: &str = r#"controller_runtime_webhook_requests_total{webhook="/convert",code="200"}"#;
    const MALFORMED: &str = r#"controller_runtime_webhook_requests_total{webhook="/convert",code="400"}"#;
    const REFUSED: &str = r#"pointsman_admission_refusals_total{kind="Memcached",reason="unsupported"}"#;
    const TIMED: &str = r#"controller_runtime_webhook_latency_seconds_count{webhook="/validate/memcached"}"#;
    let router = router(Vec::new(), &[]);
    let all = [REVIEWS, CONVERSIONS, MALFORMED, REFUSED, TIMED];
    let mut before = Vec::new();
    for series in all {
        before.push(shown(series).await.unwrap_or_default());
    }
    let moved = with(ready("cache", 1), "/spec/port", json!(11311));
    assert_eq!(review(router.clone(), VALIDATE, &write("UPDATE", "v1", &ready("cache", 1), &moved)).await["allowed"], false);
    review(router.clone(), CONVERT, &conversion("cache.example.com/v1", &[ready("cache", 1)])).await;
    ask(router, "POST", CONVERT, "application/json", b"no review".to_vec()).await;
    for (series, before) in all.into_iter().zip(before) {
        assert!(shown(series).await > Some(before), "{series}");
    }
}
