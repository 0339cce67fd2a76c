//! Three replicas, one Lease, and all that can go wrong between them; time is a number.

use super::dice::Dice;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use pointsman::controller::lease::claim;
use pointsman::controller::lease::election::{Answer, Election, Ending, Step, Times};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use tokio::time::Instant;

const TIMES: Times = Times { duration: Duration::from_secs(15), renew_deadline: Duration::from_secs(10), retry: Duration::from_secs(2) };
/// A process that ended, or was killed, is started again after this.
const STARTED_AGAIN: Duration = Duration::from_secs(1);

/// How often things happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Terms that began.
    pub terms: u64,
    /// Leases that were given back.
    pub given_back: u64,
    /// Terms that ended since nothing renewed them.
    pub not_renewed: u64,
    /// Processes that stood still, and woke with a term that was over.
    pub woke_too_late: u64,
    /// Requests that never arrived.
    pub lost_requests: u64,
    /// Answers that never arrived.
    pub lost_answers: u64,
    /// Writes that arrived when their sender had given them up, and were refused.
    pub late_refused: u64,
    /// And were stored.
    pub late_stored: u64,
    /// Leases that people deleted.
    pub deleted: u64,
    /// That they emptied in place.
    pub emptied: u64,
    /// That they replaced by an empty one.
    pub remade: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.terms += other.terms;
        self.given_back += other.given_back;
        self.not_renewed += other.not_renewed;
        self.woke_too_late += other.woke_too_late;
        self.lost_requests += other.lost_requests;
        self.lost_answers += other.lost_answers;
        self.late_refused += other.late_refused;
        self.late_stored += other.late_stored;
        self.deleted += other.deleted;
        self.emptied += other.emptied;
        self.remade += other.remade;
    }
}

/// What happens at a moment.
#[derive(Clone, Debug)]
enum Event {
    /// A replica looks at its clock.
    Wakes(usize),
    /// A request arrives at the API server; `None` reads.
    Arrives { from: usize, call: u64, write: Option<Box<Lease>> },
    /// An answer arrives.
    Answered { to: usize, call: u64, answer: Option<Answer> },
    /// Something goes wrong.
    Trouble,
    /// A process is started again.
    Starts(usize),
}

/// A process, with a clock that began anywhere and goes too fast or too slow.
struct Replica {
    process: u64,
    alive: bool,
    election: Election,
    /// In thousandths of the true rate.
    rate: u32,
    origin: Instant,
    wall: SignedDuration,
    /// It does nothing before this.
    stands_still_until: Duration,
    /// The call under way, whether it writes, and when it is given up by this process's clock.
    call: Option<(u64, bool, Instant)>,
    /// What has arrived meanwhile.
    answer: Option<Answer>,
    led: bool,
}

impl Replica {
    fn local(&self, now: Duration) -> Instant {
        self.origin + now * self.rate / 1000
    }

    fn truly(&self, local: Instant) -> Duration {
        // A microsecond more than not enough.
        (local - self.origin) * 1000 / self.rate + Duration::from_micros(1)
    }

    fn leads(&self, now: Duration) -> bool {
        self.alive && self.election.term().is_some_and(|end| self.local(now) < end)
    }
}

/// Everything.
pub struct World {
    pub counts: Counts,
    now: Duration,
    events: BinaryHeap<Reverse<(Duration, u64)>>,
    planned: std::collections::HashMap<u64, Event>,
    planned_ever: u64,
    replicas: Vec<Replica>,
    processes: u64,
    lease: Option<Box<Lease>>,
    version: u64,
    server_stands_still_until: Duration,
    dice: Dice,
    seed: u64,
    troubled: bool,
    story: Vec<String>,
}

impl World {
    /// A world in which everything goes wrong that can.
    pub fn new(seed: u64) -> Self {
        World::started(seed, true)
    }

    /// A world in which nothing goes wrong but what the test does.
    pub fn calm() -> Self {
        World::started(1, false)
    }

    fn started(seed: u64, troubled: bool) -> Self {
        let mut world = World {
            counts: Counts::default(),
            now: Duration::ZERO,
            events: BinaryHeap::new(),
            planned: std::collections::HashMap::new(),
            planned_ever: 0,
            replicas: Vec::new(),
            processes: 0,
            lease: Some(Box::default()),
            version: 1,
            server_stands_still_until: Duration::ZERO,
            dice: Dice::of(seed + 1),
            seed,
            troubled,
            story: Vec::new(),
        };
        world.store(Some(Box::default()));
        for number in 0..3 {
            let replica = world.process();
            world.replicas.push(replica);
            world.plan(world.now, Event::Wakes(number));
        }
        world.plan(Duration::from_secs(1), Event::Trouble);
        world
    }

