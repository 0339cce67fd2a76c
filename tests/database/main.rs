//! What Database means, unit by unit: plans, refusals, changes that are not made, schedules.

mod changes;
mod children;
#[path = "../support/conditions.rs"]
mod conditions;
mod definition;
#[path = "../support/dice.rs"]
#[allow(dead_code)]
mod dice;
#[path = "../support/golden.rs"]
mod golden;
mod plans;
mod refusals;
mod schedules;
mod walks;

use pointsman::kinds::Violation;
use pointsman::kinds::database::object::v1::DatabaseSpec;
use pointsman::kinds::database::plan::{Plan, parse};
use serde_json::{Value, json};

/// The image that these tests run with.
const IMAGE: &str = "docker.io/library/postgres:17";

/// The least that a spec says, and some fields that take its fields' place.
fn spec(fields: &Value) -> DatabaseSpec {
    let mut spec = json!({ "databaseName": "shop", "storage": { "size": "1Gi" } });
    for (name, value) in fields.as_object().expect("fields") {
        spec[name] = value.clone();
    }
    serde_json::from_value(spec).expect("a spec of this shape")
}

fn plan(fields: &Value) -> Plan {
    parse(&spec(fields), IMAGE).unwrap_or_else(|faults| panic!("{fields}: {faults:?}"))
}

/// Violations as a golden file holds them, one a line.
fn said(faults: &[Violation]) -> String {
    let lines: Vec<String> = faults.iter().map(|fault| format!("{}: {}\n", fault.field, fault.text)).collect();
    lines.concat()
}
