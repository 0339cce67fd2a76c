//! What each effect asks of the cluster.

pub mod ending;
pub mod finished_jobs;
pub mod needed;
mod reload;
pub mod tombstone;
pub mod upkeep;

use super::Database;
use super::children::COMPONENT;
use super::children::names::Work;
use super::children::secrets::{self, Credentials};
use super::lifecycle::words::Effect;
use super::plan::Plan;
use super::reports::last_words::{Word, complete};
use super::scene::Scene;
use super::scene::members::Members;
use super::scene::work::{self, Progress, Task};
use super::scene::{behind, readers, resize, said, standing};
use crate::kinds::apply::{creation, relabel, removal, removal_with};
use crate::kinds::children::Slot;
use crate::kinds::finalizer;
use crate::kinds::look::Look;
use crate::kinds::order::{Cascade, Order};
use crate::kinds::pods::trouble;
use crate::kinds::rendered::Rendered;
use jiff::SignedDuration;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::ResourceExt;
use std::sync::Arc;

/// What `effect` asks for.
pub fn of(effect: Effect, look: &Look<'_, Database>) -> Vec<Order> {
    let (seen, scene) = (look.seen, Scene::of(look));
    let target = || look.target.as_ref();
    match effect {
        Effect::HoldFinalizer => finalizer::hold::<Database>(&seen.object).into_iter().collect(),
        Effect::ApplyChildren => look.missing.clone(),
        Effect::LeadReaders => target().map(|target| readers::orders(&scene, target)).unwrap_or_default(),
        Effect::ApplyAuxiliaries => look.upkeep.clone(),
        Effect::StartJob => job(&scene),
        Effect::ExpandClaims => target().map(|target| needed::growths(&scene, target)).unwrap_or_default(),
        Effect::ResetPasswords => target().map(|target| or_what_is_missing(look, passwords(&scene, target))).unwrap_or_default(),
        Effect::SwitchPrimary => target().map(|target| moves(&scene, target)).unwrap_or_default(),
        Effect::RestartNextPod => renewal(&scene),
        Effect::DeleteWaitingPods => tried_afresh(&scene),
        Effect::EndJobs => finished_jobs::orders(&scene),
        Effect::DeleteWorkloads => ending::workloads(&scene),
        Effect::DeleteVolumes => ending::volumes(&scene),
        Effect::ReleaseFinalizer => finalizer::release::<Database>(&seen.object).into_iter().collect(),
    }
}

/// The next steps; while there is none, they wait for a server, and what it may be waiting for is made.
fn or_what_is_missing(look: &Look<'_, Database>, steps: Vec<Order>) -> Vec<Order> {
    if steps.is_empty() { look.missing.clone() } else { steps }
}

/// The Job of the state, and what it cannot run without.
fn job(scene: &Scene<'_>) -> Vec<Order> {
    let mut orders: Vec<Order> = finalizer::hold::<Database>(&scene.look.seen.object).into_iter().collect();
    let in_vain = |work| ending::has_no_source(scene, work) || ending::is_dumped_in_part(scene, work);
    let task = work::task(scene.look, scene.phase()).filter(|task| !in_vain(task.work));
    let Some(task) = task else { return orders };
    if let Some(first) = before_a_dump(scene, &task) {
        return orders.into_iter().chain(first).collect();
    }
    // A restore that is no longer asked for would write on into what is made now: it and its pods are gone first.
    if let Some(restore) = given_up(scene).filter(|_| task.work == Work::Init) {
        let stays = restore.metadata.deletion_timestamp.is_none();
        return orders.into_iter().chain(stays.then(|| removal_with(restore, Cascade::Foreground)).flatten()).collect();
    }
    if scene.look.children.scripts.ours().is_none() {
        return orders.into_iter().chain(started(scene, task)).collect();
    }
    let same =
        |job: &&Arc<Job>| job.labels().get(COMPONENT).map(String::as_str) == task.rendered.object["metadata"]["labels"][COMPONENT].as_str();
    orders.extend(scene.look.children.earlier.iter().filter(same).filter_map(|job| removal(job.as_ref())));
    orders.extend(started(scene, task));
    orders
}

