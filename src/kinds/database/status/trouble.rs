//! What goes wrong, in the words of those it happens to.

use super::volumes::{classless, diverged, seen_later, small, volume_lost, waiting_claims};
use crate::kinds::children::Slot;
use crate::kinds::database::Database;
use crate::kinds::database::children::COMPONENT;
use crate::kinds::database::children::names::{self, Work};
use crate::kinds::database::children::scripts;
use crate::kinds::database::children::secrets::Loss;
use crate::kinds::database::facts;
use crate::kinds::database::lifecycle::words::Phase;
use crate::kinds::database::orders::ending;
use crate::kinds::database::scene::Scene;
use crate::kinds::database::scene::work::{self, Progress};
use crate::kinds::database::scene::{outcome, said, siblings, standing};
use crate::kinds::intervention::Evidence;
use crate::kinds::look::Look;
use crate::kinds::pods::{ended_long_ago, trouble, unready};
use crate::kinds::questions::{drift, quote};
use crate::kinds::reason::Reason;
use crate::kinds::status::WaitingFor;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use std::sync::Arc;

/// How many objects are quoted: the first ones say it all.
const QUOTED: usize = 4;
/// How much of what somebody waits on is said.
const WHAT: usize = 256;

/// What was refused, the claims that wait, and the pods in trouble, for `status.waitingFor`.
pub fn waiting_for(look: &Look<'_, Database>) -> Vec<WaitingFor> {
    let wait = |kind: &str, name: String, what: &str| WaitingFor { kind: kind.to_owned(), name, what: what.chars().take(WHAT).collect() };
    let refused = look.seen.refusal.iter().map(|refusal| {
        let (kind, name) = refusal.about(&look.seen.object);
        wait(&kind, name, &refusal.words)
    });
    let claim = |(name, what): (String, String)| wait("PersistentVolumeClaim", name, &what);
    let pods = pods(look).filter_map(|pod| Some(wait("Pod", pod.name_any(), &trouble(pod)?.what)));
    refused.chain(classless(look).map(claim)).chain(pods).chain(waiting_claims(look).map(claim)).take(QUOTED).collect()
}

/// Everything that was seen to go wrong, for a question of this reason.
pub fn evidence(look: &Look<'_, Database>, reason: Reason) -> Vec<Evidence> {
    let scene = Scene::of(look);
    let owner = look.seen.object.name_any();
    let own = match reason {
        Reason::CredentialsLost => standing::credentials_lost(&scene).iter().map(lost_one).collect(),
        Reason::PrimaryVolumeLost => volume_lost(&scene).into_iter().collect(),
        Reason::TopologyBehind => seen_later(&scene),
        Reason::DumpIncomplete => seen_later(&scene).into_iter().chain(diverged(&scene)).collect(),
        Reason::ReplicaDiverged => {
            let words = |(ordinal, sentence): (u32, String)| quote("Pod", &names::pod(&owner, ordinal), &sentence);
            scene.diverged().map(words).into_iter().collect()
        }
        Reason::ProbeFailed => probe(look, &scene),
        Reason::InitJobFailed => job(look, Phase::Initializing),
        Reason::RestoreFailed => job(look, Phase::Restoring),
        Reason::SnapshotFailed => {
            let lost = standing::credentials_lost(&scene);
            lost.iter().map(lost_one).chain(job(look, Phase::SnapshottingBeforeDelete)).collect()
        }
        Reason::NodeLost => silent(&scene).into_iter().collect(),
        Reason::SwitchoverStuck => unfollowed(&scene).into_iter().collect(),
        Reason::StorageNotExpandable => small(&scene),
        Reason::RemovalStuck => left(look),
        Reason::Protected => vec![quote("Database", &owner, "it carries pointsman.dev/protected=true")],
        Reason::SpecInvalid
        | Reason::ChildConflict
        | Reason::ProvisioningStuck
        | Reason::RolloutStuck
        | Reason::PodsUnavailable
        | Reason::DriftFought => Vec::new(),
    };
    own.into_iter().chain(seen(look)).take(2 * QUOTED).collect()
}

/// What everybody says who has something to say.
fn seen(look: &Look<'_, Database>) -> Vec<Evidence> {
    let refused = look.seen.refusal.iter().map(|refusal| {
        let (kind, name) = refusal.about(&look.seen.object);
        quote(&kind, &name, &refusal.words)
    });
    let waiting = pods(look).filter_map(|pod| Some(quote("Pod", &pod.name_any(), &trouble(pod)?.words)));
    let silent = pods(look).filter(|pod| trouble(pod).is_none());
    let silent = silent.filter_map(|pod| Some(quote("Pod", &pod.name_any(), &unready(pod)?)));
    let claim = |(name, words): (String, String)| quote("PersistentVolumeClaim", &name, &words);
    let claims = waiting_claims(look).map(claim);
    let seen = classless(look).map(claim).chain(waiting).chain(silent).chain(claims).take(QUOTED);
    refused.chain(seen).chain(drift(look)).collect()
}

