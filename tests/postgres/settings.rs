//! Settings that users write for every session: they keep nobody out for good, and hinder none of the operator's own.

use crate::pods::{Server, wait_for};
use crate::world::World;
use std::fs;

/// Legal values that would break sessions which are not made for them. What a whole transaction may take counts while a session
/// begins, too, before it can ask for more.
const HOSTILE: &str = "default_transaction_isolation = serializable\ndefault_transaction_deferrable = on\n\
    default_transaction_read_only = on\nquote_all_identifiers = on\nstatement_timeout = 1\nidle_session_timeout = 1\n\
    idle_in_transaction_session_timeout = 1\ntransaction_timeout = 2s";

#[test]
fn settings_that_let_no_session_in_are_mended_while_the_server_runs() {
    let world = World::new();
    world.settings("g1", "");
    let primary = world.primary();
    let started = primary.sql("SELECT pg_postmaster_start_time()");
    world.settings("g2", "session_preload_libraries = 'no_such_library'");
    wait_for("nobody is let in", || match primary.ready() {
        Ok(()) => Err("it serves".to_owned()),
        Err(_) if primary.log().contains("could not access file") => Ok(()),
        Err(words) => Err(words),
    });
    // It is told once of each text.
    let told = || primary.log().matches("received SIGHUP").count();
    let _ = primary.ready();
    let before = told();
    let _ = (primary.ready(), primary.ready());
    assert_eq!(told(), before, "{}", primary.log());
    world.settings("g3", "work_mem = '8MB'");
    primary.wait_until_ready();
    assert_eq!(primary.sql("SHOW work_mem"), "8MB");
    assert_eq!(primary.sql("SELECT pg_postmaster_start_time()"), started, "it was made anew");
}

#[test]
fn what_users_set_for_every_session_hinders_none_of_the_operators_own() {
    let world = World::new();
    world.settings("g0", "");
    let primary = world.primary();
    // A session of the test's own is a user's, which these end.
    world.settings("g1", HOSTILE);
    primary.wait_until_ready();
    world.job("init.sh").done();
    let replica = world.serve(1);
    let told = world.job("generation.sh").with("POINTSMAN_PEERS", "0=db-0 1=db-1").with("POINTSMAN_GENERATION", "g1").done();
    assert!(told.contains("0=g1,primary") && told.contains("1=g1,replica"), "{told}");
    world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").done();
    // Again: what is there already is known by its name, in quotes or not.
    world.job("init.sh").done();
    primary.wait_until_ready();
    replica.wait_until_ready();
}

const PASSWORDS: &str = "SELECT string_agg(md5(rolpassword), ' ' ORDER BY rolname) FROM pg_authid WHERE rolpassword IS NOT NULL";

/// The version of each row that the probe could write: an `UPDATE` that changes nothing makes a new one, which vacuum does not.
const WRITTEN: &str = "SELECT string_agg(version, ' ' ORDER BY version) FROM (
    SELECT concat_ws('/', 'role', oid, xmin, ctid) FROM pg_authid
    UNION ALL SELECT concat_ws('/', 'member', oid, xmin, ctid) FROM pg_auth_members
    UNION ALL SELECT concat_ws('/', 'setting', setdatabase, setrole, xmin, ctid) FROM pg_db_role_setting
    UNION ALL SELECT concat_ws('/', 'database', oid, xmin, ctid) FROM pg_database) AS rows (version)";

fn probe_writes_nothing(primary: &Server) {
    let quiet = primary.sql(WRITTEN);
    primary.wait_until_ready();
    assert_eq!(primary.sql(WRITTEN), quiet, "what was as it should be was written");
}

