//! What is said of a change before it is made: what it does to those who are connected and to what is kept, and what follows
//! from it on its way.

use crate::kinds::conditions::of_types;
use crate::kinds::database::Database;
use crate::kinds::database::change;
use crate::kinds::database::children::configuration;
use crate::kinds::database::children::names;
use crate::kinds::database::lifecycle::words::Event;
use crate::kinds::database::object::more::More;
use crate::kinds::database::object::parts::DeletionPolicy::Delete;
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::plan::Plan;
use crate::kinds::database::plan::version::{self, MAJOR, spelled};
use crate::kinds::database::scene::learning;
use crate::kinds::database::scene::siblings::remembered;
use crate::kinds::pods::counted;
use crate::kinds::prose::listed;
use crate::kinds::{Known, Served as _};
use kube::ResourceExt;
use std::collections::BTreeSet;

/// What a change of `object` does to those who are connected, and to what is kept.
pub fn consequence(object: &Object, known: &Known<Database>, wanted: &Plan, raised: &BTreeSet<Event>) -> Option<String> {
    let applied = known.applied.as_ref()?;
    let more = remembered(object);
    let lost = (wanted.deletion_policy == Delete && applied.deletion_policy != Delete)
        .then(|| "from now on deleting this object removes its data and its backups for good".to_owned());
    let older = older(more, applied, wanted).filter(|_| raised.contains(&Event::ImageChanged));
    let mut going = (wanted.replicas..applied.replicas).map(|ordinal| names::pod(&object.name_any(), ordinal.unsigned_abs()));
    let gone = wanted.replicas < applied.replicas;
    let moves = more.primary.as_ref().filter(|primary| going.any(|pod| pod == **primary));
    let moves = moves.map(|old| format!("{old}, the primary, goes: another takes its place first, and its connections end"));
    let gone = gone.then(|| match applied.replicas - wanted.replicas {
        1 => "1 pod goes; its volume stays".to_owned(),
        many => format!("{many} pods go; their volumes stay"),
    });
    let again = is_tried_again(more, known, raised).then(|| restart(applied, wanted));
    let servers = again.or_else(|| servers(more, applied, wanted, raised));
    let follows = servers.is_none() && !brought_about(object, known, wanted).is_empty();
    let follows = follows.then(|| "the log of writes grows with the volume, by a reload: nobody is disconnected".to_owned());
    let parts: Vec<String> = [lost, older, servers, follows, moves, gone].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What is left to be done where the spec is as it was ordered, as far as the status tells: servers that are to be made anew,
/// or that are missing.
pub fn left(object: &Object, known: &Known<Database>) -> Option<Event> {
    let (applied, good, status) = (known.applied.as_ref()?, known.last_good.as_ref()?, object.status.as_ref()?);
    if !change::is_alike(applied, good) {
        return Some(Event::PodsOutdated);
    }
    if of_types(&[Database::AVAILABLE], &status.conditions).any(|(_, serves)| !serves) {
        return Some(Event::PrimaryLost);
    }
    (status.ready_replicas.unwrap_or_default() < applied.replicas).then_some(Event::ReplicaLost)
}

/// Does what was ordered last, and was never ready everywhere, go on its way to the servers that it has not reached?
fn is_tried_again(more: &More, known: &Known<Database>, raised: &BTreeSet<Event>) -> bool {
    let plans = known.applied.as_ref().zip(known.last_good.as_ref());
    let restarts = |(applied, good): (&Plan, &Plan)| {
        applied.template != good.template || learning::restarting(more, good, applied).is_none_or(|names| !names.is_empty())
    };
    [Event::Resumed, Event::RetryAnswered].iter().any(|event| raised.contains(event)) && plans.is_some_and(restarts)
}

fn restart(applied: &Plan, wanted: &Plan) -> String {
    match applied.replicas.min(wanted.replicas) {
        1 => "the server restarts: its connections end".to_owned(),
        stay => format!("{} restart one at a time, the primary last: its connections end", counted(stay)),
    }
}

/// What happens to the servers that stay.
fn servers(more: &More, applied: &Plan, wanted: &Plan, raised: &BTreeSet<Event>) -> Option<String> {
    let restart = restart(applied, wanted);
    if [Event::ImageChanged, Event::TemplateChanged].iter().any(|event| raised.contains(event)) {
        return Some(restart);
    }
    let settings = raised.contains(&Event::ParametersChanged).then(|| match learning::restarting(more, applied, wanted) {
        None => "settings that only a start reads restart the servers, the primary last; others are reloaded".to_owned(),
        Some(names) if names.is_empty() => "the settings are reloaded: nobody is disconnected".to_owned(),
        Some(names) => format!("for {}, {restart}", listed(names.into_iter())),
    });
    let libraries = raised.contains(&Event::ExtensionsAdded).then(|| match loaded_at_start(more, applied, wanted) {
        None => Some(format!("where a library has to be loaded at the start, Restarting comes first: {restart}")),
        Some(names) if names.is_empty() => None,
        Some(names) => Some(format!("for {}, Restarting comes first: {restart}", listed(names.into_iter()))),
    });
    let parts: Vec<String> = settings.into_iter().chain(libraries.flatten()).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Facts that a change brings about on its way: with a volume grows the log of writes, whose sizes the servers have to read.
pub fn brought_about(object: &Object, known: &Known<Database>, wanted: &Plan) -> BTreeSet<Event> {
    let Some(applied) = &known.applied else { return BTreeSet::new() };
    let learned = learning::learned(remembered(object), applied);
    let grown = Plan { storage: wanted.storage.clone(), ..applied.clone() };
    let reads = configuration::mark(&grown, &learned) != configuration::mark(applied, &learned);
    reads.then_some(Event::PodsOutdated).into_iter().collect()
}

/// The extensions that are new and whose library is loaded at the start; nothing where that of one of them is not known.
fn loaded_at_start(more: &More, applied: &Plan, wanted: &Plan) -> Option<Vec<String>> {
    let probes = || more.probes.iter().filter(|probed| probed.image == wanted.template.image);
    let new = || wanted.extensions.difference(&applied.extensions);
    let told = new().all(|name| probes().any(|probed| probed.extensions.contains(name)));
    let loaded = |name: &&String| probes().any(|probed| probed.preloaded.contains(name));
    told.then(|| new().filter(loaded).cloned().collect())
}

/// That the wanted image is of an older minor version, as far as it is known what both are.
fn older(more: &More, applied: &Plan, wanted: &Plan) -> Option<String> {
    let tagged = |plan: &Plan| version::minor(&plan.template.image).map(|(major, minor)| major * MAJOR + minor);
    let told = |plan: &Plan| more.probes.iter().find(|probed| probed.image == plan.template.image).map(|probed| probed.version);
    let (runs, next) = (told(applied).or_else(|| tagged(applied))?, told(wanted).or_else(|| tagged(wanted))?);
    let older = runs / MAJOR == next / MAJOR && next < runs;
    older.then(|| format!("{} is older than the {} that runs: what was mended since comes back", spelled(next), spelled(runs)))
}
