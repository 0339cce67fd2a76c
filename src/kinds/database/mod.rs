//! Database: one primary that is written to, replicas that are read, and backups of it.

mod ask;
pub mod change;
pub mod change_rules;
pub mod children;
pub mod claims;
mod compare;
pub mod configuration;
pub mod convert;
pub mod credentials;
mod ending;
mod exits;
pub mod facts;
pub mod fields;
mod ground;
pub mod jobs;
pub mod kept;
pub mod last_words;
mod laws;
pub mod learning;
pub mod lifecycle;
mod machine;
mod members;
pub mod more;
pub mod names;
mod needed;
pub mod network;
mod orders;
mod outcome;
pub mod parameters;
pub mod parts;
pub mod plan;
mod plan_rules;
mod pod;
mod readers;
pub mod results;
mod rules;
mod say;
mod scene;
pub mod schedule;
pub mod scripts;
pub mod secrets;
pub mod servers;
pub mod siblings;
mod status;
pub mod tombstone;
pub mod topology;
mod trouble;
mod undone;
mod upkeep;
pub mod v1;
pub mod v1alpha1;
pub mod version;
pub mod volume;
pub mod words;
mod work;

use super::apply;
use super::carrier::Fields;
use super::children::{ChildVisitor, Lookup};
use super::look::Look;
use super::order::Order;
use super::passage;
use super::pod_template::Strings;
use super::reading::{ReadKind, Source};
use super::reason::Reason;
use super::served;
use super::status::Status;
use super::{Kind, Known, Observation, Served, Violation};
use crate::machine::Step;
use crate::machine::diagram::ChangeRow;
use ground::Ground;
use jiff::SignedDuration;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kept::KeptSpec;
use kube::ResourceExt;
use kube::core::CustomResourceExt;
use plan::Plan;
use siblings::Children;
use std::collections::BTreeSet;
pub use words::{Effect, Event, Phase};

/// The kind.
#[derive(Clone, Copy, Debug)]
pub struct Database;

impl Kind for Database {
    type Object = v1::Database;
    type Spec = KeptSpec;
    type Plan = Plan;
    type Children = Children;
    type Ground = Ground;

    fn parse(spec: &KeptSpec, image: &str) -> Result<Plan, Vec<Violation>> {
        plan::parse(&spec.0, image)
    }

    fn changes(known: &Known<Self>, plan: &Plan) -> Result<BTreeSet<Event>, Vec<Violation>> {
        change::between(known, plan)
    }

    fn ground(children: &Children) -> Ground {
        Ground::of(children)
    }

    fn events(seen: &Observation<Self>) -> BTreeSet<Event> {
        facts::events(seen)
    }

    fn adoption(seen: &Observation<Self>) -> Vec<Order> {
        let look = Look::at(seen);
        if !look.conflicts().all(|conflict| needed::may_be_adopted(&conflict)) {
            return Vec::new();
        }
        let rendered = look.target.as_ref().map(|target| needed::rendered(&seen.object, target)).unwrap_or_default();
        apply::adoption(&seen.object.name_any(), &look.children, rendered)
    }

    fn orders(effect: Effect, seen: &Observation<Self>) -> Vec<Order> {
        orders::of(effect, seen)
    }

    fn status(seen: &Observation<Self>, step: &Step<Self>) -> Status<KeptSpec> {
        passage::status(seen, step)
    }
}

