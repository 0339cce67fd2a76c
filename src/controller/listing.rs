//! What has been listed, scope by scope. No look is taken before all is listed that it may read; a namespace in which nothing
//! can be listed keeps no other one waiting.

use crate::telemetry;
use kube::runtime::watcher;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::watch::Sender;

/// What one watch covers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// What stands in no namespace.
    ClusterScoped,
    /// Every namespace.
    Cluster,
    /// One namespace.
    Namespace(String),
}

impl Scope {
    pub(super) fn covers(&self, namespace: &str) -> bool {
        match self {
            Scope::ClusterScoped => namespace.is_empty(),
            Scope::Cluster => true,
            Scope::Namespace(own) => own == namespace,
        }
    }

    /// The namespace, empty where it is none, or every one.
    fn namespace(&self) -> &str {
        if let Scope::Namespace(namespace) = self { namespace } else { "" }
    }

    /// Is what it covers read by looks at objects in this namespace?
    fn is_read_in(&self, namespace: &str) -> bool {
        *self == Scope::ClusterScoped || self.covers(namespace)
    }
}

/// How far the watches of every scope are.
#[derive(Clone, Debug)]
pub struct Listing(Arc<Sender<BTreeMap<Scope, Left>>>);

/// What is left to be listed in one scope.
#[derive(Clone, Debug)]
struct Left {
    watches: usize,
    /// Why the API server lets nobody list some resources there: the namespace is gone, or the rights in it.
    refusals: BTreeMap<String, String>,
}

impl Listing {
    /// Nothing is listed yet, of so many watches in each of these scopes, and so many outside of namespaces.
    pub fn of(scopes: &[Scope], watches: usize, cluster_scoped: usize) -> Self {
        let within = scopes.iter().map(|scope| (scope.clone(), watches));
        let left = |(scope, watches)| (scope, Left { watches, refusals: BTreeMap::new() });
        Listing(Arc::new(Sender::new(within.chain([(Scope::ClusterScoped, cluster_scoped)]).map(left).collect())))
    }

    /// A watch has listed all that it covers, for the first time.
    pub fn listed(&self, scope: &Scope) {
        self.note(scope, |left| left.watches = left.watches.saturating_sub(1));
    }

    /// A watch of a resource works, after it has failed, too.
    pub fn works(&self, scope: &Scope, resource: &str) {
        self.note(scope, |left| drop(left.refusals.remove(resource)));
        telemetry::blind(scope.namespace(), resource, false);
    }

    /// A watch of a resource has failed. From then on nobody knows what stands in its scope, whatever was listed before.
    pub fn failed(&self, scope: &Scope, resource: &str, error: &watcher::Error) {
        if let watcher::Error::InitialListFailed(kube::Error::Api(status)) = error
            && [403, 404].contains(&status.code)
        {
            self.note(scope, |left| drop(left.refusals.insert(resource.to_owned(), status.message.clone())));
            telemetry::blind(scope.namespace(), resource, true);
        }
    }

    fn note(&self, scope: &Scope, note: impl FnOnce(&mut Left)) {
        self.0.send_modify(|all| {
            if let Some(left) = all.get_mut(scope) {
                note(left);
            }
        });
    }

    /// Returns once everything is listed that can be. What can be listed nowhere is waited for.
    pub async fn synced(&self) {
        let is_done = |(scope, left): (&Scope, &Left)| left.watches == 0 || *scope != Scope::Cluster && !left.refusals.is_empty();
        // The sender is in `self`, so the channel is open for as long as this borrow.
        let _ = self.0.subscribe().wait_for(|all| all.iter().all(is_done)).await;
    }

    /// Is everything listed that is read in this namespace?
    pub fn covers(&self, namespace: &str) -> bool {
        let all = self.0.borrow();
        let is_watched = all.keys().any(|scope| scope.covers(namespace));
        is_watched && all.iter().all(|(scope, left)| !scope.is_read_in(namespace) || left.watches == 0)
    }

    /// Why something that is read in this namespace cannot be listed, in the API server's words.
    pub fn refusal(&self, namespace: &str) -> Option<String> {
        let all = self.0.borrow();
        let mut refusals = all.iter().filter(|(scope, _)| scope.is_read_in(namespace)).flat_map(|(_, left)| left.refusals.values());
        refusals.next().cloned()
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
        let listing = Listing::of(&[shop.clone(), bank.clone()], 2, 0);
        let synced = || listing.synced().now_or_never().is_some();
        listing.listed(&shop);
        listing.listed(&shop);
        assert!(listing.covers("shop") && !listing.covers("bank") && !synced());
        listing.failed(&bank, "pods", &answered(500));
        assert!(!synced(), "it is a matter of time");
        listing.failed(&bank, "pods", &answered(403));
        assert!(synced() && !listing.covers("bank"), "nothing is decided there");
        assert_eq!((listing.refusal("bank").as_deref(), listing.refusal("shop")), (Some("no"), None));
        listing.works(&bank, "services");
        assert!(listing.refusal("bank").is_some(), "that is another right");
        listing.works(&bank, "pods");
        listing.listed(&bank);
        assert!(!synced() && listing.refusal("bank").is_none(), "the rights are back");
        listing.listed(&bank);
        assert!(synced() && listing.covers("bank") && !listing.covers("other"));
        listing.failed(&bank, "pods", &answered(403));
        assert!(listing.refusal("bank").is_some(), "what was listed before may be so no more");
    }

    #[test]
    fn rights_that_lack_everywhere_are_waited_for() {
        let listing = Listing::of(&[Scope::Cluster], 1, 0);
        listing.failed(&Scope::Cluster, "pods", &answered(403));
        assert!(listing.synced().now_or_never().is_none());
        listing.works(&Scope::Cluster, "pods");
        listing.listed(&Scope::Cluster);
        assert!(listing.synced().now_or_never().is_some() && listing.covers("any"));
    }

    #[test]
    fn what_stands_in_no_namespace_is_read_in_each() {
        let shop = Scope::Namespace("shop".to_owned());
        let listing = Listing::of(std::slice::from_ref(&shop), 1, 1);
        listing.listed(&shop);
        assert!(!listing.covers("shop") && listing.synced().now_or_never().is_none());
        listing.failed(&Scope::ClusterScoped, "namespaces", &answered(403));
        assert!(!listing.covers("shop") && listing.synced().now_or_never().is_some(), "each object is told why nothing is done");
        assert_eq!(listing.refusal("shop").as_deref(), Some("no"));
        listing.works(&Scope::ClusterScoped, "namespaces");
        listing.listed(&Scope::ClusterScoped);
        assert!(listing.covers("shop") && !listing.covers("bank") && listing.refusal("shop").is_none());
    }
}
