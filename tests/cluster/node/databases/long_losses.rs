//! The node's kubelet, and settings that restart every server, under load: no acknowledged commit is lost.

use super::load::{Load, two};
use super::{Base, SOON};
use crate::harness::{Space, alone, bed, eventually_or, kubectl, shared};
use serde_json::json;

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

/// What runs goes on while the node's kubelet is away, and is what it was when it is back.
#[test]
fn a_minute_without_the_kubelet_changes_nothing() {
    let _turn = alone();
    let space = Space::restricted("no-kubelet");
    let base = two(&space);
    let before = base.standing();
    let load = Load::on(&base);
    bed("kubelet-stop");
    std::thread::sleep(std::time::Duration::from_mins(1));
    bed("kubelet-start");
    let is_back = || kubectl(&["wait", "--for=condition=Ready", "nodes", "--all", "--timeout=5s"]).code == 0;
    eventually_or(60, is_back, || "the node is not back".to_owned());
    load.goes_on(20);
    base.thing.ready_within(SOON);
    assert_eq!(base.standing(), before, "a server was restarted, or another became the primary");
    println!("a minute without the kubelet: {}", load.ends());
}
