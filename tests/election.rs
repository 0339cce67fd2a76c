//! The production election in a pretend world: three replicas whose clocks go wrong, an API server that stands still,
//! requests and answers that are lost or late, people who delete or empty the
//! Lease. Never two act, and soon somebody does.

#[path = "support/dice.rs"]
#[allow(dead_code)]
mod dice;
#[path = "election/world.rs"]
mod world;

use std::time::{Duration, Instant};
use world::{Counts, World};

/// For how long everything goes wrong, and by when after that somebody has to lead.
const TROUBLE: Duration = Duration::from_mins(5);
const CURED: Duration = Duration::from_secs(45);

fn runs() -> u64 {
    if std::env::var_os("POINTSMAN_LONG").is_some() { 200_000 } else { 1_000 }
}

#[test]
fn never_two_are_inside_their_terms_and_after_all_trouble_somebody_leads() {
    let (began, mut counts, mut longest) = (Instant::now(), Counts::default(), Duration::ZERO);
    for seed in 0..runs() {
        let mut world = World::new(seed);
        world.run_until(TROUBLE);
        world.cure();
        let without = world.run_until_led(TROUBLE + CURED);
        longest = longest
            .max(without.unwrap_or_else(|| panic!("seed {seed}: nobody leads {CURED:?} after all trouble is over\n{}", world.story())));
        world.run_until(TROUBLE + CURED * 2);
        counts.add(&world.counts);
    }
    println!("{} runs in {:?}: {counts:#?}; somebody leads {longest:?} after the trouble at the latest", runs(), began.elapsed());
    // What never happens proves nothing.
    let Counts { terms, given_back, not_renewed, woke_too_late, lost_requests, lost_answers, late_refused, late_stored, .. } = counts;
    let Counts { deleted, emptied, remade, .. } = counts;
    for (what, count) in [
        ("terms", terms),
        ("given back", given_back),
        ("not renewed", not_renewed),
        ("woke too late", woke_too_late),
        ("lost requests", lost_requests),
        ("lost answers", lost_answers),
        ("late writes refused", late_refused),
        ("late writes stored", late_stored),
        ("deleted", deleted),
        ("emptied", emptied),
        ("made anew without a holder", remade),
    ] {
        assert!(count >= runs() / 10, "{what}: only {count}");
    }
}

#[test]
fn a_lease_that_is_given_back_is_taken_at_the_next_look() {
    let mut world = World::calm();
    world.run_until_led(Duration::from_secs(5)).expect("a free Lease is taken at once");
    world.resign_the_leader();
    let without = world.run_until_led(Duration::from_mins(1)).expect("another takes it");
    assert!(without < Duration::from_secs(3), "{without:?}");
}

#[test]
fn a_leader_that_is_gone_is_followed_when_its_lease_has_run_out() {
    let mut world = World::calm();
    world.run_until_led(Duration::from_secs(5)).expect("a free Lease is taken at once");
    world.run_until(Duration::from_secs(30));
    world.kill_the_leader();
    let without = world.run_until_led(Duration::from_secs(90)).expect("another takes it");
    assert!((Duration::from_secs(13)..Duration::from_secs(17)).contains(&without), "{without:?}");
}

#[test]
fn nobody_waits_for_a_leader_where_nobody_ever_led() {
    let without = World::calm().run_until_led(Duration::from_secs(5)).expect("a free Lease is taken at once");
    assert!(without < Duration::from_secs(1), "{without:?}");
}

/// The holder finds out at its next renewal; World itself sees to it that never two lead.
#[test]
fn a_lease_that_people_take_away_is_waited_out() {
    let ways: [fn(&mut World); 3] = [World::delete_the_lease, World::empty_the_lease, World::remake_the_lease];
    for take_away in ways {
        // At every point between two renewals.
        for tenth in 0..20 {
            let mut world = World::calm();
            world.run_until_led(Duration::from_secs(5)).expect("a free Lease is taken at once");
            let at = Duration::from_secs(30) + Duration::from_millis(100 * tenth);
            world.run_until(at);
            take_away(&mut world);
            world.run_until(at + Duration::from_secs(3));
            let without = world.run_until_led(Duration::from_mins(1)).expect("somebody leads on");
            assert!((Duration::from_secs(11)..Duration::from_secs(16)).contains(&without), "{without:?}");
        }
    }
}
