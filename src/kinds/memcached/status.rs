//! Step -> status: what is remembered, and what is said.

use super::facts::{Look, counts};
use super::orders::live_template;
use super::v1::KeptSpec;
use super::words::{Effect, Event, Phase};
use super::{Memcached, ask, children, say};
use crate::kinds::Observation;
use crate::kinds::order::{ChildKind, Order};
use crate::kinds::status::{Applied, Endpoint, LastGood, Status};
use crate::machine::{Machine, Role, Step, Word};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{Resource, ResourceExt};

/// What the status says after `step`.
pub fn status(seen: &Observation<Memcached>, step: &Step<Memcached>) -> Status<KeptSpec> {
    let look = Look::at(seen);
    let mut status = seen.status();
    if step.moved() {
        enter(&mut status, &look, step);
    }
    status.state = Some(step.next().text());
    status.state_time.get_or_insert(Time(seen.now));
    // A question ends with its state, also one that was written beside another state.
    status.intervention = status.intervention.filter(|_| step.next() == Phase::HumanIntervention);
    remember_orders(&mut status, &look, step);
    remember_good(&mut status, step);
    if step.next() != Phase::Pending {
        count(&mut status, &look);
        progress(&mut status, &look, step);
        // Without one, or with one that no phase is given, nothing would ever be late.
        let latest = deadline(&look, step.next());
        status.deadline_time = status.deadline_time.take().map_or(latest.clone(), |stored| latest.map(|latest| latest.min(stored)));
        say::report(&mut status, &look, step.next());
    }
    status
}

/// What entering a phase leaves behind: a time, a deadline, a question, what was good.
fn enter(status: &mut Status<KeptSpec>, look: &Look<'_>, step: &Step<Memcached>) {
    let (seen, next) = (look.seen, step.next());
    status.state_time = Some(Time(seen.now));
    status.progress = None;
    status.deadline_time = deadline(look, next);
    // Where places are passed through, the first cause is the word for the whole move.
    let passed = Memcached::role(step.from()) == Role::Junction && status.state == Some(step.from().text());
    if !passed || status.reason.is_none() {
        status.reason = step.cause().map(Word::text);
    }
    if next == Phase::HumanIntervention {
        let number = status.questions.unwrap_or_default().saturating_add(1);
        let question = ask::question(look, step, number);
        status.questions = Some(number);
        status.reason = Some(question.reason.word());
        status.intervention = Some(question);
    }
}

/// What is ready is good. A status that was restored in part says neither what was ordered nor what was good.
fn remember_good(status: &mut Status<KeptSpec>, step: &Step<Memcached>) {
    if step.next() == Phase::Ready
        && (step.moved() || status.last_good.is_none())
        && let Some(applied) = &status.applied
    {
        status.last_good = Some(LastGood { generation: applied.generation, spec: applied.spec.clone() });
    }
}

/// What was ordered: the target, whole, unless a template of an older rendering stands.
fn remember_orders(status: &mut Status<KeptSpec>, look: &Look<'_>, step: &Step<Memcached>) {
    let generation = look.seen.object.meta().generation.unwrap_or_default();
    let (Some(target), Ok(_)) = (&look.target, &look.wanted) else { return };
    let orders = step.effects().contains(&Effect::ApplyChildren);
    if orders || look.settled || status.applied.is_some() && look.changes.is_empty() {
        let old = status.applied.take().filter(|_| !look.changes.contains(&Event::TemplateChanged));
        let stands = look.older_rendering().is_some() && !rendered_anew(look);
        let renderer = old.as_ref().map(|old| old.renderer).filter(|_| stands).unwrap_or(look.seen.settings.renderer);
        let template = old.and_then(|old| old.template);
        status.applied = Some(Applied { generation, renderer, template, spec: KeptSpec(target.spec()) });
    }
    let live = look.seen.children.deployment.ours().filter(|_| look.settled);
    if let (Some(live), Some(applied)) = (live, &mut status.applied)
        && applied.renderer == look.seen.settings.renderer
    {
        applied.template = Some(live_template(live));
    }
}

/// Does an order render the Deployment anew, or only count its pods?
fn rendered_anew(look: &Look<'_>) -> bool {
    look.missing.iter().any(|order| matches!(order, Order::Apply { child, .. } if child.kind == ChildKind::Deployment))
}

fn count(status: &mut Status<KeptSpec>, look: &Look<'_>) {
    let object = &look.seen.object;
    let counts = counts(look.seen);
    let selector: Vec<String> = children::selector(object).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    status.observed_generation = object.meta().generation;
    status.replicas = Some(counts.total);
    status.ready_replicas = Some(counts.ready);
    status.ready_text = Some(format!("{}/{}", counts.ready, look.replicas()));
    status.selector = Some(selector.join(","));
    if let Some(target) = &look.target {
        let (name, namespace) = (object.name_any(), object.namespace().unwrap_or_default());
        status.image = Some(target.template.image.clone());
        if look.wanted.is_ok() {
            status.default_image = object.spec.image.is_none().then(|| target.template.image.clone());
        }
        status.endpoints = vec![Endpoint { name: "memcached".to_owned(), address: format!("{name}.{namespace}.svc:{}", target.port) }];
    }
}

/// The deadline goes forward whenever more pods of the target are ready than ever since the phase was entered, and when
/// an order is given that nobody was there to give before it was over.
fn progress(status: &mut Status<KeptSpec>, look: &Look<'_>, step: &Step<Memcached>) {
    let phase = step.next();
    if !matches!(Memcached::role(phase), Role::Works { .. }) {
        return;
    }
    let ordered_late = !step.moved() && look.late() && step.effects().contains(&Effect::ApplyChildren);
    if ordered_late || !step.moved() && look.advanced() {
        status.deadline_time = deadline(look, phase);
    }
    // Of another count, the Deployment divides its pods anew.
    let recounted = look.changes.contains(&Event::ReplicasChanged);
    status.progress = status.progress.filter(|_| !recounted).max(Some(look.progress()));
}

fn deadline(look: &Look<'_>, phase: Phase) -> Option<Time> {
    let works = matches!(Memcached::role(phase), Role::Works { .. });
    works.then(|| Time(look.seen.now + look.seen.settings.deadline(phase)))
}
