//! What the operator may do is what it does, and its log keeps its secrets: seen in the whole audit log, once all else ran.

use crate::harness::certificates::{stored, text};
use crate::harness::rights::{Right, asked, granted, used};
use crate::harness::{alone, bash, kubectl, operator};
use std::collections::{BTreeMap, BTreeSet};

/// Rights that no log of these tests shows in use, and when they are: most are what the API server asks for by itself.
const ASKED_INWARDLY: [(&str, &str); 4] = [
    ("update memcacheds/finalizers of cache.example.com everywhere", OWNS),
    ("update databases/finalizers of stable.imaginedata.com everywhere", OWNS),
    ("delete deployments of apps everywhere", ADOPTS),
    ("create subjectaccessreviews of authorization.k8s.io everywhere", SECOND),
];
const SECOND: &str = "another installation is asked about where one was here first, as in the tests of packages";
const OWNS: &str = "an object that is made names its owner, and blocks the owner's deletion";
const ADOPTS: &str = "an object that was there is given an owner, and may then be deleted with it";

/// Rights that two rules grant alike, since one of them is bound in the watched namespaces alone where these are named: a second
/// installation is looked for everywhere.
const GRANTED_TWICE: [&str; 1] = ["list deployments of apps everywhere"];

fn texts<'a>(rights: impl IntoIterator<Item = &'a Right>) -> Vec<String> {
    rights.into_iter().map(Right::to_string).collect()
}

/// What is granted and was not used. The calls that none of our rules allows are allowed by others' to everybody.
fn unused(granted: &[Right]) -> Vec<String> {
    let (calls, _) = asked();
    let (used, _) = used(granted, &calls);
    let each: BTreeSet<&Right> = granted.iter().collect();
    let inwardly = |right: &&&Right| ASKED_INWARDLY.iter().any(|(one, _)| *one == right.to_string());
    texts(each.difference(&used).filter(|right| !inwardly(right)).copied())
}

/// The rights to list or to watch more Secrets than the operator's own.
fn showing_secrets(granted: &[Right]) -> Vec<String> {
    texts(granted.iter().filter(|right| right.shows_secrets_of_others()))
}

#[test]
fn every_right_is_used_and_one_too_many_is_seen() {
    let _turn = alone();
    let rights = granted();
    assert_eq!(unused(&rights), Vec::<String>::new());
    assert!(rights.iter().all(|right| !right.to_string().contains('*')));
    assert_eq!(showing_secrets(&rights), Vec::<String>::new());
    // The Role of the operator's own namespace has the same verb, for one name.
    let planted = with_rule_planted(r#"{"apiGroups":[""],"resources":["secrets"],"verbs":["list"]}"#);
    let everywhere = ["list secrets of the core group everywhere"];
    assert_eq!(
        (unused(&planted), showing_secrets(&planted)),
        (everywhere.map(str::to_owned).to_vec(), everywhere.map(str::to_owned).to_vec())
    );
    println!("{} rights, each of them used", rights.len());
}

/// What is granted with one more rule in the role that holds everywhere.
fn with_rule_planted(rule: &str) -> Vec<Right> {
    let patch = |patch: &str| kubectl(&["patch", "clusterrole", "pointsman", "--type=json", "--patch", patch]).ok();
    patch(&format!(r#"[{{"op":"add","path":"/rules/0","value":{rule}}}]"#));
    let planted = granted();
    patch(&format!(r#"[{{"op":"test","path":"/rules/0","value":{rule}}},{{"op":"remove","path":"/rules/0"}}]"#));
    planted
}

#[test]
fn no_right_is_granted_twice_and_no_exception_is_stale() {
    let (rights, (calls, _)) = (granted(), asked());
    let (used, _) = used(&rights, &calls);
    let used = texts(used);
    let stale: Vec<&str> = ASKED_INWARDLY.iter().map(|(right, _)| *right).filter(|right| used.iter().any(|one| one == right)).collect();
    assert_eq!(stale, Vec::<&str>::new(), "seen in the log, and no exception");
    let mut rules = BTreeMap::<String, usize>::new();
    for right in texts(&rights) {
        *rules.entry(right).or_default() += 1;
    }
    for (right, _) in ASKED_INWARDLY {
        assert!(rules.contains_key(right), "{right} is not granted");
    }
    let twice: Vec<String> = rules.into_iter().filter(|(_, count)| *count > 1).map(|(right, _)| right).collect();
    assert_eq!(twice, GRANTED_TWICE);
}

#[test]
fn nothing_is_asked_that_is_not_granted() {
    let (rights, (calls, denied)) = (granted(), asked());
    assert_eq!(denied, Vec::<String>::new());
    let (used, by_others) = used(&rights, &calls);
    assert!(used.len() >= 15, "{used:#?}");
    assert_eq!(by_others, Vec::<String>::new(), "none of the operator's own rules allows it");
}

/// The operator's log, those of pods and processes that have ended too: there are some, since tests restart it.
#[track_caller]
pub fn whole_log() -> String {
    let (log, now) = (operator(&["all-logs"]), operator(&["logs"]));
    let runs = |log: &str| log.matches("pointsman runs").count();
    assert!(runs(&now) > 0 && runs(&log) > runs(&now), "{} began to run, {} of them run now", runs(&log), runs(&now));
    log
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
    let log = whole_log();
    assert_eq!(telling(&log, &secrets).len(), 0, "a secret is in the log");
    let planted = format!("{log}\nINFO the key is {} now", secrets[0]);
    assert_eq!(telling(&planted, &secrets).len(), 1);
}
