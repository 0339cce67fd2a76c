//! The paths at which the API server calls, and the names of its webhooks. Each path is followed by a secret.

use super::of_each;

/// Where objects are converted.
pub const CONVERSION: &str = "/convert";

/// What the names of webhooks end in.
const SUFFIX: &str = ".pointsman.dev";

/// Every path, without its secret.
pub fn all() -> Vec<String> {
    let mut all = of_each!(K: String => judgement(K::PATH));
    all.push(CONVERSION.to_owned());
    all
}

/// Where writes of a kind are judged.
pub fn judgement(kind: &str) -> String {
    format!("/validate/{kind}")
}

/// The webhook that judges writes of a kind.
pub fn webhook(kind: &str) -> String {
    format!("{kind}{SUFFIX}")
}

/// The path that a webhook of this name calls; a definition's has no name.
pub fn called_by(webhook: Option<&str>) -> String {
    webhook.map_or_else(|| CONVERSION.to_owned(), |name| judgement(name.strip_suffix(SUFFIX).unwrap_or(name)))
}
