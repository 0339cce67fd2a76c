//! Each fixture of both kinds on every way through v1alpha1.

use crate::control_plane::{carrier, databases};

#[test]
fn every_way_keeps_each_fixture_of_memcached() {
    carrier::each_is_walked();
}

#[test]
fn every_way_keeps_each_fixture_of_databases() {
    databases::carrier::each_is_walked();
}
