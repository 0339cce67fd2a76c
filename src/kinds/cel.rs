//! CEL rules as every rule here is written: Forbidden, with a text that says what to do.

use kube::core::{Message, Reason, Rule};

/// A rule with a fixed text.
pub fn forbids_unless(expression: impl Into<String>, text: impl Into<String>) -> Rule {
    Rule::new(expression).message(Message::Message(text.into())).reason(Reason::FieldValueForbidden)
}

/// A rule whose text CEL computes, so that it can quote values.
pub fn forbids_saying(expression: impl Into<String>, text: impl Into<String>) -> Rule {
    Rule::new(expression).message(Message::Expression(text.into())).reason(Reason::FieldValueForbidden)
}

/// A text's value as a message may quote it: where a line breaks, the API server would say the bare rule instead.
pub fn in_line(value: &str) -> String {
    format!(r"{value}.replace('\n', '\\n')")
}
