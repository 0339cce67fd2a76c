//! From the first apply to the dump that outlives the object, and to the one that comes out of it.

use super::Base;
use crate::harness::{Space, eventually_or, repository, shared};
use serde_json::json;

/// What a dump has to keep: rows, a sequence, a large object, a grant, a setting, row-level security.
const MADE: &str = "
CREATE TABLE orders (id serial PRIMARY KEY, what text NOT NULL);
INSERT INTO orders (what) SELECT 'tea ' || n FROM generate_series(1, 1000) AS n;
CREATE TABLE secrets (of text, what text);
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secrets USING (of = current_user);
GRANT SELECT ON orders TO PUBLIC;
SELECT lo_from_bytea(4711, 'a large object');
ALTER ROLE app SET statement_timeout = '17min';
";
/// The same, told in one line.
const TOLD: &str = "SELECT concat_ws(' ', (SELECT md5(string_agg(orders::text, ',' ORDER BY id)) FROM orders), nextval('orders_id_seq'), convert_from(lo_get(4711), 'UTF8'), has_table_privilege('public', 'orders', 'SELECT'), current_setting('statement_timeout'), (SELECT string_agg(polname, ',') FROM pg_policy));";

#[test]
fn the_first_manifest_serves_is_deleted_and_comes_back_from_its_tombstone() {
    let _turn = shared();
    let space = Space::restricted("postgres");
    let manifest = std::fs::read_to_string(repository().join("examples/database-v1alpha1.yaml")).unwrap();
    let manifest = manifest.replace("  namespace: default\n", "").replace("50G", "512Mi");
    space.apply(&manifest).ok();
    let base = Base::of(&space, "my-first-crd-database");
    base.comes();
    base.sql(base.name(), MADE).ok();
    for service in ["my-first-crd-database-ro".to_owned(), base.server(0), base.server(1), base.server(2)] {
        base.answers(&service, "SELECT count(*) FROM orders", "1000");
    }
    // What an exec leaves behind is no session of the server's: one that came back from a crash would go on with a later number.
    base.as_superuser(0, "(sleep 0.2; exit 2) &", "").ok();
    let before = base.sql(base.name(), TOLD).ok();
    assert!(before.contains("1001 a large object t 17min own"), "{before}");

    let uid = base.thing.seen()["metadata"]["uid"].as_str().unwrap().to_owned();
    base.goes();
    assert_eq!(space.kubectl(&["get", "pvc", "--output=name"]).ok().trim(), "persistentvolumeclaim/my-first-crd-database-backups");
    let tombstone = space.object(&format!("configmap/my-first-crd-database-tombstone-{}", &uid[..5]));
    let manifest = tombstone["data"]["restore.yaml"].as_str().unwrap_or_else(|| panic!("{tombstone}"));
    space.apply(manifest).ok();
    base.comes();
    // A sequence goes on where it was; the number that was asked for above is not given twice.
    let after = base.sql(base.name(), TOLD).ok();
    assert_eq!(after, before.replace(" 1001 ", " 1002 "));
    base.becomes(r#"{"deletionPolicy":"Delete"}"#);
    base.goes();
    let left = || space.kubectl(&["get", "pvc,secrets,statefulsets,jobs,cronjobs,services", "--output=name"]).ok();
    // What another object has left is never deleted on the word of this one.
    let kept = format!("persistentvolumeclaim/{}-backups", base.thing.name);
    eventually_or(60, || left().trim() == kept, left);
}

#[test]
fn a_backup_is_made_told_and_brought_back() {
    let _turn = shared();
    let space = Space::restricted("backup");
    let base = Base::ready(&space, "db", &json!({ "backup": { "schedule": "0 2 * * *" } }));
    base.sql("db", MADE).ok();
    eventually_or(60, || !space.object("cronjob/db").is_null(), || base.thing.status().to_string());
    space.kubectl(&["create", "job", "--from=cronjob/db", "by-hand"]).ok();
    let made = || base.thing.status()["backup"]["lastSuccess"].is_string();
    eventually_or(120, made, || format!("{:#}\n{:#}", base.thing.status(), space.object("job/by-hand")["status"]));
    let other = Base::ready(&space, "other", &json!({ "restoreFrom": { "claimName": "db-backups" }, "deletionPolicy": "Delete" }));
    other.answers("other", "SELECT count(*) FROM orders", "1000");
    base.answers("db", "SELECT count(*) FROM orders", "1000");
}

/// What only a server can say: which settings it has read, and since when it runs.
#[test]
fn settings_are_reloaded_where_that_will_do_and_restart_the_primary_last_where_not() {
    let _turn = shared();
    let space = Space::restricted("settings");
    let base = Base::ready(&space, "db", &json!({ "replicas": 2 }));
    let started = |ordinal| base.sql(&base.server(ordinal), "SELECT pg_postmaster_start_time()").ok();
    let before = [started(0), started(1)];
    base.becomes(r#"{"parameters":{"work_mem":"8MB"}}"#);
    for ordinal in [0, 1] {
        assert_eq!(base.sql(&base.server(ordinal), "SHOW work_mem").ok().trim(), "8MB", "Ready was early");
    }
    assert_eq!([started(0), started(1)], before, "a server was restarted for a setting that is reloaded");
    base.becomes(r#"{"parameters":{"work_mem":"8MB","max_connections":"150"}}"#);
    for ordinal in [0, 1] {
        assert_eq!(base.sql(&base.server(ordinal), "SHOW max_connections").ok().trim(), "150", "Ready was early");
    }
    assert!(started(1) < started(0) && started(1) > before[1], "the primary is not the last");
    base.becomes(r#"{"extensions":[{"name":"pg_trgm"}]}"#);
    base.answers("db", "SELECT extname FROM pg_extension WHERE extname = 'pg_trgm'", "pg_trgm");
}
