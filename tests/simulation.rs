//! The production `decide` in a pretend cluster: crashes, lost replies, stale caches, quota,
//! strangers, hands on the children, edits past the webhook. Fixed seeds; `POINTSMAN_LONG=1` runs more.

mod support;

use jiff::SignedDuration;
use pointsman::kinds::memcached::v1::MemcachedSpec;
use std::collections::BTreeMap;
use std::time::Instant;
use support::run::{Counts, Run, never_taken};
use support::world::World;
use support::{BAD_IMAGE, IMAGE, object};

/// How many looks a run that is left alone may need until it rests.
const PATIENCE: u32 = 2000;

fn begin(seed: u64, lag: usize) -> Run {
    let mut dice = support::dice::Dice::of(seed ^ 0xC0_FFEE);
    let spec = MemcachedSpec {
        replicas: i32::try_from(dice.below(4)).expect("below four"),
        image: Some(dice.pick(&[IMAGE, IMAGE, BAD_IMAGE]).to_owned()).filter(|_| dice.chance(60)),
        ..MemcachedSpec::default()
    };
    let mut object = object("cache", spec);
    // Somebody knows the first question's name, and answers it before it is asked.
    let early = format!("retry-{}", pointsman::kinds::intervention::id("uid-of-cache", 1));
    object.metadata.annotations = Some([(pointsman::kinds::annotations::ANSWER.to_owned(), early)].into());
    if dice.chance(8) {
        object.metadata.deletion_timestamp =
            Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time("2026-01-01T00:00:00Z".parse().expect("a time")));
    }
    Run::of(World::of(object), seed, lag)
}

/// Things happen in the cluster, and time goes on.
fn tick(run: &mut Run) {
    let seconds = if run.dice.chance(2) { 400 } else { 5 };
    run.world.now += SignedDuration::from_secs(seconds);
    for _ in 0..2 {
        let can = run.world.possible();
        if !can.is_empty() && run.dice.chance(80) {
            let next = run.dice.pick(&can);
            run.world.happen(next);
        }
    }
    let deleted = run.world.object.as_ref().is_some_and(|object| object.metadata.deletion_timestamp.is_some());
    if deleted && run.dice.chance(5) {
        run.world.collect();
    }
}

fn disturbed(run: &mut Run, ticks: u32) {
    for _ in 0..ticks {
        run.remember();
        tick(run);
        if run.dice.chance(16) {
            run.somebody_acts();
        }
        if run.dice.chance(75) {
            run.look();
        }
        run.fights_on();
    }
}

/// A roll-out that fails, and somebody who has it rolled back.
fn comes_back(run: &mut Run) {
    run.world.quota = false;
    run.strangers_go();
    run.breaks();
    for _ in 0..80 {
        run.remember();
        tick(run);
        run.look();
        run.wants_it_back();
    }
}

/// Left alone, the run comes to rest: nothing can happen, nothing is written, whatever time it is.
fn left_alone(run: &mut Run) {
    (run.crashes, run.fight, run.world.quota) = (0, 0, false);
    if run.dice.chance(50) {
        run.strangers_go();
    }
    let mut calm = 0;
    for _ in 0..PATIENCE {
        run.remember();
        tick(run);
        let wrote = run.look();
        let settled = run.world.object.is_none() || run.is_at_rest();
        calm = if wrote || !run.world.possible().is_empty() || !settled { 0 } else { calm + 1 };
        if calm > 12 {
            break;
        }
    }
    if calm <= 12 {
        return run.faults.push(format!("never rests: {}", run.told()));
    }
    run.lag = 0;
    let before = run.counts.clone();
    for _ in 0..3 {
        run.world.now += SignedDuration::from_hours(1);
        run.look();
    }
    let writes = |counts: &Counts| counts.status_writes + counts.child_writes + counts.needless;
    if writes(&before) != writes(&run.counts) {
        run.faults.push(format!("rests, yet writes: {}", run.told()));
    }
    let needless = asks_without_need(run);
    run.faults.extend(needless);
}

