//! The paths that only the API server knows: it reads them where the bundle stands, and who calls another one is not heard.
//!
//! Each ends in a secret that follows from the key of the leaf, so every replica knows it, and another leaf brings another one.
//! A replica answers at the new path as soon as it has read the new key, which is written to the callers a while later, and at
//! the old one until nobody can call it any more.

use super::trust::{LEAVE, SPREAD};
use crate::kinds::{of_each, paths};
use futures::FutureExt;
use futures::future::BoxFuture;
use ring::digest::{SHA256, digest};
use ring::hmac::{HMAC_SHA256, Key, sign};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// Bytes of a secret.
const LENGTH: usize = 16;
/// How long a call at a path that is not known waits: the API server may have heard of it earlier than this replica.
const WAIT: Duration = Duration::from_secs(1);

/// Digests of the paths that are answered: how long a search takes tells nothing of them.
type Known = BTreeSet<Vec<u8>>;

/// The keys that paths follow from.
pub(super) struct Paths {
    /// Each with the moment when it was met first, and when it was needed last.
    keys: Vec<(Vec<u8>, Instant, Instant)>,
    known: watch::Sender<Known>,
}

impl Paths {
    pub(super) fn none() -> Self {
        Paths { keys: Vec::new(), known: watch::Sender::default() }
    }

    /// These leaves are stored, or presented, and these paths are called.
    pub(super) fn need(&mut self, leaf_keys: impl IntoIterator<Item = Vec<u8>>, called: &[String], now: Instant) {
        let bases = bases();
        for (key, _, needed) in &mut self.keys {
            if bases.iter().any(|base| called.contains(&secret(base, key))) {
                *needed = now;
            }
        }
        for leaf_key in leaf_keys {
            match self.keys.iter_mut().find(|(known, ..)| *known == leaf_key) {
                Some((.., needed)) => *needed = now,
                None => self.keys.push((leaf_key, now, now)),
            }
        }
        self.keys.retain(|(.., needed)| now.duration_since(*needed) < LEAVE);
        let all = self.keys.iter().flat_map(|(key, ..)| bases.iter().map(|base| hidden(&secret(base, key)))).collect();
        self.known.send_if_modified(|known| {
            let differs = *known != all;
            *known = all;
            differs
        });
    }

    /// The path to call: that of the newest leaf which all replicas have read by now.
    pub(super) fn current(&self, base: &str, now: Instant) -> Option<String> {
        let has_spread = |(_, met, _): &&(Vec<u8>, Instant, Instant)| now.duration_since(*met) >= SPREAD;
        let (key, ..) = self.keys.iter().rev().find(has_spread).or(self.keys.first())?;
        Some(secret(base, key))
    }

    /// Is this one answered?
    pub(super) fn knows(&self, path: &str) -> bool {
        self.known.borrow().contains(&hidden(path))
    }

    /// Is a path on its way in or out?
    pub(super) fn is_changing(&self) -> bool {
        self.keys.len() > 1
    }

    /// What a server asks of a call: is its path one that the API server was told?
    pub(super) fn told(&self) -> impl Fn(&str) -> BoxFuture<'static, bool> + Send + Sync + 'static {
        let known = self.known.subscribe();
        move |path| {
            let (mut known, path) = (known.clone(), hidden(path));
            async move { matches!(timeout(WAIT, known.wait_for(|known| known.contains(&path))).await, Ok(Ok(_))) }.boxed()
        }
    }
}

/// Every path, without its secret.
fn bases() -> Vec<String> {
    let mut bases = of_each!(K: String => paths::judgement(K::PATH));
    bases.push(paths::CONVERSION.to_owned());
    bases
}

/// A path, with its secret.
fn secret(base: &str, leaf_key: &[u8]) -> String {
    let signed = sign(&Key::new(HMAC_SHA256, leaf_key), base.as_bytes());
    signed.as_ref().iter().take(LENGTH).fold(format!("{base}/"), |mut path, byte| {
        // Writing to a string cannot fail.
        let _ = write!(path, "{byte:02x}");
        path
    })
}

fn hidden(path: &str) -> Vec<u8> {
    digest(&SHA256, path.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_path_is_answered_at_once_and_called_later_and_the_old_one_is_answered_for_a_while() {
        let (mut paths, start) = (Paths::none(), Instant::now());
        assert_eq!(paths.current("/convert", start), None);
        let path = |key: &[u8]| secret("/convert", key);
        paths.need([b"old".to_vec()], &[], start);
        assert_eq!(paths.current("/convert", start), Some(path(b"old")), "there is no other");
        let renewed = start + LEAVE;
        paths.need([b"old".to_vec(), b"new".to_vec()], &[], renewed);
        for (after, called, answered) in [(0, "old", 2), (14_999, "old", 2), (15_000, "new", 2), (59_999, "new", 2), (60_000, "new", 1)] {
            let at = renewed + Duration::from_millis(after);
            paths.need([b"new".to_vec()], &[], at);
            assert_eq!(paths.current("/convert", at), Some(path(called.as_bytes())), "{after} ms");
            assert_eq!((paths.knows(&path(b"old")), paths.knows(&path(b"new"))), (answered == 2, true), "{after} ms");
        }
        assert!(!paths.is_changing());
    }

    #[test]
    fn what_is_still_called_is_still_answered() {
        let (mut paths, start) = (Paths::none(), Instant::now());
        let called = [secret("/convert", b"old")];
        paths.need([b"old".to_vec()], &[], start);
        for seconds in 0..100 {
            paths.need([b"new".to_vec()], &called, start + Duration::from_secs(seconds));
        }
        assert!(paths.knows(&called[0]));
    }

    #[test]
    fn a_secret_is_of_one_path_and_one_leaf_and_may_stand_in_a_service_reference() {
        let path = secret("/validate/one", b"key");
        let end = path.strip_prefix("/validate/one/").expect("the path");
        assert!(end.len() == 2 * LENGTH && end.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c)), "{path}");
        assert!(!secret("/validate/other", b"key").ends_with(end) && !secret("/validate/one", b"another").ends_with(end));
    }

    #[tokio::test(start_paused = true)]
    async fn a_path_that_comes_to_be_known_is_waited_for() {
        let mut paths = Paths::none();
        let told = paths.told();
        let path = secret("/convert", b"key");
        assert!(!told(&path).await, "nobody was told it");
        let call = tokio::spawn(told(&path));
        tokio::time::sleep(WAIT / 2).await;
        paths.need([b"key".to_vec()], &[], Instant::now());
        assert!(call.await.expect("it ends") && told(&path).await && !told("/convert").await);
    }
}
