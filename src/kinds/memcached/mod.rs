//! Memcached: the kind's table of contents.

mod ask;
pub mod change;
pub mod children;
mod compare;
pub mod convert;
pub mod counts;
pub mod facts;
pub mod fields;
pub mod lifecycle;
pub mod orders;
pub mod plan;
mod possible;
mod rules;
mod say;
mod status;
mod trouble;
pub mod v1;
pub mod v1alpha1;
pub mod words;

use super::apply;
use super::carrier::Fields;
use super::children::{ChildVisitor, Lookup, Place, Siblings, Slot};
use super::guarded::{self, Guarded};
use super::intervention::Subject;
use super::look::Look;
use super::order::Order;
use super::passage;
use super::pod_template::Strings;
use super::pods::is_ours;
use super::reason::Reason;
use super::served;
use super::status::{Declared, Status};
use super::{Kind, Known, Observation, Served, Violation};
use crate::machine::Step;
use crate::machine::diagram::ChangeRow;
use jiff::SignedDuration;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::core::CustomResourceExt;
use plan::Plan;
use std::collections::BTreeSet;
use std::sync::Arc;
pub use words::{Effect, Event, Phase};

/// The kind.
#[derive(Clone, Copy, Debug)]
pub struct Memcached;

/// The children as they are seen, each named after the object.
#[derive(Clone, Debug)]
pub struct Children {
    /// The pods' owner.
    pub deployment: Slot<Deployment>,
    /// The address.
    pub service: Slot<Service>,
    /// What keeps an eviction from taking every pod.
    pub budget: Slot<PodDisruptionBudget>,
    /// The pods.
    pub pods: Vec<Arc<Pod>>,
}

impl Siblings for Children {
    fn places(&self, owner: &str) -> Vec<(String, &dyn Place)> {
        let places: [&dyn Place; 3] = [&self.service, &self.deployment, &self.budget];
        places.map(|place| (owner.to_owned(), place)).into()
    }

    fn adopting(self, adopted: &[Subject]) -> Self {
        let Children { deployment, service, budget, pods } = self;
        let (deployment, service, budget) = (deployment.adopting(adopted), service.adopting(adopted), budget.adopting(adopted));
        Children { deployment, service, budget, pods }
    }
}

impl Kind for Memcached {
    type Object = v1::Memcached;
    type Spec = v1::KeptSpec;
    type Plan = Plan;
    type Children = Children;
    type Ground = ();
    type Look<'a> = Look<'a, Self>;

    fn parse(spec: &v1::KeptSpec, image: &str) -> Result<Plan, Vec<Violation>> {
        plan::parse(&spec.0, image)
    }

    fn changes(known: &Known<Self>, plan: &Plan) -> Result<BTreeSet<Event>, Vec<Violation>> {
        change::between(known, plan)
    }

    fn ground(_: &Children) {}

    fn look(seen: &Observation<Self>) -> Look<'_, Self> {
        Look::at(seen)
    }

    fn events(look: &Look<'_, Self>) -> BTreeSet<Event> {
        facts::events(look)
    }

    fn adoption(look: &Look<'_, Self>) -> Vec<Order> {
        let rendered = look.target.as_ref().map(|target| children::all(&look.seen.object, target)).unwrap_or_default();
        apply::adoption(&look.seen.object.name_any(), &look.children, rendered)
    }

    fn orders(effect: Effect, look: &Look<'_, Self>) -> Vec<Order> {
        match effect {
            Effect::ApplyChildren => look.missing.clone(),
            Effect::DeleteWaitingPods => {
                let ours = |pod: &&Arc<Pod>| is_ours(pod, &look.seen.object.name_any());
                trouble::waiting_on_an_error(look.seen).filter(ours).filter_map(|pod| apply::removal(pod.as_ref())).collect()
            }
        }
    }

    fn status(look: &Look<'_, Self>, step: &Step<Self>) -> Status<v1::KeptSpec> {
        passage::status(look, step)
    }
}

impl Served for Memcached {
    const PATH: &'static str = "memcached";
    const SHORT: &'static str = "mc";
    const FIELDS: &'static Fields = &convert::FIELDS;
    const DEFAULT_IMAGE: &'static str = fields::DEFAULT_IMAGE;
    const RENDERER: i64 = children::RENDERER;
    const DEADLINES: &'static [(Phase, SignedDuration)] = &[
        (Phase::Creating, SignedDuration::from_mins(5)),
        (Phase::Scaling, SignedDuration::from_mins(5)),
        (Phase::Updating, SignedDuration::from_mins(10)),
        (Phase::Degraded, SignedDuration::from_mins(15)),
        (Phase::RollingBack, SignedDuration::from_mins(10)),
    ];
    const TROUBLED: &'static [Phase] = &[Phase::Degraded];
    const AVAILABLE: Declared = say::AVAILABLE;
    const UNUSED: &'static [&'static str] = &["NotOrdered", "OlderThanDefault"];
    const GUARDED: &'static [Guarded] = &[guarded::POD_TEMPLATE];
    const REASONS: &'static [Reason] = &[
        Reason::SpecInvalid,
        Reason::ChildConflict,
        Reason::ProvisioningStuck,
        Reason::RolloutStuck,
        Reason::PodsUnavailable,
        Reason::DriftFought,
    ];

    fn definition() -> CustomResourceDefinition {
        let versions = vec![v1::Memcached::crd(), v1alpha1::Memcached::crd()];
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

    fn success(plan: &Plan) -> Option<Event> {
        (plan.replicas == 0).then_some(Event::AllStopped)
    }

    fn consequence(object: &v1::Memcached, known: &Known<Self>, plan: &Plan, raised: &BTreeSet<Event>) -> Option<String> {
        change::consequence(object, known, plan, raised)
    }

    fn left(object: &v1::Memcached, known: &Known<Self>) -> Option<Event> {
        change::left(object, known)
    }

    fn unreadable(object: &mut v1::Memcached, why: String) {
        object.spec.unreadable = Some(why);
    }

    fn child_types(visitor: &mut impl ChildVisitor) {
        visitor.child::<Deployment>();
        visitor.child::<Service>();
        visitor.child::<PodDisruptionBudget>();
    }

    fn children(lookup: &impl Lookup, object: &v1::Memcached) -> Children {
        let name = object.name_any();
        Children { deployment: lookup.slot(&name), service: lookup.slot(&name), budget: lookup.slot(&name), pods: lookup.pods() }
    }

    fn scaled(object: &v1::Memcached, replicas: i32) -> v1::Memcached {
        let mut object = object.clone();
        object.spec.replicas = replicas;
        object
    }

    fn selector(object: &v1::Memcached) -> Strings {
        children::selector(object)
    }
}
