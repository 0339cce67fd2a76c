//! The children as they are seen.

use super::said;
use crate::kinds::children::{Lookup, Place, Siblings, Slot};
use crate::kinds::database::children::names::{self, Work};
use crate::kinds::database::children::secrets::{Credentials, Loss};
use crate::kinds::database::children::{COMPONENT, scripts, workers};
use crate::kinds::database::object::fields::REPLICAS;
use crate::kinds::database::object::more::More;
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::reports::results::{self, Dump};
use crate::kinds::intervention::{Subject, id};
use crate::kinds::order::ChildKind;
use crate::kinds::reading::Reading;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, PersistentVolumeClaim, Pod, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::StorageClass;
use kube::ResourceExt;
use kube::core::object::HasStatus;
use std::sync::{Arc, LazyLock};

/// The children as they are seen.
#[derive(Clone, Debug)]
pub struct Children {
    /// The Secret that applications connect with.
    pub application: Slot<Secret>,
    /// The Secret that no user mounts.
    pub internal: Slot<Secret>,
    /// What both hold, or what is wrong with them.
    pub credentials: Result<Credentials, Vec<Loss>>,
    /// The claims of the servers, by ordinal: all that there can be.
    pub claims: Vec<Slot<PersistentVolumeClaim>>,
    /// The claim that keeps the dumps.
    pub backups: Slot<PersistentVolumeClaim>,
    /// Who the primary is.
    pub topology: Slot<ConfigMap>,
    /// The scripts of this release.
    pub scripts: Slot<ConfigMap>,
    /// The settings that are reloaded.
    pub settings: Slot<ConfigMap>,
    /// Every ConfigMap that is ours, those that are named by their digest among them.
    pub maps: Vec<Arc<ConfigMap>>,
    /// Those that our label was taken from.
    pub unlabelled: Vec<(String, Slot<ConfigMap>)>,
    /// Jobs of any attempt that have lost their label.
    pub unlabelled_jobs: Vec<(String, Slot<Job>)>,
    /// Is it written down where the last dump is?
    pub has_tombstone: bool,
    /// The Service of the primary.
    pub primary: Slot<Service>,
    /// The Service of the read replicas.
    pub read_only: Slot<Service>,
    /// The headless Service of the pods.
    pub addresses: Slot<Service>,
    /// The pods' owner.
    pub servers: Slot<StatefulSet>,
    /// What keeps an eviction from taking every pod.
    pub budget: Slot<PodDisruptionBudget>,
    /// What makes the backups.
    pub schedule: Slot<CronJob>,
    /// The Jobs of today's attempt, and long ones of an earlier attempt that go on.
    pub jobs: Vec<OneJob>,
    /// Those of earlier ones.
    pub earlier: Vec<Arc<Job>>,
    /// Backups that were made on the schedule.
    pub made: Vec<Arc<Job>>,
    /// The servers' pods.
    pub pods: Vec<Arc<Pod>>,
    /// The Jobs' pods.
    pub job_pods: Vec<Arc<Pod>>,
    /// How the cluster makes volumes.
    pub classes: Reading<Vec<Arc<StorageClass>>>,
    /// The object's namespace.
    pub namespace: Reading<Namespace>,
}

/// A Job, and what it is for.
#[derive(Clone, Debug)]
pub struct OneJob {
    /// What it does.
    pub work: Work,
    /// Its name.
    pub name: String,
    /// What stands under it.
    pub slot: Slot<Job>,
}

