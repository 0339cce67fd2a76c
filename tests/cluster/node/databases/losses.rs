//! Pods, processes and passwords that go and come under load: no acknowledged commit is lost.

use super::load::{Load, two};
use super::{Base, SOON, is_ready, lived};
use crate::harness::{Space, eventually_or, processes, shared};

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
