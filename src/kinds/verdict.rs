//! What is said of a write: it may pass, or every reason why not.

use super::Violation;

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may pass; each warning is one line.
    Allow(Vec<String>),
    /// It may not, and every reason why.
    Deny(Vec<Violation>),
}

impl Verdict {
    /// The verdict in a word, for a log.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Allow(_) => "allowed",
            Verdict::Deny(_) => "refused",
        }
    }

    /// What was said of it: every warning, or every reason.
    pub fn why(&self) -> String {
        match self {
            Verdict::Allow(warnings) => warnings.join("; "),
            Verdict::Deny(faults) => faults.iter().map(|fault| format!("{}: {}", fault.field, fault.text)).collect::<Vec<_>>().join("; "),
        }
    }
}
