//! One state of the searched world, and every state that can follow it.

use crate::support::world::{World, can_run, ending, hash, is_ready, observed, turn};
use crate::support::writes::{slot, stranger};
use crate::support::{BAD_IMAGE, IMAGE, Object, object, rule, truth};
use pointsman::kinds::annotations::{ANSWER, PAUSED, answer, is_set};
use pointsman::kinds::memcached::v1::{MemcachedSpec, MemcachedStatus};
use pointsman::kinds::memcached::{Children, Memcached};
use pointsman::kinds::order::{Order, Refusal};
use pointsman::kinds::reason::Verb;
use pointsman::kinds::{Observation, Settings, decide, digest};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The cluster, what the operator is about to do, and what may still go wrong.
#[derive(Clone)]
pub struct State {
    /// The cluster.
    pub world: World,
    orders: Vec<Order>,
    refusal: Option<Refusal>,
    late: bool,
    edits: u8,
    answers: u8,
    faults: u8,
}

/// The moment at which every deadline has passed, seen from the moment of the start.
const LATE: Duration = Duration::from_secs(1_000_000);

impl State {
    pub fn start(edits: u8, answers: u8, faults: u8) -> Self {
        let spec = MemcachedSpec { image: Some(IMAGE.to_owned()), ..MemcachedSpec::default() };
        let mut world = World::of(object("cache", spec));
        world.prompt = true;
        State { world, orders: Vec::new(), refusal: None, late: false, edits, answers, faults }
    }

    /// What tells states apart: names, times and versions do not.
    pub fn key(&self) -> String {
        let world = &self.world;
        let object = world.object.as_ref().map(|object| {
            let status = object.status.clone().unwrap_or_default();
            let question = status.intervention.as_ref();
            let open = question.map(|question| {
                (
                    question.reason.word(),
                    question.about.clone(),
                    question.generation < object.metadata.generation.unwrap_or_default(),
                    Verb::ALL.iter().position(|verb| question.answered(*verb, answer(&**object).map(String::as_str))),
                    question.legal().matches(',').count(),
                )
            });
            json!([
                object.spec,
                object.metadata.deletion_timestamp.is_some(),
                is_set(&**object, PAUSED),
                (status.refused.map(|refused| refused.spec), !status.adopted.is_empty(), status.yielded),
                status.state,
                status.deadline_time.is_some(),
                status.progress,
                status.applied.map(|applied| (applied.spec, applied.template)),
                status.last_good.map(|good| good.spec),
                open,
                status.ready_text,
                status.message,
                status.observed_generation < object.metadata.generation
            ])
        });
        let pods: Vec<_> = world.pods.iter().map(|pod| (hash(pod) == world.hash, ending(pod), is_ready(pod), can_run(pod))).collect();
        let deployment = world.deployment.as_ref().map(|live| {
            (
                &live.it.spec,
                observed(&live.it) == live.it.metadata.generation,
                live.it.metadata.owner_references.is_some(),
                live.it.status.as_ref().map(|status| (status.replicas, status.ready_replicas, status.updated_replicas)),
            )
        });
        let others = (world.service.as_ref().map(|live| live.it.metadata.owner_references.is_some()), world.budget.is_some());
        let orders: Vec<_> = self.orders.iter().map(|order| self.shape(order)).collect();
        digest::of(&json!([
            object,
            pods,
            deployment,
            others,
            orders,
            self.refusal.as_ref().map(|refusal| &refusal.words),
            self.late,
            self.edits,
            self.answers,
            self.faults
        ]))
    }

    /// An order without the names that only tell one run from another.
    fn shape(&self, order: &Order) -> Value {
        let current = |uid: Option<&String>| {
            uid.map(|uid| {
                json!([
                    &self.world.deployment.as_ref().map(|live| json!(live.it.metadata.uid)),
                    &self.world.service.as_ref().map(|live| json!(live.it.metadata.uid))
                ])
                .to_string()
                .contains(uid.as_str())
            })
        };
        match order {
            Order::Apply { child, object, uid, .. } => json!(["apply", child.kind.name(), object["spec"], current(uid.as_ref())]),
            Order::Patch { child, patch } => json!(["patch", child.kind.name(), patch]),
            Order::Create { .. } | Order::Own { .. } => unreachable!("the kind gives no such order"),
            Order::Delete { child, uid, resource_version, .. } => {
                let pod = self
                    .world
                    .pods
                    .iter()
                    .find(|pod| pod.metadata.uid.as_ref() == Some(uid))
                    .map(|pod| pod.metadata.resource_version.as_ref() == Some(resource_version));
                json!(["delete", child.kind.name(), pod])
            }
        }
    }

    fn changed(&self, change: impl FnOnce(&mut State)) -> State {
        let mut next = self.clone();
        next.world.serial += 1;
        change(&mut next);
        next
    }

