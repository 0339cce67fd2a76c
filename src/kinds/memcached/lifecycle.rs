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
    /// It is not set aside: it can be paused.
    Active,
    /// The operator looks after the children.
    Tending,
    /// It works towards what the spec asks for: a new spec is always taken.
    Following,
    /// It works towards what was ready last, since a person said so of this spec.
    Returning,
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
            Phase::Pending => pending(*event, effects),
            Phase::Creating | Phase::Updating => ordered(*self, *event, effects),
            Phase::Ready | Phase::Stopped => settled(*self, *event, effects),
            Phase::RollingBack | Phase::RolledBack => returning(*self, *event, effects),
            Phase::Paused => paused(*event),
            Phase::HumanIntervention => asking(*event, effects),
            Phase::Scaling | Phase::Degraded | Phase::Deleting => Super,
        }
    }

    fn superstate(&mut self) -> Option<Scope> {
        match self {
            Phase::Creating | Phase::Scaling | Phase::Updating | Phase::Degraded => Some(Scope::Working),
            Phase::Pending | Phase::Ready | Phase::Stopped => Some(Scope::Following),
            Phase::RollingBack | Phase::RolledBack => Some(Scope::Returning),
            Phase::HumanIntervention => Some(Scope::Active),
            Phase::Paused => Some(Scope::Existing),
            Phase::Deleting => None,
        }
    }
}

fn pending(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::FirstRollout => go(Phase::Creating, effects),
        Event::AllStopped => Transition(Phase::Stopped),
        Event::ChildrenReady => Transition(Phase::Ready),
        Event::ChildrenDrifted | Event::PodsLost => go(Phase::Degraded, effects),
        Event::PodsPending => go(Phase::Updating, effects),
        _ => Super,
    }
}

/// Pods of a new template are on their way: a count joins them.
fn ordered(phase: Phase, event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match (phase, event) {
        (Phase::Creating, Event::TemplateChanged) => go(Phase::Creating, effects),
        (_, Event::ReplicasChanged) => act(effects),
        _ => Super,
    }
}

/// All was as it should be; where it is so no more, what stood still has to move again.
fn settled(phase: Phase, event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match (phase, event) {
        (Phase::Ready, Event::ChildrenDrifted | Event::PodsLost) => go(Phase::Degraded, effects),
        (Phase::Ready, Event::PodsPending) => go(Phase::Updating, effects),
        (_, Event::ChildrenDrifted | Event::PodsLost | Event::PodsPending) => go(Phase::Scaling, effects),
        _ => Super,
    }
}

fn returning(phase: Phase, event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match (phase, event) {
        (Phase::RollingBack, Event::ReplicasChanged | Event::ChildrenDrifted) => act(effects),
        (Phase::RollingBack, Event::AllStopped | Event::ChildrenReady) => Transition(Phase::RolledBack),
        (Phase::RollingBack, Event::DeadlinePassed) => Transition(Phase::HumanIntervention),
        (Phase::RolledBack, Event::ReplicasChanged | Event::ChildrenDrifted | Event::PodsLost) => go(Phase::RollingBack, effects),
        _ => Super,
    }
}

fn paused(event: Event) -> Outcome<Phase> {
    match event {
        Event::Resumed => Transition(Phase::Pending),
        Event::TemplateChanged | Event::ReplicasChanged => Handled,
        _ => Super,
    }
}

fn asking(event: Event, effects: &mut Effects) -> Outcome<Phase> {
    match event {
        Event::RetryAnswered => {
            effects.push(Effect::DeleteWaitingPods);
            Transition(Phase::Pending)
        }
        Event::RollbackAnswered => go(Phase::RollingBack, effects),
        Event::SpecRenewed | Event::AdoptAnswered | Event::YieldAnswered | Event::ObstacleGone => Transition(Phase::Pending),
        Event::TemplateChanged | Event::ReplicasChanged => Handled,
        _ => Super,
    }
}

