//! A look at a Database, with what every question about it needs: what the status remembers, and the servers.

pub mod behind;
pub mod closing;
pub mod diverged;
pub mod ground;
pub mod learning;
pub mod members;
pub mod outcome;
pub mod readers;
pub mod recorded;
pub mod resize;
pub mod said;
pub mod siblings;
pub mod standing;
pub mod undone;
pub mod work;

use super::Database;
use super::children::configuration::{self, Learned};
use super::children::topology::Topology;
use super::lifecycle::words::Phase;
use super::object::fields::REPLICAS;
use super::object::more::{More, Reloaded};
use super::plan::Plan;
use crate::kinds::children::Slot;
use crate::kinds::intervention::Intervention;
use crate::kinds::look::Look;
use crate::kinds::order::Child;
use crate::kinds::question;
use crate::kinds::status::Status;
use ground::{granted, is_smaller};
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::ResourceExt;
use kube::core::object::HasStatus;
use members::Members;
use recorded::{contradiction, recorded};
use siblings::remembered;
use std::collections::BTreeMap;

/// A look, and what follows from it.
pub struct Scene<'a> {
    /// The look.
    pub look: &'a Look<'a, Database>,
    /// What the status remembers.
    pub more: &'a More,
    /// The servers.
    pub members: Members<'a>,
    /// The open question.
    pub question: Option<&'a Intervention>,
}

impl<'a> Scene<'a> {
    /// What follows from a look.
    pub fn of(look: &'a Look<'a, Database>) -> Self {
        let object = &look.seen.object;
        let (more, mut members) = (remembered(object), Members::of(&object.name_any(), &look.children));
        let wrong = members.told().zip(more.system.as_ref()).and_then(|(told, system)| contradiction(told, system));
        if let Some(wrong) = wrong {
            members.topology = Some(Err(wrong));
        }
        Scene { look, more, members, question: question::<Database>(object) }
    }

    /// The replica whose volume holds what the primary lacks, in its own words, whether it begins anew just now or not; one that is
    /// tried again has said nothing yet.
    pub fn diverged(&self) -> Option<(u32, String)> {
        self.members.diverged(self.more.retried.as_deref()).next()
    }

    /// Is there one that has ended? One that runs again may be cloned anew.
    pub fn has_diverged(&self) -> bool {
        let retried = self.more.retried.as_deref();
        self.members.diverged(retried).any(|(ordinal, _)| self.members.ended(ordinal).is_some())
    }

    /// The state that the status claims.
    pub fn phase(&self) -> Phase {
        self.look.seen.object.status().map_or(Phase::Pending, Status::phase)
    }

    /// How many pods there have to be for a plan: the primary's own is never left out.
    pub fn count(&self, plan: &Plan) -> u32 {
        let lead = self.lead().map_or(0, |primary| primary + 1);
        plan.replicas.unsigned_abs().max(lead)
    }

    /// The ordinal of the primary, or of who was it when nobody may be.
    pub fn lead(&self) -> Option<u32> {
        match self.members.told() {
            Some(told) => told.primary.or(told.fenced),
            None => self.more.system.as_ref().map(|system| system.primary),
        }
    }

    /// What the servers have to be told; nothing while a claim is not there yet.
    pub fn topology(&self, plan: &Plan) -> Option<Topology> {
        let object = &self.look.seen.object;
        let before = match (self.members.told(), &self.more.system) {
            (Some(told), _) => told.clone(),
            (None, Some(system)) => recorded(system),
            (None, None) => Topology::first(object, BTreeMap::new()),
        };
        // The primary's volume is the one that was recorded, whatever stands under its name now; and so is each, while one knows of a
        // later primary, which may be any.
        let (lead, is_followed) = (self.lead(), behind::is_known(self));
        let is_kept = |ordinal| !self.is_new() && (is_followed || lead == Some(ordinal));
        let mut claims = BTreeMap::new();
        for ordinal in 0..self.count(plan) {
            let known = before.claims.get(&ordinal).filter(|_| is_kept(ordinal));
            claims.insert(ordinal, known.cloned().or_else(|| self.claim(ordinal))?);
        }
        let next = before.with_claims(object, claims);
        let identifier = self.more.system.as_ref().and_then(|system| system.identifier.as_ref());
        Some(match identifier {
            Some(identifier) if next.systemid.is_none() => next.known(identifier),
            Some(_) | None => next,
        })
    }

    /// Was nothing ever told about the data?
    pub fn is_new(&self) -> bool {
        self.members.told().is_none() && self.more.system.is_none()
    }

    /// The uid of the claim of an ordinal, if it is ours.
    pub fn claim(&self, ordinal: u32) -> Option<String> {
        self.look.children.claims.get(usize::try_from(ordinal).ok()?).and_then(Slot::ours).and_then(ResourceExt::uid)
    }

