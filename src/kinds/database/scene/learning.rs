//! What images have told: which answer is one to a plan, and what follows from it.

use crate::kinds::database::children::configuration::{self, Learned};
use crate::kinds::database::object::more::{More, PROBES, Probed};
use crate::kinds::database::plan::Plan;
use crate::kinds::database::plan::version::MAJOR;
use crate::kinds::database::reports::results::Setting;
use crate::kinds::database::reports::results::{Availability, Context, Probe};
use std::collections::BTreeSet;

/// What is in the way of a plan, in the image's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The image can do what the plan asks for.
    Able(Probed),
    /// It cannot.
    Unable(String),
}

/// What the answer of an image means for the plan that it was asked about.
pub fn verdict(plan: &Plan, probe: &Probe) -> Verdict {
    let image = &plan.template.image;
    // A setting with a dot is a library's: the server takes any such name.
    let unknown = probe.settings.iter().filter(|(name, found)| found.is_none() && !name.contains('.')).map(|(name, _)| name.as_str());
    let unknown: Vec<&str> = unknown.collect();
    if !unknown.is_empty() {
        return Verdict::Unable(format!("{image} knows no setting {}", unknown.join(", ")));
    }
    let fixed = |context| context == Context::Internal;
    let built_in = probe.settings.iter().filter(|(_, found)| found.as_ref().is_some_and(|setting| fixed(setting.context)));
    let built_in: Vec<&str> = built_in.map(|(name, _)| name.as_str()).collect();
    if !built_in.is_empty() {
        return Verdict::Unable(format!("in {image} nobody can set {}: it is built in", built_in.join(", ")));
    }
    let having = |which: &[Availability]| -> Vec<String> {
        probe.extensions.iter().filter(|(_, found)| which.contains(found)).map(|(name, _)| name.clone()).collect()
    };
    let absent = having(&[Availability::Absent]);
    if !absent.is_empty() {
        return Verdict::Unable(format!("{image} has no extension {}", absent.join(", ")));
    }
    if let Some(wrong) = &probe.wrong {
        return Verdict::Unable(format!("{image} does not take these parameters: {wrong}"));
    }
    let reads = |restart: bool| -> Vec<String> {
        let waits = |found: &Option<Setting>| found.as_ref().is_none_or(|setting| setting.context.needs_restart());
        probe.settings.iter().filter(|(_, found)| waits(found) == restart).map(|(name, _)| name.clone()).collect()
    };
    Verdict::Able(Probed {
        image: image.clone(),
        values: Some(configuration::values(plan)),
        version: probe.version,
        restart: reads(true),
        reload: reads(false),
        extensions: having(&[Availability::Available, Availability::Preloaded]),
        preloaded: having(&[Availability::Preloaded]),
    })
}

/// The answer that was given to this plan, if it was ever asked about.
pub fn answer<'a>(more: &'a More, plan: &Plan) -> Option<&'a Probed> {
    more.probes.iter().find(|probed| is_about(probed, plan))
}

/// Has the image of this plan told that it can serve the data?
pub fn may_serve(more: &More, plan: &Plan) -> bool {
    let data = more.initialized.as_ref().map(|made| made.version / MAJOR);
    answer(more, plan).is_some_and(|probed| data.is_none_or(|data| probed.version / MAJOR == data))
}

/// What is known for this plan; nothing where its image was never asked.
pub fn learned(more: &More, plan: &Plan) -> Learned {
    answer(more, plan).map(Learned::from).unwrap_or_default()
}

/// Do both plans need the same at a server's start, by what is known of each?
pub fn starts_alike(more: &More, one: &Plan, other: &Plan) -> bool {
    configuration::at_start_digest(one, &learned(more, one)) == configuration::at_start_digest(other, &learned(more, other))
}

/// The settings that differ and that only a start reads; nothing where that of one of them is not known. What an image says of
/// a setting it says of every value.
pub fn restarting(more: &More, before: &Plan, after: &Plan) -> Option<Vec<String>> {
    let names: BTreeSet<&String> = before.parameters.keys().chain(after.parameters.keys()).collect();
    let differs = names.into_iter().filter(|name| before.parameters.get(*name) != after.parameters.get(*name));
    let probes = || more.probes.iter().filter(|probed| probed.image == after.template.image);
    let at_start = |name: &String| {
        let restarts = probes().any(|probed| probed.restart.contains(name));
        (restarts || probes().any(|probed| probed.reload.contains(name))).then_some(restarts)
    };
    let judged: Option<Vec<(&String, bool)>> = differs.map(|name| Some((name, at_start(name)?))).collect();
    Some(judged?.into_iter().filter(|(_, restarts)| *restarts).map(|(name, _)| name.clone()).collect())
}

/// Takes in an answer, and forgets those that no plan needs any more.
pub fn remember(more: &mut More, probed: Probed, plans: &[&Plan]) {
    let asked: BTreeSet<&String> = probed.restart.iter().chain(&probed.reload).chain(&probed.extensions).collect();
    let same = |old: &Probed| {
        let before: BTreeSet<&String> = old.restart.iter().chain(&old.reload).chain(&old.extensions).collect();
        (&old.image, &old.values) == (&probed.image, &probed.values) && before == asked
    };
    more.probes.retain(|old| !same(old) && plans.iter().any(|plan| is_about(old, plan)));
    more.probes.push(probed);
    let surplus = more.probes.len().saturating_sub(PROBES);
    more.probes.drain(..surplus);
}

/// Forgets what was told about this plan: its image is asked again.
pub fn forget(more: &mut More, plan: &Plan) {
    more.probes.retain(|probed| !is_about(probed, plan));
}

fn is_about(probed: &Probed, plan: &Plan) -> bool {
    let knows = |name: &String| probed.restart.contains(name) || probed.reload.contains(name);
    probed.image == plan.template.image
        && probed.values.as_ref().is_none_or(|tried| *tried == configuration::values(plan))
        && plan.parameters.keys().all(knows)
        && plan.extensions.iter().all(|name| probed.extensions.contains(name))
}

impl From<&Probed> for Learned {
    fn from(probed: &Probed) -> Self {
        let reload = probed.reload.iter().map(|name| (name.clone(), Context::Sighup));
        let restart = probed.restart.iter().map(|name| (name.clone(), Context::Postmaster));
        Learned { contexts: reload.chain(restart).collect(), libraries: probed.preloaded.iter().cloned().collect(), room: None }
    }
}
