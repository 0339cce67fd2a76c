//! How many connections are held at once, and by whom.

use crate::telemetry;
use axum_server::accept::Accept;
use socket2::SockRef;
use std::collections::BTreeMap;
use std::future::{Ready, ready};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tower_http::add_extension::AddExtension;

/// What one address may hold, so that no client that sits on its connections keeps an API server out. An API server calls with
/// a connection for each write that waits, of which it runs 200 at a time unless told otherwise, and for each conversion.
const EACH: usize = 250;

/// What all may hold together: less than the 1,024 files that a process may open where nobody asked for more.
const ALL: usize = 800;

/// How long a client may take nothing of what is sent to it.
const DEAF: Duration = Duration::from_secs(10);

/// Accepts connections, up to so many at once: further ones are closed unheard.
#[derive(Clone, Debug)]
pub struct Limited {
    each: usize,
    all: usize,
    held: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
    /// Told of each connection that is closed unheard.
    refused: fn(),
}

impl Default for Limited {
    fn default() -> Self {
        Limited::to(EACH, ALL, telemetry::connection_refused)
    }
}

impl Limited {
    /// At most `each` connections of an address, and `all` together.
    pub(super) fn to(each: usize, all: usize, refused: fn()) -> Self {
        Limited { each, all, held: Arc::default(), refused }
    }

    /// A place for one more connection from there; nothing where there is none. No address gets more than are still free: where
    /// few are left each gets a part of those, and it takes many addresses to hold all.
    fn place(&self, from: IpAddr) -> Option<Place> {
        let mut held = self.held();
        let (its, all) = (held.get(&from).copied().unwrap_or_default(), held.values().sum::<usize>());
        if its >= self.each.min(self.all.saturating_sub(all)) {
            return None;
        }
        held.insert(from, its + 1);
        Some(Place { of: self.clone(), from })
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held as long as its connection.
#[derive(Debug)]
pub struct Place {
    of: Limited,
    from: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.of.held();
        if let Some(its) = held.get_mut(&self.from) {
            *its -= 1;
        }
        held.retain(|_, its| *its > 0);
    }
}

impl<S> Accept<TcpStream, S> for Limited {
    type Stream = TcpStream;
    type Service = AddExtension<S, Arc<Place>>;
    type Future = Ready<io::Result<(Self::Stream, Self::Service)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        ready(stream.peer_addr().and_then(|peer| {
            let Some(place) = self.place(peer.ip().to_canonical()) else {
                (self.refused)();
                return Err(ErrorKind::QuotaExceeded.into());
            };
            stream.set_nodelay(true)?;
            SockRef::from(&stream).set_tcp_user_timeout(Some(DEAF))?;
            Ok((stream, AddExtension::new(service, Arc::new(place))))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const API_SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    #[test]
    fn one_address_keeps_no_other_out_and_places_come_back() {
        let limited = Limited::to(2, 4, || ());
        let mut others: Vec<Place> = (0..3).filter_map(|_| limited.place(OTHER)).collect();
        assert_eq!(others.len(), 2, "an address got more than its part");
        let first = limited.place(API_SERVER);
        assert!(first.is_some(), "another address kept it out");
        assert!(limited.place(API_SERVER).is_none(), "more than are free");
        others.pop();
        assert!(limited.place(API_SERVER).is_some(), "a place did not come back");
        drop((others, first));
        assert!(limited.held().is_empty(), "an address that left is remembered");
    }

    #[test]
    fn it_takes_many_addresses_to_hold_all() {
        let limited = Limited::default();
        let taken = |host: u8| (0..ALL).map_while(|_| limited.place(IpAddr::from([10, 0, 1, host]))).collect::<Vec<_>>();
        let mut held = Vec::new();
        for hoarder in 0..6 {
            held.push(taken(hoarder));
        }
        assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), [250, 250, 150, 75, 38, 19]);
        assert!(limited.place(API_SERVER).is_some(), "six of them keep an API server out");
    }
}
