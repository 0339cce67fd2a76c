//! What a backup or a hand may have put into a status or a spec, and what the API server makes of it.

use crate::harness::{Space, eventually, shared};
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
