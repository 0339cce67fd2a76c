//! When what a question is about is no longer so, beside what is the same for any kind.

use super::Scene;
use super::undone::{was_never_initialized, was_never_restored};
use super::work::{self, Progress};
use super::{behind, diverged, outcome, standing};
use crate::kinds::database::lifecycle::words::Phase;
use crate::kinds::database::reports::last_words::Word;
use crate::kinds::pods::ready_since;
use crate::kinds::reason::Reason;

/// Is it so?
type Holds = fn(&Scene<'_>) -> bool;

/// Questions that close for more than what any kind's do, and when, where their words do not say it already: what waits for ready pods
/// alone goes on once they are, and a Job that outlasted its time may end well. So may a primary that was to end for another:
/// nobody takes writes until the move goes on.
const GOES_ON: [(Reason, Option<&str>, Holds); 6] = [
    (Reason::ProvisioningStuck, Some("when the servers are ready, and the database alone is to be made"), |scene| {
        all_ready(scene) && (was_never_initialized(scene) || was_never_restored(scene))
    }),
    (Reason::RolloutStuck, Some("when a pod has become ready since, and settings alone are to be read"), |scene| {
        all_ready(scene) && came_back(scene) && scene.unread().is_some()
    }),
    (Reason::RolloutStuck, Some(MOVES_ON), can_move_on),
    (Reason::PodsUnavailable, Some(MOVES_ON), can_move_on),
    (Reason::RestoreFailed, None, |scene| ended_well(scene, Phase::Restoring)),
    (Reason::SnapshotFailed, None, |scene| ended_well(scene, Phase::SnapshottingBeforeDelete) && !diverged::is_any(scene)),
];

const MOVES_ON: &str = "when the server that was the primary has ended for another, and the move can go on";

/// When a question closes, beside what is the same for any kind.
pub fn also_closes(reason: Reason) -> impl Iterator<Item = &'static str> {
    GOES_ON.iter().filter(move |(of, ..)| *of == reason).filter_map(|(_, when, _)| *when)
}

/// What was lost, or came apart, for as long as that is so.
const STANDS: [(Reason, Holds); 7] = [
    (Reason::CredentialsLost, |scene| !standing::credentials_lost(scene).is_empty()),
    (Reason::PrimaryVolumeLost, |scene| scene.primary_volume_is_lost()),
    (Reason::TopologyBehind, behind::is_known),
    (Reason::ReplicaDiverged, |scene| scene.has_diverged()),
    (Reason::DumpIncomplete, diverged::is_any),
    (Reason::SwitchoverStuck, |scene| standing::is_moved_in_vain(scene)),
    (Reason::NodeLost, |scene| scene.primary_is_on_a_lost_node()),
];

/// Is it still so that something was lost?
pub fn stands(scene: &Scene<'_>, reason: Reason) -> bool {
    STANDS.iter().any(|(of, holds)| *of == reason && holds(scene))
}

/// Is it so no longer? A server that begins anew has not said yet what its volume holds.
fn is_back(scene: &Scene<'_>, reason: Reason) -> bool {
    let in_words = matches!(reason, Reason::ReplicaDiverged | Reason::TopologyBehind);
    let is_loss = STANDS.iter().any(|(of, _)| *of == reason);
    is_loss && !stands(scene, reason) && (!in_words || all_ready(scene))
}

/// Is what the open question is about no longer so?
pub fn is_obstacle_gone(scene: &Scene<'_>) -> bool {
    let goes_on = |reason| GOES_ON.iter().any(|(of, _, holds)| *of == reason && holds(scene)) || is_back(scene, reason);
    scene.question.is_some_and(|question| scene.look.obstacle_gone(question.reason) || goes_on(question.reason))
}

/// Is nobody named, and has the server that was the primary said what a move goes on with?
fn can_move_on(scene: &Scene<'_>) -> bool {
    let told = scene.members.told().filter(|_| scene.members.is_moving() && scene.look.seen.refusal.is_none());
    let ended = told.and_then(|told| scene.members.ended(told.fenced?));
    ended.is_some_and(|(word, _)| matches!(word, Word::Fenced | Word::Unclean))
}

/// Has a pod become ready since the question was asked?
fn came_back(scene: &Scene<'_>) -> bool {
    scene.question.is_some_and(|question| scene.members.pods().any(|(_, pod)| ready_since(pod).is_some_and(|time| time > question.time.0)))
}

/// Is every pod that was ordered ready, and as it is wanted?
fn all_ready(scene: &Scene<'_>) -> bool {
    scene.look.known.applied.as_ref().is_some_and(|ordered| scene.settled() >= ordered.replicas) && scene.primary_is_as_wanted()
}

/// Has the Job of a phase that was left ended well?
pub fn ended_well(scene: &Scene<'_>, phase: Phase) -> bool {
    let task = work::task(scene.look, phase);
    task.is_some_and(|task| matches!(&task.progress, Progress::Done(line) if outcome::of(scene.look, task.work, line).is_ok()))
}