/// What a last dump waits for; nothing where it can be made, or goes on.
fn before_a_dump(scene: &Scene<'_>, task: &Task<'_>) -> Option<Vec<Order>> {
    if task.work != Work::Snapshot {
        return None;
    }
    let target = scene.look.target.as_ref();
    // It is taken of a primary: a move that was begun is ended first.
    if standing::is_switchover_wanted(scene) {
        return target.map(|target| moves(scene, target));
    }
    // Who writes meanwhile would lose it: of one that has ended before nobody was led there any more, another is made.
    let led = target.map(|target| readers::leads_nobody_any_more(scene, target)).unwrap_or_default();
    if !led.is_empty() {
        return Some(led);
    }
    // The policy may have come to want a dump when nothing was made any more. Into a stranger's claim none is written.
    if !matches!(scene.look.children.backups, Slot::Ours(_)) {
        return Some(target.and_then(|target| needed::dumps(scene, target)).into_iter().collect());
    }
    // Nor is one into a claim that is on its way out: once it is gone another one is made, which what was asked of it holds up.
    let old = || if let Progress::Another(job) = task.progress { removal(job) } else { None };
    work::dumps_claim(scene.look).is_none().then(|| old().into_iter().collect())
}

/// The Job of a restore that its controller has not ended: it may run a pod still, or make another one.
fn given_up<'a>(scene: &Scene<'a>) -> Option<&'a Job> {
    let restore = work::ours(scene.look, Work::Restore)?;
    (!said::is_complete(restore) && said::failure(restore).is_none()).then_some(restore)
}

/// The pod whose turn it is to be made anew; where none has to be, what makes the servers read the settings that are reloaded,
/// and the Job that waits until every one has.
fn renewal(scene: &Scene<'_>) -> Vec<Order> {
    if let Some((ordinal, pod)) = resize::next_to_restart(scene) {
        return spared(scene, ordinal, pod).into_iter().collect();
    }
    if scene.members.outdated().next().is_some() {
        let next = scene.members.next_to_restart().and_then(|(ordinal, pod)| spared(scene, ordinal, pod));
        return next.into_iter().collect();
    }
    let (told, task) = reload::of(scene);
    told.into_iter().chain(task.and_then(|task| started(scene, task))).collect()
}

/// What starts a Job: its scripts come first, and none runs with those of somebody else; and one of its name that was asked
/// something else goes first.
fn started(scene: &Scene<'_>, task: Task<'_>) -> Option<Order> {
    if scene.look.children.scripts.ours().is_none() {
        return needed::missing_scripts(scene);
    }
    let again = || relabel(&scene.look.children.job(task.work)?.slot, task.rendered.child.name.clone());
    match task.progress {
        Progress::Missing => Some(again().unwrap_or_else(|| creation(task.rendered))),
        Progress::Another(job) => removal(job),
        Progress::Running | Progress::Done(_) | Progress::Failed(_) => None,
    }
}

/// Pods that wait on an error, and Jobs that have failed.
fn tried_afresh(scene: &Scene<'_>) -> Vec<Order> {
    let waiting = scene.members.pods().filter(|(_, pod)| trouble(pod).is_some());
    let waiting = waiting.filter_map(|(ordinal, pod)| spared(scene, ordinal, pod));
    let children = &scene.look.children;
    let has_failed = |job: &&Job| said::end(&children.job_pods, job).is_some_and(|end| !end.well);
    let failed = children.every_job().filter(has_failed).filter_map(removal);
    waiting.chain(failed).collect()
}

/// New passwords into both Secrets; once they are there, a start of the primary that learns them.
fn passwords(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let (object, children) = (&scene.look.seen.object, &scene.look.children);
    let (internal, application) = (&children.internal, &children.application);
    if children.credentials.is_ok() {
        let before = |pod: &&Pod| scene.more.unaware.as_ref().is_some_and(|unaware| Members::is_one_of(pod, unaware));
        let Some(primary) = scene.members.primary() else { return Vec::new() };
        return scene.members.pod(primary).filter(before).and_then(|pod| spared(scene, primary, pod)).into_iter().collect();
    }
    let Some(credentials) = Credentials::drawn(&scene.look.seen.entropy) else { return Vec::new() };
    let outside = secrets::application(object, target, &credentials);
    vec![written(application, outside), written(internal, secrets::internal(object, &credentials))]
}

/// A Secret, whatever stood in the one of its name.
fn written(slot: &Slot<Secret>, rendered: Rendered) -> Order {
    match slot.uid() {
        Some(uid) => Order::Apply { child: rendered.child, object: rendered.object, uid: Some(uid), whole: false },
        None => creation(rendered),
    }
}

