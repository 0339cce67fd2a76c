//! Claims -> conditions, for programs.

use super::Served;
use crate::machine::{Role, Word};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// How many conditions there may be, those of others among them.
pub const CONDITIONS: usize = 16;

/// A condition, and every reason that it may give.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// The type, `Ready` and so on.
    pub name: &'static str,
    /// What is so where it holds.
    pub meaning: &'static str,
    /// Reasons while it holds.
    pub holds: &'static [Because],
    /// Reasons while it does not.
    pub fails: &'static [Because],
}

/// A reason of a condition, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// This word.
    Word(&'static str),
    /// The state, by its name.
    State,
    /// The reason of the open question.
    Question,
}

impl Declared {
    /// The reasons while it holds, or while it does not, that this kind gives.
    pub fn reasons<K: Served>(&self, holds: bool) -> impl Iterator<Item = Because> {
        let all = if holds { self.holds } else { self.fails };
        all.iter().copied().filter(|because| !matches!(because, Because::Word(word) if K::UNUSED.contains(word)))
    }

    /// May it give this reason, where it holds, or where it does not?
    pub fn gives<K: Served>(&self, holds: bool, reason: &str) -> bool {
        self.reasons::<K>(holds).any(|because| match because {
            Because::Word(word) => word == reason,
            Because::State => K::Phase::from_text(reason).is_some_and(|phase| K::role(phase) != Role::Junction),
            Because::Question => K::REASONS.iter().any(|question| question.word() == reason),
        })
    }
}

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

/// The conditions of these types, and whether each holds.
pub fn of_types<'a>(types: &'a [Declared], all: &'a [Condition]) -> impl Iterator<Item = (&'a Condition, bool)> {
    let told = |condition: &&Condition| types.iter().any(|declared| declared.name == condition.type_);
    all.iter().filter(told).map(|condition| (condition, holds(condition)))
}

fn holds(condition: &Condition) -> bool {
    condition.status == "True"
}

/// The conditions of these types that hold no more, or hold again. One that nobody has claimed before counts as holding.
pub fn turned<'a>(types: &'a [Declared], before: &'a [Condition], after: &'a [Condition]) -> impl Iterator<Item = (&'a Condition, bool)> {
    of_types(types, after).filter(|(now, holds_now)| before.iter().find(|old| old.type_ == now.type_).is_none_or(holds) != *holds_now)
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

#[cfg(test)]
mod tests {
    use super::*;

    const FED: Declared =
        Declared { name: "Fed", meaning: "it has eaten", holds: &[Because::Word("Meal")], fails: &[Because::Word("Meal")] };

    #[test]
    fn a_condition_that_turns_is_told_once() {
        let claims = |holds| vec![Claim { name: "Fed", holds, reason: "Meal".to_owned(), message: "it was noon".to_owned() }];
        let of = |holds| conditions(&[], claims(holds), 1, Timestamp::UNIX_EPOCH);
        let told = |before: &[Condition], after: &[Condition]| {
            turned(&[FED], before, after).map(|(condition, holds)| (condition.type_.clone(), holds)).collect::<Vec<_>>()
        };
        assert_eq!(told(&[], &of(true)), []);
        assert_eq!(told(&[], &of(false)), [("Fed".to_owned(), false)]);
        assert_eq!(told(&of(true), &of(false)), [("Fed".to_owned(), false)]);
        assert_eq!(told(&of(false), &of(false)), []);
        assert_eq!(told(&of(false), &of(true)), [("Fed".to_owned(), true)]);
        assert_eq!(turned(&[], &of(true), &of(false)).count(), 0);
    }
}
