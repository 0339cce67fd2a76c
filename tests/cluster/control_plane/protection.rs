//! What is protected stays, whatever is deleted around it: refused by the API server itself.

use super::attempts::Attempt;
use crate::harness::outage::NoOperator;
use crate::harness::{Answer, Space, alone, eventually, golden, kubectl, shared};
use serde_json::Value;

/// A cache that is protected, and is known to be.
fn protected(space: &Space) {
    space.memcached("cache", "{}");
    space.ready("cache");
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/protected=true"]).ok();
    eventually(20, "its condition says so", || {
        let conditions = space.object("mc/cache")["status"]["conditions"].clone();
        conditions.as_array().unwrap().iter().any(|one| one["type"] == "Protected" && one["status"] == "True")
    });
    // After a definition came back, the API server takes a while to list what a policy asks about.
    let known = || kubectl(&["delete", "namespace", &space.name, "--dry-run=server"]).code == 1;
    eventually(90, "the namespace is known to hold it", known);
}

/// Refused, in the words of the golden file. A policy that was made or changed just now takes a moment.
#[track_caller]
pub fn refused(space: &Space, name: &str, arguments: &[&str]) {
    let attempt = Attempt::command(name, arguments);
    let answer: Answer = attempt.run(space);
    assert_eq!(answer.code, 1, "{arguments:?} was accepted: {}", answer.text());
    let other = golden::difference(&format!("protection/{name}.txt"), &attempt.transcript(&answer, space));
    assert_eq!(other, None);
}

fn lives(space: &Space, before: &[Value]) {
    let after = uids(space);
    assert_eq!(after, before, "something went");
}

fn uids(space: &Space) -> Vec<Value> {
    let children = ["mc/cache", "deployment/cache", "service/cache"].map(|what| space.object(what)["metadata"]["uid"].clone());
    let pods = space.object_list(&["pods"]).into_iter().map(|pod| pod["metadata"]["uid"].clone());
    children.into_iter().chain(pods).collect()
}

#[test]
fn what_is_protected_is_deleted_by_nobody_until_that_is_taken_off() {
    let _turn = shared();
    let space = Space::new("protected");
    protected(&space);
    let before = uids(&space);
    refused(&space, "protected.delete", &["delete", "mc/cache"]);
    refused(&space, "protected-v1alpha1.delete", &["delete", "memcacheds.v1alpha1.cache.example.com/cache", "--force"]);
    refused(&space, "protected-all.delete", &["delete", "mc", "--all"]);
    refused(&space, "protected-namespace.delete", &["delete", "namespace", &space.name]);
    lives(&space, &before);
    assert_eq!(kubectl(&["get", "namespace", &space.name, "--output=jsonpath={.status.phase}"]).ok(), "Active");
    // What is not asked to go is left alone, and what is not protected goes.
    space.memcached("other", "{}");
    space.kubectl(&["delete", "mc/other"]).ok();
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/protected-"]).ok();
    space.kubectl(&["delete", "mc/cache"]).ok();
}

#[test]
fn a_definition_is_deleted_only_once_that_is_said_to_be_meant() {
    let _turn = shared();
    let space = Space::new("defined");
    protected(&space);
    let before = uids(&space);
    refused(&space, "definition.delete", &["delete", "crd", "memcacheds.cache.example.com"]);
    // Who deletes a collection names nothing.
    let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?labelSelector=app.kubernetes.io/name%3Dpointsman";
    let answer = kubectl(&["delete", "--raw", all]);
    assert!(answer.code == 1 && answer.err.contains("pointsman.dev/deletable=true"), "{}", answer.text());
    lives(&space, &before);
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/protected-"]).ok();
}

#[test]
fn protection_holds_with_the_operator_away_and_its_annotation_is_a_yes_or_a_no() {
    let turn = alone();
    let space = Space::new("unattended");
    protected(&space);
    refused(&space, "misspelt.annotate", &["annotate", "mc/cache", "pointsman.dev/protected=yes", "--overwrite"]);
    // A misspelt one alone protects nothing, and that is said.
    let warned = space.kubectl(&["annotate", "mc/cache", "pointsman.dev/protect=true"]);
    assert!(warned.code == 0 && warned.err.contains("pointsman.dev/protect is no annotation of this operator"), "{}", warned.text());
    let away = NoOperator::stopped(&turn);
    let (object, namespace) = (space.kubectl(&["delete", "mc/cache"]), kubectl(&["delete", "namespace", &space.name]));
    drop(away);
    for answer in [object, namespace] {
        assert!(answer.code == 1 && answer.err.contains("pointsman.dev/protected-"), "{}", answer.text());
    }
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/protected-"]).ok();
}
