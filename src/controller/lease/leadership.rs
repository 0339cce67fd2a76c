//! What everybody else asks of the election: may this process act, and how long?

use super::instant::{now, sleep_until};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedRwLockReadGuard, RwLock, watch};
use tokio::time::Instant;

/// When this process may act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// Not now.
    Outside,
    /// Until then, unless it is renewed.
    Until(Instant),
    /// Always: there is no election.
    Unlimited,
}

impl Term {
    fn holds(self, at: Instant) -> bool {
        match self {
            Term::Outside => false,
            Term::Until(end) => at < end,
            Term::Unlimited => true,
        }
    }
}

/// May this process act? Cheap to clone.
#[derive(Clone, Debug)]
pub struct Leadership {
    term: watch::Receiver<Term>,
    /// Held by whoever acts.
    acting: Arc<RwLock<()>>,
}

impl Leadership {
    /// That of the process whose term this is.
    pub fn of(term: &watch::Sender<Term>) -> Self {
        Leadership { term: term.subscribe(), acting: Arc::default() }
    }

    /// May it act at this moment?
    pub fn leads(&self) -> bool {
        self.term.borrow().holds(now())
    }

    /// How much of the term is left; nothing where it has no end.
    pub fn left(&self) -> Option<Duration> {
        match *self.term.borrow() {
            Term::Outside => Some(Duration::ZERO),
            Term::Until(end) => Some(end.saturating_duration_since(now())),
            Term::Unlimited => None,
        }
    }

    /// Returns once it may act.
    pub async fn begun(&self) {
        // Where nobody can begin a term any more, none begins.
        if self.term.clone().wait_for(|term| term.holds(now())).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// For as long as what is returned is held, something of this term acts: another one does not begin meanwhile, in which what it
    /// decided might be carried out.
    pub async fn acts(&self) -> OwnedRwLockReadGuard<()> {
        self.acting.clone().read_owned().await
    }

    /// Returns once nothing acts.
    pub async fn rests(&self) {
        drop(self.acting.write().await);
    }

    /// Returns once it may not act any more.
    pub async fn ended(&self) {
        let mut term = self.term.clone();
        loop {
            let until = match *term.borrow_and_update() {
                Term::Outside => return,
                Term::Until(end) if end <= now() => return,
                Term::Until(end) => Some(end),
                Term::Unlimited => None,
            };
            let end = async {
                match until {
                    Some(end) => sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = end => {}
                changed = term.changed() => if changed.is_err() { return },
            }
        }
    }
}