/// The children of `object`, as `lookup` finds them.
pub fn find(lookup: &impl Lookup, object: &Object) -> Children {
    let name = object.name_any();
    let schedule: Slot<CronJob> = lookup.slot(&names::own(&name));
    let made = schedule.ours().and_then(ResourceExt::uid).map(|uid| lookup.below::<Job>(&uid)).unwrap_or_default();
    let tombstone = names::tombstone(&name, &object.uid().unwrap_or_default(), remembered(object).dumps);
    let job_pods = lookup.labelled_pods(&workers(object));
    let (jobs, earlier) = jobs(lookup, object, &job_pods);
    let (application, internal): (Slot<Secret>, Slot<Secret>) =
        (lookup.slot(&names::application(&name)), lookup.slot(&names::internal(&name)));
    Children {
        credentials: Credentials::stored(&name, internal.ours(), application.ours()),
        application,
        internal,
        claims: (0..REPLICAS.1.unsigned_abs()).map(|ordinal| lookup.slot(&names::claim(&name, ordinal))).collect(),
        backups: named(lookup.slot(&names::backups(&name)), object),
        topology: lookup.slot(&names::topology(&name)),
        scripts: scripts::seen(lookup.shared(scripts::name())),
        settings: lookup.slot(&names::settings(&name)),
        has_tombstone: !matches!(lookup.slot::<ConfigMap>(&tombstone), Slot::Free),
        maps: lookup.all(),
        unlabelled: lookup.unlabelled(),
        unlabelled_jobs: lookup.unlabelled(),
        primary: lookup.slot(&names::own(&name)),
        read_only: lookup.slot(&names::read_only(&name)),
        addresses: lookup.slot(&names::pods(&name)),
        servers: lookup.slot(&names::own(&name)),
        budget: lookup.slot(&names::own(&name)),
        jobs,
        earlier,
        made,
        schedule,
        pods: lookup.pods(),
        job_pods,
        classes: lookup.read_all(),
        namespace: lookup.read(&object.namespace().unwrap_or_default()),
    }
}

/// The Jobs of today's attempt, and those of earlier ones.
fn jobs(lookup: &impl Lookup, object: &Object, pods: &[Arc<Pod>]) -> (Vec<OneJob>, Vec<Arc<Job>>) {
    let (name, attempt) = (object.name_any(), attempt(object));
    let mut earlier: Vec<Arc<Job>> = lookup.below::<Job>(&object.uid().unwrap_or_default());
    earlier.extend(lookup.all::<Job>());
    let job = |work: Work| {
        let name = names::job(&name, work, attempt.as_deref());
        let slot = lookup.slot(&name);
        let begun = || earlier.iter().find(|job| work.is_long() && goes_on(job, work, pods, remembered(object)));
        match begun().filter(|_| matches!(slot, Slot::Free)) {
            Some(begun) => OneJob { work, name: begun.name_any(), slot: Slot::Ours(begun.clone()) },
            None => OneJob { work, name, slot },
        }
    };
    let jobs = Work::ALL.map(job).to_vec();
    earlier.retain(|job| jobs.iter().all(|one| one.name != job.name_any()));
    (jobs, earlier)
}

/// Does a Job of this work, of an earlier attempt, go on, or has it ended well, and nobody has taken note of it yet? One whose
/// pods only wait is made anew, and so is one whose answer nobody can read.
fn goes_on(job: &Job, work: Work, pods: &[Arc<Pod>], more: &More) -> bool {
    let is_noted = |dump: &Dump| more.snapshot.as_ref().is_some_and(|taken| taken.folder == dump.folder);
    // Both times are the API server's.
    let is_written_over = more.written_since.as_ref().zip(job.creation_timestamp()).is_some_and(|(since, made)| since.0 >= made.0);
    let begun = |pod: &Arc<Pod>| pod.status.as_ref().and_then(|status| status.phase.as_deref()).is_some_and(|phase| phase != "Pending");
    job.labels().get(COMPONENT).map(String::as_str) == Some(work.name())
        && job.metadata.deletion_timestamp.is_none()
        && match said::end(pods, job) {
            Some(end) => {
                let dump = end.words.as_deref().and_then(|line| results::dump(line).ok());
                end.well && dump.is_some_and(|dump| !is_noted(&dump)) && !is_written_over
            }
            None => said::pods_of(pods, job).any(begun),
        }
}

