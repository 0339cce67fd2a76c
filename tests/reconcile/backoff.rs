//! How soon an object is written again.

use pointsman::controller::backoff::Backoff;
use std::time::Duration;
use tokio::time::Instant;

#[test]
fn a_fight_slows_down_to_once_a_minute() {
    let (mut at, mut backoff, mut waits) = (Instant::now(), Backoff::default(), Vec::new());
    for _ in 0..10 {
        let wait = backoff.acted(at, 1);
        waits.push(wait.as_millis());
        at += wait;
        assert_eq!(backoff.wait(at, 1), None);
    }
    assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000]);
}

#[test]
fn a_new_spec_and_a_rested_object_are_never_kept_waiting() {
    let (at, mut backoff) = (Instant::now(), Backoff::default());
    assert_eq!(backoff.wait(at, 1), None);
    let shortest = backoff.acted(at, 1);
    assert_eq!((backoff.wait(at, 1), backoff.wait(at, 2)), (Some(shortest), None));
    let later = at + shortest;
    assert!(backoff.acted(later, 1) > shortest);
    assert_eq!(backoff.acted(later + Duration::from_secs(10), 1), shortest);
}
