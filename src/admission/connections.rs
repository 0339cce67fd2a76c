//! How many connections are held at once, and by whom.
//!
//! Where a newcomer finds no place, one is made: a connection without a request that runs is closed. First those go whose
//! client has never called as the API server does, of the address that holds most, and the one that was idle for longest. Where
//! all run, the oldest of an address that holds many times more than the newcomer's is closed.

use crate::telemetry;
use axum_server::accept::Accept;
use socket2::SockRef;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::future::{Ready, ready};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tower_http::add_extension::AddExtension;

/// What one address may hold. An API server calls with a connection for each write that waits, of which it runs 200 at a time
/// unless told otherwise, and for each conversion.
const EACH: usize = 250;

/// What all may hold together: less than the 1,024 files that a process may open where nobody asked for more.
const ALL: usize = 800;

/// So many times more than the newcomer's an address holds of which a connection is closed on which a request runs.
const MANY: usize = 4;

/// How long a client may take nothing of what is sent to it.
const DEAF: Duration = Duration::from_secs(10);

/// Accepts connections, up to so many at once.
#[derive(Clone, Debug)]
pub struct Limited {
    each: usize,
    all: usize,
    table: Arc<Mutex<Table>>,
    /// Told of each connection that is closed for want of a place.
    closed: fn(),
}

/// The connections that are held, in the order in which they came.
#[derive(Debug, Default)]
struct Table {
    next: u64,
    held: BTreeMap<u64, Held>,
}

#[derive(Debug)]
struct Held {
    from: IpAddr,
    /// Requests that run.
    running: usize,
    /// Has its client called as the API server does?
    proved: bool,
    /// When it came, or answered last, as a number that grows.
    since: u64,
    /// Dropped when the connection is to end.
    _keep: oneshot::Sender<()>,
}

impl Default for Limited {
    fn default() -> Self {
        Limited::to(EACH, ALL, telemetry::connection_refused)
    }
}

impl Limited {
    /// At most `each` connections of an address, and `all` together.
    pub(super) fn to(each: usize, all: usize, closed: fn()) -> Self {
        Limited { each, all, table: Arc::default(), closed }
    }

