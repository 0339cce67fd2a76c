//! What a backup or a hand may have put into a status or a spec, and what the API server makes of it.

use crate::harness::{ASKS, Space, anew, audit, eventually, shared};
use pointsman::kinds::annotations::ANSWER;
use serde_json::{Value, json};

const EARLIER: &str = "2026-01-01T00:00:00Z";

/// A namespace with a Memcached that is ready.
fn ready(namespace: &str, spec: &str) -> Space {
    let space = Space::new(namespace);
    space.memcached("cache", spec);
    space.ready("cache");
    space
}

/// An image that nobody has ends in a question.
fn until_asked(space: &Space) {
    space.patch("cache", r#"{"image":"example.com/no-such:1"}"#).ok();
    space.reaches("cache", "HumanIntervention", 60);
}

fn condition(name: &str, time: &str) -> Value {
    json!({ "type": name, "status": "True", "reason": "So", "message": "", "lastTransitionTime": time })
}

fn add_condition(space: &Space, condition: &Value) {
    let add = json!([{ "op": "add", "path": "/status/conditions/-", "value": condition }]).to_string();
    space.kubectl(&["patch", "mc/cache", "--subresource=status", "--type=json", "--patch", &add]).ok();
}

fn forge(space: &Space, status: &Value) {
    let patch = json!({ "status": status }).to_string();
    space.kubectl(&["patch", "mc/cache", "--subresource=status", "--type=merge", "--patch", &patch]).ok();
}

/// A state is a claim, looked at afresh: without its question, its end or its deadline it is none.
#[test]
fn a_state_that_cannot_be_so_is_looked_at_afresh() {
    let _turn = shared();
    let space = ready("forged-claims", "{}");
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
    let space = ready("edited-question", "{}");
    until_asked(&space);
    forge(&space, &json!({ "intervention": { "message": "I was here" } }));
    space.patch("cache", r#"{"image":null}"#).ok();
    space.ready("cache");
    assert_eq!(space.object("mc/cache")["status"]["intervention"], Value::Null);
}

/// A backup that kept the state alone: what is ready is good again, and its port is fixed.
#[test]
fn a_state_alone_is_filled_in_by_what_is_there() {
    let _turn = shared();
    let space = ready("state-alone", "{}");
    forge(&space, &json!({ "applied": null, "lastGood": null, "conditions": null, "history": null }));
    let status = || space.object("mc/cache")["status"].clone();
    eventually(30, "what is good is known", || {
        status()["lastGood"]["spec"]["port"] == 11211 && status()["applied"]["spec"]["port"] == 11211
    });
    let answer = space.patch("cache", r#"{"port":11311}"#);
    assert!(answer.code == 1 && answer.err.contains("unsupported: 11211 -> 11311"), "{}", answer.err);
}

/// A state is a claim; where pods are not what was ordered, nobody may rest on it.
#[test]
fn a_ready_that_a_hand_wrote_is_looked_at() {
    let _turn = shared();
    let space = ready("claimed-ready", "{}");
    space.patch("cache", r#"{"image":"example.com/no-such:1"}"#).ok();
    space.reaches("cache", "Updating", 30);
    forge(&space, &json!({ "state": "Ready" }));
    space.reaches("cache", "HumanIntervention", 60);
    let history = space.history("cache");
    assert!(history.contains(&"Ready -PodsPending-> Updating".to_owned()), "{history:?}");
    assert_ne!(space.object("mc/cache")["status"]["lastGood"]["spec"]["image"], "example.com/no-such:1");
}

/// What cannot be read of a status, whoever wrote it, costs nothing beside it.
#[test]
fn a_status_that_is_illegible_in_part_is_remembered_otherwise() {
    let _turn = shared();
    let space = ready("illegible", "{replicas: 2}");
    let status = || space.object("mc/cache")["status"].clone();
    let good = status()["lastGood"].clone();
    let late = "9999-12-31T23:59:59Z";
    let theirs = condition("Theirs", late);
    add_condition(&space, &theirs);
    space.kubectl(&["delete", "deployment/cache"]).ok();
    eventually(30, "the Deployment is there again", || space.kubectl(&["get", "deployment/cache"]).code == 0);
    space.ready("cache");
    let conditions = status()["conditions"].clone();
    assert!(conditions.as_array().is_some_and(|all| all.contains(&theirs)), "{conditions}");
    forge(&space, &json!({ "stateTime": late }));
    eventually(30, "the time can be read again", || status()["stateTime"] != late);
    let newer = json!({ "generation": 1, "id": "aaaaa", "number": 1, "reason": "OfALaterRelease", "message": "", "notDone": "",
        "runbook": "", "answers": [], "time": "2026-01-01T00:00:00Z", "about": "" });
    forge(&space, &json!({ "state": "HumanIntervention", "intervention": newer }));
    eventually(30, "a question of another release is none", || status()["state"] == "Ready" && status()["intervention"].is_null());
    assert_eq!(status()["lastGood"], good);
    assert_eq!(status()["reason"], "ChildrenReady");
    space.kubectl(&["scale", "mc/cache", "--replicas=3"]).ok();
    space.ready("cache");
}

/// A backup brings an object and its status: a question that was asked of the object before it is none of this one's.
#[test]
fn a_restored_question_is_looked_at_afresh() {
    let _turn = shared();
    let space = ready("restored-question", "{}");
    space.patch("cache", r#"{"maxConnections":2048}"#).ok();
    space.ready("cache");
    until_asked(&space);
    let mut backup = anew(space.object("mc/cache"));
    space.kubectl(&["delete", "mc/cache", "--cascade=foreground"]).ok();
    let status = backup["status"].take();
    space.apply(&backup.to_string()).ok();
    forge(&space, &status);
    let asked = |object: &Value| object["status"]["intervention"]["id"].clone();
    let first = status["intervention"]["id"].clone();
    eventually(60, "the question is asked anew", || {
        let now = space.object("mc/cache");
        asked(&now).is_string() && asked(&now) != first
    });
    space.patch("cache", r#"{"image":null}"#).ok();
    space.ready("cache");
    assert_eq!(asked(&space.object("mc/cache")), Value::Null);
}

/// An answer that a backup brings was given to another object, be it to the very question that the backup brings too.
#[test]
fn a_restored_answer_answers_nothing() {
    let _turn = shared();
    let space = ready("restored-answer", "{}");
    until_asked(&space);
    let mut backup = anew(space.object("mc/cache"));
    let given = format!("retry-{}", backup["status"]["intervention"]["id"].as_str().unwrap());
    // As where nobody acted upon it before the backup was made.
    backup["metadata"]["annotations"][ANSWER] = json!(given);
    space.kubectl(&["delete", "mc/cache", "--cascade=foreground"]).ok();
    let status = backup["status"].take();
    let told = space.apply(&backup.to_string());
    assert!(told.code == 0 && told.err.contains(&format!("{ANSWER}={given} answers nothing")), "{}", told.text());
    forge(&space, &status);
    let mc = space.mc("cache");
    let asks_anew = || mc.status()["intervention"]["id"].as_str().is_some_and(|id| !given.ends_with(id));
    eventually(ASKS, "the question is asked anew", asks_anew);
    let opened = mc.status()["intervention"].clone();
    for _ in 0..20 {
        let status = mc.status();
        assert_eq!((&status["state"], &status["intervention"]), (&json!("HumanIntervention"), &opened), "it was answered: {status:#}");
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
    let history = mc.status()["history"].to_string();
    assert!(!history.contains("RetryAnswered") && !history.contains(&given), "{history}");
    assert_eq!(space.object("mc/cache")["metadata"]["annotations"][ANSWER], given);
    // One of its own does.
    mc.answer("retry").ok();
    eventually(30, "it is answered", || mc.status()["history"].to_string().contains("RetryAnswered"));
}

/// A question that another manager holds as well goes with its state.
#[test]
fn a_question_that_somebody_else_applied_goes_too() {
    let _turn = shared();
    let space = ready("held-question", "{}");
    until_asked(&space);
    let held = space.object("mc/cache")["status"]["intervention"].clone();
    let theirs = json!({ "apiVersion": "cache.example.com/v1", "kind": "Memcached", "metadata": { "name": "cache" }, "status": { "intervention": held } });
    let apply = ["apply", "--server-side", "--subresource=status", "--field-manager=backup", "--filename", "-"];
    space.kubectl_with(&apply, &theirs.to_string()).ok();
    space.patch("cache", r#"{"image":null}"#).ok();
    space.ready("cache");
    eventually(30, "the question is gone", || space.object("mc/cache")["status"]["intervention"].is_null());
}

/// Where others leave no room for ours, ours go first.
#[test]
fn conditions_of_others_leave_room_for_ours() {
    let _turn = shared();
    let space = ready("many-conditions", "{}");
    let theirs = |number: usize| condition(&format!("Theirs{number}"), EARLIER);
    forge(&space, &json!({ "conditions": (0..16).map(theirs).collect::<Vec<_>>() }));
    space.kubectl(&["scale", "mc/cache", "--replicas=2"]).ok();
    space.ready("cache");
    let conditions = space.object("mc/cache")["status"]["conditions"].as_array().unwrap().clone();
    let theirs = conditions.iter().filter(|one| one["type"].as_str().unwrap().starts_with("Theirs")).count();
    assert_eq!((conditions.len(), theirs), (16, 9), "ours are seven");
}

/// A condition of another's is theirs, and costs us nothing.
#[test]
fn a_condition_of_somebody_else_is_left_alone() {
    let _turn = shared();
    let space = ready("their-condition", "{}");
    space.all_told("cache");
    let theirs = condition("Theirs", EARLIER);
    add_condition(&space, &theirs);
    let mark = audit::mark();
    space.kubectl(&["annotate", "mc/cache", "example.com/note=one"]).ok();
    std::thread::sleep(std::time::Duration::from_secs(2));
    space.unwritten(mark, "the condition of another was answered");
    space.patch("cache", r#"{"replicas":2}"#).ok();
    space.ready("cache");
    let conditions = space.object("mc/cache")["status"]["conditions"].clone();
    assert!(conditions.as_array().is_some_and(|all| all.contains(&theirs)), "{conditions}");
}
