//! A Deployment of the operator that is rolled out, and nobody who writes notices.

use super::turns::rolled_out;
use crate::harness::operator;

#[test]
fn a_roll_out_fails_no_review_and_restarts_no_operand() {
    rolled_out("UpToDate", || drop(operator(&["start", "--log-level", "debug"])), || drop(operator(&["start"])));
}
