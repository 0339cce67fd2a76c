//! A primary and its replicas, through stops, kills and changes of primary.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::pods::{Server, wait_for};
use crate::world::{APP_PASSWORD, SUPERUSER_PASSWORD, World};

fn count_on(server: &Server, wanted: &str) {
    wait_for("the rows are there", || {
        let output = server.psql("postgres", "SELECT count(*) FROM ledger");
        let rows = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if rows == wanted { Ok(()) } else { Err(format!("{rows} rows of {wanted}")) }
    });
}

#[test]
fn a_row_written_to_the_primary_is_read_on_its_replicas() {
    let world = World::new();
    let started = Instant::now();
    let primary = world.primary();
    println!("initdb, roles and ready: {:.1} s", started.elapsed().as_secs_f64());
    primary.sql("CREATE TABLE ledger AS SELECT 1 AS id");
    let started = Instant::now();
    let (first, second) = (world.start(1), world.start(2));
    first.wait_until_ready();
    second.wait_until_ready();
    println!("two clones: {:.1} s", started.elapsed().as_secs_f64());
    count_on(&first, "1");
    count_on(&second, "1");
    assert_eq!(first.sql("SELECT pg_is_in_recovery()"), "t");
    assert_eq!(primary.sql("SELECT string_agg(application_name, ' ' ORDER BY application_name) FROM pg_stat_replication"), "db-1 db-2");
    assert_eq!(primary.sql("SELECT current_setting('data_checksums') || pg_encoding_to_char(encoding) || datcollate FROM pg_database WHERE datname = 'postgres'"), "onUTF8C.UTF-8");
    assert!(world.marker(1).contains("role=replica"));
}

/// Processes that an exec left behind, as a probe does that took too long, and that ended badly.
#[test]
fn what_an_exec_leaves_behind_ends_no_session() {
    let world = World::new();
    let primary = world.primary();
    // A server that came back from a crash goes on with a later number.
    primary.sql("CREATE SEQUENCE counted");
    assert_eq!(primary.sql("SELECT nextval('counted')"), "1");
    for end in ["exit 2", "kill -PIPE $BASHPID", "kill -KILL $BASHPID"] {
        // It is over once the last of its processes has closed what it writes to.
        primary.exec(&["bash", "-c", &format!("(sleep 0.2; {end}) &")]).expect("the pod runs");
    }
    assert_eq!(primary.sql("SELECT nextval('counted')"), "2", "{}", primary.log());
    primary.stop();
}

/// Makes a table of numbers.
fn ledger(primary: &Server, rows: u32) {
    primary.sql(&format!("CREATE TABLE ledger AS SELECT generate_series(1, {rows}) AS id"));
}

#[test]
fn killing_the_primary_loses_no_acknowledged_row() {
    let world = World::new();
    let primary = world.primary();
    world.job("init.sh").done();
    primary.sql_in("shop", "CREATE TABLE ledger (id int); GRANT ALL ON ledger TO app");
    let mut client =
        world.client("app", APP_PASSWORD, "shop").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("psql");
    let mut input = client.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        (1..200_000).take_while(|id| writeln!(input, "INSERT INTO ledger VALUES ({id}) RETURNING id;").is_ok()).count()
    });
    sleep(Duration::from_millis(1500));
    primary.kill();
    let acknowledged = String::from_utf8(client.wait_with_output().expect("psql").stdout).expect("numbers").lines().count();
    writer.join().expect("the writer");
    let primary = world.serve(0);
    let kept: usize = primary.sql_in("shop", "SELECT count(DISTINCT id) FROM ledger").parse().expect("a number");
    println!("{acknowledged} rows were acknowledged, {kept} are there");
    assert!(acknowledged > 20 && (kept == acknowledged || kept == acknowledged + 1));
}

#[test]
fn a_planned_switchover_loses_nothing_and_the_old_primary_follows_without_a_clone() {
    let world = World::new();
    let first = world.primary();
    ledger(&first, 100);
    let second = world.serve(1);
    let third = world.serve(2);
    world.topology(&[("primary", "")]);
    let words = second.ready();
    assert!(words.is_ok(), "a replica stays while nobody is primary: {words:?}");
    assert!(first.ready().is_err(), "nobody is the primary");
    first.stop();
    world.start(0).assert_refused("FENCED");
    world.topology(&[("primary", "1"), ("epoch", "2")]);
    second.stop();
    world.point_service(1);
    let started = Instant::now();
    let second = world.serve(1);
    println!("promotion in private until ready: {:.1} s", started.elapsed().as_secs_f64());
    second.sql("INSERT INTO ledger VALUES (101)");
    let first = world.serve(0);
    count_on(&first, "101");
    count_on(&third, "101");
    third.wait_until_ready();
    assert!(!first.log().contains("clones") && !third.log().contains("ended"));
    assert!(world.marker(0).contains("epoch=2\nrole=replica") && world.marker(1).contains("epoch=2\nrole=primary"));
    // And back again.
    let first = world.switch_over(second, 0, first);
    first.sql("INSERT INTO ledger VALUES (102)");
    let second = world.serve(1);
    count_on(&second, "102");
    assert!(!second.log().contains("clones"));
}

