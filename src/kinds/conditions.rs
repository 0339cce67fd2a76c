//! Claims -> conditions, for programs.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// How many conditions there may be, those of others among them.
pub const CONDITIONS: usize = 16;

/// One condition as a kind claims it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The type, `Ready` and so on.
    pub name: &'static str,
    /// Is it so?
    pub holds: bool,
    /// Why, as one word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
}

/// Conditions out of claims; a time moves only where the claim does.
pub fn conditions(before: &[Condition], claims: Vec<Claim>, generation: i64, now: Timestamp) -> Vec<Condition> {
    let condition = |claim: Claim| {
        let status = if claim.holds { "True" } else { "False" };
        let same = before.iter().find(|old| old.type_ == claim.name && old.status == status);
        Condition {
            type_: claim.name.to_owned(),
            status: status.to_owned(),
            reason: claim.reason,
            message: claim.message,
            observed_generation: Some(generation),
            last_transition_time: same.map_or(Time(now), |old| old.last_transition_time.clone()),
        }
    };
    claims.into_iter().map(condition).collect()
}