/// The pods of servers and of Jobs, but those that have done what they had to do, or failed at it long ago; nobody waits for
/// a backup on the schedule.
fn pods<'a>(look: &'a Look<'_, Database>) -> impl Iterator<Item = &'a Arc<Pod>> {
    let is_done = |pod: &Arc<Pod>| pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Succeeded");
    let is_waited_for = |pod: &&Arc<Pod>| {
        let scheduled = pod.labels().get(COMPONENT).map(String::as_str) == Some("backup");
        !scheduled && !ended_long_ago(pod, look.seen.now)
    };
    let jobs = look.children.job_pods.iter().filter(is_waited_for);
    look.children.pods.iter().chain(jobs).filter(move |pod| !is_done(pod))
}

fn lost_one(loss: &Loss) -> Evidence {
    let (Loss::Gone { secret } | Loss::Missing { secret, .. } | Loss::Edited { secret, .. }) = loss;
    quote("Secret", secret, &loss.to_string())
}

/// The pod of the primary that was told to go, and of which nobody says that it has.
fn silent(scene: &Scene<'_>) -> Option<Evidence> {
    let pod = scene.members.pod(scene.members.primary()?)?;
    let end = pod.metadata.deletion_timestamp.as_ref()?.0;
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or("(none)");
    Some(quote("Pod", &pod.name_any(), &format!("it had to be gone by {end}, and its node {node} does not say that it is")))
}

/// The primary that nobody could take over from.
fn unfollowed(scene: &Scene<'_>) -> Option<Evidence> {
    let (owner, primary) = (scene.look.seen.object.name_any(), scene.members.primary()?);
    let words = format!(
        "it ended {} times so that another could take over; each time no replica held all that it had written, or it did not end \
         cleanly, so it serves again. With spec.replicas of {} or more it stays what it is",
        standing::fences_in_vain(scene),
        primary + 1,
    );
    Some(quote("Pod", &names::pod(&owner, primary), &words))
}

fn probe(look: &Look<'_, Database>, scene: &Scene<'_>) -> Vec<Evidence> {
    let image = look.wanted.as_ref().map(|wanted| wanted.template.image.clone()).unwrap_or_default();
    let majors = facts::majors(scene).map(|(data, major)| {
        let words = format!("{image} is PostgreSQL {major}, and the data is of PostgreSQL {data}; another major version cannot read it");
        quote("Database", &look.seen.object.name_any(), &words)
    });
    majors.into_iter().chain(job(look, Phase::Probing)).collect()
}

/// What is said of a claim of dumps that is a stranger's.
const TAKEN: &str = "it is not this object's: no dump is written into it; rename or delete it, then answer retry";

/// What the Job of a phase says.
fn job(look: &Look<'_, Database>, phase: Phase) -> Vec<Evidence> {
    let Some(task) = work::task(look, phase) else { return Vec::new() };
    let words = match &task.progress {
        Progress::Failed(words) => words.clone(),
        Progress::Done(line) => match outcome::of(look, task.work, line) {
            Err(why) => why,
            Ok(_) => return Vec::new(),
        },
        // Its pod says why, where it says anything.
        Progress::Running if waiting(look, task.work) => return Vec::new(),
        Progress::Running if let Some(words) = last_attempt(look, task.work) => format!("its last attempt failed: {words}"),
        Progress::Running => match (stands_still(look, task.work), task.work.is_long()) {
            (Some(why), _) => why,
            (None, true) => "it goes on; once it has ended well, this question closes".to_owned(),
            (None, false) => "it has not ended".to_owned(),
        },
        Progress::Missing | Progress::Another(_) if standing::has_no_place(look, task.work) => {
            return vec![quote("PersistentVolumeClaim", &names::backups(&look.seen.object.name_any()), TAKEN)];
        }
        Progress::Missing | Progress::Another(_) if standing::has_no_scripts(look) => {
            return vec![quote("ConfigMap", scripts::name(), "it does not hold this release's scripts: delete it, and it is made anew")];
        }
        Progress::Another(job) if said::failure(job).is_some() => {
            said::last_line(&look.children.job_pods, job, false).or_else(|| said::failure(job)).unwrap_or_default()
        }
        Progress::Missing | Progress::Another(_) if ending::has_no_source(&Scene::of(look), task.work) => return vec![dump_gone(look)],
        Progress::Missing | Progress::Another(_) => "it was not made".to_owned(),
    };
    vec![quote("Job", &task.rendered.child.name, &words)]
}

