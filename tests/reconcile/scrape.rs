//! What a scrape tells of objects, and what of one that is gone.

use super::cached;
use super::fake::Fake;
use axum::Router;
use axum::body::{Body, to_bytes};
use http::Request;
use pointsman::config::Config;
use pointsman::controller::Controller;
use pointsman::controller::lease::{Leadership, Term};
use pointsman::kinds::intervention::id;
use pointsman::kinds::memcached::Memcached;
use pointsman::telemetry::scrape;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;
use tower::ServiceExt;

/// The page as Prometheus reads it.
pub async fn page(router: &Router) -> String {
    let asked = Request::get("/metrics").body(Body::empty()).unwrap();
    let answer = router.clone().oneshot(asked).await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8");
    String::from_utf8(to_bytes(answer.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap()
}

/// An object with an open question.
pub fn asking() -> Value {
    let mut object = cached();
    object["status"] = json!({
        "state": "HumanIntervention", "stateTime": "2020-01-01T00:00:00Z",
        "intervention": {
            "generation": 1, "id": id("u-1", 1), "number": 1, "reason": "RolloutStuck", "message": "", "notDone": "", "runbook": "",
            "answers": [{ "verb": "retry", "effect": "", "risk": "None", "command": "" }], "time": "2020-01-01T00:00:00Z", "about": "",
        },
    });
    object
}

/// An object that is worked on, and one that nobody has looked at yet.
fn working() -> [Value; 2] {
    let (mut working, mut new) = (cached(), cached());
    (working["metadata"]["name"], working["metadata"]["uid"]) = (json!("busy"), json!("u-2"));
    working["status"] = json!({ "state": "Updating", "stateTime": "2020-01-01T00:00:00Z", "deadlineTime": "2020-01-01T00:10:00Z" });
    (new["metadata"]["name"], new["metadata"]["uid"]) = (json!("new"), json!("u-3"));
    new["metadata"]["creationTimestamp"] = json!("2020-01-01T00:00:00Z");
    [working, new]
}

#[tokio::test(start_paused = true)]
async fn objects_are_told_by_the_replica_that_leads_and_nothing_is_left_of_one_that_is_gone() {
    let [busy, new] = working();
    let fake = Fake::new(&[("memcacheds", asking()), ("memcacheds", busy), ("memcacheds", new)], |_, _| None);
    let config = Config::parse(["pointsman".into()]).unwrap();
    let term = watch::Sender::new(Term::Outside);
    let (controller, watches) = Controller::<Memcached>::new(fake.client(), &config, Leadership::of(&term));
    // Each page is the first of its router: a later one may be a second old.
    let router = || scrape::router(vec![controller.census(Leadership::of(&term))]);
    let scraped = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let standby = page(&router()).await;
        term.send_replace(Term::Unlimited);
        let leads = page(&router()).await;
        fake.tell("memcacheds", "DELETED", &asking());
        tokio::time::sleep(Duration::from_secs(1)).await;
        (standby, leads, page(&router()).await)
    };
    let (standby, leads, gone) = tokio::select! {
        pages = scraped => pages,
        never = watches.run() => match never {},
    };
    assert!(!standby.contains("name=\"cache\"") && !standby.contains("\nworkqueue_depth{"), "{standby}");
    let of = |name: &str| format!(r#"kind="Memcached",namespace="shop",name="{name}""#);
    let (asks, busy, new) = (of("cache"), of("busy"), of("new"));
    let told = [
        format!("pointsman_state{{{asks},state=\"HumanIntervention\"}} 1\n"),
        format!("pointsman_state{{{new},state=\"Pending\"}} 1\n"),
        format!("pointsman_state_entered_timestamp_seconds{{{asks}}} 1577836800\n"),
        format!("pointsman_state_entered_timestamp_seconds{{{new}}} 1577836800\n"),
        format!("pointsman_deadline_timestamp_seconds{{{busy}}} 1577837400\n"),
        format!("pointsman_interventions{{{asks},reason=\"RolloutStuck\"}} 1\n"),
        "workqueue_depth{name=\"memcached\",controller=\"memcached\"} 3\n".to_owned(),
    ];
    for line in told {
        assert!(leads.contains(&line), "{line}{leads}");
    }
    assert!(!leads.contains(&format!("pointsman_deadline_timestamp_seconds{{{asks}")), "nothing is waited for");
    let seconds = leads.lines().find_map(|line| line.strip_prefix(&format!("pointsman_state_seconds{{{asks}}} "))).unwrap();
    assert!(seconds.parse::<i64>().unwrap() > 5 * 365 * 24 * 3600, "{seconds}");
    assert!(!gone.contains("name=\"cache\"") && gone.contains("name=\"busy\""), "{gone}");
    assert!(gone.ends_with("# EOF\n"));
}
