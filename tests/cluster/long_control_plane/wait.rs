//! Hundreds of rounds.

use crate::control_plane::wait::rounds;
use crate::harness::{Space, shared};

#[test]
fn ready_is_true_two_hundred_times() {
    let _turn = shared();
    rounds(&Space::new("ready"), 200);
}
