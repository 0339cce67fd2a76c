//! The form of an answer: what kubectl prints as `The KIND "NAME" is invalid`, one cause a field.

use crate::kinds::{Served, Violation};
use kube::Resource;
use serde_json::{Value, json};

/// The API server cuts a longer warning.
const WARNING_BYTES: usize = 256;

/// The review that lets a write pass.
pub fn allow(uid: &str, warnings: &[String]) -> Value {
    let lines: Vec<String> = warnings.iter().map(|warning| line(warning)).collect();
    let mut response = json!({ "uid": uid, "allowed": true });
    if !lines.is_empty() {
        response["warnings"] = json!(lines);
    }
    review(&response)
}

/// The review that refuses a write of the object `name`; the fields are the user's.
pub fn deny<K: Served>(uid: &str, name: &str, violations: &[Violation]) -> Value {
    let (group, kind) = (K::Object::group(&()), K::Object::kind(&()));
    let message = |violation: &Violation| format!("Forbidden: {}", violation.text);
    let cause = |violation: &Violation| json!({ "reason": "FieldValueForbidden", "field": violation.field, "message": message(violation) });
    let causes: Vec<Value> = violations.iter().map(cause).collect();
    // What programs show, and an autoscaler's events: the API server's own sentence of this kind.
    let told: Vec<String> = violations.iter().map(|violation| format!("{}: {}", violation.field, message(violation))).collect();
    let told = if let [one] = told.as_slice() { one.clone() } else { format!("[{}]", told.join(", ")) };
    review(&json!({
        "uid": uid,
        "allowed": false,
        "status": {
            "status": "Failure",
            "code": 422,
            "reason": "Invalid",
            "message": format!("{kind}.{group} \"{name}\" is invalid: {told}"),
            "details": { "group": group, "kind": kind, "name": name, "causes": causes },
        },
    }))
}

fn review(response: &Value) -> Value {
    json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response })
}

/// One line: the API server drops a warning that holds a control character.
fn line(text: &str) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    while line.len() > WARNING_BYTES {
        line.pop();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_one_line_of_at_most_256_bytes() {
        assert_eq!(line("a\nb\tc\u{7f}d\u{9b}e"), "a b c d e");
        let long = line(&"→".repeat(200));
        assert_eq!(long.len(), 255);
        assert!(long.chars().all(|c| c == '→'));
    }
}
