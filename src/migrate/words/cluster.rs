//! What is told where the cluster itself rewrites: by a `StorageVersionMigration`.

use super::{AGAIN, listed, reason, remedy};
use crate::migrate::Kind;
use crate::migrate::decide::Found;
use crate::migrate::migration::{Outcome, State};
use kube::Error;
use serde_json::Value;

/// The name of the `StorageVersionMigration` of a kind.
pub fn migration(kind: &Kind) -> String {
    format!("pointsman-{}", kind.definition)
}

/// A resource and its group as a definition is named.
pub fn resource(of: &Value) -> String {
    let word = |key: &str| of[key].as_str().unwrap_or_default();
    format!("{}.{}", word("resource"), word("group"))
}

/// What is done where the cluster has not migrated the objects.
const INSTEAD: &str = "each object is written by this program instead";

/// The cluster is asked to migrate a kind, or was by an `earlier` run.
pub fn asked(kind: &Kind, earlier: bool) -> String {
    let earlier = if earlier { ", which an earlier run created" } else { "" };
    format!("{}: the cluster migrates its objects by StorageVersionMigration {}{earlier}", kind.definition, migration(kind))
}

/// What the cluster has said after so many seconds.
pub fn waited(kind: &Kind, seconds: u64, state: &State) -> String {
    let said = match state {
        State::Pending => "no controller has begun it",
        State::Running(said) => said.as_str(),
        State::Ending(_) | State::Ended(_) => "it has ended, and its controller writes the definition",
    };
    format!("{}: waiting for {seconds} s: {said}", kind.definition)
}

/// What came of what the cluster was asked for, and what is done then.
pub fn asked_for(kind: &Kind, outcome: &Outcome) -> String {
    let name = migration(kind);
    let said = match outcome {
        Outcome::Succeeded => {
            format!("StorageVersionMigration {name} has succeeded; each object is checked now, and its managedFields are rewritten")
        }
        Outcome::Failed(why) => format!(
            "StorageVersionMigration {name} has failed: {why}\n\
             It stops at the first object that cannot be written; {INSTEAD}, and all that cannot be are listed at the end"
        ),
        Outcome::NotBegun(seconds) => {
            format!("no controller has begun StorageVersionMigration {name} within {seconds} s, so it is given up; {INSTEAD}")
        }
        Outcome::Quiet(seconds, said) => {
            format!("StorageVersionMigration {name} has not changed for {seconds} s, so it is given up ({said}); {INSTEAD}")
        }
        Outcome::Unwanted => format!("StorageVersionMigration {name} has not ended, so it is given up; {INSTEAD}"),
        Outcome::Deleted => format!("somebody else deleted StorageVersionMigration {name} before its end; {INSTEAD}"),
    };
    format!("{}: {said}", kind.definition)
}

/// The cluster cannot be asked.
pub fn not_asked(kind: &Kind, fault: &Error) -> String {
    format!("{}: the cluster cannot be asked to migrate its objects: {}; {INSTEAD}", kind.definition, reason(fault))
}

/// A migration has the name of ours, and is not.
pub fn of_another(kind: &Kind, other: &str) -> String {
    format!("{}: StorageVersionMigration {} migrates {other}; {INSTEAD}", kind.definition, migration(kind))
}

/// A migration stays in the cluster.
pub fn not_deleted(kind: &Kind, fault: &Error) -> String {
    let name = migration(kind);
    format!(
        "{}: StorageVersionMigration {name} cannot be deleted: {}\n\
         When this has ended: kubectl delete storageversionmigrations.storagemigration.k8s.io {name}",
        kind.definition,
        reason(fault)
    )
}

/// The definition says less than is known; `now` is what it says.
pub fn not_put_back(kind: &Kind, now: &Found, fault: &Error) -> String {
    format!(
        "Stopped: the cluster has set status.storedVersions of CustomResourceDefinition {} to {}, which is not checked yet and cannot be \
         put back: {}\n{}Remove no version from the definition until this has succeeded. {AGAIN}",
        kind.definition,
        listed(&now.stored),
        reason(fault),
        remedy(kind, fault),
    )
}
