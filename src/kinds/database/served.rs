//! Database as a [`Served`] kind: what the API server, the webhook and the packages are told of it.

use super::change::stakes;
use super::children::{names, secrets};
use super::lifecycle::words::{Event, Phase};
use super::object::{convert, fields, v1, v1alpha1};
use super::plan::Plan;
use super::scene::closing;
use super::scene::siblings::{self, Children};
use super::status::{backups, fixes, say};
use super::{Database, change, children};
use crate::kinds::carrier::Fields;
use crate::kinds::children::{ChildVisitor, Lookup};
use crate::kinds::guarded::{self, Guarded, Right, Values};
use crate::kinds::pod_template::Strings;
use crate::kinds::reading::{ReadKind, Source};
use crate::kinds::reason::Reason;
use crate::kinds::served;
use crate::kinds::status::Declared;
use crate::kinds::{Known, Served};
use crate::machine::diagram::ChangeRow;
use jiff::SignedDuration;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::core::CustomResourceExt;
use std::collections::BTreeSet;

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
    const AVAILABLE: Declared = say::AVAILABLE;
    const CONDITIONS: &'static [Declared] = &[backups::DECLARED, fixes::DECLARED];
    const UNUSED: &'static [&'static str] = &["AllStopped"];
    const GUARDED: &'static [Guarded] = &[
        guarded::POD_TEMPLATE,
        Guarded {
            field: "spec.restoreFrom",
            values: Values::All,
            right: Right::CreatePods,
            why: "by it a pod of the image that the spec names reads any claim of the namespace",
        },
        Guarded {
            field: "spec.service.annotations",
            values: Values::All,
            right: Right::CreateServices,
            why: "by them load balancers and name servers take addresses and names",
        },
        Guarded {
            field: "spec.service.type",
            values: Values::AllBut("ClusterIP"),
            right: Right::CreateServices,
            why: "by it the database is reached from outside of the cluster",
        },
        Guarded {
            field: "spec.deletionPolicy",
            values: Values::Only("Delete"),
            right: Right::Answer,
            why: "with it the object's deletion loses the data and every dump of it",
        },
    ];
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
        Reason::TopologyBehind,
        Reason::ReplicaDiverged,
        Reason::SwitchoverStuck,
        Reason::CredentialsLost,
        Reason::DriftFought,
        Reason::Protected,
        Reason::SnapshotFailed,
        Reason::DumpIncomplete,
        Reason::RemovalStuck,
    ];

    fn also_closes(reason: Reason) -> Vec<&'static str> {
        closing::also_closes(reason).collect()
    }

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
        Event::FirstRollout
    }

    fn success(_: &Plan) -> Option<Event> {
        None
    }

    fn consequence(object: &v1::Database, known: &Known<Self>, plan: &Plan, raised: &BTreeSet<Event>) -> Option<String> {
        stakes::consequence(object, known, plan, raised)
    }

    fn brought_about(object: &v1::Database, known: &Known<Self>, plan: &Plan) -> BTreeSet<Event> {
        stakes::brought_about(object, known, plan)
    }

    fn left(object: &v1::Database, known: &Known<Self>) -> Option<Event> {
        stakes::left(object, known)
    }

    fn unreadable(object: &mut v1::Database, why: String) {
        object.spec.unreadable = Some(why);
    }

    fn shared() -> Option<&'static str> {
        Some(children::scripts::name())
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