/// The next step of a move; while there is none, who is to follow is shown to readers too.
fn moves(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let steps = switch(scene, target);
    if !steps.is_empty() {
        return steps;
    }
    readers::orders(scene, target).into_iter().chain(or_what_is_missing(scene.look, steps)).collect()
}

/// Moves the primary, a step at a time: nobody is named; the old one's server has said that it ended cleanly; another is named;
/// and its pod is made anew.
fn switch(scene: &Scene<'_>, target: &Plan) -> Vec<Order> {
    let Some(told) = scene.members.told() else { return Vec::new() };
    let Some(uid) = scene.look.children.topology.uid() else { return Vec::new() };
    // One that readers are not led to yet would not be made anew, and only a start makes a primary.
    let follows = |ordinal: u32| scene.members.is_ready(ordinal) && scene.members.pod(ordinal).is_some_and(Members::is_labelled);
    // Nor may one take over whose volume goes with its pod.
    let goes = |ordinal: u32| scene.going_claims().any(|(of, _)| of == ordinal);
    let may_follow = |ordinal: &u32| told.fenced != Some(*ordinal) && follows(*ordinal) && !goes(*ordinal);
    let heirs = || (0..target.replicas.unsigned_abs()).filter(may_follow);
    let told_next = |next| vec![needed::told_otherwise(told, &next, scene, &uid)];
    // Nobody is named while a volume knows of a later primary: another one of that epoch would be taken for it.
    let is_followed = behind::is_known(scene);
    let handed_over = || heirs().next().map(|heir| told_next(told.clone().handed_over(heir))).unwrap_or_default();
    match (told.primary, told.fenced) {
        (Some(primary), _) if primary < target.replicas.unsigned_abs() => {
            let pod = scene.members.pod(primary).filter(|_| standing::serves_as_replica(scene, primary));
            let pod = pod.filter(|pod| pod.metadata.deletion_timestamp.is_none());
            pod.and_then(|pod| spared(scene, primary, pod)).into_iter().collect()
        }
        // Without an heir, nobody would take writes; one that does not run cannot end cleanly.
        (Some(primary), _) if !scene.members.is_ready(primary) => Vec::new(),
        (Some(primary), _) if goes(primary) => Vec::new(),
        (Some(primary), _) if !standing::may_fence(scene, primary) => Vec::new(),
        (Some(_), _) | (None, None) if is_followed => Vec::new(),
        (Some(_), _) => heirs().next().map(|_| told_next(told.clone().fenced())).unwrap_or_default(),
        (None, Some(old)) => match (scene.members.pod(old), scene.members.ended(old)) {
            // Where nobody who holds all that it wrote can take over, it is named again, and serves.
            (Some(_), Some((Word::Fenced, said))) => {
                let heir = heirs().filter(|_| !is_followed).find(|heir| complete(&said).any(|ordinal| ordinal == *heir));
                told_next(told.clone().handed_over(heir.unwrap_or(old)))
            }
            // What it wrote last may be nowhere else: it is named again, and goes cleanly the next time.
            (Some(_), Some((Word::Unclean, _))) => told_next(told.clone().handed_over(old)),
            (Some(pod), _) => is_old(scene, pod).then(|| spared(scene, old, pod)).flatten().into_iter().collect(),
            // It comes back, and says how it ended.
            (None, _) => Vec::new(),
        },
        (None, None) => handed_over(),
    }
}

/// The order that removes a pod; none while its volume would go with it.
fn spared(scene: &Scene<'_>, ordinal: u32, pod: &Pod) -> Option<Order> {
    let goes = scene.going_claims().any(|(of, _)| of == ordinal);
    (!goes).then(|| removal(pod)).flatten()
}

/// Is it the pod that was the primary, or one whose server had time to say that it is not, and runs on? One that waits for its
/// volume or its image is waited for.
fn is_old(scene: &Scene<'_>, pod: &Pod) -> bool {
    const MOMENT: SignedDuration = SignedDuration::from_secs(30);
    let named = scene.more.system.as_ref().and_then(|system| system.pod.clone());
    let late = Members::runs_longer(pod, MOMENT, scene.look.seen.now);
    pod.metadata.deletion_timestamp.is_none() && (pod.uid() == named || late)
}