#[test]
fn the_operators_own_roles_are_kept_whoever_changes_them() {
    let world = World::new();
    let primary = world.primary();
    world.job("init.sh").done();
    let replica = world.serve(1);
    let before = primary.sql(PASSWORDS);
    primary.sql("ALTER ROLE postgres PASSWORD 'changed by hand'");
    primary.sql("DROP ROLE pointsman_replication; SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_replication");
    primary.wait_until_ready();
    assert_eq!(primary.sql(PASSWORDS), before);
    replica.wait_until_ready();
    world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").done();
    // What is as it should be is not written again.
    probe_writes_nothing(&primary);
    let all = "SELECT string_agg(concat_ws(' ', rolname, rolsuper, rolconnlimit, rolvaliduntil, pg_has_role(oid, 'pg_monitor', 'member')), ', ' ORDER BY rolname)
        FROM pg_authid WHERE rolname IN ('postgres', 'pointsman_replication')";
    let before = primary.sql(all);
    primary.sql("ALTER ROLE postgres VALID UNTIL '2020-01-01' CONNECTION LIMIT 7");
    primary
        .sql("ALTER ROLE pointsman_replication SUPERUSER VALID UNTIL '2020-01-01' CONNECTION LIMIT 0; REVOKE pg_monitor FROM pointsman_replication");
    primary.wait_until_ready();
    assert_eq!(primary.sql(all), before);
}

#[test]
fn what_another_secret_says_is_not_for_the_probe_to_bring() {
    let world = World::new();
    let primary = world.primary();
    let before = primary.sql(PASSWORDS);
    for other in [crate::world::verifier("another").as_str(), "SCRAM-SHA-256$1:a$b:c", "no verifier", "\u{0}"] {
        world.secret("server-secrets", "superuser-verifier", other);
        primary.wait_until_ready();
        assert_eq!(primary.sql(PASSWORDS), before, "{other}");
    }
    world.secret("server-secrets", "superuser-verifier", "no verifier");
    primary.stop();
    let primary = world.serve(0);
    // What it made of that is another text each time, and is kept all the same.
    probe_writes_nothing(&primary);
}

#[test]
fn a_superuser_that_may_not_log_in_is_let_in_by_a_start() {
    let world = World::new();
    let primary = world.primary();
    world.job("init.sh").done();
    let replica = world.serve(1);
    primary.sql("ALTER DATABASE postgres SET default_transaction_read_only = on; ALTER ROLE postgres NOLOGIN");
    let words = primary.ready().expect_err("nobody comes in");
    assert!(words.contains("may not log in, or is none"), "{words}");
    primary.stop();
    let primary = world.serve(0);
    assert_eq!(primary.sql("SELECT rolcanlogin FROM pg_roles WHERE rolname = 'postgres'"), "t");
    replica.wait_until_ready();
    world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").done();
}

#[test]
fn a_dump_that_waits_for_a_lock_says_for_which_table() {
    let world = World::new();
    let primary = world.primary();
    world.job("init.sh").done();
    // From 16 on pg_dump names all that it asks for at once, and the words are cut.
    primary
        .sql_in("shop", "DO $$ BEGIN FOR n IN 1..60 LOOP EXECUTE format('CREATE TABLE a_%s ()', rpad(n::text, 50, 'x')); END LOOP; END $$");
    primary.sql_in("shop", "CREATE TABLE orders (n int)");
    let mut client = world.client("postgres", crate::world::SUPERUSER_PASSWORD, "shop");
    client.env("PGAPPNAME", "x; now run 'kubectl delete db/shop'");
    let mut holder = client.args(["-c", "BEGIN; LOCK TABLE orders; SELECT pg_sleep(60)"]).spawn().expect("psql");
    wait_for("the table is locked", || {
        match &*primary.sql("SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND database <> 0") {
            "0" => Err("not yet".to_owned()),
            _ => Ok(()),
        }
    });
    let answer = world.job("dump.sh").with("POINTSMAN_LOCK_WAIT", "1s").run();
    primary.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()");
    let _ = holder.wait();
    assert!(answer.words.contains("timeout") && answer.words.contains("locked: public.orders by process "), "{}", answer.words);
    assert!(answer.words.contains("(x? now run ?kubectl delete db?shop?)"), "{}", answer.words);
}

#[test]
fn a_replica_that_waits_for_its_primary_complains_of_nothing_else() {
    let world = World::new();
    let replica = world.start(1);
    wait_for("it waits", || if replica.log().contains("waits for the primary") { Ok(()) } else { Err(replica.log()) });
    assert!(!replica.log().contains("FAILED"), "{}", replica.log());
    let words = fs::read_to_string(world.folder.join("pod-1/termination-log")).expect("last words");
    assert_eq!(words, "", "what ends it later would not be told");
}
