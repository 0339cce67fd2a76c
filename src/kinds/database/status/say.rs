//! What is said of a Database, phase by phase.

use super::{backups, fixes, trouble};
use crate::kinds::children::Slot;
use crate::kinds::claims::{self, CHILDREN_READY};
use crate::kinds::database::Database;
use crate::kinds::database::children::names;
use crate::kinds::database::lifecycle::words::Phase;
use crate::kinds::database::object::more::DatabaseStatus;
use crate::kinds::database::object::parts::DeletionPolicy;
use crate::kinds::database::orders::ending;
use crate::kinds::database::plan::version;
use crate::kinds::database::scene::Scene;
use crate::kinds::database::scene::undone::{was_never_initialized, was_never_restored};
use crate::kinds::database::scene::work::{self, Progress};
use crate::kinds::database::scene::{closing, learning, readers, resize, standing};
use crate::kinds::look::Look;
use crate::kinds::order::ChildKind;
use crate::kinds::pods::counted;
use crate::kinds::prose::listed;
use crate::kinds::questions::drift;
use crate::kinds::status::{Because, Claim, Declared, WaitingFor};
use crate::kinds::telling::{Tells, Told, behind, command, person, typed};
use kube::ResourceExt;
use std::collections::BTreeSet;

/// The condition that says whether it serves.
pub const AVAILABLE: Declared = Declared {
    name: claims::AVAILABLE,
    meaning: "the primary takes connections, and the database is made",
    holds: &[Because::Word("PrimaryServes")],
    fails: &[
        Because::Word("NotMade"),
        Because::Word("PrimarySuperseded"),
        Because::Word("LedToNobody"),
        Because::Word("ReadersAlone"),
        Because::Word("NobodyServes"),
    ],
};

impl Tells for Database {
    fn told(look: &Look<'_, Self>, phase: Phase) -> Told {
        Told { message: message(look, phase), waiting_for: waiting_for(look, phase) }
    }

    /// Who is served by a replica alone cannot write; and before the database was made, or brought back, nobody is let in.
    fn serving(look: &Look<'_, Self>) -> (bool, &'static str, &'static str) {
        let scene = Scene::of(look);
        if was_never_initialized(&scene) || was_never_restored(&scene) {
            return (false, "NotMade", "the database was not made yet, or not brought back");
        }
        match (scene.members.primary_is_ready(), scene.members.replica_is_ready()) {
            (true, _) if readers::writes_to(&scene).is_none() => {
                (false, "PrimarySuperseded", "a volume knows of a later primary than the one that serves")
            }
            (true, _) if standing::is_going(&scene) && !readers::is_anybody_led(&scene) => {
                (false, "LedToNobody", "nobody can write: the object goes, and its Service leads to no server")
            }
            (true, _) => (true, "PrimaryServes", "the primary serves"),
            (false, true) => (false, "ReadersAlone", "nobody can write: the primary does not serve; replicas can be read"),
            (false, false) => (false, "NobodyServes", "no server serves"),
        }
    }

    fn ready(phase: Phase) -> Option<&'static str> {
        (phase == Phase::Ready).then_some(CHILDREN_READY)
    }

    fn more(look: &Look<'_, Self>, status: &DatabaseStatus) -> Vec<Claim> {
        vec![backups::claim(look, status), fixes::claim(look, status)]
    }

    /// Of the same image another tag, of the same major version and a later minor one.
    fn newer_default(look: &Look<'_, Self>, status: &DatabaseStatus) -> Option<String> {
        let (target, default) = (look.target.as_ref()?, &look.seen.settings.default_image);
        let runs = learning::answer(&status.more, target)?.version;
        let latest = version::minor(default).filter(|_| version::is_alike(default, &target.template.image))?;
        let newer = latest.0 == runs / version::MAJOR && latest.1 > runs % version::MAJOR;
        newer.then(|| {
            let (runs, latest) = (version::spelled(runs), format!("{}.{}", latest.0, latest.1));
            let so = format!(
                "{runs} runs, and the operator's default is {latest}; it restarts the servers, so nobody is given it unasked. To have it:"
            );
            format!("{so} {}", with_image(look, default))
        })
    }
}

/// The command that runs the servers of another image.
pub fn with_image(look: &Look<'_, Database>, image: &str) -> String {
    command::<Database>(&look.seen.object, "patch", &format!("--type=merge --patch '{{\"spec\":{{\"image\":\"{image}\"}}}}'"))
}

const WITH_IT: &str = "the namespace goes, and its volumes with it:";

