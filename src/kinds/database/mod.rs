//! Database: one primary that is written to, replicas that are read, and backups of it.
//!
//! A room for each step of a look: `object` (what users write), `plan` (what it means), `change` (what an edit raises, and what is
//! unsupported), `scene` (what is seen), `facts` (what is true of it), `lifecycle` (every arrow), `orders` (what is ordered),
//! `children` (what is written), `status` (what is remembered and said). What servers and Jobs run is in `scripts`, and what
//! they say of it in `reports`.

pub mod change;
pub mod children;
mod compare;
pub mod facts;
pub mod lifecycle;
pub mod object;
mod orders;
pub mod plan;
pub mod reports;
mod scene;
mod served;
mod status;

use super::apply;
use super::look::Look;
use super::news::News;
use super::order::Order;
use super::passage;
use super::status::Status;
use super::{Kind, Known, Observation, Violation};
use crate::machine::Step;
use kube::ResourceExt;
pub use lifecycle::words::{Effect, Event, Phase};
use object::kept::KeptSpec;
use object::v1;
use orders::needed;
use plan::Plan;
use scene::ground::Ground;
use scene::siblings::Children;
use status::news;
use std::collections::{BTreeMap, BTreeSet};

/// The kind.
#[derive(Clone, Copy, Debug)]
pub struct Database;

impl Kind for Database {
    type Object = v1::Database;
    type Spec = KeptSpec;
    type Plan = Plan;
    type Children = Children;
    type Ground = Ground;
    type Look<'a> = Look<'a, Self>;

    fn parse(spec: &KeptSpec, image: &str) -> Result<Plan, Vec<Violation>> {
        plan::parse(&spec.0, image)
    }

    fn changes(known: &Known<Self>, plan: &Plan) -> Result<BTreeSet<Event>, Vec<Violation>> {
        change::between(known, plan)
    }

    fn ground(children: &Children) -> Ground {
        Ground::of(children)
    }

    fn look(seen: &Observation<Self>) -> Look<'_, Self> {
        Look::at(seen)
    }

    fn events(look: &Look<'_, Self>) -> BTreeSet<Event> {
        facts::events(look)
    }

    fn adoption(look: &Look<'_, Self>) -> Vec<Order> {
        if !look.conflicts().all(|conflict| needed::may_be_adopted(&conflict)) {
            return Vec::new();
        }
        let rendered = look.target.as_ref().map(|target| needed::rendered(&look.seen.object, target)).unwrap_or_default();
        apply::adoption(&look.seen.object.name_any(), &look.children, rendered)
    }

    fn orders(effect: Effect, look: &Look<'_, Self>) -> Vec<Order> {
        orders::of(effect, look)
    }

    fn status(look: &Look<'_, Self>, step: &Step<Self>) -> Status<KeptSpec> {
        passage::status(look, step)
    }

    fn forgets(before: &Status<KeptSpec>, after: &Status<KeptSpec>) -> bool {
        fn lacks<T>(after: &BTreeMap<String, T>, before: &BTreeMap<String, T>) -> bool {
            before.keys().any(|claim| !after.contains_key(claim))
        }
        let (before, after) = (&before.more, &after.more);
        lacks(&after.later_epochs, &before.later_epochs) || lacks(&after.diverged, &before.diverged)
    }

    fn news(before: Option<&Status<KeptSpec>>, seen: &Observation<Self>) -> Vec<News> {
        news::of(before, seen)
    }
}
