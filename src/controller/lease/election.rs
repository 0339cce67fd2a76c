//! Who may act: decided from what was seen of the Lease, and when by a clock of this process that never jumps.
//!
//! Pure: values in, values out. [`Election::next`] says what to do now, [`Election::heard`] takes the answer.
//! Guarantee: of all that follow these rules at most one is inside its term, whatever their wall clocks say, whoever
//! stands still for how long, whichever requests or answers are lost or late, and whoever deletes or empties the Lease.
//! Why: a term is counted from the moment before its request was sent, so before the Lease changed; whoever waits counts
//! from the moment after it saw the change. Every write holds on to the version that was seen, so late ones are refused.
//! Assumes: clocks whose rates differ by less than the lease's duration and the renew deadline do, and that go on while a machine
//! is suspended; and that nobody writes by hand what only a holder writes who gives the Lease back.

use super::claim::{self, NAME, Seen};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use std::time::Duration;
use tokio::time::Instant;

/// However long another holder says that its lease lasts, nobody waits longer.
pub const LONGEST: Duration = Duration::from_mins(10);

/// How long things take in an election.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// How long the Lease has to stand unchanged before another may take it.
    pub duration: Duration,
    /// How long after its last renewal a holder may act.
    pub renew_deadline: Duration,
    /// Between two renewals; those who wait look twice as often.
    pub retry: Duration,
}

/// What to do now.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing until then, unless there is news.
    Wait(Instant),
    /// Read the Lease.
    Read,
    /// Store this over the version that it names, or make it where it names none.
    Write(Box<Lease>),
    /// It is over.
    End(Ending),
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// This process holds nothing any more, as it was asked to.
    GivenBack,
    /// The Lease could not be given back in time: another waits until it has run out.
    Kept,
    /// This process must not act any more, and did not ask for that.
    Lost(Lost),
}

/// Why a process must not act any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// The API server did not take a renewal in time.
    #[error("leading ends: the Lease {NAME} was not renewed for {0:?}; nothing is written until this process leads again")]
    NotRenewed(Duration),
    /// Somebody else holds it, or nobody: this is written in it.
    #[error("leading ends: the Lease {NAME} was taken away and names {0} as its holder; nothing is written until this process leads again")]
    Taken(String),
}

/// What the API server answered.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The Lease as it stands, or that there is none.
    Stands(Option<Box<Lease>>),
    /// The same, held by nobody; and nothing in the cluster tells that anybody ever acted.
    Pristine(Box<Lease>),
    /// Nobody knows what became of the request, or it was refused.
    Unknown,
}

/// One process's part in the election.
#[derive(Clone, Debug)]
pub struct Election {
    identity: String,
    times: Times,
    seen: Seen,
    /// Since when it is known to stand so.
    since: Instant,
    /// Has it to be read before it can be written?
    stale: bool,
    next: Instant,
    /// When the request that is under way was sent.
    sent: Instant,
    term: Option<Instant>,
    /// May there be a write of ours, stored or still under way?
    claimed: bool,
    /// From when on it may act, while the Lease is its own.
    acts_from: Instant,
    /// Until when to try to give it back.
    resigning: Option<Instant>,
}

impl Election {
    /// A candidate; `identity` is no other process's, not even an earlier one's of the same pod.
    pub fn new(identity: String, times: Times, at: Instant) -> Self {
        Election {
            identity,
            times,
            seen: Seen::Nothing,
            since: at,
            stale: true,
            next: at,
            sent: at,
            term: None,
            claimed: false,
            acts_from: at,
            resigning: None,
        }
    }

    /// Until when this process may act; nothing when it may not.
    pub fn term(&self) -> Option<Instant> {
        self.term
    }

    /// Whom the Lease names, as far as it was read.
    pub fn holder(&self) -> Option<&str> {
        self.seen.lease().and_then(claim::holder)
    }

    /// What to do at `at`. Times that are stored for people to read are `wall`'s; nothing is decided by them.
    pub fn next(&mut self, at: Instant, wall: Timestamp) -> Step {
        if let Some(ending) = self.ending(at) {
            self.term = None;
            return Step::End(ending);
        }
        if at < self.next {
            return Step::Wait(self.next.min(self.term.unwrap_or(self.next)));
        }
        self.sent = at;
        let write = !self.stale && (self.is_mine() || self.is_free(at));
        if !write {
            return Step::Read;
        }
        self.claimed = true;
        Step::Write(Box::new(self.wanted(wall)))
    }

