//! Settings that users write for every session: replicas stay ready under them, what a session cannot load is told before any
//! pod is touched, and what got in all the same is mended while the server runs.

use super::{Base, SOON};
use crate::harness::{Space, eventually_or, shared};
use serde_json::json;

#[test]
fn settings_for_every_session_keep_nobody_out_for_good() {
    let _turn = shared();
    let space = Space::restricted("sessions");
    let hostile = json!({ "default_transaction_isolation": "serializable", "idle_session_timeout": "1s", "quote_all_identifiers": "on" });
    let base = Base::ready(&space, "db", &json!({ "replicas": 2, "parameters": hostile }));
    // Nobody else would use it before the first dump.
    let claim = || space.object("pvc/db-backups")["status"]["phase"].clone();
    eventually_or(30, || claim() == "Bound", || space.kubectl(&["get", "pvc"]).out);
    let standing = base.standing();

    base.thing.patch(r#"{"parameters":{"session_preload_libraries":"auto_explian"}}"#).ok();
    base.thing.reaches("HumanIntervention", SOON);
    let asked = base.thing.status()["intervention"].clone();
    assert_eq!(asked["reason"], "ProbeFailed", "{asked:#}");
    assert!(asked["message"].to_string().contains("could not access file \\\"auto_explian\\\""), "{asked:#}");
    base.becomes(r#"{"parameters":{"default_transaction_isolation":null,"session_preload_libraries":null}}"#);

    // By another way it gets in: a library that goes after the server has started, or a file that is not ours.
    let file = "/pointsman/data/pgdata/postgresql.auto.conf";
    let script = format!("echo \"session_preload_libraries = 'no_such'\" >>{file}; ./psql -Xqd postgres -c 'SELECT pg_reload_conf()'");
    base.as_superuser(0, &script, "").ok();
    let is_ready = || super::is_ready(&space.object("pod/db-0"));
    eventually_or(60, || !is_ready(), || "it lets sessions in".to_owned());
    base.space.kubectl(&["exec", "db-0", "--container=postgresql", "--", "bash", "-c", &format!("sed -i /no_such/d {file}")]).ok();
    base.thing.patch(r#"{"parameters":{"work_mem":"8MB"}}"#).ok();
    let works = || base.sql("db", "SHOW work_mem").out.trim() == "8MB";
    eventually_or(SOON, works, || format!("{:#}", base.thing.status()));
    base.becomes(r#"{"parameters":{"work_mem":"9MB"}}"#);
    assert_eq!(base.standing(), standing, "a server was made anew");
}

#[test]
fn settings_that_no_image_knows_touch_no_pod() {
    let _turn = shared();
    let space = Space::restricted("unknown-settings");
    let base = Base::ready(&space, "db", &json!({ "replicas": 2 }));
    let standing = base.standing();
    for (name, words) in [
        ("work_memory", "knows no setting work_memory"),
        ("maintenance_work_mem", "invalid value for parameter \"maintenance_work_mem\": \"8XB\""),
    ] {
        base.thing.patch(&json!({ "parameters": { name: "8XB" } }).to_string()).ok();
        base.thing.reaches("HumanIntervention", SOON);
        let question = base.thing.status()["intervention"].clone();
        assert!(question["message"].as_str().is_some_and(|said| said.contains(words)), "{question:#}");
        base.becomes(&json!({ "parameters": { name: null } }).to_string());
    }
    assert_eq!(base.standing(), standing, "a pod was touched");
}
