//! What takes longer than `make test` may: many upgrades, there and back.

use crate::packages::upgrade::there_and_back;

#[test]
fn twenty_upgrades_of_twenty_objects_restart_nothing() {
    there_and_back(10, 20);
}
