//! EDGE: has every object written anew in the version that this release stores, what its managers own of it included, so
//! that an older version can leave the definition. [`look`] -> [`decide`] -> [`rewrite`]; what is decided and said is pure.
//!
//! It keeps no record of how far it came. In which version an object is stored is seen by nobody but the API server: an
//! object that is replaced by itself is written where its stored bytes differ, and else left as it is. So every run goes
//! through all objects, and what an earlier one wrote costs a read. One object after another: it is in no hurry.
//!
//! Where the cluster can migrate the objects by itself it does so before ([`by_cluster`]), and going through them is the
//! check that it was done.

mod by_cluster;
mod decide;
mod look;
pub mod migration;
mod owners;
mod rewrite;
pub mod words;

use crate::config::{MigrateStorage, reach};
use crate::kinds::{Served, of_each};
pub use decide::{Found, Late, Next, Passed, Version, next};
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt};
pub use owners::restated;
use serde_json::Value;
use std::process::ExitCode;

/// A kind as this release knows it.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The name of its definition.
    pub definition: String,
    /// The type of its objects, in the version that this release stores.
    pub resource: ApiResource,
    /// What its objects are called at the prompt.
    pub short: String,
    /// The fields that a manager owns through a version, as the stored one names them.
    pub owned: fn(&Value, &str) -> Option<Value>,
}

impl Kind {
    fn of<K: Served>() -> Self {
        let definition = K::definition();
        let (name, spec) = (definition.name_any(), definition.spec);
        // Each definition of ours has one version that is stored.
        let version = spec.versions.into_iter().find(|version| version.storage).expect("a version is stored").name;
        let resource =
            ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(&spec.group, &version, &spec.names.kind), &spec.names.plural);
        Kind { definition: name, resource, short: K::SHORT.to_owned(), owned: K::owned }
    }
}

/// An object of a user.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Name {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What is asked at the prompt is answered at the prompt, and not in the log. It is boxed, as `program::run` is.
pub fn at_the_prompt(wish: &MigrateStorage) -> BoxFuture<'_, ExitCode> {
    async move {
        let client = reach(wish.kubeconfig.as_deref()).await.and_then(|config| Ok(Client::try_from(config)?));
        let said = match client {
            Ok(client) => migrate(&client, wish.rewrite_only).await,
            Err(fault) => Err(format!("Nothing was migrated: cannot reach the cluster: {fault}\n")),
        };
        match said {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                eprint!("{why}");
                ExitCode::FAILURE
            }
        }
    }
    .boxed()
}

/// Migrates every kind: what keeps one from it keeps no other.
async fn migrate(client: &Client, rewrite_only: bool) -> Result<(), String> {
    let kinds = of_each!(K: Kind => Kind::of::<K>());
    let mut faults = String::new();
    let mut missing = Vec::new();
    for kind in &kinds {
        match migrate_kind(client, kind, rewrite_only).await {
            Ok(Some(said)) => print!("{said}"),
            Ok(None) => missing.push(kind),
            Err(why) => faults += &why,
        }
    }
    if missing.len() == kinds.len() {
        return Err(words::no_definitions(&missing));
    }
    for kind in missing {
        print!("{}", words::no_definition(kind));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// The definition to migrate under.
///
/// # Errors
/// Why nothing can be migrated under it.
pub fn judge(kind: &Kind, found: Found) -> Result<Found, String> {
    match found.versions.iter().find(|version| version.storage) {
        Some(storage) if storage.name == kind.resource.version => Ok(found),
        storage => Err(words::stores_another(kind, storage.map_or("none", |version| &version.name))),
    }
}

/// Migrates one kind; gives what is to be said at the end, or nothing where the cluster does not know the kind.
///
/// # Errors
/// Why it stopped, and where.
pub async fn migrate_kind(client: &Client, kind: &Kind, rewrite_only: bool) -> Result<Option<String>, String> {
    let Some(found) = look::definition(client, kind).await? else { return Ok(None) };
    let mut found = judge(kind, found)?;
    // Listed before the cluster is asked, too: where the operator does not convert, that is told at once.
    let mut names = look::names(client, kind).await?;
    let asked = by_cluster::migrate(client, kind, &found, names.len(), rewrite_only).await?;
    if let Some(asked) = &asked {
        (found, names) = (asked.found.clone(), look::names(client, kind).await?);
    }
    let mut came = go_through(client, kind, &found, &names).await;
    if let Some(asked) = &asked {
        match asked.put_back(&found).await {
            Ok(now) => found = now,
            Err(fault) => came = Err(came.err().unwrap_or_default() + &fault),
        }
    }
    let (passed, late) = came?;
    rewrite::shrink(client, kind, &found).await?;
    if let Some(asked) = asked {
        asked.clean_up().await;
    }
    Ok(Some(words::finished(kind, &found, &passed, &late)))
}

/// Goes through every object, and once more through those that were written through another version meanwhile.
async fn go_through(client: &Client, kind: &Kind, found: &Found, names: &[Name]) -> Result<(Passed, Vec<Late>), String> {
    let passed = rewrite::all(client, kind, found, names).await?;
    if !passed.refused.is_empty() {
        return Err(words::refused(kind, found, &passed));
    }
    // What came since is stored as it should be, whoever wrote it; only its managers may have to be named anew.
    let late = look::late(client, kind).await?;
    let again: Vec<Name> = late.iter().map(|late| late.name.clone()).collect();
    let repassed = rewrite::all(client, kind, found, &again).await?;
    if !repassed.refused.is_empty() {
        return Err(words::refused(kind, found, &repassed));
    }
    Ok((passed, late))
}
