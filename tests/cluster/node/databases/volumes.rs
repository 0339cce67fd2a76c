//! Volumes that are lost, wanted twice, grow or are full: nobody serves what is not the data, and nothing that was written goes.

use super::small::Small;
use super::{Base, SOON, is_ready};
use crate::harness::{Space, eventually_or, shared};
use serde_json::{Value, json};

const ROWS: &str = "SELECT count(*) || ' ' || md5(string_agg(what, '' ORDER BY n)) FROM kept";

/// What the container of a server said when it last ended.
fn last_words(pod: &Value) -> String {
    let server = &pod["status"]["containerStatuses"][0];
    let ends = ["state", "lastState"].map(|state| server[state]["terminated"]["message"].as_str().unwrap_or_default().to_owned());
    ends.into_iter().find(|words| !words.is_empty()).unwrap_or_default()
}

#[track_caller]
fn uid(space: &Space, what: &str) -> Value {
    space.object(what)["metadata"]["uid"].clone()
}

/// A claim that was deleted under its pod goes with it and comes back empty under the same name: that is nobody's database.
#[test]
fn an_empty_volume_is_never_called_ready() {
    let _turn = shared();
    let space = Space::restricted("empty-volume");
    let base = Base::ready(&space, "db", &json!({ "replicas": 2 }));
    base.sql("db", "CREATE TABLE kept AS SELECT n, md5(n::text) AS what FROM generate_series(1, 100) AS n").ok();
    let rows = base.sql("db", ROWS).ok();
    base.answers(&base.server(1), ROWS, rows.trim());
    let (claim, pod) = (uid(&space, "pvc/data-db-0"), uid(&space, "pod/db-0"));
    space.kubectl(&["delete", "pvc/data-db-0", "--wait=false"]).ok();
    base.thing.reaches("Degraded", SOON);
    let waits = base.thing.status()["waitingFor"].to_string();
    assert!(waits.contains("data-db-0") && waits.contains("it is being deleted and goes, with its data"), "{waits}");
    assert_eq!((uid(&space, "pvc/data-db-0"), uid(&space, "pod/db-0")), (claim.clone(), pod.clone()), "it went while its pod was there");
    base.answers("db", ROWS, rows.trim());

    space.kubectl(&["delete", "pod/db-0", "--wait=false"]).ok();
    let refuses = || {
        let server = space.object("pod/db-0");
        let is_another = server["metadata"]["uid"].is_string() && server["metadata"]["uid"] != pod;
        assert!(!is_another || !is_ready(&server), "an empty database serves: {server:#}");
        // The old pod is ready until it goes.
        assert!(!is_another || base.thing.condition("Ready")["status"] != "True", "{:#}", base.thing.status());
        is_another && last_words(&server).starts_with("PRIMARY_VOLUME_EMPTY: ")
    };
    eventually_or(SOON, refuses, || space.object("pod/db-0").to_string());
    let standing = uid(&space, "pvc/data-db-0");
    assert!(standing.is_string() && standing != claim, "no empty claim took the place of {claim}: {standing}");
    base.thing.reaches("HumanIntervention", SOON);
    let question = base.thing.status()["intervention"].clone();
    assert_eq!(question["reason"], "PrimaryVolumeLost", "{question:#}");
    assert!(question["evidence"].to_string().contains(claim.as_str().unwrap()), "{question:#}");
    // It is tried again and again; nothing changes by that.
    let restarts = super::lived(&space.object("pod/db-0")).1;
    eventually_or(60, || !refuses() || super::lived(&space.object("pod/db-0")).1 >= restarts + 2, || "nobody tries".to_owned());
    assert!(refuses(), "{:#}", space.object("pod/db-0"));
    let read = base.sql_from(1, &base.server(1), ROWS).ok();
    assert_eq!(read, rows, "the replica lost rows");
}