impl Served for Database {
    const PATH: &'static str = "database";
    const SHORT: &'static str = "db";
    const FIELDS: &'static Fields = &convert::FIELDS;
    const DEFAULT_IMAGE: &'static str = fields::DEFAULT_IMAGE;
    const RENDERER: i64 = children::RENDERER;
    const DEADLINES: &'static [(Phase, SignedDuration)] = &[
        (Phase::Provisioning, SignedDuration::from_mins(10)),
        (Phase::Probing, SignedDuration::from_mins(10)),
        (Phase::Restoring, SignedDuration::from_mins(30)),
        (Phase::Initializing, SignedDuration::from_mins(10)),
        (Phase::Scaling, SignedDuration::from_mins(15)),
        (Phase::Restarting, SignedDuration::from_mins(10)),
        (Phase::ExpandingStorage, SignedDuration::from_mins(30)),
        (Phase::Degraded, SignedDuration::from_mins(15)),
        (Phase::Unavailable, SignedDuration::from_mins(15)),
        (Phase::RollingBack, SignedDuration::from_mins(10)),
        (Phase::SnapshottingBeforeDelete, SignedDuration::from_mins(60)),
        (Phase::Removing, SignedDuration::from_mins(10)),
        (Phase::Retaining, SignedDuration::from_mins(10)),
    ];
    const FINALIZER: Option<&'static str> = Some("pointsman.dev/database");
    const LABELS_PODS: bool = true;
    const READINGS: &'static [Source<v1::Database>] = &[
        Source::named(ReadKind::Secret, secrets::both).written(),
        Source::named(ReadKind::Namespace, |object: &v1::Database| object.namespace().into_iter().collect()),
        Source::all(ReadKind::StorageClass),
    ];
    const TROUBLED: &'static [Phase] = &[Phase::Degraded, Phase::Unavailable];
    const CONDITIONS: &'static [(&'static str, &'static str)] =
        &[(say::BACKUPS, "backups are made when they are to be: not two in a row are missing; or none are made on a schedule")];
    const REASONS: &'static [Reason] = &[
        Reason::SpecInvalid,
        Reason::ChildConflict,
        Reason::ProbeFailed,
        Reason::ProvisioningStuck,
        Reason::RestoreFailed,
        Reason::InitJobFailed,
        Reason::RolloutStuck,
        Reason::StorageNotExpandable,
        Reason::PodsUnavailable,
        Reason::NodeLost,
        Reason::PrimaryVolumeLost,
        Reason::ReplicaDiverged,
        Reason::CredentialsLost,
        Reason::DriftFought,
        Reason::Protected,
        Reason::SnapshotFailed,
        Reason::RemovalStuck,
    ];

    fn definition() -> CustomResourceDefinition {
        let versions = vec![v1::Database::crd(), v1alpha1::Database::crd()];
        // Both are of one group and kind, and one of them is v1.
        let merged = kube::core::crd::merge_crds(versions, "v1").expect("the versions of one kind merge");
        served::with_a_name(merged)
    }

    fn changes_table() -> &'static [ChangeRow<Self>] {
        change::ROWS
    }

    fn first_time() -> Event {
        Event::NeverReady
    }

    fn success(_: &Plan) -> Option<Event> {
        None
    }

    fn consequence(object: &v1::Database, known: &Known<Self>, plan: &Plan, raised: &BTreeSet<Event>) -> Option<String> {
        change::consequence(object, known, plan, raised)
    }

    fn unreadable(object: &mut v1::Database, why: String) {
        object.spec.unreadable = Some(why);
    }

    fn child_types(visitor: &mut impl ChildVisitor) {
        visitor.precious::<PersistentVolumeClaim>();
        visitor.child::<ConfigMap>();
        visitor.child::<Service>();
        visitor.child::<StatefulSet>();
        visitor.child::<PodDisruptionBudget>();
        visitor.unchanging::<Job>();
        visitor.child::<CronJob>();
    }

    fn children(lookup: &impl Lookup, object: &v1::Database) -> Children {
        siblings::find(lookup, object)
    }

    fn wanted_by(child: &str) -> Vec<String> {
        names::owners(child)
    }

    fn scaled(object: &v1::Database, replicas: i32) -> v1::Database {
        let mut object = object.clone();
        object.spec.replicas = replicas;
        object
    }

    fn selector(object: &v1::Database) -> Strings {
        children::selector(object)
    }

    fn pod_labels(object: &v1::Database) -> Strings {
        let mut labels = children::selector(object);
        labels.remove(children::NAME);
        labels
    }
}
