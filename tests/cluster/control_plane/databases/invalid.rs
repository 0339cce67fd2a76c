//! A spec that no write can make: it was stored while nobody judged.

use super::{SOON, create, names, ready};
use crate::harness::outage::NoWebhook;
use crate::harness::{Space, alone};
use serde_json::json;

#[test]
fn what_was_stored_unjudged_is_asked_about_and_nothing_is_made_of_it() {
    let turn = alone();
    let space = Space::new("invalid");
    let served = ready(&space, "served", &json!({}));
    let pod = space.object("pod/served-0")["metadata"]["uid"].clone();
    let nobody_judges = NoWebhook::removed(&turn);
    let schedule = json!({ "backup": { "schedule": "0 2 * * *", "timeZone": "Mars/Olympus" } });
    let born = create(&space, "born", &schedule);
    served.patch(&schedule.to_string()).ok();
    for base in [&served, &born] {
        base.reaches("HumanIntervention", SOON);
        let question = base.status()["intervention"].clone();
        assert_eq!(question["reason"], "SpecInvalid", "{question:#}");
        assert!(question["evidence"].to_string().contains("Mars/Olympus"), "{question:#}");
    }
    let made = names(&space, "pvc,secrets,statefulsets,services,jobs,cronjobs,configmaps");
    assert!(!made.iter().any(|name| name.contains("born")), "something was made of an invalid spec: {made:?}");
    assert!(!made.contains(&"cronjob.batch/served".to_owned()), "it was ordered: {made:?}");
    drop(nobody_judges);
    for base in [&served, &born] {
        base.patch(r#"{"backup":{"timeZone":"Europe/Berlin"}}"#).ok();
        base.ready_within(SOON);
    }
    assert_eq!(space.object("pod/served-0")["metadata"]["uid"], pod, "its pod was restarted");
}
