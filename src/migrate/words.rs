//! What the person at the prompt reads.

use super::decide::{Found, Late, Next, Passed, next};
use super::migration::{Outcome, State};
use super::{Kind, Name};
use kube::Error;
use serde_json::Value;
use std::collections::BTreeSet;

/// How many objects are listed by name.
const LISTED: usize = 20;
const AGAIN: &str = "To go on, type the same again: pointsman migrate-storage\n";

/// The cluster knows other kinds, and not this one.
pub fn no_definition(kind: &Kind) -> String {
    format!("{}: there is no such CustomResourceDefinition in this cluster, so nothing of it is stored\n", kind.definition)
}

/// The cluster knows no kind.
pub fn no_definitions(kinds: &[&Kind]) -> String {
    let definitions: Vec<&str> = kinds.iter().map(|kind| kind.definition.as_str()).collect();
    format!(
        "Nothing was migrated: there is no CustomResourceDefinition {} in this cluster, so nothing is stored.\n\
         Is it the right cluster? kubectl config current-context\n",
        definitions.join(", and no ")
    )
}

pub(super) fn stores_another(kind: &Kind, storage: &str) -> String {
    let (definition, version) = (&kind.definition, &kind.resource.version);
    format!(
        "Nothing was migrated: CustomResourceDefinition {definition} stores {storage}, so a write would not store {version}.\n\
         Install the release that this program is of: its definition stores {version}. Then type the same again.\n"
    )
}

/// Something could not be read.
pub fn not_read(kind: &Kind, what: &str, fault: &Error) -> String {
    format!("Stopped: cannot {what}: {}\n{}What is migrated stays so. {AGAIN}", reason(fault), remedy(kind, fault))
}

/// An object could not be written, and so it is with those after it; `done` of `all` were gone through before.
pub fn stopped(kind: &Kind, found: &Found, (done, all): (usize, usize), name: &Name, fault: &Error) -> String {
    format!(
        "Stopped at {} after {done} of {all} {}: {}\n{}\
         What is migrated stays so; status.storedVersions of the definition is still {}.\n{AGAIN}",
        title(kind, name),
        kind.definition,
        reason(fault),
        remedy(kind, fault),
        listed(&found.stored),
    )
}

/// Some objects cannot be written at all.
pub fn refused(kind: &Kind, found: &Found, passed: &Passed) -> String {
    let Passed { written, unchanged, gone, refused } = passed;
    let all = written + unchanged + gone + refused.len();
    let names: Vec<String> = refused.iter().take(LISTED).map(|(name, why)| format!("  {}: {why}\n", title(kind, name))).collect();
    let first = refused.first().map(|(name, _)| format!("{}/{} --namespace {}", kind.short, name.name, name.namespace)).unwrap_or_default();
    format!(
        "{} of {all} {} cannot be written; the others are stored as {}:\n{}{}\
         status.storedVersions of the definition stays {} for as long as they are there.\n\
         Mend or delete each of them, as in: kubectl edit {first}\n{AGAIN}",
        refused.len(),
        kind.definition,
        kind.resource.version,
        names.concat(),
        more(refused.len()),
        listed(&found.stored),
    )
}

/// All is written, but the definition does not say so.
pub fn not_shrunk(kind: &Kind, found: &Found, fault: &Error) -> String {
    // So it says that a test in the patch has failed.
    let changed = reason(fault).contains("rejected our request");
    let why = if changed { "it was changed while the objects were migrated".to_owned() } else { reason(fault) };
    format!(
        "Every object is stored as {}, but status.storedVersions of CustomResourceDefinition {} stays {}: {why}\n{}{AGAIN}",
        kind.resource.version,
        kind.definition,
        listed(&found.stored),
        remedy(kind, fault),
    )
}

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
            format!("no controller has begun StorageVersionMigration {name} within {seconds} s, so it was deleted; {INSTEAD}")
        }
        Outcome::Quiet(seconds, said) => {
            format!("StorageVersionMigration {name} has not changed for {seconds} s, so it was deleted ({said}); {INSTEAD}")
        }
        Outcome::Unwanted => format!("StorageVersionMigration {name} has not ended, so it was deleted; {INSTEAD}"),
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

/// How far it is.
pub fn progress(kind: &Kind, done: usize, all: usize) -> String {
    format!("migrated {done} of {all} {}", kind.definition)
}

