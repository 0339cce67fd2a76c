//! What the operator may do is what it does, and its log keeps its secrets: seen in the whole audit log, once all else ran.

use crate::harness::certificates::{stored, text};
use crate::harness::{alone, audit, bash, kubectl, operator};
use serde_json::Value;
use std::collections::BTreeSet;

/// Rights that the API server asks for by itself and tells nobody that it did: to make an object by an apply, to be its
/// owner, and to become the owner of one that was there.
const ASKED_INWARDLY: [&str; 9] = [
    "create deployments of apps",
    "create services of the core group",
    "create poddisruptionbudgets of policy",
    "create statefulsets of apps",
    "create cronjobs of batch",
    "update memcacheds/finalizers of cache.example.com",
    "update databases/finalizers of stable.imaginedata.com",
    "delete deployments of apps",
    "delete services of the core group",
];

fn right(verb: &str, resource: &str, group: &str) -> String {
    let group = if group.is_empty() { "the core group" } else { group };
    format!("{verb} {resource} of {group}")
}

/// Every right that the installed roles give to the operator.
fn granted() -> BTreeSet<String> {
    let roles = [
        &["get", "clusterrole", "pointsman"][..],
        &["get", "clusterrole", "pointsman-watched"],
        &["get", "role", "pointsman", "--namespace", "pointsman-system"],
    ];
    let mut rights = BTreeSet::new();
    for role in roles {
        let role: Value = serde_json::from_str(&kubectl(&[role, &["--output", "json"]].concat()).ok()).unwrap();
        for rule in role["rules"].as_array().unwrap() {
            let words = |key: &str| rule[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>();
            for (group, resource) in words("apiGroups").iter().flat_map(|group| words("resources").into_iter().map(move |one| (group, one)))
            {
                rights.extend(words("verbs").iter().map(|verb| right(verb, &resource, group)));
            }
        }
    }
    rights
}

/// What was asked, as rights; and each call that was denied.
fn asked() -> (BTreeSet<String>, Vec<String>) {
    let (mut used, mut denied) = (BTreeSet::new(), Vec::new());
    audit::all_by_operator(|entry| {
        let group = entry.0["objectRef"]["apiGroup"].as_str().unwrap_or_default();
        let right = right(&entry.verb(), &entry.resource(), group);
        if entry.0["annotations"]["authorization.k8s.io/decision"] == "forbid" {
            denied.push(format!("{right}: {}", entry.0["requestURI"]));
        } else if entry.0["objectRef"].is_object() {
            used.insert(right);
        }
    });
    (used, denied)
}

fn unused(used: &BTreeSet<String>) -> Vec<String> {
    granted().into_iter().filter(|right| !used.contains(right) && !ASKED_INWARDLY.contains(&right.as_str())).collect()
}

#[test]
fn every_right_is_used_and_one_too_many_is_seen() {
    let _turn = alone();
    let (used, _) = asked();
    assert_eq!(unused(&used), Vec::<String>::new(), "used are {used:#?}");
    assert!(granted().iter().all(|right| !right.contains('*')));
    let extra = r#"[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}}]"#;
    kubectl(&["patch", "clusterrole", "pointsman", "--type=json", "--patch", extra]).ok();
    let seen = unused(&used);
    let role: Value = serde_json::from_str(&kubectl(&["get", "clusterrole", "pointsman", "--output", "json"]).ok()).unwrap();
    let last = role["rules"].as_array().unwrap().len() - 1;
    let last =
        format!(r#"[{{"op":"test","path":"/rules/{last}/resources/0","value":"configmaps"}},{{"op":"remove","path":"/rules/{last}"}}]"#);
    kubectl(&["patch", "clusterrole", "pointsman", "--type=json", "--patch", &last]).ok();
    assert_eq!(seen, ["get configmaps of the core group"]);
    println!("{} rights, each of them used", granted().len());
}

#[test]
fn nothing_is_asked_that_is_not_granted() {
    let (used, denied) = asked();
    assert!(used.len() >= 15, "{used:#?}");
    assert_eq!(denied, Vec::<String>::new());
}

/// The lines of a log that hold a secret: a whole one, or a line of a key.
fn telling<'a>(log: &'a str, secrets: &[String]) -> Vec<&'a str> {
    log.lines().filter(|line| secrets.iter().any(|secret| line.contains(secret.as_str()))).collect()
}

#[test]
fn nothing_secret_is_logged_and_a_planted_key_is_seen() {
    let mut secrets: Vec<String> = Vec::new();
    for encoded in ["tls.key", "ca.key"].map(stored) {
        secrets.extend(text(&encoded).lines().filter(|line| !line.starts_with("-----")).map(str::to_owned));
        secrets.push(encoded);
    }
    // A process has its token in a file; a pod has it where nobody else looks.
    let token = bash("sed -n 's/^ *token: //p' \"$POINTSMAN_RUN\"/kubeconfig/operator 2>/dev/null").out;
    secrets.extend(token.lines().map(str::to_owned));
    // Of keys that were exchanged only the form is known, plain and encoded.
    secrets.extend(["PRIVATE KEY-----", "LS0tLS1CRUdJTiBQUklWQVRF", "LS0tLS1CRUdJTiBFQyBQUklWQVRF"].map(str::to_owned));
    assert!(secrets.len() >= 7 && secrets.iter().all(|secret| secret.len() >= 16), "{} secrets", secrets.len());
    let log = operator(&["all-logs"]);
    assert!(log.contains("pointsman runs"));
    assert_eq!(telling(&log, &secrets).len(), 0, "a secret is in the log");
    let planted = format!("{log}\nINFO the key is {} now", secrets[0]);
    assert_eq!(telling(&planted, &secrets).len(), 1);
}
