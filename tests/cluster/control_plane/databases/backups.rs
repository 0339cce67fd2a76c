//! Backups on a schedule: one that fails is told and stops nobody, and two that are missing turn a condition.

use super::{SOON, ready, saying};
use crate::harness::{Space, Thing, eventually_or, scraped, shared};
use serde_json::{Value, json};

pub const SCHEDULE: &str = "0 2 * * *";

/// Makes a backup now, as its CronJob would.
#[track_caller]
pub fn back_up(space: &Space, name: &str) {
    let is_there = || !space.object("cronjob/db").is_null();
    eventually_or(SOON, is_there, || "there is no CronJob".to_owned());
    space.kubectl(&["create", "job", "--from=cronjob/db", name]).ok();
}

/// Waits until the status tells when a backup ended so.
#[track_caller]
pub fn tells(base: &Thing<'_>, field: &str) -> String {
    let time = || base.status()["backup"][field].as_str().map(str::to_owned);
    eventually_or(SOON, || time().is_some(), || format!("{field}: {:#}", base.status()));
    time().unwrap()
}

/// Waits for an Event with this reason about the object.
#[track_caller]
fn told(base: &Thing<'_>, reason: &str) -> Value {
    let events = || base.space.object_list(&["events.events.k8s.io"]);
    let found = || events().into_iter().find(|event| event["reason"] == reason && event["regarding"]["kind"] == "Database");
    eventually_or(SOON, || found().is_some(), || format!("no Event says {reason}"));
    found().unwrap()
}

#[test]
fn a_backup_that_failed_is_told_and_the_next_one_is_made() {
    let _turn = shared();
    let space = Space::new("backups-fail");
    let fields = json!({ "backup": { "schedule": SCHEDULE }, "podTemplate": saying("backup", "NO_SPACE: the volume is full") });
    let base = ready(&space, "db", &fields);
    back_up(&space, "first");
    let failed = tells(&base, "lastFailure");
    assert!(base.status()["backup"]["lastSuccess"].is_null(), "{:#}", base.status());
    let event = told(&base, "BackupFailed");
    assert_eq!(event["type"], "Warning", "{event:#}");
    assert!(event["note"].as_str().unwrap().contains("the volume is full"), "{event:#}");
    assert_eq!((&base.status()["state"], &base.condition("BackupsHealthy")["status"]), (&json!("Ready"), &json!("True")));
    let column = || {
        let table = space.kubectl(&["get", "db"]).ok();
        let (title, row) = table.split_once('\n').unwrap();
        row[title.find("BACKUP").unwrap()..title.find("AGE").unwrap()].trim().to_owned()
    };
    assert_eq!(column(), "", "a backup that failed is shown as one");
    base.patch(r#"{"podTemplate":null}"#).ok();
    eventually_or(SOON, || base.is_ready_as_asked(), || format!("{:#}", base.status()));
    let template = || space.object("cronjob/db").pointer("/spec/jobTemplate/spec/template/metadata/annotations").cloned();
    let mended = || template().is_none_or(|annotations| !annotations.to_string().contains("NO_SPACE"));
    eventually_or(SOON, mended, || format!("{:?}", template()));
    back_up(&space, "second");
    let made = tells(&base, "lastSuccess");
    assert!(made >= failed, "{made} is before {failed}");
    assert_eq!(base.status()["backup"]["lastFailure"], failed, "what failed was forgotten");
    assert!(column().ends_with('s'), "{}", column());
}

/// Nobody waits for two days: what the status says of when the schedule began to stand is turned back.
#[test]
fn two_backups_in_a_row_that_are_missing_are_told_until_one_is_made() {
    let _turn = shared();
    let space = Space::new("backups-missed");
    let base = ready(&space, "db", &json!({ "backup": { "schedule": SCHEDULE } }));
    let metric = |holds: u8| {
        let labels = format!("kind=\"Database\",namespace=\"{}\",name=\"db\",condition=\"BackupsHealthy\"", space.name);
        let line = format!("pointsman_condition{{{labels}}} {holds}");
        eventually_or(SOON, || scraped().lines().any(|shown| shown == line), || line.clone());
    };
    metric(1);
    let since = json!({ "status": { "backup": { "since": "2026-01-01T00:00:00Z" } } }).to_string();
    base.kubectl("patch", &["--subresource=status", "--type=merge", "--patch", &since]).ok();
    let event = told(&base, "Missed");
    assert_eq!((&event["type"], &event["action"]), (&json!("Warning"), &json!("BackupsHealthy")), "{event:#}");
    assert_eq!(base.condition("BackupsHealthy")["status"], "False");
    metric(0);
    back_up(&space, "by-hand");
    tells(&base, "lastSuccess");
    told(&base, "OnSchedule");
    assert_eq!(base.condition("BackupsHealthy")["status"], "True");
    metric(1);
}
