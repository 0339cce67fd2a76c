//! Every spec that the unit tests know to break a rule, as a person meets it: created through v1, and through v1alpha1, where
//! much of it is carried.

use super::refused::{Refused, faults, spec};
use crate::harness::{Space, shared};
use pointsman::kinds::database::object::v1::DatabaseSpec;
use pointsman::kinds::database::plan::parse;

#[path = "../../../database/refusals.rs"]
mod refusals;

/// The fields that our own rules find fault with; another layer may answer first, and names one of them too.
fn at_fault(spec: &DatabaseSpec) -> Vec<String> {
    parse(spec, "postgres:17").expect_err("it breaks a rule").into_iter().map(|fault| fault.field).collect()
}

#[test]
fn no_spec_that_breaks_a_rule_is_stored_through_either_version() {
    let _turn = shared();
    let space = Space::new("db-born");
    let cases = refusals::refusals().into_iter().map(|(name, fields)| {
        let fields_at_fault = at_fault(&serde_json::from_value(spec(&fields)).expect("a spec"));
        // The first part of the path: the schema points at what it takes for the place of the fault. Of `storage`, v1alpha1
        // says one field itself and carries another.
        let parts = if fields_at_fault[0].starts_with("spec.storage.") { 3 } else { 2 };
        let place = fields_at_fault[0].split(['[', '.']).take(parts).collect::<Vec<_>>().join(".");
        Refused::birth(name, "new", &fields, &[&place])
    });
    let faults = faults(&space, "database-born", &cases.collect::<Vec<_>>());
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(space.db("new").seen().is_null(), "a refused object was made");
}