    /// A place for one more connection from there, and what tells when it is to end; nothing where none can be made.
    fn place(&self, from: IpAddr) -> Option<(Place, oneshot::Receiver<()>)> {
        let mut table = self.table();
        let its = table.held.values().filter(|held| held.from == from).count();
        if its >= self.each {
            table.end_one(Some(from), self.closed)?;
        } else if table.held.len() >= self.all {
            table.end_one(None, self.closed).or_else(|| table.end_one_of_many(its))?;
        }
        let (keep, ended) = oneshot::channel();
        let number = table.tick();
        table.held.insert(number, Held { from, running: 0, proved: false, since: number, _keep: keep });
        Some((Place { of: self.clone(), number }, ended))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// How many of these each address holds.
    fn counts(&self, of: impl Fn(&Held) -> bool) -> BTreeMap<IpAddr, usize> {
        let mut counts = BTreeMap::new();
        for held in self.held.values().filter(|held| of(held)) {
            *counts.entry(held.from).or_default() += 1;
        }
        counts
    }

    /// Ends one that can be spared: of an address, or of any.
    fn end_one(&mut self, of: Option<IpAddr>, closed: fn()) -> Option<()> {
        let counts = self.counts(|held| !held.proved);
        let spared = self.held.iter().filter(|(_, held)| held.running == 0 && of.is_none_or(|of| held.from == of));
        let rank = |held: &Held| (held.proved, Reverse(counts.get(&held.from).copied()), held.since);
        let victim = spared.min_by_key(|(_, held)| rank(held)).map(|(number, _)| *number);
        closed();
        self.held.remove(&victim?).map(drop)
    }

    /// Ends the oldest of the address that holds most, where that is many times more than `its`.
    fn end_one_of_many(&mut self, its: usize) -> Option<()> {
        let (most, count) = self.counts(|_| true).into_iter().max_by_key(|(_, count)| *count)?;
        let victim = self.held.iter().find(|(_, held)| held.from == most && count > MANY * (its + 1)).map(|(number, _)| *number);
        self.held.remove(&victim?).map(drop)
    }
}

/// Held as long as its connection.
#[derive(Debug)]
pub struct Place {
    of: Limited,
    number: u64,
}

impl Place {
    fn change(&self, change: impl FnOnce(&mut Held, u64)) {
        let mut table = self.of.table();
        let now = table.tick();
        if let Some(held) = table.held.get_mut(&self.number) {
            change(held, now);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.of.table().held.remove(&self.number);
    }
}

/// A request of a client that called as the API server does: while it runs, and until its answer was taken, its connection is not
/// closed.
pub(super) struct Running(Arc<Place>);

impl Running {
    /// It begins.
    pub(super) fn on(place: Arc<Place>) -> Self {
        place.change(|held, _| (held.proved, held.running) = (true, held.running + 1));
        Running(place)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.change(|held, now| (held.running, held.since) = (held.running.saturating_sub(1), now));
    }
}

impl<S> Accept<TcpStream, S> for Limited {
    type Stream = Ended;
    type Service = AddExtension<S, Arc<Place>>;
    type Future = Ready<io::Result<(Self::Stream, Self::Service)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        ready(stream.peer_addr().and_then(|peer| {
            let (place, ended) = self.place(peer.ip().to_canonical()).ok_or(ErrorKind::QuotaExceeded)?;
            stream.set_nodelay(true)?;
            SockRef::from(&stream).set_tcp_user_timeout(Some(DEAF))?;
            Ok((Ended { stream, ended: Some(ended) }, AddExtension::new(service, Arc::new(place))))
        }))
    }
}

/// A connection that can be ended while nothing comes.
#[derive(Debug)]
pub struct Ended {
    stream: TcpStream,
    /// Nothing once it has ended.
    ended: Option<oneshot::Receiver<()>>,
}

impl Ended {
    fn poll_ended(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if let Some(ended) = &mut self.ended
            && pin!(ended).poll(context).is_pending()
        {
            return Ok(());
        }
        self.ended = None;
        Err(ErrorKind::ConnectionAborted.into())
    }
}

impl AsyncRead for Ended {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_ended(context)?;
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Ended {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const API_SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    fn host(number: u8) -> IpAddr {
        IpAddr::from([10, 0, 1, number])
    }

    /// Has it been told to end?
    fn is_ended(ended: &mut oneshot::Receiver<()>) -> bool {
        ended.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    #[test]
    fn a_newcomer_takes_the_place_of_who_is_idle_and_holds_most() {
        let limited = Limited::to(3, 4, || ());
        let mut hoard: Vec<_> = (0..3).map(|_| limited.place(host(1)).expect("a place")).collect();
        let mut other = limited.place(host(2)).expect("the last place");
        let called = limited.place(API_SERVER).expect("room is made");
        assert!(is_ended(&mut hoard[0].1) && !is_ended(&mut hoard[1].1) && !is_ended(&mut other.1));
        let again = limited.place(host(2)).expect("room is made");
        assert!(is_ended(&mut hoard[1].1), "two are more than one");
        drop((hoard, other, again, called));
        assert!(limited.table().held.is_empty(), "a connection that ended is remembered");
    }

    #[test]
    fn an_address_at_its_limit_takes_places_of_its_own() {
        let limited = Limited::to(2, 9, || ());
        let mut held: Vec<_> = (0..3).map(|_| limited.place(host(1)).expect("a place")).collect();
        assert_eq!(held.iter_mut().map(|(_, ended)| is_ended(ended)).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn what_runs_is_never_closed_and_what_is_proved_is_closed_last() {
        let limited = Limited::to(9, 3, || ());
        let mut held: Vec<_> =
            (0..3).map(|number| limited.place(host(number)).map(|(place, ended)| (Arc::new(place), ended)).expect("a place")).collect();
        drop(Running::on(held[0].0.clone()));
        let running = Running::on(held[1].0.clone());
        let mut ends = |number: usize| is_ended(&mut held[number].1);
        let newcomer = limited.place(host(3)).expect("room is made");
        assert!(ends(2) && !ends(1) && !ends(0));
        let newcomer = Running::on(Arc::new(newcomer.0));
        let last = limited.place(host(3)).expect("room is made");
        assert!(ends(0) && !ends(1), "where all others run");
        let last = Running::on(Arc::new(last.0));
        assert!(limited.place(host(4)).is_none() && !ends(1), "where all run nobody else is let in");
        drop((running, newcomer, last));
    }

    #[test]
    fn an_address_whose_requests_hold_nearly_all_makes_room_for_another() {
        let limited = Limited::to(9, 9, || ());
        let mut held: Vec<_> =
            (0..9).map(|_| limited.place(host(1)).map(|(place, ended)| (Running::on(Arc::new(place)), ended)).expect("a place")).collect();
        let called = Running::on(Arc::new(limited.place(API_SERVER).expect("room is made").0));
        assert!(is_ended(&mut held[0].1) && !is_ended(&mut held[1].1));
        assert!(limited.place(host(1)).is_none(), "it holds most itself");
        drop(called);
    }

    #[test]
    fn many_addresses_keep_no_api_server_out() {
        let limited = Limited::default();
        let mut held: Vec<_> =
            (0..10).flat_map(|hoarder| (0..EACH).map(move |_| hoarder)).map(|hoarder| limited.place(host(hoarder))).collect();
        let mut called = limited.place(API_SERVER).expect("room is made");
        for hoarder in 0..200 {
            held.push(limited.place(host(hoarder)));
        }
        assert!(!is_ended(&mut called.1), "others hold more, and longer");
    }
}
