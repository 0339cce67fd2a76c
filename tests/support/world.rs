//! A pretend cluster with real objects: an API server, a Deployment controller, a kubelet.
//!
//! Nothing in it happens by itself: [`World::possible`] lists what could, and [`World::happen`]
//! lets one thing happen. Dice choose in the simulation; the search takes every one.

use super::{Object, pod};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus};
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use kube::ResourceExt;
use pointsman::kinds::digest;
use serde_json::Value;
use std::sync::Arc;

/// A child as the API server keeps it, and what our last apply said of it.
#[derive(Clone, Debug)]
pub struct Live<T> {
    /// The object.
    pub it: Arc<T>,
    /// The fields that we own.
    pub owned: Arc<Value>,
}

/// The cluster at one moment.
#[derive(Clone, Debug)]
pub struct World {
    /// The time.
    pub now: Timestamp,
    /// Counts every change of anything.
    pub serial: i64,
    /// The object, until it is gone.
    pub object: Option<Arc<Object>>,
    /// What stands under the object's name.
    pub deployment: Option<Live<Deployment>>,
    /// What stands under the object's name.
    pub service: Option<Live<Service>>,
    /// What stands under the object's name.
    pub budget: Option<Live<PodDisruptionBudget>>,
    /// A digest of the Deployment's pod template.
    pub hash: String,
    /// The pods.
    pub pods: Vec<Arc<Pod>>,
    /// No Deployment and no pod can be made.
    pub quota: bool,
    /// The Deployment's counts are never behind its pods.
    pub prompt: bool,
}

/// One thing that the cluster can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The Deployment's controller sees its spec.
    Seen,
    /// It makes a pod of the template as it stands.
    Made,
    /// It tells a pod to end.
    Told(usize),
    /// A pod that was told to end is gone.
    Gone(usize),
    /// A pod becomes ready.
    Ready(usize),
    /// The Deployment's status catches up with its pods.
    Counted,
}

impl World {
    /// A cluster that holds one object.
    pub fn of(object: Object) -> Self {
        World {
            now: Timestamp::from_second(1_800_000_000).expect("a time"),
            serial: 1,
            object: Some(Arc::new(object)),
            deployment: None,
            service: None,
            budget: None,
            hash: String::new(),
            pods: Vec::new(),
            quota: false,
            prompt: false,
        }
    }

    /// The uid that our children carry as their controller's.
    pub fn owner(&self) -> &str {
        self.object.as_ref().and_then(|object| object.metadata.uid.as_deref()).unwrap_or("nobody")
    }

    /// The Deployment, if it has a controller that acts for it.
    pub fn our_deployment(&self) -> Option<&Deployment> {
        let live = self.deployment.as_ref()?;
        controller(&live.it.metadata).is_some_and(|owner| owner.uid == self.owner()).then_some(&*live.it)
    }

    /// Everything that can happen next.
    pub fn possible(&self) -> Vec<Happening> {
        let numbered = || self.pods.iter().enumerate();
        let mut can: Vec<Happening> = numbered().filter(|(_, pod)| ending(pod)).map(|(at, _)| Happening::Gone(at)).collect();
        let Some(deployment) = self.our_deployment() else {
            can.extend(numbered().filter(|(_, pod)| !ending(pod)).map(|(at, _)| Happening::Told(at)).take(1));
            return can;
        };
        if observed(deployment) < deployment.metadata.generation {
            can.push(Happening::Seen);
        } else {
            can.extend(self.rolled(deployment));
        }
        can.extend(numbered().filter(|(_, pod)| !ending(pod) && !is_ready(pod) && can_run(pod)).map(|(at, _)| Happening::Ready(at)));
        if observed(deployment).is_some() && !self.counts_are_fresh() {
            can.push(Happening::Counted);
        }
        can
    }

    /// Do the Deployment's counts say what its pods are?
    pub fn counts_are_fresh(&self) -> bool {
        self.our_deployment().is_none_or(|deployment| deployment.status.as_ref() == Some(&self.counted(deployment, observed(deployment))))
    }

    /// The next move of a rolling update with one pod more and none less.
    fn rolled(&self, deployment: &Deployment) -> Option<Happening> {
        let wanted = usize::try_from(deployment.spec.as_ref()?.replicas.unwrap_or(1)).ok()?;
        let alive: Vec<(usize, &Arc<Pod>)> = self.pods.iter().enumerate().filter(|(_, pod)| !ending(pod)).collect();
        let old = |pod: &Pod| hash(pod) != self.hash;
        let (total, ready) = (alive.len(), alive.iter().filter(|(_, pod)| is_ready(pod)).count());
        let rolling = alive.iter().any(|(_, pod)| old(pod));
        if let Some((at, _)) = alive.iter().find(|(_, pod)| old(pod) && !is_ready(pod)) {
            return Some(Happening::Told(*at));
        }
        let new = alive.iter().filter(|(_, pod)| !old(pod)).count();
        if new < wanted && total < wanted + usize::from(rolling) {
            return (!self.quota).then_some(Happening::Made);
        }
        let surplus = if rolling {
            alive.iter().find(|(_, pod)| old(pod) && ready > wanted)
        } else {
            alive.iter().find(|(_, pod)| !is_ready(pod)).or(alive.last())
        };
        surplus.filter(|_| rolling || total > wanted).map(|(at, _)| Happening::Told(*at))
    }

