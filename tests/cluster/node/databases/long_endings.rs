//! What deleting keeps: everything that the last dump holds, and the data itself where the dump cannot be made.

use super::small::Small;
use super::{Base, SOON};
use crate::harness::{Space, bash, eventually_or, shared};
use serde_json::{Value, json};

/// Of each kind of thing that a database holds, one; made by its superuser.
const MADE: &str = "
CREATE ROLE reader LOGIN PASSWORD 'only of this test' CONNECTION LIMIT 3;
GRANT reader TO app;
ALTER ROLE app IN DATABASE shop SET work_mem = '5MB';
ALTER DATABASE shop SET statement_timeout = '17min';
COMMENT ON DATABASE shop IS 'what is kept';
REVOKE CONNECT ON DATABASE shop FROM PUBLIC;
GRANT CONNECT ON DATABASE shop TO reader;
\\connect shop
CREATE SCHEMA sales AUTHORIZATION app;
CREATE TYPE sales.mood AS ENUM ('sad', 'happy');
CREATE TABLE sales.orders (id bigserial PRIMARY KEY, what text NOT NULL, mood sales.mood, embedded jsonb);
INSERT INTO sales.orders (what, mood, embedded)
    SELECT 'tea ' || n, (ARRAY['sad', 'happy'])[1 + n % 2]::sales.mood, jsonb_build_object('n', n) FROM generate_series(1, 2000) AS n;
CREATE INDEX ON sales.orders USING gin (what gin_trgm_ops);
CREATE UNLOGGED TABLE sales.cheap AS SELECT n FROM generate_series(1, 100) AS n;
CREATE MATERIALIZED VIEW sales.moods AS SELECT mood, count(*) FROM sales.orders GROUP BY mood;
CREATE FUNCTION sales.one() RETURNS int LANGUAGE sql AS 'SELECT 1';
ALTER TABLE sales.orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY happy ON sales.orders FOR SELECT TO reader USING (mood = 'happy');
GRANT USAGE ON SCHEMA sales TO reader;
GRANT SELECT (id, what) ON sales.orders TO reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA sales GRANT SELECT ON TABLES TO reader;
SELECT setval('sales.orders_id_seq', 4711);
SELECT lo_from_bytea(815, 'a large object');
";

