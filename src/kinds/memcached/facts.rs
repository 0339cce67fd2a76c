//! Observation -> the facts that are true of it.

use super::plan::Plan;
use super::words::Event;
use super::{Memcached, change, orders, v1};
use crate::kinds::children::Slot;
use crate::kinds::intervention::{Intervention, about};
use crate::kinds::order::{Child, ChildRef, Order};
use crate::kinds::pods::{condition, has_ended};
use crate::kinds::reason::{Reason, Verb};
use crate::kinds::status::Status;
use crate::kinds::{Known, Observation, Violation, answer, question};
use crate::machine::{Machine, Role, Word};
use jiff::SignedDuration;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::core::object::HasStatus;
use kube::{Resource, ResourceExt};
use std::collections::BTreeSet;

/// Every fact that is true.
pub fn events(seen: &Observation<Memcached>) -> BTreeSet<Event> {
    let look = Look::at(seen);
    let question = question::<Memcached>(&seen.object);
    Event::ALL.iter().copied().filter(|event| holds(*event, &look, question)).collect()
}

/// One arm per event, so that a new event does not compile until its fact is written.
fn holds(event: Event, look: &Look<'_>, question: Option<&Intervention>) -> bool {
    let seen = look.seen;
    match event {
        Event::DeletionRequested => seen.object.meta().deletion_timestamp.is_some(),
        Event::SpecInvalid => look.wanted.is_err(),
        Event::ChildConflict => look.conflicts().next().is_some(),
        Event::SpecRenewed => question.is_some_and(|question| renewed(question, &seen.object)),
        Event::RetryAnswered => question.is_some_and(|question| question.answered(Verb::Retry, answer(&seen.object).map(String::as_str))),
        Event::ObstacleGone => question.is_some_and(|question| look.obstacle_gone(question.reason)),
        Event::NeverReady => seen.object.status().is_none_or(|status| status.last_good.is_none()),
        Event::TemplateChanged | Event::ReplicasChanged => look.changes.contains(&event),
        Event::AllStopped => look.settled && look.replicas() == 0,
        Event::ChildrenReady => look.settled && look.replicas() > 0,
        // Time counts against the world only after the order was carried out, or refused, and where nothing came of it
        // while nobody looked.
        Event::DeadlinePassed => look.late() && (seen.refusal.is_some() || look.missing.is_empty() && !look.advanced()),
        Event::ChildrenDrifted => !look.missing.is_empty(),
        Event::PodsLost => !look.settled && look.proved(),
        Event::PodsPending => !look.settled && !look.proved(),
    }
}

/// An observation, with what every fact about it needs worked out once.
#[derive(Debug)]
pub struct Look<'a> {
    /// What was seen.
    pub seen: &'a Observation<Memcached>,
    /// What was good and what was ordered.
    pub known: Known<Memcached>,
    /// The plan that the spec asks for, if it is legal today and from what was good last.
    pub wanted: Result<Plan, Vec<Violation>>,
    /// What the operator works towards: the wanted plan, or what was ordered last where the spec is invalid.
    pub target: Option<Plan>,
    /// What the way from what was ordered to the target raises.
    pub changes: BTreeSet<Event>,
    /// What it takes to make every child what the target says; nothing when they are.
    pub missing: Vec<Order>,
    /// In place, seen by the Deployment's controller, and every pod is of the target and ready.
    pub settled: bool,
}

impl<'a> Look<'a> {
    /// Works it out.
    pub fn at(seen: &'a Observation<Memcached>) -> Self {
        let known = Known::<Memcached>::of(&seen.object);
        let judged = seen.plan.clone().and_then(|plan| Ok((change::between(&known, &plan)?, plan)));
        let (wanted, changes) = match judged {
            Ok((changes, plan)) => (Ok(plan), changes),
            Err(faults) => (Err(faults), BTreeSet::new()),
        };
        let target = wanted.clone().ok().or_else(|| known.applied.clone());
        Look { seen, known, wanted, target, changes, missing: Vec::new(), settled: false }.compared()
    }

    /// Compares the children with the target.
    fn compared(mut self) -> Self {
        let needed = |target| orders::needed(&self.seen.object, &self.seen.children, target, self.older_rendering());
        self.missing = self.target.as_ref().map(needed).unwrap_or_default();
        self.settled = self.is_settled();
        self
    }

    /// The same look at what was ordered last: a count that is held while a question is open keeps nothing from its end.
    fn as_ordered(&self) -> Option<Self> {
        let target = self.known.applied.clone().filter(|_| !self.changes.contains(&Event::TemplateChanged))?;
        let (known, wanted) = (self.known.clone(), self.wanted.clone());
        let look =
            Look { seen: self.seen, known, wanted, target: Some(target), changes: BTreeSet::new(), missing: Vec::new(), settled: false };
        Some(look.compared())
    }

    /// The children whose names are somebody else's, and who that is.
    pub fn conflicts(&self) -> impl Iterator<Item = (ChildRef, String)> {
        let (name, children) = (self.seen.object.name_any(), &self.seen.children);
        let budget = if self.replicas() >= 2 { taken(&children.budget, &name) } else { None };
        [taken(&children.service, &name), taken(&children.deployment, &name), budget].into_iter().flatten()
    }

    /// Was this pod template settled by an older rendering? Then it stands until the spec changes.
    pub fn older_rendering(&self) -> Option<&String> {
        let applied = self.seen.object.status()?.applied.as_ref()?;
        let unchanged = !self.changes.contains(&Event::TemplateChanged);
        applied.template.as_ref().filter(|_| unchanged && applied.renderer != self.seen.settings.renderer)
    }