/// As where a kubelet had mounted an old ConfigMap, or a node was cut off: who is connected does not write on.
#[test]
fn a_primary_that_reads_of_a_later_one_ends_at_once() {
    let world = World::new();
    let first = world.primary();
    ledger(&first, 10);
    let second = world.serve(1);
    world.topology(&[("primary", "1"), ("epoch", "2")]);
    let words = first.ready().expect_err("it is not the primary any more");
    assert!(words.contains("was the primary of epoch 1, and the topology names '1' at epoch 2: it ends"), "{words}");
    first.last_words();
    second.stop();
    world.point_service(1);
    let second = world.serve(1);
    second.sql("INSERT INTO ledger VALUES (11)");
    count_on(&world.serve(0), "11");
}

#[test]
fn a_fenced_primary_names_who_holds_all_rows_that_it_wrote() {
    fenced_while_one_replica_lacks_the_last(true);
}

#[test]
fn a_fenced_primary_names_who_holds_the_record_of_its_end() {
    fenced_while_one_replica_lacks_the_last(false);
}

/// A server waits at its end for who follows, and one that did not is not given what others were told is kept: be it a row, or the
/// record of that end alone.
fn fenced_while_one_replica_lacks_the_last(lacks_a_row: bool) {
    let world = World::new();
    let first = world.primary();
    ledger(&first, 100);
    let second = world.serve(1);
    let third = world.serve(2);
    count_on(&second, "100");
    count_on(&third, "100");
    // One loses the primary for a moment, and lets readers in still.
    world.point_service_nowhere();
    first.sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_replication WHERE application_name = 'db-2'");
    if lacks_a_row {
        first.sql("INSERT INTO ledger VALUES (101)");
    }
    assert_eq!(third.ready(), Ok(()));
    world.topology(&[("primary", "")]);
    first.stop();
    let words = world.start(0).last_words();
    assert!(words.starts_with("FENCED: ") && words.ends_with("; complete=1"), "{lacks_a_row}: {words}");
    count_on(&second, if lacks_a_row { "101" } else { "100" });
    count_on(&third, "100");
    second.stop();
    let words = world.start(0).last_words();
    assert!(words.starts_with("FENCED: ") && words.ends_with("; complete="), "{lacks_a_row}: {words}");
}

#[test]
fn a_fence_can_be_taken_back_and_after_a_crash_it_has_to_be() {
    let world = World::new();
    world.primary().stop();
    world.topology(&[("primary", "")]);
    world.start(0).assert_refused("FENCED");
    world.topology(&[("primary", "0")]);
    world.serve(0).kill();
    world.topology(&[("primary", "")]);
    world.start(0).assert_refused("UNCLEAN");
    world.topology(&[("primary", "0")]);
    world.serve(0).stop();
    world.topology(&[("primary", "")]);
    world.start(0).assert_refused("FENCED");
}

#[test]
fn data_that_the_new_primary_lacks_is_given_up_only_with_consent() {
    let world = World::new();
    let first = world.primary();
    ledger(&first, 10);
    world.serve(1).stop();
    let third = world.serve(2);
    first.sql("INSERT INTO ledger VALUES (11)");
    count_on(&third, "11");
    first.kill();
    third.stop();
    // The replica that lacks a row.
    world.topology(&[("primary", "1"), ("epoch", "2")]);
    world.point_service(1);
    let second = world.serve(1);
    second.sql("INSERT INTO ledger VALUES (12)");
    world.start(2).assert_refused("AHEAD");
    world.start(0).assert_refused("DIVERGED");
    world.topology(&[("reclone-0", "1"), ("reclone-2", "1")]);
    world.start(0).assert_refused("DIVERGED");
    world.topology(&[("reclone-0", "2"), ("reclone-2", "2")]);
    let (first, third) = (world.serve(0), world.serve(2));
    for server in [&first, &third] {
        assert_eq!(server.sql("SELECT string_agg(id::text, ' ' ORDER BY id) FROM ledger WHERE id > 9"), "10 12");
    }
}