/// The claim of dumps that an earlier object of this name has left may be taken over where the spec itself names it as the
/// source of the data. One of anybody else's may not, whatever the spec names.
fn named(slot: Slot<PersistentVolumeClaim>, object: &Object) -> Slot<PersistentVolumeClaim> {
    let source = object.spec.restore_from.as_ref().map(|source| &source.claim_name);
    match &slot {
        Slot::Foreign { uid, left: true, .. } if source == Some(&names::backups(&object.name_any())) => Slot::Adopted { uid: uid.clone() },
        Slot::Free | Slot::Ours(_) | Slot::Unlabelled { .. } | Slot::Adopted { .. } | Slot::Foreign { .. } => slot,
    }
}

/// The id of the question that today's Jobs are named after; nothing for the first attempt.
pub fn attempt(object: &Object) -> Option<String> {
    let asked = object.status().and_then(|status| status.questions).unwrap_or_default();
    (asked > 0).then(|| id(&object.uid().unwrap_or_default(), asked))
}

impl Siblings for Children {
    fn places(&self, owner: &str) -> Vec<(String, &dyn Place)> {
        let mut places: Vec<(String, &dyn Place)> =
            vec![(names::application(owner), &self.application), (names::internal(owner), &self.internal)];
        let claims = self.claims.iter().zip(0..).map(|(slot, ordinal)| (names::claim(owner, ordinal), slot as &dyn Place));
        places.extend(claims);
        let others: [(String, &dyn Place); 10] = [
            (names::backups(owner), &self.backups),
            (names::topology(owner), &self.topology),
            (scripts::name().to_owned(), &self.scripts),
            (names::settings(owner), &self.settings),
            (names::pods(owner), &self.addresses),
            (names::own(owner), &self.primary),
            (names::read_only(owner), &self.read_only),
            (names::own(owner), &self.servers),
            (names::own(owner), &self.budget),
            (names::own(owner), &self.schedule),
        ];
        places.extend(others);
        let is_known = |name: &str| places.iter().any(|(known, place)| known == name && place.kind() == ChildKind::ConfigMap);
        let named_by_digest: Vec<_> = self.unlabelled.iter().filter(|(name, _)| !is_known(name)).collect();
        places.extend(named_by_digest.into_iter().map(|(name, slot)| (name.clone(), slot as &dyn Place)));
        places.extend(self.jobs.iter().map(|job| (job.name.clone(), &job.slot as &dyn Place)));
        let of_earlier_attempts = self.unlabelled_jobs.iter().filter(|(name, _)| self.jobs.iter().all(|job| job.name != *name));
        places.extend(of_earlier_attempts.map(|(name, slot)| (name.clone(), slot as &dyn Place)));
        places
    }

    fn adopting(self, adopted: &[Subject]) -> Self {
        // What holds data, or a secret, is nobody's but its maker's.
        Children {
            topology: self.topology.adopting(adopted),
            settings: self.settings.adopting(adopted),
            primary: self.primary.adopting(adopted),
            read_only: self.read_only.adopting(adopted),
            addresses: self.addresses.adopting(adopted),
            servers: self.servers.adopting(adopted),
            budget: self.budget.adopting(adopted),
            schedule: self.schedule.adopting(adopted),
            ..self
        }
    }
}

impl Children {
    /// Is the ConfigMap of this name there? Its name is a digest of what it holds.
    pub fn has_map(&self, name: &str) -> bool {
        self.maps.iter().any(|map| map.name_any() == name)
    }

    /// Every Job, but the backups on the schedule.
    pub fn every_job(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter_map(|job| job.slot.ours()).chain(self.earlier.iter().map(AsRef::as_ref))
    }

    /// The Job of a piece of work, of today's attempt.
    pub fn job(&self, work: Work) -> Option<&OneJob> {
        self.jobs.iter().find(|job| job.work == work)
    }
}

/// What the status remembers of the data.
pub fn remembered(object: &Object) -> &More {
    static NOTHING: LazyLock<More> = LazyLock::new(More::default);
    object.status().map_or(&NOTHING, |status| &status.more)
}
