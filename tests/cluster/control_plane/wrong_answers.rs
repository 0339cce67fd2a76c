//! Answers that answer nothing, for any kind.

use super::attempts::Attempt;
use super::refusal_cases::{Case, rule};
use crate::harness::carrier::Versions;
use serde_json::json;

const FIELD: &str = "metadata.annotations[pointsman.dev/answer]";

/// Answers to an object that asks nothing, to the same through v1alpha1, and to one that asks something else.
pub fn wrong_answers(kind: &Versions, quiet: &str, older: &str, asking: &str) -> Vec<Case> {
    let (quiet, older, asking) = (kind.resource("v1", quiet), kind.resource("v1alpha1", older), kind.resource("v1", asking));
    let answer = |value: &str| json!({ "metadata": { "annotations": { "pointsman.dev/answer": value } } }).to_string();
    let patch = |case: &str, name: &str, value: &str| Attempt::command(case, &["patch", name, "--type=merge", "--patch", &answer(value)]);
    let annotate = |case: &str, name: &str, value: &str| {
        Attempt::command(case, &["annotate", name, &format!("pointsman.dev/answer={value}"), "--overwrite"])
    };
    let legal = &["does not answer question", "the legal answers are: retry-"];
    let none = &["no question is open", "Remove the annotation: pointsman.dev/answer-"];
    vec![
        rule(annotate("answer-to-nothing.annotate", &quiet, "retry-aaaaa"), FIELD, none),
        rule(patch("answer-to-nothing.patch", &quiet, "retry-aaaaa"), FIELD, none),
        rule(annotate("answer-to-nothing-v1alpha1.annotate", &older, "retry-aaaaa"), FIELD, none),
        rule(annotate("answer-to-another-question.annotate", &asking, "retry-aaaaa"), FIELD, legal),
        rule(patch("answer-to-another-question.patch", &asking, "retry-aaaaa"), FIELD, legal),
        rule(annotate("answer-that-is-none.annotate", &asking, "yes"), FIELD, legal),
        rule(annotate("answer-that-is-empty.annotate", &asking, ""), FIELD, legal),
    ]
}