/// All that PostgreSQL tells of a database and its roles, as it would be made anew. The operator's own passwords are others in
/// another database.
#[track_caller]
fn told(base: &Base<'_>) -> String {
    let script = "./pg_dump --create shop; ./pg_dumpall --roles-only";
    let text = base.as_superuser(0, script, "").ok();
    let ours = |line: &str| line.contains(" PASSWORD ") && !line.starts_with("ALTER ROLE reader");
    text.lines()
        .filter(|line| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict") && !ours(line))
        .collect::<Vec<_>>()
        .join("\n")
}

#[track_caller]
fn tombstone(space: &Space, base: &str, uid: &Value) -> String {
    let uid = uid.as_str().unwrap();
    let map = space.object(&format!("configmap/{base}-tombstone-{}", &uid[..5]));
    map["data"]["restore.yaml"].as_str().unwrap_or_else(|| panic!("{map:#}")).to_owned()
}

#[test]
fn whatever_the_cascade_the_tombstone_brings_back_all_of_it() {
    let _turn = shared();
    let space = Space::restricted("cascades");
    let fields = json!({ "extensions": [{ "name": "pg_trgm" }] });
    let (one, other) = (Base::ready(&space, "one", &fields), Base::ready(&space, "other", &fields));
    let ways = [(&one, "foreground"), (&other, "background")];
    let mut before = Vec::new();
    for (base, cascade) in ways {
        base.as_superuser(0, "./psql -X -v ON_ERROR_STOP=1 -f - -d postgres", MADE).ok();
        before.push((told(base), base.thing.seen()["metadata"]["uid"].clone()));
        base.thing.kubectl("delete", &[&format!("--cascade={cascade}"), "--wait=false"]).ok();
    }
    assert!(before.iter().all(|(told, _)| told.lines().count() > 2200), "too little is told");
    for ((base, cascade), (told_before, uid)) in ways.into_iter().zip(&before) {
        eventually_or(SOON, || base.thing.seen().is_null(), || format!("{cascade}: {:#}", base.thing.status()));
        space.apply(&tombstone(&space, base.name(), uid)).ok();
        base.comes();
        let after = told(base);
        let changed = after.lines().zip(told_before.lines()).find(|(after, before)| after != before);
        assert!(after == *told_before, "{cascade}: {changed:?}");
    }
}

const ROWS: &str = "SELECT count(*) || ' ' || md5(string_agg(what::text, '' ORDER BY n)) FROM kept";

#[test]
fn without_room_for_the_last_dump_nothing_goes_and_with_room_it_is_made() {
    let _turn = shared();
    let space = Space::restricted("full");
    let small = Small::made_for(&space, "db-backups", 2);
    let base = Base::ready(&space, "db", &json!({ "replicas": 2 }));
    let uid = base.thing.seen()["metadata"]["uid"].clone();
    // What cannot be compressed: 8 MB.
    base.sql("db", "CREATE TABLE kept AS SELECT n, sha512(n::text::bytea) AS what FROM generate_series(1, 100000) AS n").ok();
    let rows = base.sql("db", ROWS).ok();
    base.thing.kubectl("delete", &["--wait=false"]).ok();
    base.thing.reaches("RemovalBlocked", SOON);
    let question = base.thing.status()["intervention"].clone();
    assert_eq!(question["reason"], "SnapshotFailed", "{question:#}");
    let said = question["message"].as_str().unwrap_or_default();
    assert!(said.contains("No space left on device"), "{said}");
    // Nobody is led to write what no dump would hold; the servers are there.
    assert_eq!(space.object("service/db")["spec"]["selector"].to_string().matches("Nobody").count(), 1, "{}", space.object("service/db"));
    for server in ["db-ro".to_owned(), base.server(0), base.server(1)] {
        base.answers(&server, ROWS, rows.trim());
    }
    // A part of a dump is no dump.
    assert_eq!(bash(&format!("ls {}", small.folder)).ok().trim(), "");

    small.grows();
    base.thing.answer("retry").ok();
    eventually_or(SOON, || base.thing.seen().is_null(), || format!("{:?}\n{:#}", base.thing.history(), base.thing.status()));
    space.apply(&tombstone(&space, "db", &uid)).ok();
    base.comes();
    base.answers("db", ROWS, rows.trim());
}

/// The rows that a claim holds which no server has any more: PostgreSQL reads them without one.
#[track_caller]
fn rows_on(space: &Space, claim: &str) -> String {
    let script = "echo 'SELECT count(*) FROM kept' | $(dirname \"$(readlink -f \"$(command -v postgres)\")\")/postgres --single -D /data/pgdata shop";
    let security = json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } });
    let container = json!({ "name": "reader", "image": "docker.io/library/postgres:17", "command": ["bash", "-c", script],
        "securityContext": security, "volumeMounts": [{ "name": "data", "mountPath": "/data" }] });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "reader" }, "spec": {
        "restartPolicy": "Never", "containers": [container],
        "securityContext": { "runAsNonRoot": true, "runAsUser": 999, "runAsGroup": 999, "fsGroup": 999, "seccompProfile": { "type": "RuntimeDefault" } },
        "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": claim } }] } });
    space.apply(&pod.to_string()).ok();
    let phase = || space.object("pod/reader")["status"]["phase"].as_str().unwrap_or_default().to_owned();
    let log = || space.kubectl(&["logs", "pod/reader"]).text();
    eventually_or(60, || phase() == "Succeeded", || format!("{}: {}", phase(), log()));
    log()
}

/// Where on this machine the volume of a claim is.
#[track_caller]
fn folder_of(space: &Space, claim: &str) -> String {
    let volume = space.object(&format!("pvc/{claim}"))["spec"]["volumeName"].as_str().expect("a volume").to_owned();
    let source = space.object(&format!("pv/{volume}"))["spec"].clone();
    let path = ["hostPath", "local"].iter().find_map(|kind| source[kind]["path"].as_str());
    path.unwrap_or_else(|| panic!("{source}")).to_owned()
}

#[test]
fn what_a_person_says_of_the_volumes_is_done_to_them() {
    let _turn = shared();
    for (name, verb) in [("kept", "keep-volumes"), ("gone", "skip-snapshot")] {
        let space = Space::restricted(verb);
        let _small = Small::made_for(&space, &format!("{name}-backups"), 2);
        let base = Base::ready(&space, name, &json!({}));
        base.sql(name, "CREATE TABLE kept AS SELECT n, sha512(n::text::bytea) AS what FROM generate_series(1, 100000) AS n").ok();
        let claim = format!("data-{name}-0");
        let folder = folder_of(&space, &claim);
        base.thing.kubectl("delete", &["--wait=false"]).ok();
        base.thing.reaches("RemovalBlocked", SOON);
        base.thing.answer(verb).ok();
        eventually_or(SOON, || base.thing.seen().is_null(), || format!("{:?}\n{:#}", base.thing.history(), base.thing.status()));
        let is_there = || bash(&format!("test -e {folder}/pgdata/PG_VERSION")).code == 0;
        if verb == "keep-volumes" {
            let rows = rows_on(&space, &claim);
            assert!(rows.contains("count = \"100000\""), "{rows}");
        } else {
            eventually_or(60, || space.object(&format!("pvc/{claim}")).is_null() && !is_there(), || format!("{folder} is there"));
        }
    }
}
