//! How any lifecycle steps. Pure: no kind, no cluster, no clock, no `async`.
//!
//! A kind offers `(phase, event) -> outcome`; everything else is a loop over that one function:
//! the step that the controller takes ([`Machine::step`]), the question that the webhook asks
//! ([`Machine::claims`]), the proofs ([`explore`]), the pictures ([`diagram`]) and the rule that
//! the API server holds ([`schema`]).
//!
//! To extend a lifecycle: a word in the kind's `words.rs`, its arm in `lifecycle.rs`, its fact in
//! `facts.rs`; then run `generate`. The compiler or a test says what is still missing.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod diagram;
pub mod explore;
pub mod prove;
pub mod schema;

use diagram::View;
use std::collections::BTreeSet;
use std::fmt::Debug;

pub use statig::Outcome;

/// A finite alphabet in declaration order, each word with its own sentence.
pub trait Word: Copy + Ord + Debug + Send + Sync + 'static {
    /// Every word, in the order of declaration.
    const ALL: &'static [Self];

    /// What the word means, as the documentation prints it.
    fn meaning(self) -> &'static str;

    /// The word as it is stored and shown.
    fn text(self) -> String {
        format!("{self:?}")
    }

    /// The word that is stored as `text`, if this program knows it.
    fn from_text(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.text() == text)
    }
}

/// Declares an enum without payload whose words can be listed and explain themselves.
#[macro_export]
macro_rules! words {
    ($(#[doc = $about:literal])* $name:ident { $($(#[doc = $doc:literal])+ $word:ident),* $(,)? }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $doc])+ $word),* }

        impl $crate::machine::Word for $name {
            const ALL: &'static [Self] = &[$(Self::$word),*];

            fn meaning(self) -> &'static str {
                match self { $(Self::$word => concat!($($doc),+).trim_ascii()),* }
            }
        }
    };
}

/// What kind of place a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<E> {
    /// Passed through within one look; never stored.
    Junction,
    /// Waits for the world; never acts.
    Rests,
    /// Acts until `goal`, or until `deadline`.
    Works {
        /// The fact that ends the work well.
        goal: E,
        /// The fact that ends the work badly.
        deadline: E,
    },
    /// Waits for a person.
    Asks,
    /// Nothing follows.
    Ends,
}

/// One lifecycle: its three alphabets and every arrow.
pub trait Machine: Sized + Send + Sync + 'static {
    /// Where an object can be.
    type Phase: Word;
    /// Facts that can be true of an object, the most urgent first.
    type Event: Word;
    /// What an arrow asks for.
    type Effect: Word;
    /// Where an object without a known state is.
    const START: Self::Phase;
    /// The fact that wins over every other.
    const DELETION: Self::Event;
    /// The fact that the spec is newer than the open question.
    const RENEWAL: Self::Event;
    /// The fact that a person wants the object left alone.
    const PAUSE: Self::Event;
    /// The fact that nobody wants that.
    const RESUMPTION: Self::Event;
    /// The pictures of the lifecycle, the one to see first in front.
    const VIEWS: &'static [View<Self::Phase>] = &[View { name: "lifecycle", phases: Self::Phase::ALL }];

    /// What `phase` answers to `event`; the effects are pushed on the way.
    fn offer(phase: Self::Phase, event: Self::Event, effects: &mut Vec<Self::Effect>) -> Outcome<Self::Phase>;
    /// Where `phase` may lead: the second entry of a double-entry book, held against `offer`.
    fn exits(phase: Self::Phase) -> &'static [Self::Phase];
    /// What kind of place `phase` is.
    fn role(phase: Self::Phase) -> Role<Self::Event>;
    /// Which scopes `phase` lies in, outermost first.
    fn scopes(phase: Self::Phase) -> Vec<String>;
    /// Is `event` raised by an edit of the spec?
    fn is_edit(event: Self::Event) -> bool;
    /// Is `event` a person's answer to a question?
    fn is_answer(event: Self::Event) -> bool;
    /// Does `event` close a question: an answer, a new spec, the obstacle gone, a pause?
    fn closes_question(event: Self::Event) -> bool;
    /// Is `event` upkeep that a resting phase may do without leaving it?
    fn is_upkeep(_: Self::Event) -> bool {
        false
    }
    /// The facts on which `effect` may be ordered, where it destroys what a fresh order cannot bring back as it was; none where
    /// it destroys nothing.
    fn licences(effect: Self::Effect) -> &'static [Self::Event];
    /// Does `effect` destroy something?
    fn is_destructive(effect: Self::Effect) -> bool {
        !Self::licences(effect).is_empty()
    }

    /// What `phase` says to `event`, as a value.
    fn answer(phase: Self::Phase, event: Self::Event) -> Answer<Self> {
        let mut effects = Vec::new();
        match Self::offer(phase, event, &mut effects) {
            Outcome::Transition(next) => Answer::Go(next, effects),
            Outcome::Handled if effects.is_empty() => Answer::Hold,
            Outcome::Handled => Answer::Act(effects),
            Outcome::Super => Answer::Pass,
        }
    }

    /// The most urgent fact that makes the phase go or act decides.
    fn step(phase: Self::Phase, events: &BTreeSet<Self::Event>) -> Step<Self> {
        for &event in events {
            let (next, moved, effects) = match Self::answer(phase, event) {
                Answer::Go(next, effects) => (next, true, effects),
                Answer::Act(effects) => (phase, false, effects),
                Answer::Hold | Answer::Pass => continue,
            };
            return Step { from: phase, next, moved, cause: Some(event), effects };
        }
        Step { from: phase, next: phase, moved: false, cause: None, effects: Vec::new() }
    }

    /// May this edit be accepted now, to be acted on at once or held for later?
    fn claims(phase: Self::Phase, event: Self::Event) -> bool {
        !matches!(Self::answer(phase, event), Answer::Pass)
    }
}

/// What a phase says to one fact.
#[derive(Debug)]
pub enum Answer<M: Machine> {
    /// Enter a phase (the same one: enter it anew, with a new deadline).
    Go(M::Phase, Vec<M::Effect>),
    /// Stay and act.
    Act(Vec<M::Effect>),
    /// Known and legal, nothing to do now; less urgent facts may decide.
    Hold,
    /// Means nothing here. For an edit: refused as busy.
    Pass,
}

/// One look's decision. Its fields are private: only a machine can name the next phase.
#[derive(Clone, Debug)]
pub struct Step<M: Machine> {
    from: M::Phase,
    next: M::Phase,
    moved: bool,
    cause: Option<M::Event>,
    effects: Vec<M::Effect>,
}

impl<M: Machine> Step<M> {
    /// Where the object was.
    pub fn from(&self) -> M::Phase {
        self.from
    }
    /// Where it is now.
    pub fn next(&self) -> M::Phase {
        self.next
    }
    /// Was a phase entered (the same one anew, perhaps)?
    pub fn moved(&self) -> bool {
        self.moved
    }
    /// The fact that decided.
    pub fn cause(&self) -> Option<M::Event> {
        self.cause
    }
    /// What is to be ordered.
    pub fn effects(&self) -> &[M::Effect] {
        &self.effects
    }
}

/// The first phase that works, and the event that ends its work well.
pub fn work<M: Machine>() -> Option<(M::Phase, M::Event)> {
    M::Phase::ALL.iter().find_map(|&phase| match M::role(phase) {
        Role::Works { goal, .. } => Some((phase, goal)),
        Role::Junction | Role::Rests | Role::Asks | Role::Ends => None,
    })
}
