//! Step -> status: what is remembered of it, and what is said.

use super::intervention::{SUBJECTS, Subject};
use super::look::{Conflict, Look};
use super::order::{ChildKind, Fate, Order};
use super::questions::{Asks, anew, is_out_of_date, question};
use super::reason::Verb;
use super::status::{Applied, DRIFTS, Endpoint, Kept, SpecAt, Status};
use super::telling::{Tells, report};
use super::yielded;
use crate::machine::{Role, Step, Word};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Resource;

/// What a kind says of its lifecycle, so that a status can remember it.
pub trait Remembered: Asks + Tells {
    /// The effect that orders the children.
    const APPLY: Self::Effect;
    /// The phase in which what was ordered is good.
    const GOOD: Self::Phase;
    /// The fact that a child was changed by others.
    const DRIFT: Self::Event;

    /// The effect that mends children that serve nobody at once, where a kind has some.
    const UPKEEP: Option<Self::Effect> = None;

    /// A plan as the status keeps it.
    fn kept(plan: &Self::Plan) -> Self::Spec;
    /// A digest of the pod template as the API server returned it.
    fn live_template(look: &Look<'_, Self>) -> Option<String>;
    /// Pods that exist, and pods that are ready.
    fn counted(look: &Look<'_, Self>) -> (i32, i32);
    /// Takes in what the step has brought, beside what every kind remembers.
    fn note(_status: &mut Status<Self::Spec>, _look: &Look<'_, Self>, _step: &Step<Self>) {}
    /// Writes what follows from the target into the status: the image, the addresses.
    fn place(status: &mut Status<Self::Spec>, look: &Look<'_, Self>, target: &Self::Plan);
}

/// What the status says after `step`.
pub fn status<K: Remembered>(look: &Look<'_, K>, step: &Step<K>) -> Status<K::Spec> {
    match allowed(look, step) {
        // What a person has just allowed changes what is worked towards.
        Some(status) => after(&Look::at(&look.seen.clone().with_status(status)), step),
        None => after(look, step),
    }
}

fn after<K: Remembered>(look: &Look<'_, K>, step: &Step<K>) -> Status<K::Spec> {
    let seen = look.seen;
    let mut status = seen.status();
    K::note(&mut status, look, step);
    // Another spec, and what was rolled back may be tried again later.
    status.refused = status.refused.filter(|_| look.wanted.is_err() || look.refused());
    status.adopted.retain(|adopted| look.awaits(adopted));
    if let Some(wanted) = look.wanted.as_ref().ok().filter(|_| !status.yielded.is_empty() && !look.refused()) {
        let rendered = K::rendered(&seen.object, wanted);
        status.yielded.retain(|left| yielded::stands(left, &rendered));
    }
    if step.moved() {
        enter(&mut status, look, step);
    }
    let tends = K::UPKEEP.is_some_and(|upkeep| step.effects().contains(&upkeep));
    let arrives = seen.refusal.as_ref().is_none_or(|refusal| refusal.fate == Fate::Undone);
    if tends && !step.moved() && arrives && look.drifted().next().is_some() {
        remember_drift(&mut status, Time(seen.now));
    }
    status.state = Some(step.next().text());
    status.state_time.get_or_insert(Time(seen.now));
    // A question ends with its state, also one that was written beside another state.
    status.intervention = status.intervention.filter(|_| K::role(step.next()) == Role::Asks);
    if !step.moved() && is_out_of_date(look) {
        let number = number_question(&mut status);
        status.intervention = status.intervention.map(|question| anew(look, question, number));
    }
    remember_orders(&mut status, look, step);
    remember_good(&mut status, step);
    if K::role(step.next()) != Role::Junction {
        count(&mut status, look);
        progress(&mut status, look, step);
        // Without one, or with one that no phase is given, nothing would ever be late.
        let latest = deadline(look, step.next());
        status.deadline_time = status.deadline_time.take().map_or(latest.clone(), |stored| latest.map(|latest| latest.min(stored)));
        report(&mut status, look, step.next());
    }
    status
}

/// The number of the question that is asked next: no other of the object has it.
fn number_question<S: Kept>(status: &mut Status<S>) -> i64 {
    *status.questions.insert(status.questions.unwrap_or_default().saturating_add(1))
}

/// What entering a phase leaves behind: a time, a deadline, a question, what was good.
fn enter<K: Remembered>(status: &mut Status<K::Spec>, look: &Look<'_, K>, step: &Step<K>) {
    let (seen, next) = (look.seen, step.next());
    status.state_time = Some(Time(seen.now));
    status.progress = None;
    status.deadline_time = deadline(look, next);
    // Where places are passed through, the first cause is the word for the whole move.
    let passed = K::role(step.from()) == Role::Junction && status.state == Some(step.from().text());
    if !passed || status.reason.is_none() {
        status.reason = step.cause().map(Word::text);
    }
    if step.cause() == Some(K::DRIFT) {
        remember_drift(status, Time(seen.now));
    }
    if K::role(next) == Role::Asks {
        status.drift_times.clear();
        let question = question(look, step, number_question(status));
        status.reason = Some(question.reason.word());
        status.intervention = Some(question);
    }
}

fn remember_drift<S: Kept>(status: &mut Status<S>, now: Time) {
    status.drift_times.push(now);
    let surplus = status.drift_times.len().saturating_sub(DRIFTS);
    status.drift_times.drain(..surplus);
}

/// The status with what the answer allows that `step` takes; nothing where it takes none that outlasts it.
fn allowed<K: Remembered>(look: &Look<'_, K>, step: &Step<K>) -> Option<Status<K::Spec>> {
    let mut status = look.seen.status();
    let subjects = status.intervention.iter().flat_map(|question| question.subjects.clone()).collect::<Vec<_>>();
    let cause = step.cause()?.text();
    let verb = Verb::ALL.iter().copied().find(|verb| verb.event() == cause)?;
    match verb {
        Verb::Rollback => {
            let generation = look.seen.object.meta().generation.unwrap_or_default();
            status.refused = look.wanted.as_ref().ok().map(|wanted| SpecAt { generation, spec: K::kept(wanted) });
        }
        Verb::Adopt => {
            status.adopted.extend(subjects);
            status.adopted.truncate(SUBJECTS);
        }
        Verb::Yield => {
            let same = |old: &Subject| subjects.iter().any(|new| (&new.kind, &new.name, &new.field) == (&old.kind, &old.name, &old.field));
            status.yielded.retain(|old| !same(old));
            status.yielded.extend(subjects);
            let surplus = status.yielded.len().saturating_sub(SUBJECTS);
            status.yielded.drain(..surplus);
        }
        Verb::Retry | Verb::ResetPasswords | Verb::BelieveVolumes | Verb::KeepVolumes | Verb::SkipSnapshot => return None,
    }
    Some(status)
}

/// What is ready is good. A status that was restored in part says neither what was ordered nor what was good.
fn remember_good<K: Remembered>(status: &mut Status<K::Spec>, step: &Step<K>) {
    if step.next() == K::GOOD
        && (step.moved() || status.last_good.is_none())
        && let Some(applied) = &status.applied
    {
        status.last_good = Some(SpecAt { generation: applied.generation, spec: applied.spec.clone() });
    }
}

/// What was ordered: the target, whole, unless a template of an older rendering stands.
fn remember_orders<K: Remembered>(status: &mut Status<K::Spec>, look: &Look<'_, K>, step: &Step<K>) {
    let generation = look.seen.object.meta().generation.unwrap_or_default();
    let (Some(target), Ok(_)) = (&look.target, &look.wanted) else { return };
    let orders = step.effects().contains(&K::APPLY);
    if orders || look.settled || status.applied.is_some() && look.changes.is_empty() {
        let old = status.applied.take().filter(|_| K::leaves_pods(look));
        let stands = look.older_rendering().is_some() && !rendered_anew(look);
        let renderer = old.as_ref().map(|old| old.renderer).filter(|_| stands).unwrap_or(look.seen.settings.renderer);
        let template = old.and_then(|old| old.template);
        status.applied = Some(Applied { generation, renderer, template, spec: K::kept(target) });
    }
    if let (true, Some(template), Some(applied)) = (look.settled, K::live_template(look), &mut status.applied)
        && applied.renderer == look.seen.settings.renderer
    {
        applied.template = Some(template);
    }
}

/// Does an order render the pods' template anew, or only count its pods?
fn rendered_anew<K: Remembered>(look: &Look<'_, K>) -> bool {
    look.missing.iter().any(|order| matches!(order, Order::Apply { child, .. } if child.kind == K::WORKLOAD))
}

fn count<K: Remembered>(status: &mut Status<K::Spec>, look: &Look<'_, K>) {
    let object = &look.seen.object;
    let (total, ready) = K::counted(look);
    let selector: Vec<String> = K::selector(object).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    status.observed_generation = object.meta().generation;
    status.replicas = Some(total);
    status.ready_replicas = Some(ready);
    status.ready_text = Some(format!("{ready}/{}", look.replicas()));
    status.selector = Some(selector.join(","));
    if let Some(target) = &look.target {
        K::place(status, look, target);
        // Under the name of somebody else's Service, clients find what is not this object.
        let leads_to = |endpoint: &Endpoint, service: &str| endpoint.address.split('.').next() == Some(service);
        for Conflict { child, .. } in look.conflicts().filter(|conflict| conflict.child.kind == ChildKind::Service) {
            status.endpoints.retain(|endpoint| !leads_to(endpoint, &child.name));
        }
    }
}

/// The deadline goes forward whenever more pods of the target are ready than ever since the phase was entered, and when
/// an order is given that nobody was there to give before it was over.
fn progress<K: Remembered>(status: &mut Status<K::Spec>, look: &Look<'_, K>, step: &Step<K>) {
    let phase = step.next();
    if !matches!(K::role(phase), Role::Works { .. }) {
        return;
    }
    let ordered_late = !step.moved() && look.late() && step.effects().contains(&K::APPLY);
    if ordered_late || !step.moved() && look.advanced() {
        status.deadline_time = deadline(look, phase);
    }
    // Of another count, the workload divides its pods anew.
    let recounted = look.changes.contains(&K::COUNT);
    status.progress = status.progress.filter(|_| !recounted).max(Some(K::progress(look)));
}

fn deadline<K: Remembered>(look: &Look<'_, K>, phase: K::Phase) -> Option<Time> {
    let works = matches!(K::role(phase), Role::Works { .. });
    works.then(|| Time(look.seen.now + look.seen.settings.deadline(phase)))
}
