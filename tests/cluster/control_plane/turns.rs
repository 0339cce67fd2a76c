//! A leader that stood still for longer than its lease lasts, or that could not renew it: it writes nothing any more.

use crate::harness::outage::{NoOperator, process};
use crate::harness::{Space, alone, audit, bash, eventually, kubectl, operator};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::Value;

const NAMES: [&str; 3] = ["one", "two", "three"];

#[test]
fn a_lease_that_was_deleted_is_made_again() {
    let turn = alone();
    let space = Space::new("leaseless");
    let away = NoOperator::stopped(&turn);
    kubectl(&["--namespace", "pointsman-system", "delete", "lease", "pointsman"]).ok();
    drop(away);
    space.memcached("cache", "{}");
    space.ready("cache");
    let holder = ["--namespace", "pointsman-system", "get", "lease", "pointsman", "--output", "jsonpath={.spec.holderIdentity}"];
    assert_ne!(kubectl(&holder).ok(), "");
}

#[test]
fn what_the_operator_asks_waits_behind_no_service_account() {
    let _turn = alone();
    let served = kubectl(&["get", "--raw", "/metrics"]).ok();
    for (schema, level) in [("pointsman-lease", "leader-election"), ("pointsman", "workload-high")] {
        let series = format!("apiserver_flowcontrol_dispatched_requests_total{{flow_schema=\"{schema}\",priority_level=\"{level}\"}} ");
        let count = served.lines().find_map(|line| line.strip_prefix(&series)).and_then(|count| count.parse::<f64>().ok());
        assert!(count.is_some_and(|count| count > 0.0), "{series}{count:?}");
    }
}

#[test]
fn a_leader_that_stood_still_for_too_long_writes_nothing_and_stands_by() {
    let turn = alone();
    let space = Space::new("stalled");
    three_ready(&space);
    operator(&["start-second"]);
    let first = Held::still("operator");
    let (old, new) = (credential("operator"), credential("operator-second"));
    let stopped = audit::mark();
    drifts(&space);
    let acted = || attempts(stopped, &new).iter().any(|entry| entry.namespace() == space.name);
    eventually(40, "the second process acts", acted);
    for name in NAMES {
        space.ready(name);
    }
    let before = ended_terms();
    // It wakes in the belief that it leads, and with news that ask for writes.
    let woken = audit::mark();
    drifts(&space);
    first.goes_on();
    eventually(10, "the first process says that it leads no more", || ended_terms() > before);
    for name in NAMES {
        space.ready(name);
    }
    let late: Vec<String> = attempts(woken, &old).iter().map(audit::Entry::what).collect();
    assert_eq!(late, Vec::<String>::new(), "the first process wrote when its term was over");
    assert_eq!(process("operator"), first.pid, "it answers reviews, and waits for its turn");
    drop(first);
    drop(turn);
}

#[test]
fn a_leader_that_cannot_renew_says_so_and_competes_again() {
    let turn = alone();
    let space = Space::new("unrenewed");
    three_ready(&space);
    let (pid, before) = (process("operator"), ended_terms());
    // Its looks are under way, and hang on what they read.
    drifts(&space);
    let server = Held::still("kube-apiserver");
    eventually(20, "it says that it leads no more", || ended_terms() > before);
    server.goes_on();
    drifts(&space);
    // It finds the Lease as it left it.
    for name in NAMES {
        space.ready(name);
    }
    assert_eq!(process("operator"), pid);
    drop(server);
    drop(turn);
}

#[track_caller]
fn three_ready(space: &Space) {
    for name in NAMES {
        space.memcached(name, "{replicas: 1}");
    }
    for name in NAMES {
        space.ready(name);
    }
}

/// Somebody edits every child: whoever leads has to mend it. The webhook is not asked for that.
#[track_caller]
fn drifts(space: &Space) {
    for name in NAMES {
        space.kubectl(&["scale", &format!("deployment/{name}"), "--replicas=2"]).ok();
    }
}

/// A process that stands still; in the end it goes on, and there is one operator again.
struct Held {
    pid: String,
}

impl Held {
    #[track_caller]
    fn still(name: &str) -> Self {
        let pid = process(name);
        bash(&format!("kill -STOP {pid}")).ok();
        Held { pid }
    }

    #[track_caller]
    fn goes_on(&self) {
        bash(&format!("kill -CONT {}", self.pid)).ok();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        bash(&format!("kill -CONT {}", self.pid));
        let script = crate::harness::repository().join("tests/cluster/operator");
        bash(&format!("{0} stop-second; {0} start", script.display()));
    }
}

/// How many terms the first process could not renew.
fn ended_terms() -> usize {
    let ended = "leading ends: the Lease pointsman was not renewed for 10s; nothing is written until this process leads again";
    operator(&["logs"]).matches(ended).count()
}

/// What the API server calls the token of a process.
#[track_caller]
fn credential(name: &str) -> String {
    let run = std::env::var("POINTSMAN_RUN").expect("no cluster: run tests/run");
    let config = std::fs::read_to_string(format!("{run}/kubeconfig/{name}")).unwrap();
    let token = config.lines().find_map(|line| line.trim().strip_prefix("token: ")).expect("a token");
    let claims = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1).expect("claims")).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    format!("JTI={}", claims["jti"].as_str().expect("an id"))
}

/// What a process tried to write since `mark`, stored or not.
fn attempts(mark: audit::Mark, credential: &str) -> Vec<audit::Entry> {
    let its = |entry: &audit::Entry| entry.0["user"]["extra"]["authentication.kubernetes.io/credential-id"][0] == *credential;
    let reads = ["get", "list", "watch"];
    audit::since(mark).into_iter().filter(|entry| its(entry) && !reads.contains(&&*entry.verb())).collect()
}