#[test]
fn an_old_primary_that_ended_cleanly_but_too_late_has_diverged() {
    let world = World::new();
    let first = world.primary();
    ledger(&first, 10);
    world.serve(1).stop();
    first.sql("INSERT INTO ledger VALUES (11)");
    first.stop();
    world.topology(&[("primary", "1"), ("epoch", "2")]);
    world.point_service(1);
    let second = world.serve(1);
    world.start(0).assert_refused("DIVERGED");
    assert_eq!(second.sql("SELECT max(id) FROM ledger"), "10");
}

/// As where the volume of the primary was put back to an older copy: once it has written as much again, positions tell nothing.
#[test]
fn who_was_ahead_of_the_primary_does_not_follow_it_later() {
    let world = World::new();
    let first = world.primary();
    ledger(&first, 10);
    first.stop();
    let aside = copied(&world.claim(0));
    let first = world.serve(0);
    let second = world.serve(1);
    first.sql("INSERT INTO ledger SELECT generate_series(11, 100)");
    count_on(&second, "100");
    second.stop();
    first.stop();
    fs::remove_dir_all(world.claim(0)).expect("a folder");
    fs::rename(aside, world.claim(0)).expect("a folder");
    let first = world.serve(0);
    world.start(1).assert_refused("AHEAD");
    first.sql("INSERT INTO ledger SELECT generate_series(1001, 100000); SELECT pg_switch_wal()");
    world.start(1).assert_refused("AHEAD");
    // As where its volume was too full to keep why.
    fs::write(world.claim(1).join("refused"), "").expect("a file");
    world.start(1).assert_refused("DIVERGED");
    world.topology(&[("reclone-1", "1")]);
    count_on(&world.serve(1), "99010");
}

fn copied(claim: &Path) -> PathBuf {
    let aside = claim.with_extension("aside");
    assert!(Command::new("cp").arg("-a").args([claim, &aside]).status().expect("cp").success());
    aside
}

/// As where the API server's data was put back to before a switchover, and another server was named then.
#[test]
fn who_followed_another_primary_of_the_same_epoch_is_not_taken_for_a_follower() {
    let world = World::new();
    let first = world.primary();
    ledger(&first, 10);
    let second = world.serve(1);
    let third = world.serve(2);
    count_on(&third, "10");
    third.kill();
    let aside = copied(&world.claim(2));
    let third = world.serve(2);
    let second = world.switch_over(first, 1, second);
    second.sql("INSERT INTO ledger VALUES (11)");
    let first = world.serve(0);
    count_on(&third, "11");
    for server in [second, third] {
        server.stop();
    }
    // What the third held before is the primary of that epoch now, and comes further.
    fs::remove_dir_all(world.claim(2)).expect("a folder");
    fs::rename(aside, world.claim(2)).expect("a folder");
    world.topology(&[("primary", "2")]);
    world.point_service(2);
    // Who runs meanwhile says so at its next start.
    let words = first.ready().expect_err("it followed another one");
    assert!(words.contains("its volume is of epoch 2 under primary 1, and the topology names '2' at epoch 2: it ends"), "{words}");
    first.last_words();
    let third = world.serve(2);
    third.sql("INSERT INTO ledger SELECT generate_series(1001, 2000)");
    for ordinal in [0, 1] {
        let words = world.start(ordinal).last_words();
        let expected = "DIVERGED: this volume is of epoch 2 under primary 1, and the topology names 2 for that epoch";
        assert_eq!(words, expected);
    }
    world.topology(&[("reclone-0", "2")]);
    count_on(&world.serve(0), "1010");
}

/// Four rows up to this one, and no log of writes from before.
fn forget(primary: &Server, last: u32) {
    for id in last - 4..last {
        primary.sql(&format!("INSERT INTO ledger VALUES ({id}); SELECT pg_switch_wal()"));
    }
    primary.sql("CHECKPOINT; CHECKPOINT");
}

