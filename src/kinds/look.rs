//! An observation, compared: what is known, what is wanted, and what it takes.

use super::annotations::{PROTECTED, is_set};
use super::children::Siblings;
use super::intervention::Subject;
use super::order::{ChildKind, ChildRef, Fate, Order};
use super::reason::{About, Reason};
use super::rendered::Rendered;
use super::status::Status;
use super::{Kind, Known, Observation, Violation};
use crate::machine::Role;
use kube::ResourceExt;
use kube::core::object::HasStatus;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What a kind says of its plans and its children, so that they can be compared.
pub trait Compared: Kind<Children: Siblings> {
    /// The edit of which a question that is open, or a rendering that stands, takes no notice.
    const COUNT: Self::Event;
    /// The child that holds the pod template.
    const WORKLOAD: ChildKind;

    /// May what was good become `plan`?
    ///
    /// # Errors
    /// Every change that is unsupported.
    fn supported(known: &Known<Self>, plan: &Self::Plan) -> Result<(), Vec<Violation>>;
    /// Does `plan`, its count aside, ask for what was rolled back?
    fn is_refused(known: &Known<Self>, plan: &Self::Plan) -> bool;
    /// Do both plans make the same, their counts aside?
    fn is_alike(one: &Self::Plan, other: &Self::Plan) -> bool;
    /// What is worked towards where `plan` is asked for.
    fn target(seen: &Observation<Self>, known: &Known<Self>, plan: &Self::Plan) -> Self::Plan;
    /// What the way from what was ordered to `target` raises.
    fn raised(known: &Known<Self>, target: &Self::Plan) -> BTreeSet<Self::Event>;
    /// Every child that `target` wants, in the order in which they are written.
    fn rendered(object: &Self::Object, target: &Self::Plan) -> Vec<Rendered>;
    /// Is the name of this child of no use to the target, so that anybody may have it?
    fn is_idle(look: &Look<'_, Self>, child: &ChildRef) -> bool;
    /// What it takes to make every child what the target says; nothing when they are.
    fn needed(look: &Look<'_, Self>, target: &Self::Plan) -> Vec<Order>;
    /// The same of children that serve nobody at once.
    fn upkeep(_look: &Look<'_, Self>, _target: &Self::Plan) -> Vec<Order> {
        Vec::new()
    }
    /// Do the children themselves say that they are what the target asks for, and ready?
    fn is_settled(look: &Look<'_, Self>) -> bool;
    /// Pods of the target that are surely ready.
    fn progress(look: &Look<'_, Self>) -> i32;
    /// How many pods are wanted.
    fn replicas(target: &Self::Plan) -> i32;
    /// Does what changes leave the pods as they were made? Then they may stand as an older operator rendered them.
    fn leaves_pods(look: &Look<'_, Self>) -> bool {
        look.only_counted()
    }
}

/// An observation, with what every fact about it needs worked out once.
#[derive(Debug)]
pub struct Look<'a, K: Compared> {
    /// What was seen.
    pub seen: &'a Observation<K>,
    /// The children, with the objects that a person has let us take over.
    pub children: K::Children,
    /// What was good and what was ordered.
    pub known: Known<K>,
    /// The plan that the spec asks for, if it is legal today and from what was good last.
    pub wanted: Result<K::Plan, Vec<Violation>>,
    /// What the operator works towards: the wanted plan, or what was good where that was rolled back, or what was ordered
    /// last where the spec is invalid.
    pub target: Option<K::Plan>,
    /// What the way from what was ordered to the target raises.
    pub changes: BTreeSet<K::Event>,
    /// What it takes to make every child what the target says; nothing when they are.
    pub missing: Vec<Order>,
    /// The same of children that serve nobody at once.
    pub upkeep: Vec<Order>,
    /// In place, seen by their controllers, and every pod is of the target and ready.
    pub settled: bool,
    yielded: Cow<'a, [Subject]>,
}

/// A child's name that is somebody else's.
#[derive(Debug)]
pub struct Conflict {
    /// The child.
    pub child: ChildRef,
    /// The uid of the object that stands there.
    pub uid: String,
    /// Who controls it, in words; nothing where nobody does.
    pub owner: Option<String>,
}

impl<'a, K: Compared> Look<'a, K> {
    /// Works it out.
    pub fn at(seen: &'a Observation<K>) -> Self {
        let known = Known::<K>::of(&seen.object, &seen.settings).on(Some(K::ground(&seen.children)));
        let children = match seen.object.status() {
            Some(status) if !status.adopted.is_empty() => seen.children.clone().adopting(&status.adopted),
            Some(_) | None => seen.children.clone(),
        };
        let wanted = seen.plan.clone().and_then(|plan| K::supported(&known, &plan).map(|()| plan));
        let target = wanted.as_ref().ok().map(|plan| K::target(seen, &known, plan)).or_else(|| known.applied.clone());
        let changes = match (&wanted, &target) {
            (Ok(_), Some(target)) => K::raised(&known, target),
            (Ok(_) | Err(_), _) => BTreeSet::new(),
        };
        let yielded = seen.yielded();
        Look { seen, children, known, wanted, target, changes, missing: Vec::new(), upkeep: Vec::new(), settled: false, yielded }.compared()
    }

    /// Compares the children with the target.
    fn compared(mut self) -> Self {
        self.missing = self.target.as_ref().map(|target| K::needed(&self, target)).unwrap_or_default();
        self.settled = self.missing.is_empty() && self.conflicts().next().is_none() && self.pods_settled();
        self.upkeep = self.target.as_ref().map(|target| K::upkeep(&self, target)).unwrap_or_default();
        self
    }

    /// Are the pods and their owner settled, however the other children are?
    fn pods_settled(&self) -> bool {
        let is_of_pods = |order: &Order| order.child().is_none_or(|child| child.kind == K::WORKLOAD);
        let in_place = self.target.is_some() && self.changes.is_empty() && !self.missing.iter().any(is_of_pods);
        in_place && K::is_settled(self)
    }

    /// The same look at what was ordered last: a count that is held while a question is open keeps nothing from its end.
    fn as_ordered(&self) -> Option<Self> {
        let target = self.known.applied.clone().filter(|_| self.only_counted())?;
        let (children, known, wanted) = (self.children.clone(), self.known.clone(), self.wanted.clone());
        let (changes, missing, upkeep, yielded) = (BTreeSet::new(), Vec::new(), Vec::new(), self.yielded.clone());
        let ordered =
            Look { seen: self.seen, children, known, wanted, target: Some(target), changes, missing, upkeep, settled: false, yielded };
        Some(ordered.compared())
    }

    /// Does the target differ from what was ordered in its count at most?
    pub fn only_counted(&self) -> bool {
        self.changes.iter().all(|change| *change == K::COUNT)
    }

    /// Does the spec ask for what was rolled back?
    pub fn refused(&self) -> bool {
        self.wanted.as_ref().is_ok_and(|wanted| K::is_refused(&self.known, wanted))
    }

    /// Is something that the spec asks for not worked towards yet, since it is to be found out first what that takes?
    pub fn waits(&self) -> bool {
        let plans = self.wanted.as_ref().ok().zip(self.target.as_ref());
        plans.is_some_and(|(wanted, target)| !K::is_alike(wanted, target)) && !self.refused()
    }

    /// Is there anything to go back to?
    pub fn can_roll_back(&self) -> bool {
        let good = self.known.last_good.as_ref();
        let other = |wanted: &K::Plan| good.is_some_and(|good| !K::is_alike(good, wanted));
        self.wanted.as_ref().is_ok_and(other) && !self.refused()
    }

    /// Is the object that a person has let us take over still to be taken over?
    pub fn awaits(&self, adopted: &Subject) -> bool {
        let places = self.children.places(&self.seen.object.name_any());
        adopted.uid.as_deref().is_some_and(|uid| places.iter().any(|(_, place)| place.adopted() == Some(uid)))
    }

    /// The fields of children that are left to another writer.
    pub fn yielded(&self) -> &[Subject] {
        &self.yielded
    }

    /// The children whose names are somebody else's, and who that is.
    pub fn conflicts(&self) -> impl Iterator<Item = Conflict> {
        let places = self.children.places(&self.seen.object.name_any()).into_iter();
        let taken = places.filter_map(|(name, place)| {
            let (uid, owner) = place.stranger()?;
            Some(Conflict { child: ChildRef { kind: place.kind(), name }, uid: uid.to_owned(), owner: owner.map(str::to_owned) })
        });
        taken.filter(|conflict| !K::is_idle(self, &conflict.child))
    }

    /// Was this pod template settled by an older rendering? Then it stands until a change makes the pods anew.
    pub fn older_rendering(&self) -> Option<&String> {
        let applied = self.seen.object.status()?.applied.as_ref()?;
        applied.template.as_ref().filter(|_| applied.renderer != self.seen.settings.renderer && K::leaves_pods(self))
    }

    /// How many pods are wanted.
    pub fn replicas(&self) -> i32 {
        self.target.as_ref().map_or(0, K::replicas)
    }

    /// A claim stands while nothing speaks against it: an annotation alone, too, gives a workload a new
    /// generation, and its controller needs a moment to say so.
    pub fn rested(&self) -> bool {
        let phase = self.seen.object.status().map(Status::phase);
        phase.is_some_and(|phase| K::role(phase) == Role::Rests)
    }

    /// Is the deadline over that the work under way was given?
    pub fn late(&self) -> bool {
        let deadline = self.seen.object.status().and_then(|status| status.deadline_time.as_ref());
        deadline.is_some_and(|deadline| self.seen.now >= deadline.0)
    }

    /// Is it late, and did nothing come of what was ordered? Time counts against the world only after the order was carried
    /// out, or refused, and where nothing came of it while nobody looked.
    pub fn is_overdue(&self) -> bool {
        self.late() && (self.seen.refusal.is_some() || self.missing.is_empty() && !self.advanced())
    }

    /// Are more pods of the target ready than ever since the phase was entered?
    pub fn advanced(&self) -> bool {
        let most = self.seen.object.status().and_then(|status| status.progress);
        most.is_some_and(|most| K::progress(self) > most)
    }

    /// Is what a question of this reason is about no longer so?
    pub fn obstacle_gone(&self, reason: Reason) -> bool {
        match reason.about() {
            About::Spec => self.wanted.is_ok(),
            About::Names => {
                self.conflicts().next().is_none() && self.seen.refusal.as_ref().is_none_or(|refusal| refusal.fate != Fate::Taken)
            }
            // What else differs is mended once the question is closed.
            About::Pods => self.pods_settled() || self.as_ordered().is_some_and(|ordered| ordered.pods_settled()),
            About::Protection => !is_set(&self.seen.object, PROTECTED),
            About::Fields => self.seen.has_yielded_all(),
            About::Work | About::Loss | About::Data => false,
        }
    }
}
