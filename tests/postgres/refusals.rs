//! A server that must not start does not, and says why in one word.

use std::fs;
use std::os::unix::fs::chown;

use crate::pods::Server;
use crate::world::World;

#[test]
fn a_second_server_on_a_volume_in_use_is_refused() {
    let world = World::new();
    let primary = world.primary();
    Server::start(&world, 0, 0).assert_refused("VOLUME_IN_USE");
    assert_eq!(primary.sql("SELECT 1"), "1");
}

#[test]
fn a_volume_of_another_claim_is_refused() {
    let world = World::new();
    world.primary().stop();
    world.topology(&[("claim-0", "another")]);
    world.start(0).assert_refused("FOREIGN_CLAIM");
}

#[test]
fn an_empty_volume_is_never_initialised_twice() {
    let world = World::new();
    world.topology(&[("systemid", "7300000000000000000")]);
    world.start(0).assert_refused("PRIMARY_VOLUME_EMPTY");
    world.topology(&[("systemid", ""), ("epoch", "2")]);
    world.start(0).assert_refused("PRIMARY_VOLUME_EMPTY");
    assert!(!world.claim(0).join("pgdata").exists());
}

#[test]
fn a_configuration_older_than_the_volume_is_refused() {
    let world = World::new();
    world.primary().stop();
    fs::write(world.claim(0).join("marker"), world.marker(0).replace("epoch=1", "epoch=2")).expect("a marker");
    let said = world.start(0).assert_refused("STALE_CONFIG");
    // The operator reads it from there.
    assert!(said.contains("; epoch=2 role=primary primary=0 systemid=7"), "{said}");
    world.topology(&[("epoch", "2")]);
    world.serve(0).stop();
}

#[test]
fn data_of_another_version_or_another_system_is_refused() {
    let world = World::new();
    world.primary().stop();
    world.topology(&[("systemid", "7300000000000000000")]);
    world.start(0).assert_refused("FOREIGN_DATA");
    let version = world.claim(0).join("pgdata/PG_VERSION");
    fs::write(&version, "15\n").expect("a version");
    world.start(0).assert_refused("VERSION");
    fs::remove_file(version).expect("a version");
    world.start(0).assert_refused("FOREIGN_DATA");
}

#[test]
fn a_volume_whose_marker_was_lost_is_refused() {
    let world = World::new();
    world.primary().stop();
    fs::remove_file(world.claim(0).join("marker")).expect("a marker");
    world.start(0).assert_refused("FOREIGN_DATA");
}

#[test]
fn a_topology_that_makes_no_sense_is_refused() {
    let world = World::new();
    for (key, value) in [("epoch", "0"), ("epoch", "x"), ("epoch", ""), ("primary", "first"), ("claim-0", "")] {
        let before = fs::read_to_string(world.folder.join("topology").join(key)).expect("a key");
        world.topology(&[(key, value)]);
        world.start(0).assert_refused("TOPOLOGY");
        world.topology(&[(key, &before)]);
    }
}

#[test]
fn a_replica_is_not_the_primary_of_its_own_epoch_nor_an_old_primary_of_a_later_one() {
    let world = World::new();
    let primary = world.primary();
    world.serve(1).stop();
    primary.stop();
    world.topology(&[("primary", "1")]);
    world.start(1).assert_refused("CONTRADICTION");
    world.topology(&[("primary", "0"), ("epoch", "2")]);
    world.start(0).assert_refused("CONTRADICTION");
}

#[test]
fn a_primary_beside_another_or_behind_a_newer_timeline_is_refused() {
    let world = World::new();
    let primary = world.primary();
    world.serve(1).stop();
    // What the operator must never write: a new primary while the old one runs.
    world.topology(&[("primary", "1"), ("epoch", "2")]);
    world.start(1).assert_refused("OTHER_PRIMARY");
    primary.stop();
    let promoted = world.serve(1);
    world.topology(&[("primary", "0"), ("epoch", "1")]);
    world.start(0).assert_refused("OTHER_PRIMARY");
    drop(promoted);
}

#[test]
fn an_old_primary_with_an_old_configuration_is_refused_where_any_replica_knows_better() {
    let world = World::new();
    let first = world.primary();
    let second = world.serve(1);
    let third = world.serve(2);
    let second = world.switch_over(first, 1, second);
    third.wait_until_ready();
    crate::pods::wait_for("the third follows", || match third.sql("SELECT received_tli FROM pg_stat_wal_receiver").as_str() {
        "2" => Ok(()),
        other => Err(other.to_owned()),
    });
    second.stop();
    world.topology(&[("primary", "0"), ("epoch", "1")]);
    world.start(0).assert_refused("NEWER_TIMELINE");
    // One that cannot ask does not take the answer for an absence.
    world.secret("server-secrets", "replication-password", "wrong");
    world.start(0).assert_refused("PEER_UNKNOWN");
}

#[test]
fn a_configuration_file_with_a_mistake_is_told() {
    let world = World::new();
    world.primary().stop();
    world.configure("work_mem = many");
    let server = world.start(0);
    crate::pods::wait_for("the server's own words", || {
        let log = server.log();
        if log.contains("invalid value for parameter \"work_mem\"") { Ok(()) } else { Err(log) }
    });
}

#[test]
fn a_volume_without_room_for_a_cluster_is_told() {
    let world = World::new();
    let claim = world.claim(0);
    let mounted =
        std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=24m,mode=2775,gid=999", "tmpfs"]).arg(&claim).status();
    assert!(mounted.expect("mount").success());
    chown(&claim, Some(0), Some(999)).expect("root");
    let words = world.start(0).last_words();
    let unmounted = std::process::Command::new("umount").arg("--lazy").arg(&claim).status();
    assert!(unmounted.expect("umount").success());
    assert!(words.starts_with("NO_SPACE: "), "{words}");
}
