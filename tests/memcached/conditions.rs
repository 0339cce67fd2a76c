//! What the conditions say, and what an earlier release has left in them.

use crate::answers::mark;
use crate::support::run::Run;
use crate::{edit, settled, spec, status, until_rest};
use pointsman::kinds::annotations::{PAUSED, PROTECTED};
use std::sync::Arc;

/// Every condition in one line: type, status, reason, message.
fn told(run: &Run) -> Vec<String> {
    let conditions = status(run).conditions.into_iter();
    conditions.map(|it| format!("{}={} {}: {}", it.type_, it.status, it.reason, it.message)).collect()
}

#[test]
fn conditions_say_what_is_so() {
    let mut run = settled(spec(2));
    let ready = [
        "Ready=True ChildrenReady: 2 pods ready",
        "Available=True PodsServe: at least one pod serves",
        "Reconciling=False Idle: nothing is under way",
        "Stalled=False NoQuestion: nothing to decide",
        "UpToDate=True UpToDate: the spec is applied",
        "Paused=False NotAnnotated: not paused",
        "Protected=False NotAnnotated: not protected against deletion",
    ];
    assert_eq!(told(&run), ready);
    mark(&mut run, PROTECTED, "true");
    mark(&mut run, PAUSED, "true");
    until_rest(&mut run);
    edit(&mut run, |object| object.spec.max_connections += 1);
    until_rest(&mut run);
    let paused = [
        "Ready=False Paused: paused; to resume: kubectl annotate mc/cache -n shop pointsman.dev/paused-",
        "Available=True PodsServe: at least one pod serves",
        "Reconciling=False Idle: nothing is under way",
        "Stalled=False NoQuestion: nothing to decide",
        "UpToDate=False Held: the spec is held until the object is resumed",
        "Paused=True Annotated: paused",
        "Protected=True Annotated: protected against deletion",
    ];
    assert_eq!(told(&run), paused);
}

#[test]
fn a_first_roll_out_does_not_sound_like_a_fault() {
    let run = settled(spec(1));
    let causes: Vec<String> = status(&run).history.into_iter().map(|told| told.cause).collect();
    assert_eq!(causes, ["FirstRollout", "ChildrenReady"]);
}

#[test]
fn a_status_with_the_words_of_an_earlier_release_is_read_on() {
    let mut run = settled(spec(2));
    let object = Arc::make_mut(run.world.object.as_mut().expect("the object"));
    let old = object.status.as_mut().expect("a status");
    (old.state, old.reason) = (Some("Creating".to_owned()), Some("NeverReady".to_owned()));
    old.history.truncate(1);
    old.history[0].cause = "NeverReady".to_owned();
    for condition in &mut old.conditions {
        (condition.reason, condition.message) = ("NeverReady".to_owned(), "the annotation pointsman.dev/paused decides".to_owned());
    }
    // Each look asserts that the API server takes the status.
    until_rest(&mut run);
    let after = status(&run);
    let moves: Vec<&str> = after.history.iter().map(|told| told.cause.as_str()).collect();
    assert_eq!((after.state.as_deref(), moves), (Some("Ready"), vec!["NeverReady", "ChildrenReady"]));
    assert!(told(&run).iter().all(|line| !line.contains("NeverReady") && !line.contains("decides")), "{:?}", told(&run));
}