/// The end of a run that met nothing in its way, and what comes next.
pub fn finished(kind: &Kind, found: &Found, passed: &Passed, late: &[Late]) -> String {
    let Passed { written, unchanged, gone, refused: _ } = passed;
    let version = &kind.resource.version;
    let gone = match gone {
        0 => String::new(),
        gone => format!(", {gone} deleted meanwhile"),
    };
    let shrunk = if listed(&found.stored) == *version { String::new() } else { format!("{} -> ", listed(&found.stored)) };
    format!(
        "{}: all are stored as {version}: {written} written anew, {unchanged} were so before{gone}\n\
         status.storedVersions: {shrunk}{version}\n{}{}",
        kind.definition,
        lately(kind, late),
        coming(kind, found),
    )
}

/// Who still writes through another version.
fn lately(kind: &Kind, late: &[Late]) -> String {
    if late.is_empty() {
        return String::new();
    }
    let managers: BTreeSet<&str> = late.iter().flat_map(|late| late.managers.iter().map(String::as_str)).collect();
    let names: Vec<String> = late.iter().take(LISTED).map(|late| format!("  {}\n", title(kind, &late.name))).collect();
    format!(
        "While this ran, {} through another version, by {}:\n{}{}Move them to {} first.\n",
        counted(late.len(), "object was written", "objects were written"),
        managers.into_iter().collect::<Vec<_>>().join(", "),
        names.concat(),
        more(late.len()),
        kind.resource.api_version,
    )
}

fn coming(kind: &Kind, found: &Found) -> String {
    let definition = &kind.definition;
    let patch = |(at, name): &(usize, &str), change: &str| {
        let test = format!(r#"{{"op":"test","path":"/spec/versions/{at}/name","value":"{name}"}}"#);
        format!("  kubectl patch customresourcedefinition {definition} --type=json --patch '[{test},{change}]'\n")
    };
    match next(found) {
        Next::Unserve(versions) => {
            let unserve = |version: &(usize, &str)| {
                patch(version, &format!(r#"{{"op":"replace","path":"/spec/versions/{}/served","value":false}}"#, version.0))
            };
            format!(
                "Next: serve {} no more. Whoever still uses it is then told that there is no such resource.\n\
                 Does anybody? Each API server knows whether it was asked since its start:\n  \
                 kubectl get --raw /metrics | grep '^apiserver_requested_deprecated_apis.*resource=\"{}\"'\n\
                 When nobody does (with true it is served again):\n{}Then type the same again.\n",
                names(&versions),
                kind.resource.plural,
                versions.iter().map(unserve).collect::<Vec<_>>().concat(),
            )
        }
        Next::Remove(versions) => {
            let remove = |version: &(usize, &str)| patch(version, &format!(r#"{{"op":"remove","path":"/spec/versions/{}"}}"#, version.0));
            format!(
                "Next: take {} out of the definition. Nobody can use it any more, and no object names it:\n{}",
                names(&versions),
                versions.iter().map(remove).collect::<Vec<_>>().concat(),
            )
        }
        Next::Nothing => format!("Nothing is left to do: {} is the only version.\n", kind.resource.version),
    }
}

fn names(versions: &[(usize, &str)]) -> String {
    versions.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

/// The API server's own words, where it has answered.
fn reason(fault: &Error) -> String {
    if let Error::Api(status) = fault { status.message.clone() } else { fault.to_string() }
}

/// What to do about it first.
fn remedy(kind: &Kind, fault: &Error) -> String {
    if let Error::Api(status) = fault
        && [401, 403].contains(&status.code)
    {
        return format!(
            "It needs an administrator's rights: to get, list and update {}, to get customresourcedefinitions and to patch their status.\n",
            kind.definition
        );
    }
    if reason(fault).contains("conversion webhook") {
        return "The operator converts between versions; see that it runs, and what it says:\n  \
                kubectl get deployments --all-namespaces --selector app.kubernetes.io/name=pointsman\n"
            .to_owned();
    }
    String::new()
}

fn title(kind: &Kind, name: &Name) -> String {
    format!("{}/{} in namespace {}", kind.short, name.name, name.namespace)
}

fn listed(versions: &[String]) -> String {
    versions.join(", ")
}

fn more(count: usize) -> String {
    match count.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("  and {more} more\n"),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
