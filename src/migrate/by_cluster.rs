//! Has the cluster itself write the objects of a kind, where it serves `StorageVersionMigration` (Kubernetes 1.37).
//!
//! What it does not do: it leaves managedFields as they are, and it ends at the first object that it cannot write. And it
//! shortens status.storedVersions of the definition by itself, in Kubernetes 1.37 even after it has failed. So what it shortened
//! is put back, and every object is gone through afterwards, whatever came of it.
//!
//! Its name says whose it is and is always the same: a run that was ended leaves it behind, and the next one takes it up.

use super::decide::Found;
use super::migration::{self, INTERVAL, Outcome, State};
use super::{Kind, rewrite, words};
use crate::kinds::rendered::MANAGED_BY;
use kube::api::{Api, DeleteParams, DynamicObject, PostParams, Preconditions};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use serde_json::json;
use std::time::Duration;

const GROUP: &str = "storagemigration.k8s.io";
/// The first version that is served without being switched on. Of earlier ones no two controllers work alike.
const VERSION: &str = "v1";
/// Seconds between two lines that tell of progress.
const LINE: u64 = 10;

/// A cluster that was asked, by this run or an earlier one.
pub(super) struct Asked<'a> {
    run: Run<'a>,
    /// The definition, with what it says now.
    pub(super) found: Found,
    /// What came of it, where it is still in the cluster.
    ended: Option<DynamicObject>,
}

/// Asks the cluster where an older version may be stored, unless objects are only to be `rewritten` from here.
///
/// # Errors
/// Returns an error if it is not known what the cluster does.
pub(super) async fn migrate<'a>(
    client: &'a Client,
    kind: &'a Kind,
    found: &Found,
    objects: usize,
    rewritten: bool,
) -> Result<Option<Asked<'a>>, String> {
    let gvk = GroupVersionKind::gvk(GROUP, VERSION, "StorageVersionMigration");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "storageversionmigrations");
    let run = Run { client, kind, api: Api::all_with(client.clone(), &resource), name: words::migration(kind), rewritten };
    let (object, earlier) = match run.begin(&resource, found).await {
        Ok(Some(begun)) => begun,
        Ok(None) => return Ok(None),
        Err(fault) => {
            println!("{}", words::not_asked(kind, &fault));
            return Ok(None);
        }
    };
    let other = words::resource(&object.data["spec"]["resource"]);
    if other != kind.definition {
        println!("{}", words::of_another(kind, &other));
        return Ok(None);
    }
    let mut found = found.clone();
    if earlier && matches!(migration::state(&object.data), State::Ending(_) | State::Ended(_)) {
        // What the definition said before it was shortened, nobody knows any more.
        found.stored = found.versions.iter().map(|version| version.name.clone()).collect();
    }
    println!("{}", words::asked(kind, earlier));
    run.finish(object, found, objects as u64).await.map(Some)
}

impl Asked<'_> {
    /// Once more: the controller works by a cache, and may not know yet that it has shortened what the definition says.
    ///
    /// # Errors
    /// Returns an error if it is not known what the definition says now.
    pub(super) async fn put_back(&self, found: &Found) -> Result<Found, String> {
        let stored = rewrite::put_back(self.run.client, self.run.kind, found).await?;
        Ok(Found { stored, ..found.clone() })
    }

    /// Deletes what has ended. Until the objects are checked it stays, so that the next run asks for no other one.
    pub(super) async fn clean_up(self) {
        if let Some(ended) = &self.ended {
            self.run.delete(ended).await;
        }
    }
}

/// One migration that is followed.
struct Run<'a> {
    client: &'a Client,
    kind: &'a Kind,
    api: Api<DynamicObject>,
    name: String,
    rewritten: bool,
}

