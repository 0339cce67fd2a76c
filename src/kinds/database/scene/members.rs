//! The servers as they are seen: who the primary is, which of them serve, and which run what was ordered before.

use super::siblings::Children;
use crate::kinds::database::children::names;
use crate::kinds::database::children::network::ROLE;
use crate::kinds::database::children::servers::CONTAINER;
use crate::kinds::database::children::topology::{Nonsense, Topology};
use crate::kinds::database::object::more::PODS;
use crate::kinds::database::reports::last_words::{Word, refusal};
use crate::kinds::pods::{condition, has_ended, trouble};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The servers.
pub struct Members<'a> {
    /// Who the primary is; nothing where nobody was told yet.
    pub topology: Option<Result<Topology, Nonsense>>,
    /// The pods' owner.
    pub workload: Option<&'a StatefulSet>,
    pods: BTreeMap<u32, &'a Pod>,
}

impl<'a> Members<'a> {
    /// Those of the object called `name`.
    pub fn of(name: &str, children: &'a Children) -> Self {
        let numbered = |pod: &'a Pod| Some((pod.name_any().strip_prefix(name)?.strip_prefix('-')?.parse().ok()?, pod));
        Members {
            topology: children.topology.ours().map(Topology::of),
            workload: children.servers.ours(),
            pods: children.pods.iter().map(AsRef::as_ref).filter_map(numbered).collect(),
        }
    }

    /// What the servers are told, where it makes sense.
    pub fn told(&self) -> Option<&Topology> {
        self.topology.as_ref()?.as_ref().ok()
    }

    /// The ordinal of the primary; nothing where nobody may be it.
    pub fn primary(&self) -> Option<u32> {
        self.told()?.primary
    }

    /// Is nobody named while the primary moves?
    pub fn is_moving(&self) -> bool {
        self.told().is_some_and(|told| told.primary.is_none() && told.fenced.is_some())
    }

    /// Every pod, by its ordinal.
    pub fn pods(&self) -> impl Iterator<Item = (u32, &'a Pod)> {
        self.pods.iter().map(|(ordinal, pod)| (*ordinal, *pod))
    }

    /// Who they are: by that, and not by times of several clocks, later ones are told from these.
    pub fn uids(&self) -> Vec<String> {
        self.pods.values().filter_map(|pod| pod.uid()).take(PODS).collect()
    }

    /// Is this pod one of those?
    pub fn is_one_of(pod: &Pod, uids: &[String]) -> bool {
        pod.metadata.uid.as_ref().is_some_and(|uid| uids.contains(uid))
    }

