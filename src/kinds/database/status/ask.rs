//! Why a Database asks.

use super::trouble;
use crate::kinds::database::Database;
use crate::kinds::database::children::names;
use crate::kinds::database::lifecycle::words::{Event, Phase};
use crate::kinds::database::object::more::System;
use crate::kinds::database::scene::standing::{credentials_lost, is_moved_in_vain};
use crate::kinds::database::scene::{Scene, behind, diverged};
use crate::kinds::intervention::Evidence;
use crate::kinds::look::Look;
use crate::kinds::order::Fate;
use crate::kinds::questions::Asks;
use crate::kinds::reason::{Reason, Verb};
use crate::machine::Step;
use kube::ResourceExt;

impl Asks for Database {
    fn reason(look: &Look<'_, Self>, step: &Step<Self>) -> Reason {
        let undone = look.seen.refusal.as_ref().is_some_and(|refusal| refusal.fate == Fate::Undone) && !look.missing.is_empty();
        match (step.cause(), step.from()) {
            (Some(Event::SpecInvalid), _) => Reason::SpecInvalid,
            (Some(Event::ChildConflict), _) => Reason::ChildConflict,
            (Some(Event::DriftFought), _) => Reason::DriftFought,
            (Some(Event::CredentialsLost), _) => Reason::CredentialsLost,
            (Some(Event::PrimaryVolumeLost), _) => Reason::PrimaryVolumeLost,
            (Some(Event::TopologyBehind), _) => Reason::TopologyBehind,
            (Some(Event::ReplicaDiverged), _) => Reason::ReplicaDiverged,
            (Some(Event::Protected), _) => Reason::Protected,
            (Some(Event::MajorFound | Event::DowngradeFound), _) | (_, Phase::Probing) => Reason::ProbeFailed,
            (_, Phase::ExpandingStorage) => Reason::StorageNotExpandable,
            (_, Phase::Initializing) => Reason::InitJobFailed,
            (_, Phase::Restoring) => Reason::RestoreFailed,
            (_, Phase::SnapshottingBeforeDelete) if diverged::is_any(&Scene::of(look)) => Reason::DumpIncomplete,
            (_, Phase::SnapshottingBeforeDelete) => Reason::SnapshotFailed,
            (_, Phase::Removing | Phase::Retaining) => Reason::RemovalStuck,
            (_, Phase::Provisioning) => Reason::ProvisioningStuck,
            (_, Phase::Degraded) if undone => Reason::DriftFought,
            (_, Phase::Unavailable) if Scene::of(look).primary_is_on_a_lost_node() => Reason::NodeLost,
            (_, Phase::Degraded | Phase::Unavailable) => Reason::PodsUnavailable,
            _ if is_moved_in_vain(&Scene::of(look)) => Reason::SwitchoverStuck,
            _ => Reason::RolloutStuck,
        }
    }

    fn helps(look: &Look<'_, Self>, verb: Verb) -> bool {
        let scene = Scene::of(look);
        match verb {
            // The primary, which has to learn them, is not restarted while its volume would go with it.
            Verb::ResetPasswords => !credentials_lost(&scene).is_empty() && scene.leads_volume_goes().is_none(),
            Verb::BelieveVolumes => behind::believable(&scene).is_some(),
            Verb::Retry | Verb::Rollback | Verb::Adopt | Verb::Yield | Verb::KeepVolumes | Verb::SkipSnapshot => true,
        }
    }

    fn does(look: &Look<'_, Self>, verb: Verb) -> String {
        let believed = if verb == Verb::BelieveVolumes { behind::believable(&Scene::of(look)) } else { None };
        let Some(System { primary, epoch, .. }) = believed else { return verb.effect().to_owned() };
        let pod = names::pod(&look.seen.object.name_any(), primary);
        format!(
            "makes {pod} the primary, as the volumes of epoch {epoch} say; what another one took since stays on that one's volume alone"
        )
    }

    fn costs(look: &Look<'_, Self>, verb: Verb) -> Option<String> {
        let goes = Scene::of(look).leads_volume_goes().filter(|_| verb == Verb::KeepVolumes)?;
        Some(format!("loses {}, the primary's volume, which was told to go before", goes.name_any()))
    }

    fn evidence(look: &Look<'_, Self>, reason: Reason) -> Vec<Evidence> {
        trouble::evidence(look, reason)
    }
}
