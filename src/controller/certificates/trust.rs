//! Which authorities callers are to believe, and when a leaf of another authority is presented.
//!
//! Pure: what is seen, and the time, are arguments. A new authority is told to every caller before anybody presents its
//! leaf, and an old one is believed for a while after nobody presents its leaf any more. Nothing of this is stored: who
//! begins in the middle of it sees both authorities in the bundles, and lets them stand for as long.

use rustls::pki_types::CertificateDer;
use std::time::Duration;
use tokio::time::Instant;
use x509_cert::der::pem::{LineEnding, encode_string};

/// After a bundle was written, how long until every API server goes by it.
const SPREAD: Duration = Duration::from_secs(15);
/// After an authority was needed last, how long it is believed: the others present their leaf up to [`SPREAD`] longer.
const LEAVE: Duration = Duration::from_mins(1);

type Authority = CertificateDer<'static>;

/// The authorities that the bundles hold, each with the moment when it was needed last.
#[derive(Default)]
pub(super) struct Trust(Vec<(Authority, Instant)>);

impl Trust {
    /// These are stored, or presented.
    pub(super) fn need(&mut self, authorities: impl IntoIterator<Item = Authority>, now: Instant) {
        for authority in authorities {
            match self.0.iter_mut().find(|(known, _)| *known == authority) {
                Some((_, needed)) => *needed = now,
                None => self.0.push((authority, now)),
            }
        }
    }

    /// These stand in a bundle: another replica may present the leaf of one that is not known here.
    pub(super) fn meet(&mut self, authorities: impl IntoIterator<Item = Authority>, now: Instant) {
        for authority in authorities {
            if !self.0.iter().any(|(known, _)| *known == authority) {
                self.0.push((authority, now));
            }
        }
    }

    /// The bundle, in PEM; what was not needed for long leaves it.
    pub(super) fn bundle(&mut self, now: Instant) -> String {
        self.0.retain(|(_, needed)| now.duration_since(*needed) < LEAVE);
        // Whatever fits into a certificate is written as text.
        let text = |(authority, _): &(Authority, Instant)| encode_string("CERTIFICATE", LineEnding::LF, authority).unwrap_or_default();
        self.0.iter().map(text).collect()
    }

    /// Is an authority on its way in or out?
    pub(super) fn is_changing(&self) -> bool {
        self.0.len() > 1
    }
}

/// How many of the places believe an authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Believed {
    /// None of them.
    Nowhere,
    /// Some of them, and others not.
    Somewhere,
    /// Each of them.
    Everywhere,
}

impl Believed {
    pub(super) fn of(places: &[bool]) -> Self {
        match (places.contains(&true), places.contains(&false)) {
            (true, false) => Believed::Everywhere,
            (true, true) => Believed::Somewhere,
            (false, _) => Believed::Nowhere,
        }
    }
}

/// Since when a new authority is believed everywhere.
#[derive(Default)]
pub(super) struct Handover(Option<(Vec<u8>, Instant)>);

impl Handover {
    /// Is the leaf of the new authority to be presented, in the place of one whose authority is believed as `old` says?
    pub(super) fn is_due(&mut self, authority: &[u8], new: Believed, old: Believed, now: Instant) -> bool {
        if new != Believed::Everywhere {
            self.0 = None;
            // The old leaf is of no use either.
            return old == Believed::Nowhere;
        }
        let since = match &self.0 {
            Some((told, since)) if told == authority => *since,
            _ => {
                self.0 = Some((authority.to_vec(), now));
                now
            }
        };
        old != Believed::Everywhere || now.duration_since(since) >= SPREAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Believed::{Everywhere, Nowhere, Somewhere};

    fn authority(byte: u8) -> Authority {
        CertificateDer::from(vec![byte])
    }

    fn count(bundle: &str) -> usize {
        bundle.matches("BEGIN CERTIFICATE").count()
    }

    #[test]
    fn an_authority_leaves_after_nobody_needed_it_for_long() {
        let (mut trust, start) = (Trust::default(), Instant::now());
        trust.need([authority(1)], start);
        assert_eq!(trust.bundle(start), "-----BEGIN CERTIFICATE-----\nAQ==\n-----END CERTIFICATE-----\n");
        trust.need([authority(1), authority(2)], start + SPREAD);
        let swapped = start + 2 * SPREAD;
        for (after, size) in [(0, 2), (44_999, 2), (45_000, 1)] {
            let at = swapped + Duration::from_millis(after);
            trust.need([authority(2)], at);
            assert_eq!((count(&trust.bundle(at)), trust.is_changing()), (size, size > 1), "{after} ms");
        }
    }

    #[test]
    fn what_stands_in_a_bundle_already_leaves_as_late() {
        let (mut trust, start) = (Trust::default(), Instant::now());
        trust.need([authority(2)], start);
        for seconds in 0..60 {
            trust.need([authority(2)], start + Duration::from_secs(seconds));
            trust.meet([authority(1), authority(2)], start + Duration::from_secs(seconds));
        }
        assert_eq!(count(&trust.bundle(start + Duration::from_millis(59_999))), 2);
        assert_eq!(count(&trust.bundle(start + LEAVE)), 1, "meeting it again does not keep it");
    }

    #[test]
    fn a_new_leaf_waits_until_everybody_believes_it() {
        let start = Instant::now();
        let mut handover = Handover::default();
        for (after, new, old, due) in [
            (0, Nowhere, Everywhere, false),
            (5, Somewhere, Everywhere, false),
            (10, Everywhere, Everywhere, false),
            (20, Everywhere, Everywhere, false),
            (21, Somewhere, Everywhere, false),
            (22, Everywhere, Everywhere, false),
            (36, Everywhere, Everywhere, false),
            (37, Everywhere, Everywhere, true),
        ] {
            assert_eq!(handover.is_due(b"new", new, old, start + Duration::from_secs(after)), due, "{after}");
        }
        assert!(!handover.is_due(b"newer", Everywhere, Everywhere, start + Duration::from_secs(38)), "another authority waits anew");
    }

    #[test]
    fn a_new_leaf_comes_at_once_where_the_old_one_is_not_believed() {
        for (new, old) in [(Nowhere, Nowhere), (Somewhere, Nowhere), (Everywhere, Nowhere), (Everywhere, Somewhere)] {
            assert!(Handover::default().is_due(b"new", new, old, Instant::now()), "{new:?} {old:?}");
        }
        assert!(!Handover::default().is_due(b"new", Somewhere, Somewhere, Instant::now()));
    }
}