impl Superstate<Memcached> for Scope {
    fn call_handler(&mut self, _: &mut Memcached, event: &Event, effects: &mut Effects) -> Outcome<Phase> {
        match (self, event) {
            (Scope::Working, Event::AllStopped) => Transition(Phase::Stopped),
            (Scope::Working, Event::ChildrenReady) => Transition(Phase::Ready),
            (Scope::Working, Event::DeadlinePassed) => Transition(Phase::HumanIntervention),
            (Scope::Working, Event::ChildrenDrifted) => act(effects),
            (Scope::Tending, Event::SpecInvalid | Event::ChildConflict | Event::DriftFought) => Transition(Phase::HumanIntervention),
            (Scope::Following, Event::SpecRefused) => go(Phase::RollingBack, effects),
            (Scope::Following, Event::TemplateChanged) => go(Phase::Updating, effects),
            (Scope::Following, Event::ReplicasChanged) => go(Phase::Scaling, effects),
            (Scope::Returning, Event::NothingRefused) => Transition(Phase::Pending),
            (Scope::Returning, Event::TemplateChanged) => go(Phase::RollingBack, effects),
            (Scope::Active, Event::PauseRequested) => Transition(Phase::Paused),
            (Scope::Existing, Event::DeletionRequested) => Transition(Phase::Deleting),
            _ => Super,
        }
    }

    fn superstate(&mut self) -> Option<Scope> {
        match self {
            Scope::Working => Some(Scope::Following),
            Scope::Following | Scope::Returning => Some(Scope::Tending),
            Scope::Tending => Some(Scope::Active),
            Scope::Active => Some(Scope::Existing),
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
    const PAUSE: Event = Event::PauseRequested;
    const RESUMPTION: Event = Event::Resumed;

    fn offer(mut phase: Phase, event: Event, effects: &mut Effects) -> Outcome<Phase> {
        phase.handle(&mut Memcached, &event, effects)
    }

    fn exits(phase: Phase) -> &'static [Phase] {
        use Phase::{
            Creating, Degraded, Deleting, HumanIntervention, Paused, Pending, Ready, RolledBack, RollingBack, Scaling, Stopped, Updating,
        };
        match phase {
            Pending => &[Creating, Ready, Scaling, Updating, Degraded, Stopped, RollingBack, Paused, HumanIntervention, Deleting],
            Creating => &[Creating, Ready, Stopped, RollingBack, Paused, HumanIntervention, Deleting],
            Ready => &[Scaling, Updating, Degraded, RollingBack, Paused, HumanIntervention, Deleting],
            Scaling => &[Scaling, Updating, Ready, Stopped, RollingBack, Paused, HumanIntervention, Deleting],
            Updating => &[Updating, Ready, Stopped, RollingBack, Paused, HumanIntervention, Deleting],
            Degraded => &[Ready, Scaling, Updating, Stopped, RollingBack, Paused, HumanIntervention, Deleting],
            Stopped => &[Scaling, Updating, RollingBack, Paused, HumanIntervention, Deleting],
            RollingBack => &[Pending, RollingBack, RolledBack, Paused, HumanIntervention, Deleting],
            RolledBack => &[Pending, RollingBack, Paused, HumanIntervention, Deleting],
            Paused => &[Pending, Deleting],
            HumanIntervention => &[Pending, RollingBack, Paused, Deleting],
            Deleting => &[],
        }
    }

    fn role(phase: Phase) -> Role<Event> {
        match phase {
            Phase::Pending => Role::Junction,
            Phase::Creating | Phase::Scaling | Phase::Updating | Phase::Degraded | Phase::RollingBack => {
                Role::Works { goal: Event::ChildrenReady, deadline: Event::DeadlinePassed }
            }
            Phase::Ready | Phase::Stopped | Phase::RolledBack | Phase::Paused => Role::Rests,
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
        matches!(event, Event::RollbackAnswered | Event::AdoptAnswered | Event::YieldAnswered | Event::RetryAnswered)
    }

    fn closes_question(event: Event) -> bool {
        Self::is_answer(event) || matches!(event, Event::PauseRequested | Event::SpecRenewed | Event::ObstacleGone)
    }

    fn licences(effect: Effect) -> &'static [Event] {
        match effect {
            Effect::DeleteWaitingPods => &[Event::RetryAnswered],
            Effect::ApplyChildren => &[],
        }
    }
}