    /// Lets one thing happen.
    pub fn happen(&mut self, happening: Happening) {
        self.serial += 1;
        match happening {
            Happening::Seen => self.count(self.deployment.as_ref().and_then(|live| live.it.metadata.generation)),
            Happening::Counted => self.count(self.our_deployment().and_then(observed)),
            Happening::Made => {
                let image = self.our_deployment().map(image_of).unwrap_or_default();
                let stuck = image.contains("bad").then_some(("ImagePullBackOff", "Back-off pulling image"));
                let (name, uid) = (format!("cache-{}", self.serial), format!("pod-{}", self.serial));
                self.pods.push(Arc::new(pod(&name, &uid, &self.hash, false, stuck)));
            }
            Happening::Told(at) => {
                let now = self.now;
                self.alter(at, |pod| pod.metadata.deletion_timestamp = Some(Time(now)));
            }
            Happening::Gone(at) => drop(self.pods.remove(at)),
            Happening::Ready(at) => self.alter(at, |pod| turn(pod, true)),
        }
        if self.prompt
            && let Some(seen) = self.our_deployment().and_then(observed)
        {
            self.count(Some(seen));
        }
    }

    /// Changes one pod.
    pub fn alter(&mut self, at: usize, change: impl FnOnce(&mut Pod)) {
        let pod = Arc::make_mut(&mut self.pods[at]);
        change(pod);
        pod.metadata.resource_version = Some(self.serial.to_string());
    }

    fn count(&mut self, seen: Option<i64>) {
        let Some(mut live) = self.deployment.clone() else { return };
        let mut it = (*live.it).clone();
        it.status = Some(self.counted(&it, seen));
        it.metadata.resource_version = Some(self.serial.to_string());
        live.it = Arc::new(it);
        self.deployment = Some(live);
    }

    fn counted(&self, deployment: &Deployment, seen: Option<i64>) -> DeploymentStatus {
        let alive = || self.pods.iter().filter(|pod| !ending(pod));
        let number = |count: usize| i32::try_from(count).ok();
        let wanted =
            deployment.spec.as_ref().and_then(|spec| spec.replicas).and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        let failing = self.quota && alive().count() < wanted;
        let failure = || DeploymentCondition {
            type_: "ReplicaFailure".into(),
            status: "True".into(),
            message: Some("exceeded quota: pods".into()),
            ..DeploymentCondition::default()
        };
        let ready = number(alive().filter(|pod| is_ready(pod)).count());
        DeploymentStatus {
            observed_generation: seen,
            replicas: number(alive().count()),
            updated_replicas: number(alive().filter(|pod| hash(pod) == self.hash).count()),
            ready_replicas: ready,
            available_replicas: ready,
            conditions: failing.then(|| vec![failure()]),
            ..DeploymentStatus::default()
        }
    }

    /// Puts a Deployment in place, whoever writes it.
    pub fn set_deployment(&mut self, mut new: Live<Deployment>) {
        let before = self.deployment.as_ref().map(|live| live.it.clone());
        let mut it = (*new.it).clone();
        if before.as_ref().is_none_or(|before| before.spec != it.spec) {
            it.metadata.generation = Some(before.and_then(|before| before.metadata.generation).unwrap_or_default() + 1);
        }
        it.metadata.resource_version = Some(self.serial.to_string());
        self.hash = digest::of(&it.spec.as_ref().map(|spec| &spec.template));
        new.it = Arc::new(it);
        self.deployment = Some(new);
    }

    /// The object and all that it owns are gone.
    pub fn collect(&mut self) {
        self.serial += 1;
        (self.object, self.deployment, self.service, self.budget) = (None, None, None, None);
        self.pods.clear();
    }
}

/// The owner that controls an object.
pub fn controller(meta: &ObjectMeta) -> Option<&OwnerReference> {
    meta.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

/// Does `owner` control the object?
pub fn is_ours(meta: &ObjectMeta, owner: &str) -> bool {
    controller(meta).is_some_and(|controller| controller.uid == owner)
}

/// The generation that the Deployment's controller has seen.
pub fn observed(deployment: &Deployment) -> Option<i64> {
    deployment.status.as_ref()?.observed_generation
}

/// Was the pod told to end?
pub fn ending(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// Is the pod ready?
pub fn is_ready(pod: &Pod) -> bool {
    pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten()).all(|container| container.ready)
}

/// Does nothing keep the pod from running?
pub fn can_run(pod: &Pod) -> bool {
    pod.status
        .iter()
        .flat_map(|status| status.container_statuses.iter().flatten())
        .all(|container| container.state.as_ref().is_some_and(|state| state.waiting.is_none()))
}

/// The template that the pod was made of.
pub fn hash(pod: &Pod) -> &str {
    pod.labels().get("pod-template-hash").map(String::as_str).unwrap_or_default()
}

/// Makes a pod ready, or not.
pub fn turn(pod: &mut Pod, ready: bool) {
    for container in pod.status.iter_mut().flat_map(|status| status.container_statuses.iter_mut().flatten()) {
        container.ready = ready;
    }
    for condition in pod.status.iter_mut().flat_map(|status| status.conditions.iter_mut().flatten()) {
        if ready { "True" } else { "False" }.clone_into(&mut condition.status);
    }
}

/// The image of a Deployment's container.
pub fn image_of(deployment: &Deployment) -> String {
    let pod = deployment.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
    pod.and_then(|pod| pod.containers.first()?.image.clone()).unwrap_or_default()
}
