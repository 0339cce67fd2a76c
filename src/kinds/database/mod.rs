//! Database: one primary that is written to, replicas that are read, and backups of it.

mod ask;
pub mod change;
pub mod change_rules;
pub mod children;
pub mod claims;
mod closing;
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
mod news;
mod orders;
mod outcome;
pub mod parameters;
pub mod parts;
pub mod plan;
mod plan_rules;
mod pod;
mod readers;
mod reload;
pub mod results;
mod rules;
mod said;
mod say;
mod scene;
pub mod schedule;
pub mod scripts;
pub mod secrets;
mod served;
pub mod servers;
pub mod siblings;
mod stakes;
mod standing;
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
use super::look::Look;
use super::news::News;
use super::order::Order;
use super::passage;
use super::status::Status;
use super::{Kind, Known, Observation, Violation};
use crate::machine::Step;
use ground::Ground;
use kept::KeptSpec;
use kube::ResourceExt;
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

    fn news(before: Option<&Status<KeptSpec>>, seen: &Observation<Self>) -> Vec<News> {
        news::of(before, seen)
    }
}
