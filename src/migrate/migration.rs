//! A `StorageVersionMigration`: what its conditions mean, and for how long it is waited for. Pure.

use serde_json::Value;

/// It is read again after so many seconds.
pub const INTERVAL: u64 = 2;
/// In seconds: the controller begins at once, unless it has another one of the same kind to end first.
const BEGINS: u64 = 60;
/// In seconds: Kubernetes 1.37 waits until its garbage collector has seen the newest version of the kind, which a quiet kind
/// learns once a minute, and asks after pauses that double. So three minutes without a word are usual.
const QUIET: u64 = 300;
/// In a second: nothing is said while objects are written, and at least so many of them are.
const WRITTEN: u64 = 50;
/// In seconds: for so long its controller may take to write the definition after the end.
const SETTLES: u64 = 20;

/// How far it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum State {
    /// No controller has begun it.
    Pending,
    /// It is under way, with what it says of it.
    Running(String),
    /// It has ended, and its controller still has to write the definition.
    Ending(Outcome),
    /// It has ended, and changes nothing any more.
    Ended(Outcome),
}

/// What came of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// By its own word, every object is stored in the stored version.
    Succeeded,
    /// It stopped at an object, or before any, and says why.
    Failed(String),
    /// Nobody began it within so many seconds.
    NotBegun(u64),
    /// It said nothing new for so many seconds, and this before.
    Quiet(u64, String),
    /// It was not to be waited for.
    Unwanted,
    /// Somebody else deleted it.
    Deleted,
}

/// What its conditions mean.
pub fn state(object: &Value) -> State {
    let conditions = object["status"]["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let met = |wanted: &str| conditions.iter().find(|condition| condition["type"] == wanted && condition["status"] == "True");
    let message = |condition: &Value| condition["message"].as_str().unwrap_or_default().to_owned();
    let running = met("Running");
    let outcome =
        if met("Succeeded").is_some() { Some(Outcome::Succeeded) } else { met("Failed").map(|failed| Outcome::Failed(message(failed))) };
    match (outcome, running) {
        (Some(outcome), Some(_)) => State::Ending(outcome),
        (Some(outcome), None) => State::Ended(outcome),
        (None, Some(running)) => State::Running(message(running)),
        (None, None) => State::Pending,
    }
}

/// What came of it, or nothing where it is still waited for: its state is the same for so many seconds, and so many objects
/// may have to be written. One that is unwanted is waited for only where it has ended.
pub fn outcome(state: &State, seconds: u64, objects: u64, unwanted: bool) -> Option<Outcome> {
    let quiet = QUIET + objects / WRITTEN;
    match state {
        State::Ended(outcome) => Some(outcome.clone()),
        State::Ending(outcome) => (seconds >= SETTLES).then(|| outcome.clone()),
        State::Pending | State::Running(_) if unwanted => Some(Outcome::Unwanted),
        State::Pending => (seconds >= BEGINS).then_some(Outcome::NotBegun(seconds)),
        State::Running(said) => (seconds >= quiet).then(|| Outcome::Quiet(seconds, said.clone())),
    }
}