fn message(look: &Look<'_, Database>, phase: Phase) -> String {
    let scene = Scene::of(look);
    let pods = counted(look.replicas());
    let name = look.seen.object.name_any();
    let image = || work::plan(look, Phase::Probing).map(|plan| plan.template.image.clone()).unwrap_or_default();
    let trouble = first_trouble(look);
    match phase {
        Phase::Pending | Phase::Deleting | Phase::Paused | Phase::HumanIntervention | Phase::RemovalBlocked => String::new(),
        Phase::Provisioning => format!("provisioning {pods}{trouble}"),
        Phase::Probing => format!("asking {} what it can do{trouble}", image()),
        Phase::Restoring => format!("bringing the backup back{trouble}"),
        Phase::Initializing => format!("making role, database and extensions{trouble}"),
        Phase::Ready => format!("{pods} ready; connect with the Secret {}", names::application(&name)),
        Phase::Scaling => format!("scaling to {pods}{trouble}"),
        Phase::Restarting if scene.members.outdated().next().is_none() => format!("the servers read their settings anew{trouble}"),
        Phase::Restarting => format!("restarting {pods}, one at a time, the primary last{trouble}"),
        Phase::ExpandingStorage if resize::awaiting(&scene).next().is_some() => {
            format!("growing file systems: restarting pods, one at a time, the primary last{trouble}")
        }
        Phase::ExpandingStorage => format!("expanding volumes{trouble}"),
        Phase::Degraded if let Some(claim) = scene.leads_volume_goes() => {
            format!("{} is being deleted: its data goes with its pod; dump it now", claim.name_any())
        }
        Phase::Degraded => {
            let drift = drift(look).into_iter().next().map(|drift| behind(&drift.kind, &drift.name, &drift.words));
            format!("the primary serves; repairing: {pods} wanted{}", drift.unwrap_or(trouble))
        }
        Phase::Unavailable => {
            let primary = scene.members.primary_name(&name).unwrap_or_else(|| "the primary".to_owned());
            format!("nobody can write: {primary} is away, and is waited for on its own volume{trouble}")
        }
        Phase::RollingBack => format!("rolling {pods} back to what was ready last{trouble}"),
        Phase::RolledBack => typed::<Database>("rolled back; the spec asks for what failed:", &look.seen.object, "edit", ""),
        Phase::SnapshottingBeforeDelete => format!("taking a last dump; nobody can write, and nothing is removed yet{trouble}"),
        Phase::Removing => format!("{}removing the servers, then their volumes{trouble}", undumped(&scene)),
        Phase::Retaining => format!("removing the servers; {}{trouble}", kept(&scene)),
        Phase::Releasing if ending::namespace_is_ending(&scene) => format!("{WITH_IT} {}", listed(volumes(look).into_iter())),
        Phase::Releasing => "nothing is left to be removed".to_owned(),
    }
}

/// The first of what goes wrong, to be told behind something else.
fn first_trouble(look: &Look<'_, Database>) -> String {
    trouble::waiting_for(look).into_iter().next().map(|it| behind(&it.kind, &it.name, &it.what)).unwrap_or_default()
}

/// Which volumes stay where all are to.
fn kept(scene: &Scene<'_>) -> String {
    scene.leads_volume_goes().map_or_else(
        || "every volume stays".to_owned(),
        |claim| format!("{} goes with its data, as it was told to before", claim.name_any()),
    )
}

/// Why there is no dump although the policy asks for one.
fn undumped(scene: &Scene<'_>) -> &'static str {
    let wanted = ending::policy(scene) == DeletionPolicy::Snapshot && scene.more.snapshot.is_none();
    // What was said closes the question in this very step.
    if wanted && (scene.question.is_some() || scene.more.last_word.is_some()) {
        return "without a last dump, as was answered; ";
    }
    if wanted && !closing::ended_well(scene, Phase::SnapshottingBeforeDelete) { "there was no database to dump; " } else { "" }
}

/// The claims of the object, those too that a namespace has taken already.
pub fn volumes(look: &Look<'_, Database>) -> Vec<String> {
    let name = look.seen.object.name_any();
    let known = Scene::of(look).more.system.iter().flat_map(|system| system.claims.keys()).filter_map(|ordinal| ordinal.parse().ok());
    let known = known.map(|ordinal| names::claim(&name, ordinal));
    let dumps = look.known.applied.as_ref().map(|_| names::backups(&name));
    let there = look.children.claims.iter().chain([&look.children.backups]).filter_map(Slot::ours).map(ResourceExt::name_any);
    Vec::from_iter(known.chain(dumps).chain(there).collect::<BTreeSet<_>>())
}

fn waiting_for(look: &Look<'_, Database>, phase: Phase) -> Vec<WaitingFor> {
    let workload = || WaitingFor {
        kind: ChildKind::StatefulSet.name(),
        name: look.seen.object.name_any(),
        what: format!("{} of this generation to be ready", counted(look.replicas())),
    };
    let first = match phase {
        Phase::Provisioning | Phase::Scaling | Phase::Restarting | Phase::Degraded | Phase::Unavailable | Phase::RollingBack => {
            Some(workload())
        }
        Phase::Probing | Phase::Restoring | Phase::Initializing | Phase::SnapshottingBeforeDelete => job(look, phase),
        Phase::RolledBack => return vec![person("another spec")],
        Phase::ExpandingStorage | Phase::Removing | Phase::Retaining => None,
        Phase::Pending
        | Phase::Ready
        | Phase::Deleting
        | Phase::Releasing
        | Phase::Paused
        | Phase::HumanIntervention
        | Phase::RemovalBlocked => {
            return Vec::new();
        }
    };
    first.into_iter().chain(trouble::waiting_for(look)).collect()
}

fn job(look: &Look<'_, Database>, phase: Phase) -> Option<WaitingFor> {
    let task = work::task(look, phase)?;
    let what = match task.progress {
        Progress::Missing => "to be made",
        Progress::Another(_) => "to make room for another one",
        Progress::Running => "to end",
        Progress::Done(_) | Progress::Failed(_) => "to be read",
    };
    Some(WaitingFor { kind: ChildKind::Job.name(), name: task.rendered.child.name, what: what.to_owned() })
}