/// The same pod once more, on the same volume: a kubelet that is taken for dead, or a hand.
#[test]
fn a_second_server_never_starts_on_a_volume_in_use() {
    let _turn = shared();
    let space = Space::restricted("in-use");
    let base = Base::ready(&space, "db", &json!({}));
    base.sql("db", "CREATE TABLE kept (n int)").ok();
    let before = base.standing();
    let mut pod = space.object("pod/db-0");
    pod["metadata"] = json!({ "name": "second-0" });
    pod["status"] = Value::Null;
    pod["spec"]["restartPolicy"] = json!("Never");
    space.apply(&pod.to_string()).ok();
    let mut rows = 0;
    let ended = || {
        base.sql("db", "INSERT INTO kept VALUES (1)").ok();
        rows += 1;
        space.object("pod/second-0")["status"]["phase"] == "Failed"
    };
    eventually_or(60, ended, || space.object("pod/second-0").to_string());
    let second = space.object("pod/second-0");
    assert!(last_words(&second).starts_with("VOLUME_IN_USE: "), "{second:#}");
    base.sql("db", "INSERT INTO kept VALUES (1)").ok();
    base.answers("db", "SELECT count(*) FROM kept", &(rows + 1).to_string());
    assert_eq!(base.standing(), before, "the first one was disturbed");
}

#[test]
fn volumes_grow_under_servers_that_run() {
    let _turn = shared();
    let space = Space::restricted("growth");
    let base = Base::ready(&space, "db", &json!({ "replicas": 2 }));
    base.sql("db", "CREATE TABLE kept AS SELECT n, md5(n::text) AS what FROM generate_series(1, 100) AS n").ok();
    let (rows, before) = (base.sql("db", ROWS).ok(), base.standing());
    let claims = ["pvc/data-db-0", "pvc/data-db-1"];
    let uids = claims.map(|claim| uid(&space, claim));
    base.becomes(r#"{"storage":{"size":"1Gi"}}"#);
    assert!(base.thing.history().iter().any(|moved| moved.ends_with("-> ExpandingStorage")), "{:?}", base.thing.history());
    for claim in claims {
        assert_eq!(space.object(claim)["status"]["capacity"]["storage"], "1Gi", "{claim}: Ready was early");
    }
    assert_eq!((claims.map(|claim| uid(&space, claim)), base.standing()), (uids, before), "a server was restarted");
    for server in ["db".to_owned(), base.server(1)] {
        base.answers(&server, ROWS, rows.trim());
    }
}

/// What cannot be compressed, two megabytes of it.
const FILLS: &str = "INSERT INTO filling SELECT sha512(random()::text::bytea) FROM generate_series(1, 20000)";

/// A table that finds no room is an error, and the server lives; its log of writes is what it cannot do without.
#[test]
fn a_full_volume_is_told_in_postgresqls_own_words_and_loses_no_row() {
    let _turn = shared();
    let space = Space::restricted("full-data");
    let small = Small::made_for(&space, "data-db-0", 96);
    let base = Base::ready(&space, "db", &json!({}));
    base.sql("db", "CREATE TABLE kept AS SELECT n, md5(n::text) AS what FROM generate_series(1, 1000) AS n").ok();
    let rows = base.sql("db", ROWS).ok();
    let runs = |sql: &str| base.as_superuser(0, "./psql -XAtq -d shop -v ON_ERROR_STOP=1 -f -", sql);
    runs("CREATE TABLE filling (what bytea)").ok();
    let mut filled = 0;
    let full = loop {
        let answer = runs(FILLS);
        if answer.code != 0 {
            break answer.err;
        }
        filled += 20_000;
        assert!(filled < 1_000_000, "a volume of 96 MB takes 100 MB");
    };
    assert!(full.contains("No space left on device"), "{full}");
    base.answers("db", ROWS, rows.trim());
    let asks = || {
        runs("SELECT pg_switch_wal()");
        base.thing.status()["state"] == "HumanIntervention"
    };
    eventually_or(SOON, asks, || format!("{:#}\n{:#}", base.thing.status(), space.object("pod/db-0")["status"]));
    let question = base.thing.status()["intervention"].clone();
    assert_eq!(question["reason"], "PodsUnavailable", "{question:#}");
    assert!(question["evidence"].to_string().contains("No space left on device"), "{question:#}");

    small.grows();
    base.thing.ready_within(SOON);
    base.answers("db", ROWS, rows.trim());
    assert_eq!(runs("SELECT count(*) FROM filling").ok().trim(), filled.to_string(), "what was acknowledged is what is there");
}
