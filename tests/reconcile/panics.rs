//! A bug in a look: it stays there.

use super::fake::Fake;
use super::lines::Lines;
use super::scrape::page;
use super::{DEPLOYMENT, cached, only, run};
use pointsman::telemetry::{self, scrape};
use serde_json::json;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_panic_stays_in_its_look_is_counted_and_slowed_down_and_quotes_nothing() {
    let (lines, _log) = Lines::gathered();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        telemetry::panicked(panic);
        before(panic);
    }));
    let mut broken = cached();
    (broken["metadata"]["name"], broken["metadata"]["uid"]) = (json!("broken"), json!("u-2"));
    let password = "hunter2".to_owned();
    let fake = Fake::new(&[("memcacheds", broken), ("memcacheds", cached())], move |write, _| {
        assert!(!write.path.contains("/memcacheds/broken/"), "this quotes the password {password}");
        None
    });
    run(&fake, Duration::from_mins(2)).await;
    let calls = fake.calls();
    assert!(only(&calls, DEPLOYMENT) > 0, "the other object is looked at: {calls:?}");
    let tries = calls.iter().filter(|call| call.contains("/memcacheds/broken/status")).count();
    assert!((5..=12).contains(&tries), "{tries} tries in two minutes");
    let page = page(&scrape::router(Vec::new())).await;
    let counted = format!("controller_runtime_reconcile_panics_total{{controller=\"memcached\"}} {tries}\n");
    assert!(page.contains(&counted), "{counted}{page}");
    let failed = lines.of("a look failed");
    assert_eq!(failed.len(), tries);
    assert!(failed.iter().all(|line| line["name"] == "broken" && line["namespace"] == "shop"), "{failed:#?}");
    let bugs = lines.of("a bug: the code panicked here");
    assert_eq!(bugs.len(), tries);
    assert!(bugs[0]["file"].as_str().is_some_and(|file| file.ends_with("panics.rs")) && bugs[0]["line"].is_number(), "{}", bugs[0]);
    assert_eq!(bugs[0]["span"]["object"], "broken", "{}", bugs[0]);
    assert!(!lines.text().contains("hunter2"), "{}", lines.text());
}
