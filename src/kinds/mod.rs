//! What one resource means. Pure: values in, values out; no client, no clock, no `async`.
//!
//! A kind is one folder here and one line in [`visit`]. Read its folder in this order:
//! `v1` and `v1alpha1` (what users write), `plan` (what it means), `change` (what an edit raises),
//! `facts` (what is true), `lifecycle` (every arrow), `children` and `orders` (what is written),
//! `status` (what is said).

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod cel;
pub mod children;
mod conditions;
mod decide;
pub mod digest;
pub mod drift;
pub mod faults;
pub mod image;
pub mod intervention;
pub mod judge;
pub mod memcached;
pub mod order;
pub mod pod_rules;
pub mod pod_template;
pub mod pods;
pub mod prose;
pub mod quantity;
pub mod read;
pub mod reason;
pub mod resource_rules;
pub mod served;
pub mod status;
pub mod tangles;

use crate::machine::{Machine, Role, Step, Word};
pub use decide::{Decision, decide, preview};
use image::is_reference;
use intervention::{Intervention, id};
use jiff::{SignedDuration, Timestamp};
use kube::Resource;
use kube::core::object::HasStatus;
use order::Order;
use serde::Serialize;
use serde::de::DeserializeOwned;
pub use served::Served;
use status::{Kept, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// The one list of kinds.
pub fn visit(visitor: &mut impl Visitor) {
    visitor.kind::<memcached::Memcached>();
}

/// Something that is done for every kind.
pub trait Visitor {
    /// Called once for each kind.
    fn kind<K: Served>(&mut self);
}

/// What one resource means: five pure functions over one [`Machine`].
pub trait Kind: Machine {
    /// The object in its stored version.
    type Object: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + HasStatus<Status = Status<Self::Spec>>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static;
    /// A spec as the status keeps it.
    type Spec: Kept<Machine = Self> + for<'a> From<&'a Self::Object>;
    /// A spec that obeys every rule.
    type Plan: Clone + PartialEq + Debug + Send + Sync;
    /// The children as they are seen.
    type Children: Clone + Debug + Send + Sync;

    /// The plan of a spec, or every violation; `image` stands in where the spec names none.
    ///
    /// # Errors
    /// Every rule that the spec breaks.
    fn parse(spec: &Self::Spec, image: &str) -> Result<Self::Plan, Vec<Violation>>;
    /// What the way from what is known to `plan` raises.
    ///
    /// # Errors
    /// Every change that is unsupported.
    fn changes(known: &Known<Self>, plan: &Self::Plan) -> Result<BTreeSet<Self::Event>, Vec<Violation>>;
    /// The facts that are true.
    fn events(seen: &Observation<Self>) -> BTreeSet<Self::Event>;
    /// What an effect asks of the cluster.
    fn orders(effect: Self::Effect, seen: &Observation<Self>) -> Vec<Order>;
    /// What the object's status says after a step.
    fn status(seen: &Observation<Self>, step: &Step<Self>) -> Status<Self::Spec>;
}

/// The plans that a change is compared with.
#[derive(Clone, Debug)]
pub struct Known<K: Kind> {
    /// What was ready last: *unsupported* is judged against this.
    pub last_good: Option<K::Plan>,
    /// What was ordered last: *which move* is judged against this.
    pub applied: Option<K::Plan>,
}

impl<K: Kind> Known<K> {
    /// What the object's status remembers.
    pub fn of(object: &K::Object) -> Self {
        // What is kept names its image, and was judged before it was kept.
        let plan = |spec: &K::Spec| K::parse(spec, "").ok();
        let status = object.status();
        Known {
            last_good: status.and_then(|status| plan(&status.last_good.as_ref()?.spec)),
            applied: status.and_then(|status| plan(&status.applied.as_ref()?.spec)),
        }
    }
}

/// The plan of an object's spec; where it names no image, the default that was kept for it, or today's.
///
/// # Errors
/// Every rule that the spec breaks.
pub fn plan<K: Kind>(object: &K::Object, settings: &Settings) -> Result<K::Plan, Vec<Violation>> {
    let kept = object.status().and_then(|status| status.default_image.as_deref()).filter(|image| is_reference(image));
    K::parse(&K::Spec::from(object), kept.unwrap_or(&settings.default_image))
}

/// Where the machine starts: the state that the status claims, or the very start where that cannot be so, as in a status
/// that somebody restored.
pub fn claimed<K: Kind>(object: &K::Object) -> K::Phase {
    let phase = object.status().map_or(K::START, Status::phase);
    let so = match K::role(phase) {
        Role::Asks => question::<K>(object).is_some(),
        Role::Ends => object.meta().deletion_timestamp.is_some(),
        Role::Junction | Role::Works { .. } | Role::Rests => true,
    };
    if so { phase } else { K::START }
}

/// The question that is open on the object. One that was asked of another object, and came with a backup, is none; nor
/// is one that somebody wrote into a status that does not ask.
pub fn question<K: Kind>(object: &K::Object) -> Option<&Intervention> {
    let status = object.status().filter(|status| K::role(status.phase()) == Role::Asks)?;
    let meta = object.meta();
    let own = |question: &&Intervention| {
        question.id == id(meta.uid.as_deref().unwrap_or_default(), question.number)
            && question.generation <= meta.generation.unwrap_or_default()
    };
    status.intervention.as_ref().filter(own)
}

/// Everything that was read, at one moment.
#[derive(Clone, Debug)]
pub struct Observation<K: Kind> {
    /// The object, its status the claim that the machine starts from.
    pub object: K::Object,
    /// Its plan, or why there is none.
    pub plan: Result<K::Plan, Vec<Violation>>,
    /// Its children.
    pub children: K::Children,
    /// The operator's settings for this kind.
    pub settings: Settings,
    /// What the last attempt to perform an order met.
    pub refusal: Option<Refusal>,
    /// The time, in whole seconds.
    pub now: Timestamp,
}

/// An order that the API server refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The child that the order was about.
    pub child: order::ChildRef,
    /// The API server's words.
    pub words: String,
    /// Is the name somebody else's?
    pub conflict: bool,
}