    /// A process that has just begun.
    fn process(&mut self) -> Replica {
        self.processes += 1;
        let origin = Instant::now();
        let rate = if self.troubled { 900 + u32::try_from(self.dice.below(201)).unwrap() } else { 1000 };
        let wall = if self.troubled { i64::try_from(self.dice.below(121)).unwrap() - 60 } else { 0 };
        let at = origin + self.now * rate / 1000;
        Replica {
            process: self.processes,
            alive: true,
            election: Election::new(format!("process-{}", self.processes), TIMES, at),
            rate,
            origin,
            wall: SignedDuration::from_secs(wall),
            stands_still_until: Duration::ZERO,
            call: None,
            answer: None,
            led: false,
        }
    }

    fn plan(&mut self, at: Duration, event: Event) {
        self.planned_ever += 1;
        self.planned.insert(self.planned_ever, event);
        self.events.push(Reverse((at.max(self.now), self.planned_ever)));
    }

    fn tell(&mut self, what: &str) {
        self.story.push(format!("{:9.3} {what}", self.now.as_secs_f64()));
    }

    /// The last of what happened.
    pub fn story(&self) -> String {
        self.story[self.story.len().saturating_sub(60)..].join("\n")
    }

    /// Lets time pass.
    pub fn run_until(&mut self, end: Duration) {
        while self.step(end) {}
    }

    /// Lets time pass until somebody leads; how long it took.
    pub fn run_until_led(&mut self, end: Duration) -> Option<Duration> {
        let began = self.now;
        while self.leader().is_none() {
            if !self.step(end) {
                return None;
            }
        }
        Some(self.now.saturating_sub(began))
    }

    /// Nothing goes wrong any more.
    pub fn cure(&mut self) {
        self.troubled = false;
        self.server_stands_still_until = self.now;
        for number in 0..self.replicas.len() {
            self.replicas[number].stands_still_until = self.now;
            self.plan(self.now, Event::Wakes(number));
        }
    }

    pub fn resign_the_leader(&mut self) {
        let leader = self.leader().expect("somebody leads");
        self.resign(leader);
    }

    pub fn kill_the_leader(&mut self) {
        let leader = self.leader().expect("somebody leads");
        self.end(leader, "is killed");
    }

    pub fn delete_the_lease(&mut self) {
        self.tell("the Lease is deleted");
        self.counts.deleted += 1;
        self.lease = None;
    }

    /// As `kubectl replace` of the package does it.
    pub fn empty_the_lease(&mut self) {
        if let Some(mut lease) = self.lease.clone() {
            self.tell("the Lease is emptied");
            self.counts.emptied += 1;
            lease.spec = None;
            self.store(Some(lease));
        }
    }

    /// As `kubectl replace --force` of the package does it.
    pub fn remake_the_lease(&mut self) {
        self.tell("the Lease is replaced by an empty one");
        self.counts.remade += 1;
        self.store(None);
    }

    fn leader(&self) -> Option<usize> {
        (0..self.replicas.len()).find(|number| self.replicas[*number].leads(self.now))
    }

    fn step(&mut self, end: Duration) -> bool {
        let Some(Reverse((at, number))) = self.events.peek().copied().filter(|Reverse((at, _))| *at <= end) else {
            self.now = end;
            return false;
        };
        self.events.pop();
        self.now = at;
        match self.planned.remove(&number).expect("it was planned") {
            Event::Wakes(number) => self.wake(number),
            Event::Arrives { from, call, write } => self.arrive(from, call, write),
            Event::Answered { to, call, answer } => {
                let replica = &mut self.replicas[to];
                if replica.call.is_some_and(|(under_way, ..)| under_way == call) {
                    replica.answer = answer;
                    self.wake(to);
                }
            }
            Event::Trouble => self.trouble(),
            Event::Starts(number) => {
                self.replicas[number] = self.process();
                self.wake(number);
            }
        }
        let inside: Vec<u64> = self.replicas.iter().filter(|one| one.leads(self.now)).map(|one| one.process).collect();
        assert!(inside.len() < 2, "seed {}: processes {inside:?} lead at once\n{}", self.seed, self.story());
        true
    }

    /// A process does what is due, as the production driver does.
    fn wake(&mut self, number: usize) {
        let now = self.now;
        let replica = &mut self.replicas[number];
        if !replica.alive {
            return;
        }
        if now < replica.stands_still_until {
            let until = replica.stands_still_until;
            return self.plan(until, Event::Wakes(number));
        }
        let at = replica.local(now);
        if let Some((_, wrote, given_up)) = replica.call {
            let Some(answer) = replica.answer.take().or((at >= given_up).then_some(Answer::Unknown)) else { return };
            replica.call = None;
            replica.election.heard(answer, wrote, at);
        }
        let began = !replica.led && replica.leads(now);
        replica.led |= began;
        let process = replica.process;
        if began {
            self.counts.terms += 1;
            self.tell(&format!("process {process} leads"));
        }
        self.proceed(number, at);
    }

