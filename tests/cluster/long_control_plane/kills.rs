//! The operator is killed after each write that it makes for a Database: what comes of it is what comes without.

use crate::harness::outage::NoOperator;
use crate::harness::{Space, alone, audit, kills};
use std::cell::RefCell;

#[test]
fn killed_after_each_write_it_comes_to_the_same_end() {
    let turn = alone();
    let away = RefCell::new(None);
    let kill = |_: &audit::Entry| drop(away.replace(Some(NoOperator::killed(&turn))));
    kills::come_to_the_same_end(&Space::new("calm"), &Space::new("killed"), kill, || drop(away.take()), |_, _| ());
}
