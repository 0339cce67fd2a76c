//! Pods, processes, the node's kubelet and settings that go and come under load: no acknowledged commit is lost.

use super::load::{Load, two};
use super::{Base, SOON, is_ready, lived};
use crate::harness::{Space, bed, eventually_or, processes, shared};
use serde_json::json;

#[track_caller]
fn comes_back(base: &Base<'_>, pod: &str, before: &serde_json::Value) {
    let is_back = || {
        let now = base.space.object(&format!("pod/{pod}"));
        now["metadata"]["uid"] != *before && is_ready(&now)
    };
    eventually_or(SOON, is_back, || format!("{pod}: {:#}", base.thing.status()));
    base.thing.ready_within(SOON);
}

#[test]
fn no_acknowledged_commit_is_lost_with_a_pod_or_a_process() {
    let _turn = shared();
    let space = Space::restricted("losses");
    let base = two(&space);
    let load = Load::on(&base);
    for pod in ["db-1", "db-0"] {
        let uid = space.object(&format!("pod/{pod}"))["metadata"]["uid"].clone();
        space.kubectl(&["delete", &format!("pod/{pod}"), "--wait=false", "--grace-period=0", "--force"]).ok();
        comes_back(&base, pod, &uid);
        load.goes_on(20);
    }
    let (uid, restarts) = lived(&space.object("pod/db-0"));
    processes::kill(&processes::first_of(&uid, "postgres"));
    let restarted = || lived(&space.object("pod/db-0")) == (uid.clone(), restarts + 1);
    eventually_or(SOON, restarted, || format!("nobody was killed: {:#}", space.object("pod/db-0")["status"]));
    load.goes_on(20);
    base.thing.ready_within(SOON);
    assert_eq!(lived(&space.object("pod/db-0")), (uid, restarts + 1), "one kill, one start");
    let seen = load.ends();
    println!("two pods and a postmaster killed: {seen}");
}

#[test]
fn settings_that_restart_the_servers_lose_no_commit_and_no_read() {
    let _turn = shared();
    let space = Space::restricted("restarts");
    let base = Base::ready(&space, "db", &json!({ "replicas": 3 }));
    let load = Load::on(&base);
    base.becomes(r#"{"parameters":{"work_mem":"8MB"}}"#);
    load.goes_on(20);
    base.becomes(r#"{"parameters":{"work_mem":"8MB","max_connections":"60"}}"#);
    load.goes_on(20);
    base.becomes(r#"{"replicas":4}"#);
    base.becomes(r#"{"replicas":3}"#);
    load.goes_on(20);
    let seen = load.ends();
    println!("a reload, a restart, a server more and one less: {seen}");
    seen.is_read_from_replicas();
}

/// Replicas learn of other passwords from the primary, which has to start beside servers that know the old ones.
#[test]
fn passwords_that_are_reset_reach_every_server() {
    let _turn = shared();
    let space = Space::restricted("reset");
    let base = two(&space);
    base.sql("db", "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1);").ok();
    base.loses_passwords();
    base.thing.answer("reset-passwords").ok();
    let so = || base.thing.is_ready_as_asked();
    eventually_or(SOON, so, || format!("{:?}\n{:#}", base.thing.history(), base.thing.status()));
    base.sql("db", "INSERT INTO kept VALUES (2)").ok();
    for server in ["db-ro".to_owned(), base.server(1)] {
        base.answers(&server, "SELECT count(*) FROM kept", "2");
    }
}

/// What runs goes on while the node's kubelet is away, and is what it was when it is back.
#[test]
fn a_minute_without_the_kubelet_changes_nothing() {
    let _turn = crate::harness::alone();
    let space = Space::restricted("no-kubelet");
    let base = two(&space);
    let before = base.standing();
    let load = Load::on(&base);
    bed("kubelet-stop");
    std::thread::sleep(std::time::Duration::from_mins(1));
    bed("kubelet-start");
    let is_back = || crate::harness::kubectl(&["wait", "--for=condition=Ready", "nodes", "--all", "--timeout=5s"]).code == 0;
    eventually_or(60, is_back, || "the node is not back".to_owned());
    load.goes_on(20);
    base.thing.ready_within(SOON);
    assert_eq!(base.standing(), before, "a server was restarted, or another became the primary");
    println!("a minute without the kubelet: {}", load.ends());
}
