//! Every arrow of Memcached's lifecycle.
//!
//! A phase answers first; where it says `Super`, its scope does. So deletion, conflicts and
//! deadlines are written once, for all the phases inside.

#![expect(
    clippy::wildcard_enum_match_arm,
    clippy::match_same_arms,
    reason = "what a phase does not name is its scope's; arrows read best one a line"
)]

use super::Memcached;
use super::words::{Effect, Event, Phase};
use crate::machine::{Machine, Outcome, Role};
use Outcome::{Handled, Super, Transition};
use statig::blocking::{IntoStateMachine, State, StateExt, Superstate};

/// What is written once for many phases.
#[derive(Debug)]
pub enum Scope {
    /// The object exists: it can be deleted.
    Existing,
    /// The operator looks after the children: a new spec is always taken.
    Tending,
    /// An order is under way: it ends well, or the deadline ends it.
    Working,
}

type Effects = Vec<Effect>;

fn go(phase: Phase, effects: &mut Effects) -> Outcome<Phase> {
    effects.push(Effect::ApplyChildren);
    Transition(phase)
}

fn act(effects: &mut Effects) -> Outcome<Phase> {
    effects.push(Effect::ApplyChildren);
    Handled
}

impl State<Memcached> for Phase {
    fn call_handler(&mut self, _: &mut Memcached, event: &Event, effects: &mut Effects) -> Outcome<Phase> {
        match self {
            Phase::Pending => match event {
                Event::NeverReady => go(Phase::Creating, effects),
                Event::AllStopped => Transition(Phase::Stopped),
                Event::ChildrenReady => Transition(Phase::Ready),
                Event::ChildrenDrifted | Event::PodsLost => go(Phase::Degraded, effects),
                Event::PodsPending => go(Phase::Updating, effects),
                _ => Super,
            },
            Phase::Creating => match event {
                Event::TemplateChanged => go(Phase::Creating, effects),
                Event::ReplicasChanged => act(effects),
                _ => Super,
            },
            Phase::Ready => match event {
                Event::ChildrenDrifted | Event::PodsLost => go(Phase::Degraded, effects),
                Event::PodsPending => go(Phase::Updating, effects),
                _ => Super,
            },
            Phase::Updating => match event {
                Event::ReplicasChanged => act(effects),
                _ => Super,
            },
            Phase::Stopped => match event {
                Event::ChildrenDrifted | Event::PodsLost | Event::PodsPending => go(Phase::Scaling, effects),
                _ => Super,
            },
            Phase::HumanIntervention => match event {
                Event::RetryAnswered => {
                    effects.push(Effect::DeleteWaitingPods);
                    Transition(Phase::Pending)
                }
                Event::SpecRenewed | Event::ObstacleGone => Transition(Phase::Pending),
                Event::TemplateChanged | Event::ReplicasChanged => Handled,
                _ => Super,
            },
            Phase::Scaling | Phase::Degraded | Phase::Deleting => Super,
        }
    }

    fn superstate(&mut self) -> Option<Scope> {
        match self {
            Phase::Creating | Phase::Scaling | Phase::Updating | Phase::Degraded => Some(Scope::Working),
            Phase::Pending | Phase::Ready | Phase::Stopped => Some(Scope::Tending),
            Phase::HumanIntervention => Some(Scope::Existing),
            Phase::Deleting => None,
        }
    }
}

impl Superstate<Memcached> for Scope {
    fn call_handler(&mut self, _: &mut Memcached, event: &Event, effects: &mut Effects) -> Outcome<Phase> {
        match (self, event) {
            (Scope::Working, Event::AllStopped) => Transition(Phase::Stopped),
            (Scope::Working, Event::ChildrenReady) => Transition(Phase::Ready),
            (Scope::Working, Event::DeadlinePassed) => Transition(Phase::HumanIntervention),
            (Scope::Working, Event::ChildrenDrifted) => act(effects),
            (Scope::Tending, Event::SpecInvalid | Event::ChildConflict) => Transition(Phase::HumanIntervention),
            (Scope::Tending, Event::TemplateChanged) => go(Phase::Updating, effects),
            (Scope::Tending, Event::ReplicasChanged) => go(Phase::Scaling, effects),
            (Scope::Existing, Event::DeletionRequested) => Transition(Phase::Deleting),
            _ => Super,
        }
    }

    fn superstate(&mut self) -> Option<Scope> {
        match self {
            Scope::Working => Some(Scope::Tending),
            Scope::Tending => Some(Scope::Existing),
            Scope::Existing => None,
        }
    }
}

impl IntoStateMachine for Memcached {
    type Event<'e> = Event;
    type Context<'c> = Effects;
    type State = Phase;
    type Superstate<'s> = Scope;

    fn initial() -> Phase {
        Phase::Pending
    }
}

impl Machine for Memcached {
    type Phase = Phase;
    type Event = Event;
    type Effect = Effect;
    const START: Phase = Phase::Pending;
    const DELETION: Event = Event::DeletionRequested;
    const RENEWAL: Event = Event::SpecRenewed;

    fn offer(mut phase: Phase, event: Event, effects: &mut Effects) -> Outcome<Phase> {
        phase.handle(&mut Memcached, &event, effects)
    }

    fn exits(phase: Phase) -> &'static [Phase] {
        use Phase::{Creating, Degraded, Deleting, HumanIntervention, Pending, Ready, Scaling, Stopped, Updating};
        match phase {
            Pending => &[Creating, Ready, Scaling, Updating, Degraded, Stopped, HumanIntervention, Deleting],
            Creating => &[Creating, Ready, Stopped, HumanIntervention, Deleting],
            Ready => &[Scaling, Updating, Degraded, HumanIntervention, Deleting],
            Scaling => &[Scaling, Updating, Ready, Stopped, HumanIntervention, Deleting],
            Updating => &[Updating, Ready, Stopped, HumanIntervention, Deleting],
            Degraded => &[Ready, Scaling, Updating, Stopped, HumanIntervention, Deleting],
            Stopped => &[Scaling, Updating, HumanIntervention, Deleting],
            HumanIntervention => &[Pending, Deleting],
            Deleting => &[],
        }
    }

    fn role(phase: Phase) -> Role<Event> {
        match phase {
            Phase::Pending => Role::Junction,
            Phase::Creating | Phase::Scaling | Phase::Updating | Phase::Degraded => {
                Role::Works { goal: Event::ChildrenReady, deadline: Event::DeadlinePassed }
            }
            Phase::Ready | Phase::Stopped => Role::Rests,
            Phase::HumanIntervention => Role::Asks,
            Phase::Deleting => Role::Ends,
        }
    }

    fn scopes(mut phase: Phase) -> Vec<String> {
        let mut names = Vec::new();
        let mut scope = State::<Memcached>::superstate(&mut phase);
        while let Some(mut inner) = scope {
            names.insert(0, format!("{inner:?}"));
            scope = Superstate::<Memcached>::superstate(&mut inner);
        }
        names
    }

    fn is_edit(event: Event) -> bool {
        matches!(event, Event::TemplateChanged | Event::ReplicasChanged)
    }

    fn is_answer(event: Event) -> bool {
        matches!(event, Event::RetryAnswered)
    }

    fn closes_question(event: Event) -> bool {
        matches!(event, Event::SpecRenewed | Event::RetryAnswered | Event::ObstacleGone)
    }

    fn is_destructive(effect: Effect) -> bool {
        matches!(effect, Effect::DeleteWaitingPods)
    }
}
