//! A long rest, and an upgrade after it.

use super::used;
use crate::control_plane::counts::{all_bases_are_ready, another_rendering, bases, nothing_is_asked, rests, started_anew};
use crate::harness::{Space, alone, operator};
use std::time::Duration;

#[test]
fn two_hundred_objects_at_rest_for_a_minute_cost_nothing_and_an_upgrade_restarts_nobody() {
    let _turn = alone();
    let space = Space::new("rest");
    rests(&space, 200, Duration::from_mins(1));
    another_rendering(&space, 200);
}

/// How many databases rest alone.
const MANY: usize = 200;

#[test]
fn two_hundred_databases_at_rest_for_ten_minutes_ask_for_nothing() {
    let _turn = alone();
    let space = Space::new("rest");
    operator(&["restart"]);
    let idle = used().now;
    bases(&space, MANY);
    all_bases_are_ready(&space, MANY);
    started_anew(MANY);
    std::thread::sleep(Duration::from_secs(40));
    let each = (used().now - idle) * 1024.0 / f64::from(u32::try_from(MANY).unwrap());
    println!("{MANY} databases: {idle:.1} MiB before them, {each:.0} KiB for each of them after a restart");
    nothing_is_asked(&space, Duration::from_mins(10));
}
