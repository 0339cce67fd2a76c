//! What a backup or a hand may have put into a status or a spec, and what the API server makes of it.

use crate::harness::{Space, audit, eventually, shared};
use serde_json::{Value, json};

fn forge(space: &Space, status: &Value) {
    let patch = json!({ "status": status }).to_string();
    space.kubectl(&["patch", "mc/cache", "--subresource=status", "--type=merge", "--patch", &patch]).ok();
}

/// A state is a claim, looked at afresh: without its question, its end or its deadline it is none.
#[test]
fn a_state_that_cannot_be_so_is_looked_at_afresh() {
    let _turn = shared();
    let space = Space::new("forged-claims");
    space.memcached("cache", "{}");
    space.ready("cache");
    for state in ["HumanIntervention", "Deleting"] {
        forge(&space, &json!({ "state": state }));
        eventually(30, &format!("a false {state} is over"), || {
            space.history("cache").last().is_some_and(|last| last == "Pending -ChildrenReady-> Ready")
        });
        space.ready("cache");
        forge(&space, &json!({ "history": null }));
    }
    space.patch("cache", r#"{"image":"example.com/no-such:1"}"#).ok();
    space.reaches("cache", "Updating", 30);
    forge(&space, &json!({ "deadlineTime": null }));
    space.reaches("cache", "HumanIntervention", 60);
}

/// The API server rounds amounts, and keeps an older name beside a newer one: neither may hold a roll-out.
#[test]
fn what_the_api_server_makes_of_a_spec_is_what_was_meant() {
    let _turn = shared();
    let space = Space::new("meant");
    space.kubectl(&["create", "serviceaccount", "other"]).ok();
    let fine = r#"{resources: {requests: {cpu: "500u"}, limits: {cpu: "0.0105"}}, podTemplate: {spec: {serviceAccountName: other}}}"#;
    space.memcached("cache", fine);
    space.ready("cache");
    let pods = || space.object("deployment/cache")["spec"]["template"]["spec"].clone();
    assert_eq!(pods()["containers"][0]["resources"]["limits"]["cpu"], "11m");
    assert_eq!(pods()["serviceAccountName"], "other");
    space.patch("cache", r#"{"podTemplate":null}"#).ok();
    eventually(30, "the account is gone", || pods()["serviceAccountName"].is_null() && pods()["serviceAccount"].is_null());
    space.ready("cache");
}

/// What a hand has written into an open question outlives it, unless the whole status is replaced.
#[test]
fn a_question_that_was_edited_by_hand_still_closes() {
    let _turn = shared();
    let space = Space::new("edited-question");
    space.memcached("cache", "{}");
    space.ready("cache");
    space.patch("cache", r#"{"image":"example.com/no-such:1"}"#).ok();
    space.reaches("cache", "HumanIntervention", 60);
    forge(&space, &json!({ "intervention": { "message": "I was here" } }));
    space.patch("cache", r#"{"image":null}"#).ok();
    space.ready("cache");
    assert_eq!(space.object("mc/cache")["status"]["intervention"], Value::Null);
}

/// A backup that kept the state alone: what is ready is good again, and its port is fixed.
#[test]
fn a_state_alone_is_filled_in_by_what_is_there() {
    let _turn = shared();
    let space = Space::new("state-alone");
    space.memcached("cache", "{}");
    space.ready("cache");
    forge(&space, &json!({ "applied": null, "lastGood": null, "conditions": null, "history": null }));
    let status = || space.object("mc/cache")["status"].clone();
    eventually(30, "what is good is known", || {
        status()["lastGood"]["spec"]["port"] == 11211 && status()["applied"]["spec"]["port"] == 11211
    });
    let answer = space.patch("cache", r#"{"port":11311}"#);
    assert!(answer.code == 1 && answer.err.contains("unsupported: 11211 -> 11311"), "{}", answer.err);
}

/// A condition of another's is theirs, and costs us nothing.
#[test]
fn a_condition_of_somebody_else_is_left_alone() {
    let _turn = shared();
    let space = Space::new("their-condition");
    space.memcached("cache", "{}");
    space.ready("cache");
    space.all_told("cache");
    let theirs = json!({ "type": "Theirs", "status": "True", "reason": "So", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" });
    let add = json!([{ "op": "add", "path": "/status/conditions/-", "value": theirs }]).to_string();
    space.kubectl(&["patch", "mc/cache", "--subresource=status", "--type=json", "--patch", &add]).ok();
    let mark = audit::mark();
    space.kubectl(&["annotate", "mc/cache", "example.com/note=one"]).ok();
    std::thread::sleep(std::time::Duration::from_secs(2));
    space.unwritten(mark, "the condition of another was answered");
    space.patch("cache", r#"{"replicas":2}"#).ok();
    space.ready("cache");
    let conditions = space.object("mc/cache")["status"]["conditions"].clone();
    assert!(conditions.as_array().is_some_and(|all| all.contains(&theirs)), "{conditions}");
}
