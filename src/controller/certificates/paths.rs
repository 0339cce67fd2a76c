//! The paths that only the API server knows: it reads them where the bundle stands, and who calls another one is not heard.
//!
//! Each ends in a secret that follows from the key of the leaf, so every replica knows it, and another leaf brings another one.
//! A replica answers at the new path as soon as it has read the new key, which is written to the callers a while later, and at
//! the old one until nobody can call it any more.

use crate::kinds::paths;
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
/// After a leaf was stored, how long until every replica that is Ready has read it: a watch that broke off is taken up again
/// within half a minute or so.
const SPREAD: Duration = Duration::from_secs(90);
/// After a path was needed last, how long it is answered.
const LEAVE: Duration = Duration::from_mins(3);
/// How long a call at a path that is not known waits: the API server may have heard of it earlier than this replica.
const WAIT: Duration = Duration::from_secs(1);

/// Digests of the paths that are answered: how long a search takes tells nothing of them.
type Answered = BTreeSet<Vec<u8>>;

/// The keys that paths follow from, in the order in which they were stored.
pub(super) struct Paths {
    keys: Vec<Known>,
    answered: watch::Sender<Answered>,
}

struct Known {
    leaf_key: Vec<u8>,
    /// When it was met first.
    met: Instant,
    /// When it was stored, presented or called last.
    needed: Instant,
    /// Stands a path of it where the API server reads?
    called: bool,
}

impl Paths {
    pub(super) fn none() -> Self {
        Paths { keys: Vec::new(), answered: watch::Sender::default() }
    }

    /// The leaf with the first of these keys is presented, that with the last one is stored, and these paths are called.
    pub(super) fn need(&mut self, leaf_keys: impl IntoIterator<Item = Vec<u8>>, called: &[String], now: Instant) {
        let bases = paths::all();
        let is_called = |leaf_key: &[u8]| bases.iter().any(|base| called.contains(&secret(base, leaf_key)));
        for known in &mut self.keys {
            known.called = is_called(&known.leaf_key);
            if known.called {
                known.needed = now;
            }
        }
        for leaf_key in leaf_keys {
            let known = self.keys.iter().position(|known| known.leaf_key == leaf_key).map(|at| self.keys.remove(at));
            let known = known.unwrap_or_else(|| Known { called: is_called(&leaf_key), leaf_key, met: now, needed: now });
            self.keys.push(Known { needed: now, ..known });
        }
        self.keys.retain(|known| now.duration_since(known.needed) < LEAVE);
        let all = self.keys.iter().flat_map(|known| bases.iter().map(|base| hidden(&secret(base, &known.leaf_key)))).collect();
        self.answered.send_if_modified(|answered| {
            let differs = *answered != all;
            *answered = all;
            differs
        });
    }

    /// The path to call: that of the stored leaf, once all replicas have read it, and until then the one that is called.
    pub(super) fn current(&self, base: &str, now: Instant) -> Option<String> {
        let stored = self.keys.last()?;
        let has_spread = stored.called || now.duration_since(stored.met) >= SPREAD;
        let known = if has_spread { None } else { self.keys.iter().rev().find(|known| known.called) };
        Some(secret(base, &known.unwrap_or(stored).leaf_key))
    }

    /// Is this one answered?
    pub(super) fn knows(&self, path: &str) -> bool {
        self.answered.borrow().contains(&hidden(path))
    }

    /// Is a path on its way in or out?
    pub(super) fn is_changing(&self) -> bool {
        self.keys.len() > 1
    }

    /// What a server asks of a call: is its path one that the API server was told?
    pub(super) fn told(&self) -> impl Fn(&str) -> BoxFuture<'static, bool> + Send + Sync + 'static {
        let answered = self.answered.subscribe();
        move |path| {
            let (mut answered, path) = (answered.clone(), hidden(path));
            async move { matches!(timeout(WAIT, answered.wait_for(|answered| answered.contains(&path))).await, Ok(Ok(_))) }.boxed()
        }
    }
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
        let path = |key: &str| secret("/convert", key.as_bytes());
        let mut called = [path("old")];
        paths.need([b"old".to_vec()], &[], start);
        assert_eq!(paths.current("/convert", start), Some(path("old")), "there is no other");
        let renewed = start + LEAVE;
        paths.need([b"old".to_vec(), b"new".to_vec()], &called, renewed);
        for (after, calls, answers_old) in
            [(0, "old", true), (89_999, "old", true), (90_000, "new", true), (269_999, "new", true), (270_000, "new", false)]
        {
            let at = renewed + Duration::from_millis(after);
            paths.need([b"new".to_vec()], &called, at);
            assert_eq!(paths.current("/convert", at), Some(path(calls)), "{after} ms");
            called = [path(calls)];
            assert_eq!((paths.knows(&path("old")), paths.knows(&path("new"))), (answers_old, true), "{after} ms");
        }
        assert!(!paths.is_changing());
    }

    #[test]
    fn the_stored_leaf_is_gone_by_whatever_was_met_in_between() {
        let (mut paths, start) = (Paths::none(), Instant::now());
        let path = |key: &str| secret("/convert", key.as_bytes());
        let called = [path("first")];
        paths.need([b"first".to_vec()], &called, start);
        paths.need([b"first".to_vec(), b"lost".to_vec()], &called, start);
        // The one that is presented is stored again.
        let later = start + SPREAD * 2;
        paths.need([b"first".to_vec()], &called, later);
        assert_eq!(paths.current("/convert", later), Some(path("first")));
        // A leader that meets both late calls what is called.
        let mut paths = Paths::none();
        paths.need([b"first".to_vec(), b"second".to_vec()], &[path("second")], start);
        assert_eq!(paths.current("/convert", start), Some(path("second")));
    }

    #[test]
    fn what_is_still_called_is_still_answered() {
        let (mut paths, start) = (Paths::none(), Instant::now());
        let called = [secret("/convert", b"old")];
        paths.need([b"old".to_vec()], &[], start);
        for seconds in 0..1000 {
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
