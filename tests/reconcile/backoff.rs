//! How soon an object is written again.

use pointsman::controller::backoff::Backoff;
use pointsman::kinds::order::{Cascade, ChildKind, ChildRef, Order};
use std::time::Duration;
use tokio::time::Instant;

fn order(name: &str) -> [Order; 1] {
    let child = ChildRef { kind: ChildKind::Service, name: name.to_owned() };
    [Order::Delete { child, uid: "1".to_owned(), resource_version: "1".to_owned(), cascade: Cascade::Background }]
}

#[test]
fn a_fight_slows_down_to_once_a_minute() {
    let (mut at, mut backoff, mut waits) = (Instant::now(), Backoff::default(), Vec::new());
    for _ in 0..10 {
        let wait = backoff.acted(at, 1, &order("cache"));
        waits.push(wait.as_millis());
        at += wait;
        assert_eq!(backoff.wait(at, 1, &order("cache")), None);
    }
    assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000]);
}

#[test]
fn a_new_spec_and_a_rested_object_are_never_kept_waiting() {
    let (at, mut backoff) = (Instant::now(), Backoff::default());
    let same = order("cache");
    assert_eq!(backoff.wait(at, 1, &same), None);
    let shortest = backoff.acted(at, 1, &same);
    assert_eq!((backoff.wait(at, 1, &same), backoff.wait(at, 2, &same)), (Some(shortest), None));
    let later = at + shortest;
    assert!(backoff.acted(later, 1, &same) > shortest);
    assert_eq!(backoff.acted(later + Duration::from_secs(10), 1, &same), shortest);
}

/// Volumes, then who is told of them, then servers: none waits for having been ordered after another.
#[test]
fn stages_follow_each_other_at_once_and_a_failure_keeps_all_waiting() {
    let (at, mut backoff) = (Instant::now(), Backoff::default());
    for stage in ["volumes", "topology", "servers", "job"] {
        assert_eq!(backoff.wait(at, 1, &order(stage)), None, "{stage}");
        assert_eq!(backoff.acted(at, 1, &order(stage)), Duration::from_millis(500), "{stage}");
    }
    assert!(backoff.wait(at, 1, &order("servers")).is_some());
    backoff.failed(at, 1);
    assert!(backoff.failing() && backoff.wait(at, 1, &order("anything")).is_some());
    backoff.settled();
    assert_eq!(backoff.wait(at, 1, &order("anything")), None);
}
