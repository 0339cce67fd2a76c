//! Is there a possible set in which these facts are true, and those are not?

use super::super::{Machine, Word};
use super::{Law, Provable};
use std::cell::Cell;
use std::marker::PhantomData;

/// A set of facts, a bit each.
pub(super) type Mask = u128;

/// The sets that the laws allow.
pub(super) struct Sets<M> {
    /// Facts that steps end: a set that has been stepped through may lack them.
    worn: Mask,
    asked: Cell<u64>,
    machine: PhantomData<M>,
}

impl<M> Default for Sets<M> {
    fn default() -> Self {
        Sets { worn: 0, asked: Cell::new(0), machine: PhantomData }
    }
}

impl<M: Provable> Sets<M> {
    /// What is left of the possible sets after steps that end some of the facts `worn`.
    pub(super) fn worn(worn: Mask) -> Self {
        Sets { worn, ..Sets::default() }
    }

    /// How many questions were asked.
    pub(super) fn asked(&self) -> u64 {
        self.asked.get()
    }

    /// The smallest such set that is found, if there is one.
    pub(super) fn witness(&self, yes: Mask, no: Mask) -> Option<Mask> {
        self.asked.set(self.asked.get() + 1);
        self.complete(yes, no)
    }

    /// Adds facts until every law is kept; a fact is added only where a law needs one.
    fn complete(&self, yes: Mask, no: Mask) -> Option<Mask> {
        if yes & no != 0 || M::LAWS.iter().any(|law| forbids::<M>(law, yes)) {
            return None;
        }
        let Some(missing) = M::LAWS.iter().find_map(|law| self.missing(law, yes)) else { return Some(yes) };
        let mut tried = no;
        for fact in missing.iter().map(|event| bit::<M>(*event)).filter(|fact| no & fact == 0) {
            if let Some(found) = self.complete(yes | fact, tried) {
                return Some(found);
            }
            tried |= fact;
        }
        None
    }

    /// The facts of which the law needs one more, where none of them is true.
    fn missing(&self, law: &Law<M::Event>, yes: Mask) -> Option<&'static [M::Event]> {
        let group = match law {
            Law::One(group) => group,
            Law::Needs(fact, group) if bit::<M>(*fact) & yes != 0 => group,
            Law::Needs(..) | Law::AtMostOne(_) | Law::Excludes(..) => return None,
        };
        (mask::<M>(group) & (yes | self.worn) == 0).then_some(group)
    }
}

/// Do these facts break the law, whatever else is true?
fn forbids<M: Machine>(law: &Law<M::Event>, yes: Mask) -> bool {
    match law {
        Law::One(group) | Law::AtMostOne(group) => (mask::<M>(group) & yes).count_ones() > 1,
        Law::Excludes(one, other) => mask::<M>(one) & yes != 0 && mask::<M>(other) & yes != 0,
        Law::Needs(..) => false,
    }
}

fn mask<M: Machine>(events: &[M::Event]) -> Mask {
    events.iter().fold(0, |mask, event| mask | bit::<M>(*event))
}

/// The bit of a fact: at most 128 words are in an alphabet.
pub(super) fn bit<M: Machine>(event: M::Event) -> Mask {
    1 << M::Event::ALL.iter().position(|word| *word == event).unwrap_or(0)
}

/// The facts of a set, for a sentence.
pub(super) fn named<M: Machine>(facts: Mask) -> String {
    let words = M::Event::ALL.iter().filter(|event| facts & bit::<M>(**event) != 0);
    words.map(|event| format!("{event:?}")).collect::<Vec<_>>().join(", ")
}