    fn proceed(&mut self, number: usize, at: Instant) {
        let replica = &mut self.replicas[number];
        let wall = Timestamp::UNIX_EPOCH + SignedDuration::try_from(self.now).unwrap() + SignedDuration::from_mins(10) + replica.wall;
        match replica.election.next(at, wall) {
            Step::Wait(until) => {
                let until = replica.truly(until);
                self.plan(until, Event::Wakes(number));
            }
            Step::Read => self.send(number, at, None),
            Step::Write(lease) => self.send(number, at, Some(lease)),
            Step::End(ending) => {
                match ending {
                    Ending::GivenBack => self.counts.given_back += 1,
                    Ending::Lost(_) => self.counts.not_renewed += 1,
                    Ending::Kept => {}
                }
                self.end(number, &format!("ends: {ending:?}"));
            }
        }
    }

    fn end(&mut self, number: usize, why: &str) {
        self.tell(&format!("process {} {why}", self.replicas[number].process));
        self.replicas[number].alive = false;
        self.plan(self.now + STARTED_AGAIN, Event::Starts(number));
    }

    fn resign(&mut self, number: usize) {
        let at = self.replicas[number].local(self.now);
        self.tell(&format!("process {} is told to stop", self.replicas[number].process));
        self.replicas[number].election.resign(at);
        self.wake(number);
    }

    fn send(&mut self, number: usize, at: Instant, write: Option<Box<Lease>>) {
        let call = self.planned_ever;
        let given_up = at + TIMES.retry;
        let replica = &mut self.replicas[number];
        replica.call = Some((call, write.is_some(), given_up));
        let given_up = replica.truly(given_up);
        self.plan(given_up, Event::Wakes(number));
        if self.troubled && self.dice.chance(8) {
            self.counts.lost_requests += 1;
            return;
        }
        let takes = self.takes();
        self.plan(self.now + takes, Event::Arrives { from: number, call, write });
    }

    /// Mostly milliseconds, now and then so long that nobody waits any more.
    fn takes(&mut self) -> Duration {
        let long = self.troubled && self.dice.chance(10);
        Duration::from_millis(u64::try_from(if long { self.dice.below(30_000) } else { 1 + self.dice.below(40) }).unwrap())
    }

    fn arrive(&mut self, from: usize, call: u64, write: Option<Box<Lease>>) {
        if self.now < self.server_stands_still_until {
            return self.plan(self.server_stands_still_until, Event::Arrives { from, call, write });
        }
        let late = !self.replicas[from].alive || self.replicas[from].call.is_none_or(|(under_way, ..)| under_way != call);
        let answer = match write {
            None => match self.lease.clone() {
                Some(lease) if claim::is_empty(&lease) && self.counts.terms == 0 => Answer::Pristine(lease),
                lease => Answer::Stands(lease),
            },
            Some(lease) => {
                let stands = self.lease.as_ref().and_then(|stored| stored.metadata.resource_version.clone());
                let stored = stands == lease.metadata.resource_version;
                *(if stored { &mut self.counts.late_stored } else { &mut self.counts.late_refused }) += u64::from(late);
                if stored {
                    self.store(Some(lease));
                    Answer::Stands(self.lease.clone())
                } else {
                    Answer::Unknown
                }
            }
        };
        if self.troubled && self.dice.chance(8) {
            self.counts.lost_answers += 1;
            return;
        }
        let takes = self.takes();
        self.plan(self.now + takes, Event::Answered { to: from, call, answer: Some(answer) });
    }

    fn store(&mut self, lease: Option<Box<Lease>>) {
        self.version += 1;
        let mut lease = lease.unwrap_or_default();
        if lease.metadata.resource_version.is_none() {
            lease.metadata.uid = Some(format!("uid-{}", self.version));
        }
        lease.metadata.resource_version = Some(self.version.to_string());
        let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone());
        self.tell(&format!("the Lease names {holder:?}, version {}", self.version));
        self.lease = Some(lease);
    }

    /// Every second or so something goes wrong.
    fn trouble(&mut self) {
        if !self.troubled {
            return;
        }
        let number = self.dice.below(self.replicas.len());
        let long = Duration::from_millis(u64::try_from(self.dice.below(40_000)).unwrap());
        match self.dice.below(80) {
            0..=3 => self.stand_still(number, long),
            // The one that leads is the one that matters.
            4..=6 => {
                if let Some(leader) = self.leader() {
                    self.stand_still(leader, long);
                }
            }
            7 | 8 => {
                self.tell(&format!("the API server stands still for {long:?}"));
                self.server_stands_still_until = self.now + long;
            }
            9 if self.replicas[number].alive => self.end(number, "is killed"),
            10 | 11 if self.replicas[number].alive => self.resign(number),
            12 => self.delete_the_lease(),
            13 => self.empty_the_lease(),
            14 => self.remake_the_lease(),
            _ => {}
        }
        self.plan(self.now + Duration::from_secs(1), Event::Trouble);
    }

    fn stand_still(&mut self, number: usize, long: Duration) {
        let until = self.now + long;
        self.tell(&format!("process {} stands still for {long:?}", self.replicas[number].process));
        let replica = &mut self.replicas[number];
        replica.stands_still_until = until;
        // It still believes what it believed when it stopped: the fence looks at the clock.
        let believes = replica.election.term();
        let late = believes.is_some_and(|end| replica.local(until) >= end);
        self.counts.woke_too_late += u64::from(late && self.replicas[number].alive);
    }
}
