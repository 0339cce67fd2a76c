//! What one resource means. Pure: values in, values out; no client, no clock, no `async`.
//!
//! A kind is one folder here and one line in [`visit`]. Read its folder in this order:
//! `v1` and `v1alpha1` (what users write), `plan` (what it means), `change` (what an edit raises),
//! `facts` (what is true), `lifecycle` (every arrow), `children` and `orders` (what is written),
//! `status` (what is said). Where one of them outgrows its file, it has a room beside it.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod about;
pub mod annotations;
pub mod apply;
pub mod carrier;
pub mod cel;
pub mod children;
pub mod claims;
mod conditions;
pub mod database;
mod decide;
pub mod digest;
pub mod drift;
pub mod entropy;
pub mod faults;
pub mod field_set;
mod fights;
pub mod finalizer;
mod foresee;
pub mod guarded;
pub mod image;
pub mod intervention;
pub mod judge;
mod known;
pub mod look;
pub mod memcached;
pub mod news;
pub mod object_rules;
pub mod order;
pub mod passage;
pub mod paths;
pub mod pod_labels;
pub mod pod_rules;
pub mod pod_template;
pub mod pods;
pub mod prose;
pub mod quantity;
pub mod questions;
pub mod read;
pub mod reading;
pub mod reason;
pub mod remembered;
pub mod rendered;
pub mod resource_rules;
pub mod review;
pub mod served;
mod settings;
pub mod spec_rules;
pub mod status;
pub mod tangles;
pub mod telling;
pub mod verb;
pub mod verdict;
pub mod workload;
pub mod yielded;

use crate::machine::{Machine, Step};
pub use decide::{Decision, decide, preview};
use entropy::Entropy;
use jiff::Timestamp;
pub use known::{Known, claimed, plan, question, renewed};
use kube::Resource;
use kube::core::object::HasStatus;
use news::News;
use order::{Order, Refusal, Trial};
use serde::Serialize;
use serde::de::DeserializeOwned;
pub use served::Served;
pub use settings::Settings;
use status::{Kept, Status};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// The one list of kinds.
pub fn visit(visitor: &mut impl Visitor) {
    visitor.kind::<memcached::Memcached>();
    visitor.kind::<database::Database>();
}

/// Something that is done for every kind.
pub trait Visitor {
    /// Called once for each kind.
    fn kind<K: Served>(&mut self);
}

/// One value of each kind, in a list: `of_each!(K: String => K::PATH.to_owned())`.
macro_rules! of_each {
    ($kind:ident: $value:ty => $one:expr) => {{
        struct Each(Vec<$value>);
        impl $crate::kinds::Visitor for Each {
            fn kind<$kind: $crate::kinds::Served>(&mut self) {
                self.0.push($one);
            }
        }
        let mut each = Each(Vec::new());
        $crate::kinds::visit(&mut each);
        each.0
    }};
}
pub(crate) use of_each;

/// What one resource means: pure functions over one [`Machine`].
pub trait Kind: Machine + Clone + Debug {
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
    /// What a change is judged by, beside what was good and what was ordered: volumes that are there, say, and whether they can
    /// grow.
    type Ground: Clone + Debug + Send + Sync + 'static;
    /// An observation, with what facts, status and orders have in common.
    type Look<'a>
    where
        Self: 'a;

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
    /// What the children are to a change.
    fn ground(children: &Self::Children) -> Self::Ground;
    /// Works out what follows from an observation: much of the time that a decision takes.
    fn look(seen: &Observation<Self>) -> Self::Look<'_>;
    /// The facts that are true.
    fn events(look: &Self::Look<'_>) -> BTreeSet<Self::Event>;
    /// Orders that would take over the objects of others that stand under the children's names.
    fn adoption(look: &Self::Look<'_>) -> Vec<Order>;
    /// What an effect asks of the cluster.
    fn orders(effect: Self::Effect, look: &Self::Look<'_>) -> Vec<Order>;
    /// What the object's status says after a step.
    fn status(look: &Self::Look<'_>, step: &Step<Self>) -> Status<Self::Spec>;
    /// Is something forgotten of the data, which a thing that no watch shows just now may still hold?
    fn forgets(_before: &Status<Self::Spec>, _after: &Status<Self::Spec>) -> bool {
        false
    }
    /// What is to be told beside moves and conditions, where the status was `before` and `seen` has the one that is to be.
    fn news(_before: Option<&Status<Self::Spec>>, _seen: &Observation<Self>) -> Vec<News> {
        Vec::new()
    }
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
    /// Would the API server let us take over what stands under the children's names?
    pub adoption: Trial,
    /// The time, in whole seconds.
    pub now: Timestamp,
    /// What passwords are made from.
    pub entropy: Entropy,
}

impl<K: Kind> Observation<K> {
    /// Parses the object as it is seen.
    pub fn new(object: K::Object, children: K::Children, settings: Settings, refusal: Option<Refusal>, now: Timestamp) -> Self {
        let plan = plan::<K>(&object, &settings);
        Observation { object, plan, children, settings, refusal, adoption: Trial::Untried, now, entropy: Entropy::default() }
    }

    /// The same, with something to make passwords from.
    #[must_use]
    pub fn with_entropy(mut self, entropy: Entropy) -> Self {
        self.entropy = entropy;
        self
    }

    /// The same, with another status.
    #[must_use]
    pub fn with_status(mut self, status: Status<K::Spec>) -> Self {
        *self.object.status_mut() = Some(status);
        self
    }

    /// The stored status; the empty one where there is none.
    pub fn status(&self) -> Status<K::Spec> {
        self.object.status().cloned().unwrap_or_default()
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