impl<'a> Run<'a> {
    /// The migration, and whether an earlier run began it; nothing where there is none to wait for.
    async fn begin(&self, resource: &ApiResource, found: &Found) -> Result<Option<(DynamicObject, bool)>, Error> {
        if !is_served(self.client, resource).await? {
            return Ok(None);
        }
        if let Some(earlier) = self.api.get_opt(&self.name).await? {
            return Ok(Some((earlier, true)));
        }
        if self.rewritten || found.stored.iter().eq([&self.kind.resource.version]) {
            return Ok(None);
        }
        let of = json!({ "group": self.kind.resource.group, "resource": self.kind.resource.plural });
        let mut object = DynamicObject::new(&self.name, resource).data(json!({ "spec": { "resource": of } }));
        object.metadata.labels = Some([(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned())].into());
        match self.api.create(&PostParams::default(), &object).await {
            Ok(object) => Ok(Some((object, false))),
            // Another run has made it in this moment.
            Err(Error::Api(status)) if status.code == 409 => Ok(self.api.get_opt(&self.name).await?.map(|object| (object, true))),
            Err(fault) => Err(fault),
        }
    }

    /// Waits for the end, and leaves the definition as it was: what it says is shortened when every object was gone through.
    async fn finish(self, mut object: DynamicObject, mut found: Found, objects: u64) -> Result<Asked<'a>, String> {
        let (outcome, ended) = loop {
            let outcome = self.follow(&mut object, objects).await?;
            // First this: a migration that is left behind tells the next run that it has to be done.
            found.stored = rewrite::put_back(self.client, self.kind, &found).await?;
            if let State::Ended(_) = migration::state(&object.data) {
                break (outcome, Some(object));
            }
            // What has not ended would write the definition some day.
            if outcome == Outcome::Deleted || self.delete(&object).await {
                break (outcome, None);
            }
            match self.read().await? {
                Some(now) => object = now,
                None => break (outcome, None),
            }
        };
        println!("{}", words::asked_for(self.kind, &outcome));
        Ok(Asked { run: self, found, ended })
    }

    async fn follow(&self, object: &mut DynamicObject, objects: u64) -> Result<Outcome, String> {
        let (mut seconds, mut same) = (0, 0);
        let mut state = migration::state(&object.data);
        loop {
            if let Some(outcome) = migration::outcome(&state, same, objects, self.rewritten) {
                return Ok(outcome);
            }
            tokio::time::sleep(Duration::from_secs(INTERVAL)).await;
            seconds += INTERVAL;
            let Some(now) = self.read().await? else { return Ok(Outcome::Deleted) };
            let now_state = migration::state(&now.data);
            same = if now_state == state { same + INTERVAL } else { 0 };
            (*object, state) = (now, now_state);
            if seconds % LINE == 0 {
                println!("{}", words::waited(self.kind, seconds, &state));
            }
        }
    }

    async fn read(&self) -> Result<Option<DynamicObject>, String> {
        let what = || format!("read StorageVersionMigration {}", self.name);
        self.api.get_opt(&self.name).await.map_err(|fault| words::not_read(self.kind, &what(), &fault))
    }

    /// Returns false if it was changed since it was read: its controller may have written the definition once more.
    async fn delete(&self, object: &DynamicObject) -> bool {
        let only = Preconditions { uid: object.metadata.uid.clone(), resource_version: object.metadata.resource_version.clone() };
        match self.api.delete(&self.name, &DeleteParams::default().preconditions(only)).await {
            Ok(_) => true,
            Err(Error::Api(status)) if status.code == 404 => true,
            Err(Error::Api(status)) if status.code == 409 => false,
            Err(fault) => {
                println!("{}", words::not_deleted(self.kind, &fault));
                true
            }
        }
    }
}

async fn is_served(client: &Client, resource: &ApiResource) -> Result<bool, Error> {
    match client.list_api_group_resources(&resource.api_version).await {
        Ok(served) => Ok(served.resources.iter().any(|served| served.name == resource.plural)),
        Err(Error::Api(status)) if status.code == 404 => Ok(false),
        Err(fault) => Err(fault),
    }
}
