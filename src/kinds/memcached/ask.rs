//! Why a Memcached asks.

use super::words::{Event, Phase};
use super::{Memcached, trouble};
use crate::kinds::intervention::Evidence;
use crate::kinds::look::Look;
use crate::kinds::order::Fate;
use crate::kinds::questions::Asks;
use crate::kinds::reason::Reason;
use crate::machine::Step;

impl Asks for Memcached {
    fn reason(look: &Look<'_, Self>, step: &Step<Self>) -> Reason {
        let undone = look.seen.refusal.as_ref().is_some_and(|refusal| refusal.fate == Fate::Undone) && !look.missing.is_empty();
        match (step.cause(), step.from()) {
            (Some(Event::SpecInvalid), _) => Reason::SpecInvalid,
            (Some(Event::ChildConflict), _) => Reason::ChildConflict,
            (Some(Event::DriftFought), _) => Reason::DriftFought,
            (_, Phase::Creating) => Reason::ProvisioningStuck,
            (_, Phase::Degraded) if undone => Reason::DriftFought,
            (_, Phase::Degraded) => Reason::PodsUnavailable,
            _ => Reason::RolloutStuck,
        }
    }

    fn evidence(look: &Look<'_, Self>, _: Reason) -> Vec<Evidence> {
        trouble::evidence(look)
    }
}