#[test]
fn a_replica_whose_log_is_gone_is_cloned_anew() {
    let world = World::new();
    world.configure("wal_keep_size = 0");
    let primary = world.primary();
    ledger(&primary, 10);
    let replica = world.serve(1);
    // While it runs: the Service leads nowhere, and the primary forgets.
    world.point_service_nowhere();
    primary.sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_replication");
    forget(&primary, 15);
    assert_eq!(replica.ready(), Ok(()), "it serves what it has");
    world.point_service(0);
    wait_for("the pod ends itself", || match replica.ready() {
        Err(why) if why == "the pod has ended" || why.contains("cannot follow any more (gone)") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    drop(replica);
    let replica = world.serve(1);
    count_on(&replica, "14");
    assert!(replica.log().contains("clones"), "{}", replica.log());
    // And while it does not.
    replica.stop();
    forget(&primary, 20);
    let replica = world.serve(1);
    count_on(&replica, "18");
    assert!(replica.log().contains("clones"), "{}", replica.log());
}

/// A clone that did not come to its end takes nothing from the next one: the old files are known for a follower's.
#[test]
fn an_old_primary_whose_clone_was_interrupted_is_cloned_again() {
    let world = World::new();
    world.configure("wal_keep_size = 0");
    let first = world.primary();
    ledger(&first, 10);
    let second = world.serve(1);
    let second = world.switch_over(first, 1, second);
    forget(&second, 15);
    let first = world.start(0);
    wait_for("it clones", || if first.log().contains("clones the primary") { Ok(()) } else { Err(first.log()) });
    first.kill();
    let first = world.serve(0);
    count_on(&first, "14");
}

#[test]
fn a_replica_never_has_less_than_the_primary_had() {
    let world = World::new();
    let primary = world.primary();
    let replica = world.serve(1);
    // Raised: replicas first, the primary last.
    world.configure("max_connections = 30\nmax_locks_per_transaction = 100");
    replica.stop();
    let replica = world.serve(1);
    primary.stop();
    let primary = world.serve(0);
    replica.wait_until_ready();
    // Lowered, in the same order.
    world.configure("max_connections = 15\nmax_locks_per_transaction = 64");
    wait_for("the parameters are replayed", || {
        match replica
            .sql("SELECT max_connections_setting FROM (SELECT current_setting('max_connections') AS max_connections_setting) x")
            .as_str()
        {
            "30" => Ok(()),
            other => Err(other.to_owned()),
        }
    });
    primary.sql("CREATE TABLE later ()");
    replica.stop();
    let replica = world.serve(1);
    assert_eq!(replica.sql("SHOW max_connections"), "30", "the primary still has 30");
    assert_eq!(replica.sql("SHOW max_locks_per_transaction"), "100");
    primary.stop();
    let primary = world.serve(0);
    assert_eq!(primary.sql("SHOW max_connections"), "15");
    primary.sql("INSERT INTO later DEFAULT VALUES");
}

#[test]
fn what_was_killed_half_way_is_finished_by_the_next_start() {
    let world = World::new();
    let first = world.primary();
    ledger(&first, 10);
    // Remains of a clone and of a server that was killed.
    first.kill();
    let claim = world.claim(0);
    fs::create_dir(claim.join("pgdata.new")).expect("a folder");
    assert!(claim.join("pgdata/postmaster.pid").exists());
    let first = world.serve(0);
    assert!(!claim.join("pgdata.new").exists());
    let second = world.serve(1);
    // Killed between the two renames of a clone: the old files are there still.
    second.stop();
    fs::rename(world.claim(1).join("pgdata"), world.claim(1).join("pgdata.old")).expect("a folder");
    let second = world.serve(1);
    assert!(!second.log().contains("clones"));
    // Killed between promotion and marker.
    world.topology(&[("primary", "")]);
    first.stop();
    second.stop();
    let before = world.marker(1);
    world.topology(&[("primary", "1"), ("epoch", "2")]);
    world.point_service(1);
    world.serve(1).kill();
    fs::write(world.claim(1).join("marker"), before).expect("a marker");
    let second = world.serve(1);
    assert_eq!(second.sql("SELECT count(*) FROM ledger"), "10");
    assert!(world.marker(1).contains("epoch=2\nrole=primary"));
}

#[test]
fn a_settling_pod_hears_that_it_is_to_end() {
    let world = World::new();
    let pod = world.start(1);
    wait_for("it waits for the primary", || if pod.log().contains("waits for the primary") { Ok(()) } else { Err(pod.log()) });
    assert!(pod.ready().is_err());
    let started = Instant::now();
    pod.stop();
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn another_password_in_the_secret_counts_from_the_next_start() {
    let world = World::new();
    world.primary().stop();
    world.secret("server-secrets", "superuser-verifier", &crate::world::verifier("another"));
    world.secret("job-secrets", "superuser-password", "another");
    let _primary = world.serve(0);
    world.job("init.sh").done();
}

#[test]
fn a_replica_follows_with_another_password_without_a_start() {
    let world = World::new();
    let primary = world.primary();
    ledger(&primary, 10);
    let replica = world.serve(1);
    primary.stop();
    world.secret("server-secrets", "replication-verifier", &crate::world::verifier("another"));
    world.secret("server-secrets", "replication-password", "another");
    let primary = world.serve(0);
    primary.sql("INSERT INTO ledger VALUES (11)");
    // The probe asks every few seconds.
    wait_for("it follows", || match (replica.ready(), replica.sql("SELECT count(*) FROM ledger").as_str()) {
        (Ok(()), "11") => Ok(()),
        other => Err(format!("{other:?}")),
    });
}

#[test]
fn a_replica_whose_claim_is_told_late_starts_again() {
    let world = World::new();
    let _primary = world.primary();
    let replica = world.serve(1);
    world.topology(&[("claim-1", "made-anew")]);
    assert_eq!(replica.ready(), Ok(()));
    assert!(world.marker(1).contains("claim=made-anew"), "{}", world.marker(1));
    replica.stop();
    let marker = || fs::metadata(world.claim(1).join("marker")).expect("a marker").ino();
    let before = marker();
    world.serve(1).stop();
    assert_eq!(marker(), before, "a full volume has no room for what stands there already");
    // Who does not follow is not believed.
    world.topology(&[("claim-1", "of-somebody-else")]);
    world.start(1).assert_refused("FOREIGN_CLAIM");
}

#[test]
fn an_idle_primary_and_a_busy_one_have_ready_replicas_and_a_paused_one_is_not() {
    let world = World::new();
    let primary = world.primary();
    let replica = world.serve(1);
    replica.sql("SELECT pg_wal_replay_pause()");
    wait_for("it pauses", || match replica.ready() {
        Err(why) if why.contains("has paused") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    replica.sql("SELECT pg_wal_replay_resume()");
    replica.wait_until_ready();
    // The topology names this one, and it is no primary; the other is one and is not named.
    world.topology(&[("primary", "1")]);
    assert!(primary.ready().is_err() && replica.ready().is_err());
}

#[test]
fn a_clone_that_was_interrupted_under_another_claim_is_begun_anew() {
    let world = World::new();
    let primary = world.primary();
    ledger(&primary, 3);
    let marker = world.claim(1).join("marker");
    fs::write(&marker, world.marker(0).replace("role=primary", "role=cloning").replace("claim=", "claim=gone-")).expect("a marker");
    std::os::unix::fs::chown(&marker, Some(999), Some(999)).expect("root");
    count_on(&world.serve(1), "3");
}

/// More subtransactions than the log names let nobody into a replica until it has read on; and after a crash of both the rest of the
/// log is made by the primary alone.
#[test]
fn a_replica_that_waits_for_the_log_keeps_no_primary_from_its_start() {
    let world = World::new();
    let primary = world.primary();
    ledger(&primary, 1);
    let replica = world.serve(1);
    let mut client = world.client("postgres", SUPERUSER_PASSWORD, "postgres");
    let mut client = client.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("psql");
    let each = "BEGIN INSERT INTO ledger VALUES (n); EXCEPTION WHEN OTHERS THEN NULL; END;";
    let open = format!("BEGIN; DO $$ BEGIN FOR n IN 1..100 LOOP {each} END LOOP; END $$;\n");
    client.stdin.as_mut().expect("a pipe").write_all(open.as_bytes()).expect("it is sent");
    let active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND backend_xid IS NOT NULL";
    wait_for("the transaction is open", || if primary.sql(active) == "1" { Ok(()) } else { Err("it is not".to_owned()) });
    primary.sql("CHECKPOINT");
    let position = primary.sql("SELECT pg_current_wal_lsn()");
    let replayed = format!("SELECT pg_last_wal_replay_lsn() >= '{position}'");
    wait_for("the replica has it", || if replica.sql(&replayed) == "t" { Ok(()) } else { Err("not yet".to_owned()) });
    replica.sql("CHECKPOINT");
    primary.kill();
    replica.kill();
    let _ = client.wait();
    let replica = world.start(1);
    wait_for("it replays what it has", || if replica.log().contains("redo starts") { Ok(()) } else { Err(replica.log()) });
    sleep(Duration::from_secs(2));
    assert!(replica.ready().is_err() && !replica.log().contains("ready to accept read-only connections"), "it waits for nothing");
    let primary = world.serve(0);
    count_on(&primary, "1");
    replica.wait_until_ready();
}
