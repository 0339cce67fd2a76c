//! The same on the wire, for longer; and what only the released program is small enough for.

mod footprint;

use crate::harness::{Space, alone, operator, shared};
use crate::node::ready::rounds;
use crate::node::{certificates, databases, turns};

#[test]
fn ready_is_true_on_the_wire_twenty_times() {
    let _turn = shared();
    rounds(&Space::new("ready"), 20);
}

#[test]
fn twenty_leaders_that_are_told_to_stop_hand_over() {
    turns::told_to_stop(20);
}

#[test]
fn twenty_leaders_that_are_killed_are_followed() {
    turns::killed(20);
}

#[test]
fn the_next_release_rolls_out_beside_this_one_and_back() {
    {
        // It is compiled: that would keep others waiting for longer than they may.
        let _turn = alone();
        operator(&["load-next"]);
    }
    turns::rolled_out("NewerRendering", || drop(operator(&["roll-next"])), || drop(operator(&["roll-back"])));
}

#[test]
fn a_hundred_and_twenty_leaves_and_five_authorities_are_exchanged() {
    let pace = certificates::rotated(120, 5);
    assert!(pace >= 200.0, "only {pace:.0} calls a second were made");
}

#[test]
fn an_operator_killed_after_each_write_loses_no_row_and_does_nothing_twice() {
    databases::kills::after_each_write();
}

#[test]
fn minor_versions_change_under_load() {
    databases::moves::minor_images();
}
