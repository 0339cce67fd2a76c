//! What the target wants of the data, and is not done yet.

use super::Scene;
use super::readers::is_misleading;
use super::standing::{credentials_lost, is_switchover_wanted, was_never_ready};
use crate::kinds::database::children::configuration;
use crate::kinds::database::object::dumps::Taken;
use crate::kinds::database::object::parts::RestoreFrom;

/// Is something not done that the target wants, beside what the children themselves say?
pub fn is_undone(scene: &Scene<'_>) -> bool {
    was_never_initialized(scene)
        || lacks_extensions(scene)
        || was_never_restored(scene)
        || scene.more.reset_time.is_some()
        || is_switchover_wanted(scene)
        || scene.going_claims().next().is_some()
        || is_misleading(scene)
        || scene.starts_otherwise()
        || !has_read_settings(scene)
        || scene.members.outdated().next().is_some()
        || scene.small_claims().next().is_some()
        || !credentials_lost(scene).is_empty()
}

/// Is a dump to be brought back that was not?
pub fn was_never_restored(scene: &Scene<'_>) -> bool {
    let source = scene.look.target.as_ref().and_then(|target| target.restore_from.as_ref());
    let never = |source| scene.more.restored.as_ref().is_none_or(|restored| is_another(restored, source)) || is_misnamed(scene);
    source.is_some_and(never) && was_never_ready(&scene.look.seen.object) && scene.primary_is_as_wanted()
}

/// Was another dump brought back than the spec names now? Nobody may take the data for that one's.
fn is_another(restored: &Taken, source: &RestoreFrom) -> bool {
    let claim = restored.claim.as_ref().is_some_and(|claim| *claim != source.claim_name);
    claim || source.file.as_ref().is_some_and(|file| *file != restored.folder)
}

/// Is there no database of this name yet?
pub fn was_never_initialized(scene: &Scene<'_>) -> bool {
    scene.more.initialized.is_none() || is_misnamed(scene)
}

/// Was the database made by a name that was mended since?
fn is_misnamed(scene: &Scene<'_>) -> bool {
    let names = scene.more.database.as_ref().zip(scene.look.target.as_ref());
    names.is_some_and(|(made, target)| *made != target.database)
}

/// Does the database lack extensions that the target wants?
pub fn lacks_extensions(scene: &Scene<'_>) -> bool {
    let made = scene.more.initialized.as_ref().filter(|_| scene.primary_is_as_wanted());
    let wanted = scene.look.target.as_ref().map(|target| &target.extensions);
    made.zip(wanted).is_some_and(|(made, wanted)| wanted.iter().any(|name| !made.extensions.contains(name)))
}

/// Has every server read the settings that are reloaded, as the target wants them?
fn has_read_settings(scene: &Scene<'_>) -> bool {
    let Some(target) = &scene.look.target else { return true };
    let mark = configuration::mark(target, &scene.learned(target));
    scene.more.settings.as_ref().is_some_and(|settings| settings.mark == mark && settings.read)
}
