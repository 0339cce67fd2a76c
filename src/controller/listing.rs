//! What has been listed, scope by scope. No look is taken before all is listed that it may read; a namespace in which nothing
//! can be listed keeps no other one waiting.

use super::cache::Scope;
use kube::runtime::watcher;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::watch::Sender;

/// How far the watches of every scope are.
#[derive(Clone, Debug)]
pub struct Listing(Arc<Sender<BTreeMap<Scope, Left>>>);

/// What is left to be listed in one scope.
#[derive(Clone, Debug)]
struct Left {
    watches: usize,
    /// Why the API server lets nobody list there: the namespace is gone, or the rights in it.
    refusal: Option<String>,
}

impl Listing {
    /// Nothing is listed yet, of so many watches in each scope.
    pub fn of(scopes: &[Scope], watches: usize) -> Self {
        let left = scopes.iter().map(|scope| (scope.clone(), Left { watches, refusal: None }));
        Listing(Arc::new(Sender::new(left.collect())))
    }

    /// A watch has listed all that it covers, for the first time.
    pub fn listed(&self, scope: &Scope) {
        self.note(scope, |left| *left = Left { watches: left.watches.saturating_sub(1), refusal: None });
    }

    /// A watch has failed.
    pub fn failed(&self, scope: &Scope, error: &watcher::Error) {
        if let watcher::Error::InitialListFailed(kube::Error::Api(status)) = error
            && [403, 404].contains(&status.code)
            && *scope != Scope::Cluster
        {
            self.note(scope, |left| left.refusal = Some(status.message.clone()));
        }
    }

    fn note(&self, scope: &Scope, note: impl FnOnce(&mut Left)) {
        self.0.send_modify(|all| {
            if let Some(left) = all.get_mut(scope) {
                note(left);
            }
        });
    }

    /// Returns once everything is listed that can be.
    pub async fn synced(&self) {
        // The sender is in `self`, so the channel is open for as long as this borrow.
        let _ = self.0.subscribe().wait_for(|all| all.values().all(|left| left.watches == 0 || left.refusal.is_some())).await;
    }

    /// Is everything listed that stands in this namespace?
    pub fn covers(&self, namespace: &str) -> bool {
        self.0.borrow().iter().any(|(scope, left)| scope.covers(namespace) && left.watches == 0)
    }

    /// Why nothing can be listed in this namespace, in the API server's words.
    pub fn refusal(&self, namespace: &str) -> Option<String> {
        self.0.borrow().iter().find(|(scope, _)| scope.covers(namespace)).and_then(|(_, left)| left.refusal.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use kube::core::Status;

    fn answered(code: u16) -> watcher::Error {
        watcher::Error::InitialListFailed(kube::Error::Api(Box::new(Status::failure("no", "no").with_code(code))))
    }

    #[test]
    fn a_namespace_that_nobody_may_list_keeps_no_other_one_waiting() {
        let [shop, bank] = ["shop", "bank"].map(|name| Scope::Namespace(name.to_owned()));
        let listing = Listing::of(&[shop.clone(), bank.clone()], 2);
        let synced = || listing.synced().now_or_never().is_some();
        listing.listed(&shop);
        listing.listed(&shop);
        assert!(listing.covers("shop") && !listing.covers("bank") && !synced());
        listing.failed(&bank, &answered(500));
        assert!(!synced(), "it is a matter of time");
        listing.failed(&bank, &answered(403));
        assert!(synced() && !listing.covers("bank"), "nothing is decided there");
        assert_eq!((listing.refusal("bank").as_deref(), listing.refusal("shop")), (Some("no"), None));
        listing.listed(&bank);
        assert!(!synced() && listing.refusal("bank").is_none(), "the rights are back");
        listing.listed(&bank);
        assert!(synced() && listing.covers("bank") && !listing.covers("other"));
    }

    #[test]
    fn rights_that_lack_everywhere_are_waited_for() {
        let listing = Listing::of(&[Scope::Cluster], 1);
        listing.failed(&Scope::Cluster, &answered(403));
        assert!(listing.synced().now_or_never().is_none());
        listing.listed(&Scope::Cluster);
        assert!(listing.synced().now_or_never().is_some() && listing.covers("any"));
    }
}