    /// How many pods are wanted.
    pub fn replicas(&self) -> i32 {
        self.target.as_ref().map_or(0, |target| target.replicas)
    }

    fn is_settled(&self) -> bool {
        let wanted = self.replicas();
        let unchanged = !self.changes.contains(&Event::TemplateChanged) && !self.changes.contains(&Event::ReplicasChanged);
        let counted = self.seen.children.deployment.ours().is_some_and(|deployment| {
            let counts = Counts::of(deployment);
            (counts.seen || self.rested())
                && [counts.updated, counts.total, counts.available, counts.ready].iter().all(|count| *count == wanted)
        });
        self.target.is_some()
            && unchanged
            && self.missing.is_empty()
            && self.conflicts().next().is_none()
            && counted
            && pods_alive(self.seen) <= wanted
            && pods_ready(self.seen) >= wanted
    }

    /// A claim stands while nothing speaks against it: an annotation alone, too, gives a Deployment a new
    /// generation, and its controller needs a moment to say so.
    fn rested(&self) -> bool {
        let phase = self.seen.object.status().map(Status::phase);
        phase.is_some_and(|phase| Memcached::role(phase) == Role::Rests)
    }

    /// Is the deadline over that the work under way was given?
    pub fn late(&self) -> bool {
        let deadline = self.seen.object.status().and_then(|status| status.deadline_time.as_ref());
        deadline.is_some_and(|deadline| self.seen.now >= deadline.0)
    }

    /// Pods of the target that are surely ready.
    pub fn progress(&self) -> i32 {
        self.seen.children.deployment.ours().filter(|_| self.missing.is_empty()).map_or(0, |live| Counts::of(live).progress())
    }

    /// Are more of them ready than ever since the phase was entered?
    pub fn advanced(&self) -> bool {
        let most = self.seen.object.status().and_then(|status| status.progress);
        most.is_some_and(|most| self.progress() > most)
    }

    fn proved(&self) -> bool {
        let good = self.known.last_good.as_ref();
        good.is_some_and(|good| self.target.as_ref().is_some_and(|target| target.template == good.template))
    }

    fn obstacle_gone(&self, reason: Reason) -> bool {
        match reason {
            Reason::SpecInvalid => self.wanted.is_ok(),
            Reason::ChildConflict => {
                self.conflicts().next().is_none() && !self.seen.refusal.as_ref().is_some_and(|refusal| refusal.conflict)
            }
            Reason::ProvisioningStuck | Reason::RolloutStuck | Reason::PodsUnavailable => {
                self.settled || self.as_ordered().is_some_and(|ordered| ordered.settled)
            }
        }
    }
}

/// A Deployment's pods as its own status counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Has its controller seen the spec as it stands?
    pub seen: bool,
    /// Pods of the template as it stands.
    pub updated: i32,
    /// All pods.
    pub total: i32,
    /// Ready pods.
    pub ready: i32,
    /// Pods ready for long enough.
    pub available: i32,
}

impl Counts {
    /// The counts of a Deployment.
    pub fn of(deployment: &Deployment) -> Self {
        let Some(status) = &deployment.status else { return Counts::default() };
        Counts {
            seen: status.observed_generation >= deployment.metadata.generation,
            updated: status.updated_replicas.unwrap_or_default(),
            total: status.replicas.unwrap_or_default(),
            ready: status.ready_replicas.unwrap_or_default(),
            available: status.available_replicas.unwrap_or_default(),
        }
    }

    /// Pods of the target that are surely ready: those of the new template, less all that are not ready.
    pub fn progress(self) -> i32 {
        if self.seen { (self.updated - (self.total - self.ready)).max(0) } else { 0 }
    }
}

/// The pods as the Deployment counts them; where it is out of sight, as they say themselves.
pub fn counts(seen: &Observation<Memcached>) -> Counts {
    let ready = pods_ready(seen);
    let alone = Counts { total: pods_alive(seen), ready, available: ready, ..Counts::default() };
    seen.children.deployment.ours().map_or(alone, Counts::of)
}

fn taken<T: Child>(slot: &Slot<T>, name: &str) -> Option<(ChildRef, String)> {
    match slot {
        Slot::Foreign { owner, .. } => Some((ChildRef { kind: T::KIND, name: name.to_owned() }, owner.clone())),
        Slot::Free | Slot::Ours(_) | Slot::Unlabelled { .. } => None,
    }
}

/// Pods that exist. A terminating one counts until its time is over, and a moment: what stays for longer is on a node
/// that answers nobody. One that ended by itself, as an evicted one, is nobody's any more.
fn pods_alive(seen: &Observation<Memcached>) -> i32 {
    const MOMENT: SignedDuration = SignedDuration::from_secs(10);
    let alive = seen.children.pods.iter().filter(|pod| match &pod.metadata.deletion_timestamp {
        Some(end) => seen.now <= end.0 + MOMENT,
        None => !has_ended(pod),
    });
    i32::try_from(alive.count()).unwrap_or(i32::MAX)
}

/// Pods that say of themselves that they are ready. The Deployment's counts follow them, a moment later: a pod that was
/// replaced just now is still counted there.
fn pods_ready(seen: &Observation<Memcached>) -> i32 {
    let says_so = |pod: &Pod| condition(pod, "Ready").is_some_and(|condition| condition.status == "True");
    let staying = seen.children.pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    i32::try_from(staying.filter(|pod| says_so(pod)).count()).unwrap_or(i32::MAX)
}

fn renewed(question: &Intervention, object: &v1::Memcached) -> bool {
    object.meta().generation.unwrap_or_default() > question.generation && question.about != about(&v1::KeptSpec::from(object))
}