impl<K: Kind> Observation<K> {
    /// Parses the object as it is seen.
    pub fn new(object: K::Object, children: K::Children, settings: Settings, refusal: Option<Refusal>, now: Timestamp) -> Self {
        let plan = plan::<K>(&object, &settings);
        Observation { object, plan, children, settings, refusal, now }
    }

    /// The stored status; the empty one where there is none.
    pub fn status(&self) -> Status<K::Spec> {
        self.object.status().cloned().unwrap_or_default()
    }
}

/// What a platform team sets for one kind.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The image where a spec names none.
    pub default_image: String,
    /// How long a working state may take without progress, by state.
    pub deadlines: BTreeMap<String, SignedDuration>,
    /// The version of the rendering.
    pub renderer: i64,
}

impl Settings {
    /// The settings of a kind as they are when nothing is set.
    pub fn of<K: Served>() -> Self {
        Settings {
            default_image: K::DEFAULT_IMAGE.to_owned(),
            deadlines: K::DEADLINES.iter().map(|(phase, limit)| (phase.text(), *limit)).collect(),
            renderer: K::RENDERER,
        }
    }

    /// How long `phase` may take without progress.
    pub fn deadline(&self, phase: impl Word) -> SignedDuration {
        self.deadlines.get(&phase.text()).copied().unwrap_or(SignedDuration::from_mins(10))
    }
}

/// A rule that a spec or a change breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The path of the field, in the stored version.
    pub field: String,
    /// What is wrong, from and to, why, and what to do.
    pub text: String,
}

impl Violation {
    /// A value that breaks a rule.
    pub fn invalid(field: &str, text: impl Into<String>) -> Self {
        Violation { field: field.to_owned(), text: text.into() }
    }

    /// A change that no release of this operator makes.
    pub fn unsupported(field: &str, from: impl std::fmt::Display, to: impl std::fmt::Display, why: &str) -> Self {
        Violation::invalid(field, format!("unsupported: {from} -> {to}; {why}"))
    }

    /// A change that is not possible now.
    pub fn busy(field: &str, from: impl std::fmt::Display, to: impl std::fmt::Display, why: &str) -> Self {
        Violation::invalid(field, format!("busy: {from} -> {to}; {why}"))
    }
}

/// The answer annotation as it stands.
pub fn answer(object: &impl Resource) -> Option<&String> {
    object.meta().annotations.as_ref()?.get(intervention::ANSWER)
}