/// What became of the last dump, of which no other can be taken.
fn dump_gone(look: &Look<'_, Database>) -> Evidence {
    let object = &look.seen.object;
    let name = names::backups(&object.name_any());
    let Some(taken) = &siblings::remembered(object).snapshot else {
        return quote("StatefulSet", &object.name_any(), "no server is left that could be dumped");
    };
    let words = format!("it {}, and the last dump, {}, was in it; no server is left that could be dumped again", fared(look), taken.folder);
    quote("PersistentVolumeClaim", &name, &words)
}

/// What became of the claim of the dumps, where the last dump is not to be had.
fn fared(look: &Look<'_, Database>) -> &'static str {
    match &look.children.backups {
        Slot::Ours(claim) if claim.metadata.deletion_timestamp.is_some() => "was told to go",
        Slot::Free => "is gone",
        Slot::Ours(_) | Slot::Unlabelled { .. } | Slot::Adopted { .. } | Slot::Foreign { .. } => "is another one now",
    }
}

/// What became of last dumps that did not bring the deletion to its end.
fn dumped_in_vain(look: &Look<'_, Database>) -> Option<Evidence> {
    let scene = Scene::of(look);
    let taken = scene.more.snapshot.as_ref().filter(|_| scene.more.dumps >= ending::DUMPS)?;
    let (name, times, folder) = (look.seen.object.name_any(), scene.more.dumps, &taken.folder);
    Some(if ending::is_kept(&scene, taken) {
        let words = format!("its servers outlived {times} last dumps in a row, and may have been written to since {folder}");
        quote("StatefulSet", &name, &words)
    } else {
        let words = format!("it {}, and {folder}, the last of {times} last dumps, was in it", fared(look));
        quote("PersistentVolumeClaim", &names::backups(&name), &words)
    })
}

/// The last words of an attempt after which another one follows.
fn last_attempt<'a>(look: &'a Look<'_, Database>, work: Work) -> Option<&'a String> {
    work::failed_words(look, work::ours(look, work)?)
}

/// What keeps a Job that has not ended from running at all. What its controller and the kubelet say of it are Events, which nobody
/// here may read.
fn stands_still(look: &Look<'_, Database>, work: Work) -> Option<String> {
    let namespace = look.seen.object.namespace().unwrap_or_default();
    let job = work::ours(look, work)?;
    let mut pods = said::pods_of(&look.children.job_pods, job).peekable();
    if pods.peek().is_none() {
        return Some(format!("no pod of it could be made; to see why: kubectl describe job/{} -n {namespace}", job.name_any()));
    }
    let starts = |pod: &&Arc<Pod>| pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Pending");
    let pod = pods.find(starts)?.name_any();
    Some(format!("its pod does not start; to see why: kubectl describe pod/{pod} -n {namespace}"))
}

/// Does a pod of this Job wait for something?
fn waiting(look: &Look<'_, Database>, work: Work) -> bool {
    work::ours(look, work).is_some_and(|job| said::pods_of(&look.children.job_pods, job).any(|pod| trouble(pod).is_some()))
}

/// What was told to go and is there still.
fn left(look: &Look<'_, Database>) -> Vec<Evidence> {
    let claims = look.children.claims.iter().chain([&look.children.backups]).filter_map(Slot::ours);
    let claims = claims.map(|claim| ("PersistentVolumeClaim", claim.metadata.clone()));
    let pods = look.children.pods.iter().chain(&look.children.job_pods).map(|pod| ("Pod", pod.metadata.clone()));
    let sets = look.children.servers.ours().map(|set| ("StatefulSet", set.metadata.clone()));
    let going = sets.into_iter().chain(pods).chain(claims).filter(|(_, meta)| meta.deletion_timestamp.is_some());
    let words = |(kind, meta): (&str, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta)| {
        let held = meta.finalizers.unwrap_or_default().join(", ");
        let held = if held.is_empty() { "nothing holds it by a finalizer".to_owned() } else { format!("held by its finalizers: {held}") };
        quote(kind, &meta.name.unwrap_or_default(), &format!("it was told to go; {held}"))
    };
    going.map(words).chain(dumped_in_vain(look)).take(QUOTED).collect()
}