    /// The uid of what stands under the name of the claim of an ordinal, whatever its labels say.
    pub fn standing_claim(&self, ordinal: u32) -> Option<&'a String> {
        match self.look.children.claims.get(usize::try_from(ordinal).ok()?)? {
            Slot::Ours(claim) => claim.metadata.uid.as_ref(),
            Slot::Unlabelled { uid, .. } | Slot::Adopted { uid } | Slot::Foreign { uid, .. } => Some(uid),
            Slot::Free => None,
        }
    }

    /// The ordinal under whose claim's name the claim of this uid stands.
    pub fn ordinal_of(&self, claim: &String) -> Option<u32> {
        (0..REPLICAS.1.unsigned_abs()).find(|ordinal| self.standing_claim(*ordinal) == Some(claim))
    }

    /// Claims that were told to go and are there for as long as their pods.
    pub fn going_claims(&self) -> impl Iterator<Item = (u32, &'a PersistentVolumeClaim)> {
        let claims = self.look.children.claims.iter().zip(0..).filter_map(|(slot, ordinal)| Some((ordinal, slot.ours()?)));
        claims.filter(|(ordinal, claim)| claim.metadata.deletion_timestamp.is_some() && self.members.pod(*ordinal).is_some())
    }

    /// The claim of the primary, where it was told to go: with its pod goes the data.
    pub fn leads_volume_goes(&self) -> Option<&'a PersistentVolumeClaim> {
        let lead = self.lead();
        self.going_claims().find(|(ordinal, _)| lead == Some(*ordinal)).map(|(_, claim)| claim)
    }

    /// Claims of servers that are smaller than the target wants them; those that no server uses may be as they are.
    pub fn small_claims(&self) -> impl Iterator<Item = &'a PersistentVolumeClaim> {
        let size = self.look.target.as_ref().map(|target| &target.storage.size);
        let used = self.look.target.as_ref().map_or(0, |target| self.count(target));
        let claims = self.look.children.claims.iter().zip(0..used).filter_map(|(slot, _)| slot.ours());
        claims.filter(move |claim| size.is_some_and(|size| is_smaller(claim, size)))
    }

    /// The uid that was recorded for the primary's claim.
    pub fn recorded_claim(&self) -> Option<(u32, String)> {
        let lead = self.lead()?;
        let told = self.members.told().and_then(|told| told.claims.get(&lead));
        let system = self.more.system.as_ref().and_then(|system| system.claims.get(&lead.to_string()));
        Some((lead, told.or(system)?.clone()))
    }

    /// Was the volume of the primary lost: gone, or another one under its name?
    pub fn primary_volume_is_lost(&self) -> bool {
        self.recorded_claim().is_some_and(|(ordinal, uid)| self.standing_claim(ordinal) != Some(&uid))
    }

    /// Was the primary's pod told to go, and does nobody say that it has? Then its node answers nobody.
    pub fn primary_is_on_a_lost_node(&self) -> bool {
        let pod = self.members.primary().and_then(|primary| self.members.pod(primary));
        pod.and_then(|pod| pod.metadata.deletion_timestamp.as_ref()).is_some_and(|end| self.look.seen.now > end.0)
    }

    /// Is the primary ready, and as the target wants it?
    pub fn primary_is_as_wanted(&self) -> bool {
        let primary = self.members.primary().filter(|primary| self.members.is_ready(*primary));
        let counted = self.members.is_counted();
        primary.is_some_and(|primary| counted && !self.members.is_outdated(primary)) && self.look.changes_nothing_at_start()
    }

    /// What is known for a plan: what its image has told, and how large the volumes of the servers are.
    pub fn learned(&self, plan: &Plan) -> Learned {
        let claims = self.look.children.claims.iter().zip(0..self.count(plan)).filter_map(|(slot, _)| slot.ours());
        Learned { room: claims.filter_map(granted).map(|size| size.bytes).min(), ..learning::learned(self.more, plan) }
    }

    /// Do the settings that are reloaded differ from those that stand, since a volume has another size? Where something is on
    /// its way already, they are a child like any other.
    pub fn holds_more(&self) -> bool {
        let rests = matches!(self.phase(), Phase::Pending | Phase::Ready);
        let same_plan = self.look.changes.is_empty() && self.small_claims().next().is_none();
        let stands = self.more.settings.as_ref().map(|settings| settings.mark);
        let Some((map, stands)) = self.look.children.settings.ours().zip(stands).filter(|_| rests && same_plan) else { return false };
        let mark = |target| configuration::mark(target, &self.learned(target));
        configuration::holds(map, stands) && self.look.target.as_ref().is_some_and(|target| mark(target) != stands)
    }

    /// Do the settings that only a start reads differ from those that were ordered, by what is known of the images?
    pub fn starts_otherwise(&self) -> bool {
        let plans = self.look.known.applied.as_ref().zip(self.look.target.as_ref());
        plans.is_some_and(|(applied, target)| !learning::starts_alike(self.more, applied, target))
    }

    /// The settings that are reloaded, as long as a server has not read them.
    pub fn unread(&self) -> Option<&Reloaded> {
        self.more.settings.as_ref().filter(|settings| !settings.read)
    }

    /// How many pods are ready and as wanted.
    pub fn settled(&self) -> i32 {
        let settled = self.members.pods().filter(|(ordinal, _)| self.members.is_ready(*ordinal) && !self.members.is_outdated(*ordinal));
        if self.members.is_counted() { i32::try_from(settled.count()).unwrap_or(i32::MAX) } else { 0 }
    }
}

impl Look<'_, Database> {
    /// Is what a server reads at its start what was ordered?
    fn changes_nothing_at_start(&self) -> bool {
        use super::lifecycle::words::Event::{ImageChanged, ParametersChanged, TemplateChanged};
        ![ImageChanged, ParametersChanged, TemplateChanged].iter().any(|event| self.changes.contains(event))
    }
}

/// Does anything stand under the child's name?
pub fn is_there<T: Child>(slot: &Slot<T>) -> bool {
    !matches!(slot, Slot::Free)
}
