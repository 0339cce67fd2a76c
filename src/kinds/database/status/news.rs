//! What is told of a Database beside its moves and its conditions: a backup that failed, and volumes that go with a namespace.

use super::say::volumes;
use crate::kinds::Observation;
use crate::kinds::database::Database;
use crate::kinds::database::lifecycle::words::Phase;
use crate::kinds::database::object::kept::KeptSpec;
use crate::kinds::database::orders::ending;
use crate::kinds::database::scene::Scene;
use crate::kinds::database::scene::said;
use crate::kinds::look::Look;
use crate::kinds::news::News;
use crate::kinds::status::Status;
use k8s_openapi::api::batch::v1::Job;
use kube::core::object::HasStatus;

/// What has happened since the status was `before`.
pub fn of(before: Option<&Status<KeptSpec>>, seen: &Observation<Database>) -> Vec<News> {
    failed_backup(before, seen).into_iter().chain(volumes_that_go(before, seen)).collect()
}

/// A backup on the schedule that failed since: the others are made all the same, so no state waits for it.
fn failed_backup(before: Option<&Status<KeptSpec>>, seen: &Observation<Database>) -> Option<News> {
    let failure = |status: &Status<KeptSpec>| status.more.backup.as_ref()?.last_failure.clone();
    let now = failure(seen.object.status()?)?;
    if before.and_then(failure).is_some_and(|known| known.0 >= now.0) {
        return None;
    }
    let end = |job: &Job| said::end(&seen.children.job_pods, job).filter(|end| !end.well && end.time.as_ref() == Some(&now));
    let (job, words) = seen.children.made.iter().find_map(|job| Some((job, end(job)?.words?)))?;
    // It was told when its own container had failed, and its controller says so later.
    let begun = said::begin(job);
    if before.and_then(failure).zip(begun).is_some_and(|(known, begun)| known.0 >= begun.0) {
        return None;
    }
    Some(News::Failed { reason: "BackupFailed", action: "Backup", words })
}

/// The finalizer is let go, since the namespace takes everything with it.
fn volumes_that_go(before: Option<&Status<KeptSpec>>, seen: &Observation<Database>) -> Option<News> {
    let releases = |status: Option<&Status<KeptSpec>>| status.is_some_and(|status| status.phase() == Phase::Releasing);
    // All else takes a look of its own, which nobody needs at every other one.
    if !releases(seen.object.status()) || releases(before) {
        return None;
    }
    let look = Look::at(seen);
    let claims = volumes(&look);
    let goes = ending::namespace_is_ending(&Scene::of(&look));
    (goes && !claims.is_empty()).then_some(News::VolumesGo(claims))
}