    /// The pod of an ordinal.
    pub fn pod(&self, ordinal: u32) -> Option<&'a Pod> {
        self.pods.get(&ordinal).copied()
    }

    /// Does the server of this ordinal let clients in?
    pub fn is_ready(&self, ordinal: u32) -> bool {
        self.pod(ordinal).is_some_and(is_ready)
    }

    /// Does the primary let clients in?
    pub fn primary_is_ready(&self) -> bool {
        self.primary().is_some_and(|primary| self.is_ready(primary))
    }

    /// How many pods there are that were not told to go.
    pub fn total(&self) -> i32 {
        let staying = self.pods.values().filter(|pod| pod.metadata.deletion_timestamp.is_none() && !has_ended(pod));
        i32::try_from(staying.count()).unwrap_or(i32::MAX)
    }

    /// How many let clients in.
    pub fn ready(&self) -> i32 {
        i32::try_from(self.pods.values().filter(|pod| is_ready(pod)).count()).unwrap_or(i32::MAX)
    }

    /// Is a replica there that lets clients in?
    pub fn replica_is_ready(&self) -> bool {
        self.pods.iter().any(|(ordinal, pod)| Some(*ordinal) != self.primary() && is_ready(pod))
    }

    /// Has the StatefulSet's controller seen its spec as it stands?
    pub fn is_counted(&self) -> bool {
        let seen = |set: &StatefulSet| {
            set.status.as_ref().and_then(|status| status.observed_generation) >= set.metadata.generation
                && set.metadata.generation.is_some()
        };
        self.workload.is_some_and(seen)
    }

    /// Does the pod of this ordinal run what was ordered before the last order? Nobody knows before its controller has looked.
    pub fn is_outdated(&self, ordinal: u32) -> bool {
        let latest = self.workload.filter(|_| self.is_counted()).and_then(|set| set.status.as_ref()?.update_revision.as_ref());
        let Some((latest, pod)) = latest.zip(self.pod(ordinal)) else { return false };
        pod.metadata.deletion_timestamp.is_none() && pod.labels().get("controller-revision-hash") != Some(latest)
    }

    /// Those that run what was ordered before.
    pub fn outdated(&self) -> impl Iterator<Item = u32> {
        self.pods.keys().copied().filter(|ordinal| self.is_outdated(*ordinal))
    }

    /// The outdated pod whose turn it is: one that cannot run, whoever else is away, since the others may wait for it; then a
    /// broken one first, the primary last, and none while another is away, or was not made again yet.
    pub fn next_to_restart(&self) -> Option<(u32, &'a Pod)> {
        if let Some(down) = self.outdated().find(|ordinal| self.cannot_run(*ordinal)) {
            return Some((down, self.pod(down)?));
        }
        let wanted = self.workload.and_then(|set| set.spec.as_ref()?.replicas).unwrap_or_default().unsigned_abs();
        if (0..wanted).any(|ordinal| !self.is_ready(ordinal) && !self.is_outdated(ordinal)) {
            return None;
        }
        let next = self.outdated().min_by_key(|ordinal| self.turn(*ordinal))?;
        Some((next, self.pod(next)?))
    }

    /// Whose turn comes first, where servers restart: a broken one's, and the primary's last.
    pub fn turn(&self, ordinal: u32) -> impl Ord {
        (self.is_ready(ordinal), self.primary() == Some(ordinal), Reverse(ordinal))
    }

    /// Can the server of this ordinal not run? One that ended a moment ago may be back in the next.
    fn cannot_run(&self, ordinal: u32) -> bool {
        let is_tried = |pod| {
            let state = server(pod).and_then(|server| server.state.as_ref());
            state.is_some_and(|state| state.running.is_some() || state.terminated.is_some())
        };
        self.pod(ordinal).is_some_and(|pod| !has_ended(pod) && trouble(pod).is_some() && !is_tried(pod))
    }

    /// How the server of this ordinal ended, where it neither runs again nor is on its way out.
    pub fn ended(&self, ordinal: u32) -> Option<(Word, String)> {
        let pod = self.pod(ordinal).filter(|pod| pod.metadata.deletion_timestamp.is_none())?;
        let runs = server(pod)?.state.as_ref().is_some_and(|state| state.running.is_some());
        self.refusal(ordinal).filter(|_| !runs)
    }

    /// Does the server of a pod run, for longer than `moment`? Both by its node's clock, which may be wrong, and by the age of the
    /// pod, which may have waited for its volume or its image.
    pub fn runs_longer(pod: &Pod, moment: SignedDuration, now: Timestamp) -> bool {
        let running = server(pod).and_then(|server| server.state.as_ref()?.running.as_ref());
        let started = running.and_then(|running| running.started_at.as_ref());
        let is_past = |since: &Time| now.duration_since(since.0) > moment;
        started.is_some_and(is_past) && pod.metadata.creation_timestamp.as_ref().is_some_and(is_past)
    }

    /// The word with which the server of this ordinal ended last. One that has ended without a word says nothing, whatever it had
    /// said the time before.
    pub fn refusal(&self, ordinal: u32) -> Option<(Word, String)> {
        let server = server(self.pod(ordinal)?).filter(|server| !server.ready)?;
        let state = server.state.as_ref();
        let has_ended = state.is_some_and(|state| state.terminated.is_some());
        let last = if has_ended { state } else { server.last_state.as_ref() };
        refusal(last?.terminated.as_ref()?.message.as_deref()?)
    }

    /// Replicas whose last words were that their volume holds what the primary lacks; `retried` is the uid of one that is tried again.
    pub fn diverged(&self, retried: Option<&str>) -> impl Iterator<Item = (u32, String)> {
        let others = self.pods().filter(move |(_, pod)| pod.metadata.uid.as_deref() != retried);
        let said = others.filter_map(|(ordinal, _)| Some((ordinal, self.refusal(ordinal)?)));
        said.filter(|(_, (word, _))| matches!(word, Word::Ahead | Word::Diverged)).map(|(ordinal, (_, sentence))| (ordinal, sentence))
    }

    /// Was this pod shown to clients as a replica?
    pub fn is_labelled(pod: &Pod) -> bool {
        pod.labels().get(ROLE.0).map(String::as_str) == Some(ROLE.1)
    }

    /// The name of the primary's pod.
    pub fn primary_name(&self, name: &str) -> Option<String> {
        Some(names::pod(name, self.primary()?))
    }
}

fn server(pod: &Pod) -> Option<&ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.iter().find(|status| status.name == CONTAINER)
}

fn is_ready(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_none() && condition(pod, "Ready").is_some_and(|ready| ready.status == "True")
}
