//! A long rest.

use crate::control_plane::counts::rests;
use crate::harness::{Space, alone};
use std::time::Duration;

#[test]
fn two_hundred_objects_at_rest_for_a_minute_cost_nothing() {
    let _turn = alone();
    rests(&Space::new("rest"), 200, Duration::from_mins(1));
}