    fn edited(&self, change: impl FnOnce(&mut Object)) -> State {
        self.changed(|next| {
            let serial = next.world.serial;
            if let Some(object) = &mut next.world.object {
                let object = Arc::make_mut(object);
                let before = object.spec.clone();
                change(object);
                if object.spec != before {
                    object.metadata.generation = object.metadata.generation.map(|generation| generation + 1);
                }
                object.metadata.resource_version = Some(serial.to_string());
            }
        })
    }

    /// The operator looks and records, or performs its next order.
    pub fn operated(&self, rule: &str, settings: &Settings, wrong: &mut Vec<String>) -> Option<State> {
        if !self.orders.is_empty() {
            return Some(self.changed(|next| {
                let order = next.orders.remove(0);
                if let Err(refusal) = next.world.perform(&order, wrong) {
                    next.orders.clear();
                    next.refusal = Some(refusal);
                }
            }));
        }
        let world = &self.world;
        let object = world.object.clone()?;
        let children = Children {
            deployment: slot(world.deployment.as_ref(), world.owner()),
            service: slot(world.service.as_ref(), world.owner()),
            budget: slot(world.budget.as_ref(), world.owner()),
            pods: world.pods.clone(),
        };
        let now = if self.late { world.now + LATE } else { world.now };
        let mut seen = Observation::<Memcached>::new((*object).clone(), children, settings.clone(), self.refusal.clone(), now);
        let mut decision = decide(seen.clone());
        if !decision.trial.is_empty() {
            seen.adoption = World::attempt(&decision.trial);
            decision = decide(seen);
        }
        wrong.extend(truth::denied(&object, &decision.status, world));
        let before = object.status.as_ref().and_then(|status| status.state.as_deref());
        if !rule::allows(rule, before, decision.status.state.as_deref().unwrap_or_default()) {
            wrong.push(format!("the API server refuses {before:?} -> {:?}", decision.status.state));
        }
        let deadline = |status: Option<&MemcachedStatus>| status.and_then(|status| status.deadline_time.clone());
        let renewed = deadline(Some(&decision.status)) != deadline(object.status.as_ref());
        Some(
            self.edited(|object| {
                let mut status = decision.status;
                status.history.clear();
                object.status = Some(status);
            })
            .changed(|next| {
                next.orders = decision.orders;
                next.refusal = None;
                if next.late && (decision.told.is_some() || renewed) {
                    next.late = false;
                    next.world.now += 2 * LATE;
                }
            }),
        )
    }

    /// What the cluster does by itself, time included.
    pub fn quiet(&self) -> Vec<State> {
        let mut next: Vec<State> = self.world.possible().into_iter().map(|what| self.changed(|next| next.world.happen(what))).collect();
        let waits =
            self.world.object.as_ref().is_some_and(|object| object.status.as_ref().is_some_and(|status| status.deadline_time.is_some()));
        if waits && !self.late {
            next.push(self.changed(|next| next.late = true));
        }
        next
    }

    /// What people and accidents do.
    pub fn disturbed(&self) -> Vec<State> {
        let mut next = Vec::new();
        if !self.orders.is_empty() {
            next.push(self.changed(|next| next.orders.clear()));
        }
        let Some(object) = &self.world.object else { return next };
        if self.edits > 0 && object.metadata.deletion_timestamp.is_none() {
            let image = if object.spec.image.as_deref() == Some(IMAGE) { BAD_IMAGE } else { IMAGE };
            let port = if object.spec.port == 11211 { 11311 } else { 11211 };
            next.push(self.edited(|object| object.spec.image = Some(image.to_owned())));
            next.push(self.edited(|object| object.spec.replicas = 1 - object.spec.replicas));
            next.push(self.edited(|object| object.spec.port = port));
            next.push(self.edited(|object| {
                let annotations = object.metadata.annotations.get_or_insert_default();
                if annotations.remove(PAUSED).is_none() {
                    annotations.insert(PAUSED.to_owned(), "true".to_owned());
                }
            }));
            next.push(self.edited(|object| {
                object.metadata.deletion_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(self.world.now));
            }));
            next.iter_mut()
                .filter(|next| next.edits == self.edits && next.orders.len() == self.orders.len())
                .for_each(|next| next.edits -= 1);
        }
        if let Some(question) = object.status.as_ref().and_then(|status| status.intervention.as_ref()).filter(|_| self.answers > 0) {
            for offer in &question.answers {
                let answer = format!("{}-{}", offer.verb, question.id);
                let mut answered =
                    self.edited(|object| drop(object.metadata.annotations.get_or_insert_default().insert(ANSWER.to_owned(), answer)));
                answered.answers -= 1;
                next.push(answered);
            }
        }
        if self.faults > 0 {
            let mut faults = vec![
                self.changed(|next| next.world.deployment = None),
                self.changed(|next| next.world.service = None),
                self.changed(|next| next.world.service = Some(stranger(next.world.serial))),
            ];
            if !self.world.pods.is_empty() {
                faults.push(self.changed(|next| next.world.alter(0, |pod| turn(pod, false))));
            }
            for next in &mut faults {
                next.faults -= 1;
            }
            next.extend(faults);
        }
        next
    }
}
