//! The calls of an election.

use super::MANAGER;
use super::claim::{self, NAME};
use super::election::Answer;
use crate::controller::names::SECRET;
use futures::stream::{BoxStream, StreamExt};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams, PostParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::watch_object;
use kube::{Client, ResourceExt};
use std::future::ready;

/// What an election asks for.
pub(super) struct Calls {
    leases: Api<Lease>,
    secrets: Api<Secret>,
}

impl Calls {
    pub(super) fn new(client: Client, namespace: &str) -> Self {
        Calls { leases: Api::namespaced(client.clone(), namespace), secrets: Api::namespaced(client, namespace) }
    }

    /// News whenever the Lease is not `identity`'s. A holder has to learn it soon; its own renewals are no news to it.
    pub(super) fn news(&self, identity: String) -> BoxStream<'static, ()> {
        let seen = watch_object(self.leases.clone(), NAME).default_backoff().filter_map(|news| ready(news.ok()));
        seen.filter(move |lease| ready(lease.as_ref().and_then(claim::holder) != Some(&identity))).map(|_| ()).boxed()
    }

    /// The Lease as it stands.
    pub(super) async fn read(&self) -> kube::Result<Answer> {
        let lease = self.leases.get_opt(NAME).await?.map(Box::new);
        Ok(match lease {
            Some(lease) if claim::is_empty(&lease) && self.nobody_acted().await => Answer::Pristine(lease),
            lease => Answer::Stands(lease),
        })
    }

    /// Whoever acts keeps keys in a Secret, which no package holds. Asked for after the Lease was read: so it is no older. Where
    /// nobody can tell, somebody may have acted.
    async fn nobody_acted(&self) -> bool {
        let keys = ListParams::default().fields(&format!("metadata.name={SECRET}"));
        self.secrets.list_metadata(&keys).await.is_ok_and(|found| found.items.is_empty())
    }

    /// Both ways are compare-and-swap: the one by absence, the other by resourceVersion.
    pub(super) async fn write(&self, lease: &Lease) -> kube::Result<Answer> {
        let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        let written = match lease.resource_version() {
            None => self.leases.create(&params, lease).await,
            Some(_) => self.leases.replace(NAME, &params, lease).await,
        };
        written.map(|lease| Answer::Stands(Some(Box::new(lease))))
    }
}
