//! Every arrow of Database's lifecycle.
//!
//! A phase answers first; where it says `Super`, its scope does. An edit that a phase must refuse as
//! busy is claimed by no scope around it: that is why restoring, expanding and rolling back lie
//! outside of [`Scope::Following`].

#![expect(
    clippy::wildcard_enum_match_arm,
    clippy::match_same_arms,
    reason = "what a phase does not name is its scope's; arrows read best one a line"
)]

mod beginning;
mod ending;
mod exits;
mod laws;
mod machine;
mod resting;
mod serving;
pub mod words;

use super::Database;
use crate::machine::Outcome;
use Outcome::{Handled, Super, Transition};
use statig::blocking::{IntoStateMachine, State, StateExt, Superstate};
use words::{Effect, Event, Phase};

/// What is written once for many phases.
#[derive(Debug)]
pub enum Scope {
    /// The object exists: it can be deleted.
    Existing,
    /// It is not set aside: it can be paused.
    Active,
    /// The operator looks after the children.
    Tending,
    /// It works towards what the spec asks for: a new spec is always taken.
    Following,
    /// Children are on their way: it ends well, or the deadline ends it.
    Working,
    /// Something is under way that no edit may interrupt.
    Occupied,
    /// It works towards what was ready last, since a person said so of this spec.
    Returning,
    /// The object goes: nothing is built any more.
    Going,
}

impl Scope {
    /// The scopes around `phase`, the outermost first.
    pub(super) fn around(mut phase: Phase) -> Vec<Scope> {
        let mut found = Vec::new();
        let mut scope = State::<Database>::superstate(&mut phase);
        while let Some(mut inner) = scope {
            scope = Superstate::<Database>::superstate(&mut inner);
            found.insert(0, inner);
        }
        found
    }
}

impl Phase {
    /// What the phase answers, and where it says nothing, its scopes.
    pub(super) fn offered(mut self, event: Event, effects: &mut Effects) -> Outcome<Phase> {
        self.handle(&mut Database, &event, effects)
    }
}

type Effects = Vec<Effect>;

fn go(phase: Phase, orders: &[Effect], effects: &mut Effects) -> Outcome<Phase> {
    effects.extend(orders);
    Transition(phase)
}

fn act(orders: &[Effect], effects: &mut Effects) -> Outcome<Phase> {
    effects.extend(orders);
    Handled
}

impl State<Database> for Phase {
    fn call_handler(&mut self, _: &mut Database, event: &Event, effects: &mut Effects) -> Outcome<Phase> {
        match self {
            Phase::Pending => beginning::pending(*event, effects),
            Phase::Provisioning => beginning::provisioning(*event, effects),
            Phase::Probing => beginning::probing(*event, effects),
            Phase::Restoring | Phase::Initializing => beginning::filling(*self, *event, effects),
            Phase::Ready => serving::ready(*event, effects),
            Phase::Scaling => serving::scaling(*event, effects),
            Phase::Restarting => serving::restarting(*event, effects),
            Phase::ExpandingStorage => beginning::expanding(*event, effects),
            Phase::Degraded => Super,
            Phase::Unavailable => serving::unavailable(*event),
            Phase::RollingBack => serving::rolling_back(*event, effects),
            Phase::RolledBack => serving::rolled_back(*event, effects),
            Phase::Paused => resting::paused(*event),
            Phase::HumanIntervention => resting::asking(*event, effects),
            Phase::Deleting => ending::deleting(*event, effects),
            Phase::SnapshottingBeforeDelete => ending::snapshotting(*event, effects),
            Phase::RemovalBlocked => ending::blocked(*event, effects),
            Phase::Removing | Phase::Retaining => ending::removing(*self, *event, effects),
            Phase::Releasing => ending::releasing(*event, effects),
        }
    }

    fn superstate(&mut self) -> Option<Scope> {
        match self {
            Phase::Pending | Phase::Ready => Some(Scope::Following),
            Phase::Provisioning | Phase::Scaling | Phase::Restarting | Phase::Degraded | Phase::Unavailable => Some(Scope::Working),
            Phase::Probing | Phase::Restoring | Phase::Initializing | Phase::ExpandingStorage => Some(Scope::Occupied),
            Phase::RollingBack | Phase::RolledBack => Some(Scope::Returning),
            Phase::HumanIntervention => Some(Scope::Active),
            Phase::Paused => Some(Scope::Existing),
            Phase::Deleting | Phase::SnapshottingBeforeDelete | Phase::RemovalBlocked | Phase::Removing | Phase::Retaining => {
                Some(Scope::Going)
            }
            Phase::Releasing => None,
        }
    }
}

impl Superstate<Database> for Scope {
    fn call_handler(&mut self, _: &mut Database, event: &Event, effects: &mut Effects) -> Outcome<Phase> {
        match self {
            Scope::Existing => resting::existing(*event),
            Scope::Active => resting::active(*event),
            Scope::Tending => resting::tending(*event, effects),
            Scope::Following => serving::following(*event, effects),
            Scope::Working => serving::working(*event, effects),
            Scope::Occupied => beginning::occupied(*event, effects),
            Scope::Returning => serving::returning(*event, effects),
            Scope::Going => ending::going(*event, effects),
        }
    }

    fn superstate(&mut self) -> Option<Scope> {
        match self {
            Scope::Working => Some(Scope::Following),
            Scope::Following | Scope::Occupied | Scope::Returning => Some(Scope::Tending),
            Scope::Tending => Some(Scope::Active),
            Scope::Active => Some(Scope::Existing),
            Scope::Existing | Scope::Going => None,
        }
    }
}

impl IntoStateMachine for Database {
    type Event<'e> = Event;
    type Context<'c> = Effects;
    type State = Phase;
    type Superstate<'s> = Scope;

    fn initial() -> Phase {
        Phase::Pending
    }
}
