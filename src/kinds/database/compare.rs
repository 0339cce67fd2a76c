//! What is compared: the plan with what was good and ordered, the children with the target.

use super::children::names;
use super::lifecycle::words::Event;
use super::object::fields::REPLICAS;
use super::object::v1;
use super::orders::{needed, upkeep};
use super::plan::Plan;
use super::scene::Scene;
use super::scene::siblings::remembered;
use super::scene::{learning, undone, work};
use super::{Database, change};
use crate::kinds::look::{Compared, Look};
use crate::kinds::order::{ChildKind, ChildRef, Order};
use crate::kinds::rendered::Rendered;
use crate::kinds::workload::counted;
use crate::kinds::{Known, Observation, Violation};
use kube::ResourceExt;
use std::collections::BTreeSet;

impl Compared for Database {
    const COUNT: Event = Event::ReplicasChanged;
    const WORKLOAD: ChildKind = ChildKind::StatefulSet;

    fn supported(known: &Known<Self>, plan: &Plan) -> Result<(), Vec<Violation>> {
        change::supported(known, plan)
    }

    fn is_refused(known: &Known<Self>, plan: &Plan) -> bool {
        change::is_refused(known, plan)
    }

    fn is_alike(one: &Plan, other: &Plan) -> bool {
        change::is_alike(one, other)
    }

    fn target(seen: &Observation<Self>, known: &Known<Self>, plan: &Plan) -> Plan {
        let replicas = counted(&seen.children.servers, &seen.yielded(), plan.replicas).clamp(REPLICAS.0, REPLICAS.1);
        let plan = &Plan { replicas, ..plan.clone() };
        let target = change::target(known, plan);
        match &known.applied {
            // What its image has not told yet is not ordered, nor what cannot read the data.
            Some(applied) if !learning::may_serve(remembered(&seen.object), &target) => change::unprobed(applied, plan),
            Some(_) | None => target,
        }
    }

    fn raised(known: &Known<Self>, target: &Plan) -> BTreeSet<Event> {
        change::raised(known, target)
    }

    fn rendered(object: &v1::Database, target: &Plan) -> Vec<Rendered> {
        needed::rendered(object, target)
    }

    fn is_idle(look: &Look<'_, Self>, child: &ChildRef) -> bool {
        let Some(target) = look.target.as_ref() else { return true };
        let scene = Scene::of(look);
        let owner = look.seen.object.name_any();
        match child.kind {
            ChildKind::PodDisruptionBudget => target.replicas < 2,
            ChildKind::CronJob => target.backup.schedule.is_none(),
            ChildKind::PersistentVolumeClaim if child.name == names::backups(&owner) => !target.keeps_dumps(),
            ChildKind::PersistentVolumeClaim => !(0..scene.count(target)).any(|ordinal| names::claim(&owner, ordinal) == child.name),
            ChildKind::Job => work::task(look, scene.phase()).is_none_or(|task| task.rendered.child.name != child.name),
            ChildKind::Secret
            | ChildKind::ConfigMap
            | ChildKind::Service
            | ChildKind::Deployment
            | ChildKind::StatefulSet
            | ChildKind::Pod => false,
        }
    }

    fn needed(look: &Look<'_, Self>, target: &Plan) -> Vec<Order> {
        needed::children(&Scene::of(look), target)
    }

    fn upkeep(look: &Look<'_, Self>, target: &Plan) -> Vec<Order> {
        upkeep::orders(&Scene::of(look), target)
    }

    fn is_settled(look: &Look<'_, Self>) -> bool {
        let scene = Scene::of(look);
        let members = &scene.members;
        let counted = members.is_counted() || look.rested();
        let all = counted && members.ready() == look.replicas() && members.total() == look.replicas();
        all && members.primary_is_ready() && !undone::is_undone(&scene)
    }

    /// Where volumes grow, those that have count.
    fn progress(look: &Look<'_, Self>) -> i32 {
        let scene = Scene::of(look);
        let small = i32::try_from(scene.small_claims().count()).unwrap_or(i32::MAX);
        match small {
            0 if look.missing.is_empty() => scene.settled(),
            0 => 0,
            _ => look.replicas() - small,
        }
    }

    fn replicas(target: &Plan) -> i32 {
        target.replicas
    }

    fn leaves_pods(look: &Look<'_, Self>) -> bool {
        let Some((applied, target)) = look.known.applied.as_ref().zip(look.target.as_ref()) else { return look.only_counted() };
        let harmless = look.changes.iter().all(|change| matches!(change, Event::ReplicasChanged | Event::ParametersChanged));
        let same = (&applied.parameters, &applied.extensions) == (&target.parameters, &target.extensions);
        harmless && (same || learning::starts_alike(remembered(&look.seen.object), applied, target))
    }
}
