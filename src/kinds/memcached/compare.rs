//! What is compared: the plan with what was good and ordered, the children with the target.

use super::counts::{Counts, pods_alive, pods_ready};
use super::orders::{self, LeftAlone};
use super::plan::Plan;
use super::words::Event;
use super::{Memcached, change, children, v1};
use crate::kinds::look::{Compared, Look};
use crate::kinds::order::{ChildKind, ChildRef, Order};
use crate::kinds::rendered::Rendered;
use crate::kinds::workload::counted;
use crate::kinds::{Known, Observation, Violation};
use std::collections::BTreeSet;

impl Compared for Memcached {
    const COUNT: Event = Event::ReplicasChanged;
    const WORKLOAD: ChildKind = ChildKind::Deployment;

    fn supported(known: &Known<Self>, plan: &Plan) -> Result<(), Vec<Violation>> {
        change::supported(known, plan)
    }

    fn is_refused(known: &Known<Self>, plan: &Plan) -> bool {
        change::is_refused(known, plan)
    }

    fn is_alike(one: &Plan, other: &Plan) -> bool {
        change::makes_the_same_pods(one, other)
    }

    fn target(seen: &Observation<Self>, known: &Known<Self>, plan: &Plan) -> Plan {
        let target = change::target(known, plan);
        Plan { replicas: counted(&seen.children.deployment, &seen.yielded(), target.replicas), ..target }
    }

    fn raised(known: &Known<Self>, target: &Plan) -> BTreeSet<Event> {
        change::raised(known, target)
    }

    fn rendered(object: &v1::Memcached, target: &Plan) -> Vec<Rendered> {
        children::all(object, target)
    }

    fn is_idle(look: &Look<'_, Self>, child: &ChildRef) -> bool {
        child.kind == ChildKind::PodDisruptionBudget && look.replicas() < 2
    }

    fn needed(look: &Look<'_, Self>, target: &Plan) -> Vec<Order> {
        let left = LeftAlone { template: look.older_rendering(), fields: look.yielded() };
        orders::needed(&look.seen.object, &look.children, target, &left)
    }

    fn is_settled(look: &Look<'_, Self>) -> bool {
        let wanted = look.replicas();
        let counted = look.seen.children.deployment.ours().is_some_and(|deployment| {
            let counts = Counts::of(deployment);
            (counts.seen || look.rested())
                && [counts.updated, counts.total, counts.available, counts.ready].iter().all(|count| *count == wanted)
        });
        counted && pods_alive(look.seen) <= wanted && pods_ready(look.seen) >= wanted
    }

    fn progress(look: &Look<'_, Self>) -> i32 {
        look.seen.children.deployment.ours().filter(|_| look.missing.is_empty()).map_or(0, |live| Counts::of(live).progress())
    }

    fn replicas(target: &Plan) -> i32 {
        target.replicas
    }
}

/// Was a template like the target's ready before?
pub fn proved(look: &Look<'_, Memcached>) -> bool {
    let good = look.known.last_good.as_ref();
    good.is_some_and(|good| look.target.as_ref().is_some_and(|target| target.template == good.template))
}
