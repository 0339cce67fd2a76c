//! The condition about backups: whether they are made when they are to be.

use super::volumes;
use crate::kinds::database::Database;
use crate::kinds::database::lifecycle::words::Phase;
use crate::kinds::database::object::more::DatabaseStatus;
use crate::kinds::database::scene::Scene;
use crate::kinds::database::scene::standing;
use crate::kinds::look::Look;
use crate::kinds::status::{Because, Claim, Declared};
use jiff::SignedDuration;
use kube::ResourceExt;

/// The condition about backups.
pub const DECLARED: Declared = Declared {
    name: "BackupsHealthy",
    meaning: "backups are made when they are to be: not two in a row are missing; or none are made on a schedule",
    holds: &[Because::Word("NothingToBackUp"), Because::Word("ServersRemoved"), Because::Word("NoSchedule"), Because::Word("OnSchedule")],
    fails: &[Because::Word("NoStorageClass"), Because::Word("ClaimGoes"), Because::Word("NoVolume"), Because::Word("Missed")],
};

/// What is claimed of the backups.
pub fn claim(look: &Look<'_, Database>, status: &DatabaseStatus) -> Claim {
    let (holds, reason, message) = backups(look, status);
    Claim { name: DECLARED.name, holds, reason: reason.to_owned(), message }
}

/// Are backups made when they are to be? Two in a row that are missing are too many.
fn backups(look: &Look<'_, Database>, status: &DatabaseStatus) -> (bool, &'static str, String) {
    let Some(backup) = look.target.as_ref().map(|target| &target.backup) else {
        return (true, "NothingToBackUp", "there is nothing to back up yet".to_owned());
    };
    if matches!(status.phase(), Phase::Removing | Phase::Retaining | Phase::Releasing) {
        return (true, "ServersRemoved", "no backup is due: the servers are being removed".to_owned());
    }
    let claim = look.children.backups.ours();
    if let Some((claim, class)) = claim.and_then(|claim| Some((claim, volumes::missing_class(look, claim)?))) {
        let remedy = "create it; or pause this object, delete the claim, which holds nothing, change the class, and resume";
        let words = format!("{} has no volume, and no StorageClass is called {class}: no dump can be kept; {remedy}", claim.name_any());
        return (false, "NoStorageClass", words);
    }
    if let Some(claim) = claim.filter(|claim| claim.metadata.deletion_timestamp.is_some() && !standing::is_going(&Scene::of(look))) {
        let goes = "is being deleted and goes, with its dumps, once no pod mounts it: no dump is made until then; copy them now";
        return (false, "ClaimGoes", format!("{} {goes}", claim.name_any()));
    }
    if let Some(claim) = claim.filter(|claim| volumes::is_never_bound(look, claim)) {
        return (false, "NoVolume", format!("{} has got no volume: no dump can be kept until it has", claim.name_any()));
    }
    let Some(schedule) = backup.schedule.as_ref().filter(|_| !backup.suspend) else {
        return (true, "NoSchedule", "no backup is made on a schedule".to_owned());
    };
    let times = status.more.backup.as_ref();
    let last = times.and_then(|times| times.last_success.as_ref()).map(|time| time.0);
    let stands = times.and_then(|times| times.since.as_ref()).map(|time| time.0);
    let since = last.max(stands).unwrap_or(look.seen.now);
    let missed = schedule.next(since).and_then(|first| schedule.next(first)).is_some_and(|second| look.seen.now > second + LATE);
    match (missed, last) {
        (false, _) => (true, "OnSchedule", "backups are made on schedule".to_owned()),
        (true, Some(last)) => (false, "Missed", format!("two backups in a row are missing; the last good one was made at {last}")),
        (true, None) => (false, "Missed", "two backups in a row are missing; there is no good one".to_owned()),
    }
}

/// How long a backup that has begun in time may take until it counts as missing.
const LATE: SignedDuration = SignedDuration::from_hours(1);