/// A question that nothing explains any more should have closed by itself: decided afresh, the
/// object would be ready.
fn asks_without_need(run: &mut Run) -> Option<String> {
    let object = run.world.object.clone()?;
    let question = object.status.as_ref()?.intervention.clone()?;
    let afresh = run.afresh()?;
    let ready = afresh.orders.is_empty() && matches!(afresh.status.state.as_deref(), Some("Ready" | "Stopped"));
    ready.then(|| format!("asks {:?} without need: {}", question.reason, run.told()))
}

/// What many runs came to.
#[derive(Default)]
struct Total {
    counts: Counts,
    rests: BTreeMap<String, u64>,
    faults: BTreeMap<String, (u64, u64)>,
}

/// Runs one seed, without and with caches that are behind.
fn run(seed: u64, lag: usize, total: &mut Total) {
    let mut run = begin(seed, lag);
    disturbed(&mut run, 130);
    if seed.is_multiple_of(4) {
        comes_back(&mut run);
        disturbed(&mut run, 40);
    }
    if seed.is_multiple_of(8) {
        comes_back(&mut run);
    }
    if seed.is_multiple_of(3) {
        // Often while something is being repaired.
        if run.dice.chance(70) {
            run.meddles();
            run.look();
        }
        run.deletes();
    }
    left_alone(&mut run);
    for fault in run.faults.drain(..) {
        total.faults.entry(fault).or_insert((0, seed)).0 += 1;
    }
    let state = run
        .world
        .object
        .as_ref()
        .map_or("gone".to_owned(), |object| object.status.as_ref().and_then(|status| status.state.clone()).unwrap_or_default());
    *total.rests.entry(state).or_default() += 1;
    add(&mut total.counts, &run.counts);
}

fn is_long() -> bool {
    std::env::var_os("POINTSMAN_LONG").is_some()
}

#[test]
fn every_run_is_truthful_and_comes_to_rest() {
    let runs = if is_long() { 2000 } else { 80 };
    let start = Instant::now();
    let half = |odd: u64| {
        move || {
            let mut total = Total::default();
            for seed in (1..=runs).filter(|seed| seed % 2 == odd) {
                run(seed, 0, &mut total);
                run(seed, 4, &mut total);
            }
            total
        }
    };
    let (mut total, other) = std::thread::scope(|scope| {
        let halves = (scope.spawn(half(0)), scope.spawn(half(1)));
        (halves.0.join().expect("a run panicked"), halves.1.join().expect("a run panicked"))
    });
    add(&mut total.counts, &other.counts);
    for (state, times) in other.rests {
        *total.rests.entry(state).or_default() += times;
    }
    total.faults.extend(other.faults);
    let arrows = std::mem::take(&mut total.counts.arrows);
    println!("{} runs in {:?}: {:?}\n  at rest {:?}; {} arrows taken", 2 * runs, start.elapsed(), total.counts, total.rests, arrows.len());
    let said: Vec<String> =
        total.faults.iter().take(20).map(|(fault, (times, seed))| format!("{times} x (first seed {seed}) {fault}")).collect();
    assert!(said.is_empty(), "{} kinds of fault: {said:#?}", total.faults.len());
    // A few runs do not get everywhere.
    if is_long() {
        assert_eq!(never_taken(&arrows), Vec::<String>::new(), "arrows that no run takes");
    }
}

fn add(total: &mut Counts, one: &Counts) {
    let sums = [
        (&mut total.looks, one.looks),
        (&mut total.status_writes, one.status_writes),
        (&mut total.child_writes, one.child_writes),
        (&mut total.needless, one.needless),
        (&mut total.refusals, one.refusals),
        (&mut total.crashes, one.crashes),
        (&mut total.lost_races, one.lost_races),
        (&mut total.denied, one.denied),
        (&mut total.edits, one.edits),
        (&mut total.questions, one.questions),
    ];
    for (sum, part) in sums {
        *sum += part;
    }
    for (arrow, times) in &one.arrows {
        *total.arrows.entry(*arrow).or_default() += times;
    }
}