    /// Takes in what the last request was answered, at `at`.
    pub fn heard(&mut self, answer: Answer, wrote: bool, at: Instant) {
        let (seen, pristine) = match answer {
            Answer::Stands(lease) => (lease.map_or(Seen::Absent, Seen::There), false),
            Answer::Pristine(lease) => (Seen::There(lease), true),
            Answer::Unknown => {
                self.stale = true;
                self.next = at + self.times.retry / 8;
                return;
            }
        };
        if self.seen == Seen::Nothing || seen.version() != self.seen.version() {
            self.since = at;
            self.acts_from = self.acting_from(&seen, pristine, at);
        }
        (self.seen, self.stale) = (seen, false);
        let renewed = wrote && self.is_mine();
        let end = self.sent + self.times.renew_deadline;
        if renewed && self.resigning.is_none() && at >= self.acts_from && at < end {
            self.term = Some(end);
        }
        let soon = at + self.times.retry / 2;
        self.next = match self.free_from() {
            _ if renewed => at + self.times.retry,
            _ if self.is_mine() => at,
            Some(free) => soon.min(free),
            None => soon,
        };
    }

    /// There may be news of the Lease: it is to be read now.
    pub fn news(&mut self, at: Instant) {
        (self.next, self.stale) = (at, true);
    }

    /// Gives the Lease back. From now on this process does not act any more.
    pub fn resign(&mut self, at: Instant) {
        self.term = None;
        self.resigning = Some(at + self.times.retry * 2);
        self.next = at;
    }

    fn ending(&self, at: Instant) -> Option<Ending> {
        let known = !self.stale;
        if let Some(until) = self.resigning {
            if !self.claimed || (known && !self.is_mine()) {
                return Some(Ending::GivenBack);
            }
            // One that was made anew and is given back too early would be taken at once.
            let early = known && at < self.acts_from;
            return (early || at >= until).then_some(Ending::Kept);
        }
        let end = self.term?;
        if known && !self.is_mine() {
            return Some(Ending::Lost(Lost::Taken(self.holder().unwrap_or("nobody").to_owned())));
        }
        (at >= end).then_some(Ending::Lost(Lost::NotRenewed(self.times.renew_deadline)))
    }

    fn is_mine(&self) -> bool {
        self.holder() == Some(&self.identity)
    }

    fn is_free(&self, at: Instant) -> bool {
        self.resigning.is_none() && self.free_from().is_some_and(|free| at >= free)
    }

    /// From when on this process may act, once the Lease that it sees now is its own. Before one that is new, or that
    /// nobody holds though nobody gave it back, there may have been a holder who does not know yet: who takes it waits as
    /// long as one who takes it from a holder. To wait before it is made would not do: an absence has no version that tells
    /// whether there was another Lease meanwhile.
    fn acting_from(&self, seen: &Seen, pristine: bool, at: Instant) -> Instant {
        let same = seen.uid().is_some() && seen.uid() == self.seen.uid();
        let given_back = seen.lease().is_some_and(claim::is_given_back) && (same || self.seen == Seen::Nothing);
        match seen.lease().map(claim::holder) {
            Some(Some(holder)) if holder == self.identity && same => self.acts_from,
            // It is free only when it has run out.
            Some(Some(holder)) if holder != self.identity => at,
            Some(None) if given_back || (pristine && self.holder().is_none()) => at,
            _ => at + self.times.duration,
        }
    }

    /// From when on this process may take it.
    fn free_from(&self) -> Option<Instant> {
        match &self.seen {
            Seen::Nothing => None,
            Seen::Absent => Some(self.since),
            Seen::There(_) if self.holder().is_none() => Some(self.since),
            Seen::There(lease) => Some(self.since + self.times.duration.max(claim::announced(lease).min(LONGEST))),
        }
    }

    /// The Lease as this process wants it: its own, or nobody's.
    fn wanted(&self, wall: Timestamp) -> Lease {
        let before = self.seen.lease();
        match (self.resigning, self.is_mine()) {
            (Some(_), _) => claim::given_back(before, wall),
            (None, true) => claim::renewed(before, self.times.duration, wall),
            (None, false) => claim::made(before, &self.identity, self.times.duration, wall),
        }
    }
}
