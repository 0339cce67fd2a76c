//! The Lease: one replica acts, the others stand by.
//!
//! [`election`] decides, purely; `calls` asks the API server; here is its clock. What everybody else asks is [`Leadership`]; [`fence`]
//! holds back what would be written outside the term.
//! Flow: a candidate waits for its caches, competes, renews. Told to stop, it gives the Lease back as soon as nothing acts
//! any more; when it could not renew, its term ends, and it competes again: what it answers does not depend on it.

mod calls;
pub mod claim;
pub mod election;
pub mod fence;
pub(super) mod instant;
mod leadership;

use super::instance;
use crate::config::Config;
use crate::telemetry;
use calls::Calls;
use claim::NAME;
use election::{Answer, Election, Ending, Lost, Step, Times};
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};
use instant::{now, sleep_until};
use jiff::Timestamp;
use kube::Client;
pub use leadership::{Leadership, Term};
use tokio::sync::watch;
use tokio::time::timeout;

/// The field manager of the Lease.
const MANAGER: &str = "pointsman-lease";

/// Without an election this process leads, until `resign`.
pub async fn lead_alone(term: watch::Sender<Term>, resign: impl Future<Output = ()>) {
    term.send_replace(Term::Unlimited);
    telemetry::leader(NAME, true);
    tracing::info!(why = "there is no election", "leading begins");
    resign.await;
    term.send_replace(Term::Outside);
    telemetry::leader(NAME, false);
    tracing::info!(why = "told to stop", "leading ends");
}

/// A process that competes for the Lease, or holds it.
pub struct Candidate {
    calls: Calls,
    election: Election,
    times: Times,
    term: watch::Sender<Term>,
    leadership: Leadership,
    /// Did its term begin?
    led: bool,
    /// News that the Lease is not its own.
    news: BoxStream<'static, ()>,
    complaint: String,
}

impl Candidate {
    /// A candidate that says in `term` when it may act. `client` neither retries nor waits its turn behind others.
    pub fn new(client: Client, config: &Config, term: watch::Sender<Term>, leadership: Leadership) -> Self {
        let identity = identity();
        let calls = Calls::new(client, &config.namespace);
        let news = calls.news(identity.clone());
        let times = Times { duration: config.lease_duration, renew_deadline: config.lease_renew_deadline, retry: config.lease_retry };
        let election = Election::new(identity, times, now());
        telemetry::leader(NAME, false);
        Candidate { calls, election, times, term, leadership, led: false, news, complaint: String::new() }
    }

    /// Competes, leads and competes again until `resign`; then gives back the Lease. For `warm`, see [`Self::term`].
    pub async fn run(mut self, warm: impl Future<Output = ()> + Send, resign: impl Future<Output = ()> + Send) {
        let resign = resign.shared();
        let mut ended = self.term(warm, resign.clone()).await;
        while let Err(lost) = ended {
            tracing::error!(%lost, "the term is over; this process competes again");
            tokio::select! {
                () = self.leadership.rests() => self.begin_anew(),
                () = resign.clone() => return,
            }
            ended = self.term(std::future::ready(()), resign.clone()).await;
        }
    }

    /// As another process would.
    fn begin_anew(&mut self) {
        let identity = identity();
        self.news = self.calls.news(identity.clone());
        self.election = Election::new(identity, self.times, now());
        self.led = false;
    }

    /// Competes and renews until `resign`, then gives the Lease back.
    ///
    /// `warm`: until then, or for the length of a lease, another replica's turn is better. Not for longer: over an older
    /// definition the caches need the conversion, which needs keys, which only one who leads makes.
    ///
    /// # Errors
    /// The Lease is lost.
    pub async fn term(&mut self, warm: impl Future<Output = ()> + Send, resign: impl Future<Output = ()> + Send) -> Result<(), Lost> {
        tokio::pin!(resign);
        let mut asked = tokio::select! {
            _ = timeout(self.times.duration, warm) => false,
            () = &mut resign => true,
        };
        if asked {
            self.election.resign(now());
        }
        loop {
            let before = self.election.holder().map(str::to_owned);
            let step = self.election.next(now(), Timestamp::now());
            self.publish();
            match step {
                Step::Wait(until) => tokio::select! {
                    biased;
                    () = &mut resign, if !asked => {
                        asked = true;
                        self.election.resign(now());
                    }
                    () = sleep_until(until) => {}
                    Some(()) = self.news.next() => self.election.news(now()),
                },
                Step::Read => {
                    let answer = timeout(self.times.retry, self.calls.read()).await;
                    self.hear(answer, false);
                }
                Step::Write(lease) => {
                    let answer = timeout(self.times.retry, self.calls.write(&lease)).await;
                    self.hear(answer, true);
                    self.begun(before.as_deref());
                }
                Step::End(ending) => return self.end(ending),
            }
        }
    }

    fn hear(&mut self, answer: Result<kube::Result<Answer>, tokio::time::error::Elapsed>, wrote: bool) {
        let (answer, complaint) = match answer {
            Ok(Ok(answer)) => (answer, String::new()),
            // Somebody else was faster: who, is read next.
            Ok(Err(kube::Error::Api(status))) if status.code == 409 => (Answer::Unknown, String::new()),
            Ok(Err(fault)) => (Answer::Unknown, fault.to_string()),
            Err(_) => (Answer::Unknown, format!("no answer within {:?}", self.times.retry)),
        };
        if complaint != self.complaint && !complaint.is_empty() {
            let what = if wrote { "written" } else { "read" };
            tracing::warn!(fault = complaint, "the Lease {NAME} cannot be {what}; it is tried again");
        }
        self.complaint = complaint;
        self.election.heard(answer, wrote, now());
    }

    /// Tells everybody until when this process may act.
    fn publish(&self) {
        let term = self.election.term().map_or(Term::Outside, Term::Until);
        self.term.send_if_modified(|told| std::mem::replace(told, term) != term);
    }

    /// Did the last write begin a term?
    fn begun(&mut self, before: Option<&str>) {
        if self.election.term().is_none() || self.led {
            return;
        }
        self.led = true;
        self.publish();
        telemetry::leader(NAME, true);
        let holder = self.election.holder();
        // Where it was made anew, this process waited for its own Lease.
        let other = before.filter(|before| Some(*before) != holder);
        let why = other.map_or_else(|| "nobody held it".to_owned(), |other| format!("{other} did not renew it any more"));
        tracing::info!(holder, why, "leading begins: the Lease {NAME} is this process's");
    }

    fn end(&self, ending: Ending) -> Result<(), Lost> {
        telemetry::leader(NAME, false);
        let why = "told to stop";
        match ending {
            Ending::Lost(lost) => return Err(lost),
            Ending::GivenBack if self.led => tracing::info!(why, "leading ends: the Lease {NAME} is given back"),
            Ending::GivenBack => {}
            Ending::Kept => tracing::warn!(why, "leading ends: the Lease {NAME} could not be given back; another waits until it runs out"),
        }
        Ok(())
    }
}

/// Words that no other candidate has: a container that is started anew has its predecessor's name, so they end with the random
/// key of a map, and the time.
fn identity() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{}_{:016x}", instance(), RandomState::new().hash_one(Timestamp::now().as_nanosecond()))
}
