//! A long rest, and an upgrade after it.

use crate::control_plane::counts::{another_rendering, rests};
use crate::harness::{Space, alone};
use std::time::Duration;

#[test]
fn two_hundred_objects_at_rest_for_a_minute_cost_nothing_and_an_upgrade_restarts_nobody() {
    let _turn = alone();
    let space = Space::new("rest");
    rests(&space, 200, Duration::from_mins(1));
    another_rendering(&space, 200);
}
