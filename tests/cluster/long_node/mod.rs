//! The same on the wire, for longer.

use crate::harness::{Space, shared};
use crate::node::ready::rounds;

#[test]
fn ready_is_true_on_the_wire_twenty_times() {
    let _turn = shared();
    rounds(&Space::new("ready"), 20);
}
