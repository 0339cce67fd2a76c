//! Which event an edit of the spec raises, and what is worked towards.

pub mod change_rules;
pub mod stakes;

use super::Database;
use super::lifecycle::words::Event;
use super::object::parts::DeletionPolicy;
use super::object::rules::{FIXED_NAME, FIXED_PORT};
use super::plan::volume::{Size, Volume};
use super::plan::{Backup, Plan, Service, Template};
use super::scene::ground::Ground;
use crate::kinds::pod_template::Strings;
use crate::kinds::{Known, Violation};
use crate::machine::diagram::ChangeRow;
use change_rules::{Before, unsupported};
use std::collections::BTreeSet;

/// One row for each field of the spec; a field without a row fails a test.
pub const ROWS: &[ChangeRow<Database>] = &[
    ChangeRow { field: "spec.databaseName", raises: Err(FIXED_NAME) },
    ChangeRow { field: "spec.image", raises: Ok(Event::ImageChanged) },
    ChangeRow { field: "spec.port", raises: Err(FIXED_PORT) },
    ChangeRow { field: "spec.replicas", raises: Ok(Event::ReplicasChanged) },
    ChangeRow { field: "spec.storage", raises: Ok(Event::StorageGrown) },
    ChangeRow { field: "spec.parameters", raises: Ok(Event::ParametersChanged) },
    ChangeRow { field: "spec.extensions", raises: Ok(Event::ExtensionsAdded) },
    ChangeRow { field: "spec.backup", raises: Ok(Event::AuxiliariesDrifted) },
    ChangeRow { field: "spec.restoreFrom", raises: Err(change_rules::RESTORED) },
    ChangeRow { field: "spec.deletionPolicy", raises: Ok(Event::AuxiliariesDrifted) },
    ChangeRow { field: "spec.service", raises: Ok(Event::AuxiliariesDrifted) },
    ChangeRow { field: "spec.resources", raises: Ok(Event::TemplateChanged) },
    ChangeRow { field: "spec.podTemplate", raises: Ok(Event::TemplateChanged) },
];

/// What the way from what is known to `wanted` raises, for whoever writes it.
///
/// # Errors
/// Every change that is not made.
pub fn between(known: &Known<Database>, wanted: &Plan) -> Result<BTreeSet<Event>, Vec<Violation>> {
    supported(known, wanted)?;
    let target = target(known, wanted);
    let mut events = raised(known, &target);
    let Some(applied) = &known.applied else { return Ok(events) };
    let claims = known.ground.iter().flat_map(|ground| &ground.data);
    let least = claims.map(|volume| volume.size.bytes).min().unwrap_or(applied.storage.size.bytes);
    let found = [
        (Event::StorageGrown, least < target.storage.size.bytes),
        (Event::ExtensionsAdded, !target.extensions.is_subset(&applied.extensions)),
        (Event::AuxiliariesDrifted, serves_nobody_at_once(applied) != serves_nobody_at_once(&target)),
        (Event::Unprobed, asks_of_an_image(applied) != asks_of_an_image(&target)),
        (Event::SpecRefused, is_refused(known, wanted)),
        (Event::NothingRefused, known.refused.is_some() && !is_refused(known, wanted)),
    ];
    events.extend(found.into_iter().filter(|(_, so)| *so).map(|(event, _)| event));
    Ok(events)
}

/// May what was good and what stands become `wanted`?
///
/// # Errors
/// Every change that is not made.
pub fn supported(known: &Known<Database>, wanted: &Plan) -> Result<(), Vec<Violation>> {
    let Ground { data, backups, backups_are_bound, .. } = known.ground.clone().unwrap_or_default();
    let before = Before { good: known.last_good.clone(), applied: known.applied.clone(), data, backups, backups_are_bound };
    let mut faults = unsupported(&before, wanted);
    faults.extend(cannot_grow(known, wanted));
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Volumes that are to grow, of a class that lets none grow: said at the prompt, where the size is new.
fn cannot_grow(known: &Known<Database>, wanted: &Plan) -> Vec<Violation> {
    let Some((ground, applied)) = known.ground.as_ref().zip(known.applied.as_ref()) else { return Vec::new() };
    let fixed = |field, volumes: &[Volume], from: &Size, to: &Size, instead| {
        let volume = volumes.iter().find(|volume| volume.size.bytes < to.bytes)?;
        let class = volume.class.as_ref().filter(|class| to != from && ground.fixed.contains(*class))?;
        let why = format!("the StorageClass {class} does not let volumes grow (allowVolumeExpansion). {instead}");
        Some(Violation::unsupported(field, &volume.size, to, &why))
    };
    let (servers, dumps) = (&wanted.storage.size, &wanted.backup.storage.size);
    let data = fixed("spec.storage.size", &ground.data, &applied.storage.size, servers, A_SECOND);
    let dumps = fixed("spec.backup.storage.size", ground.backups.as_slice(), &applied.backup.storage.size, dumps, THE_SAME);
    // Where nobody wrote a size of the backups, it is that of a server.
    let follows = data.is_some() && dumps.is_some() && wanted.storage.size == wanted.backup.storage.size;
    data.into_iter().chain(dumps.filter(|_| !follows)).collect()
}

const A_SECOND: &str = "Create a second Database of that size and restoreFrom a backup of this one.";
const THE_SAME: &str = "Name the size that it has in spec.backup.storage.size, or keep fewer (spec.backup.retain).";

/// Does `wanted` ask for what was rolled back?
pub fn is_refused(known: &Known<Database>, wanted: &Plan) -> bool {
    let (refused, good) = (known.refused.as_ref(), known.last_good.as_ref());
    refused.is_some_and(|refused| is_alike(refused, wanted)) && good.is_some_and(|good| !is_alike(good, wanted))
}

/// What is worked towards where `wanted` is asked for: of what was rolled back, the settings and the pods that were good.
pub fn target(known: &Known<Database>, wanted: &Plan) -> Plan {
    match &known.last_good {
        Some(good) if is_refused(known, wanted) => as_before(good, wanted),
        Some(_) | None => wanted.clone(),
    }
}

/// What `wanted` asks for, with the settings, the extensions and the pods of another plan.
pub fn as_before(other: &Plan, wanted: &Plan) -> Plan {
    let Plan { template, parameters, extensions, .. } = other.clone();
    Plan { template, parameters, extensions, ..wanted.clone() }
}

/// The same, but for what does not depend on what an image says of itself.
pub fn unprobed(applied: &Plan, wanted: &Plan) -> Plan {
    let template = Template { image: applied.template.image.clone(), ..wanted.template.clone() };
    Plan { template, ..as_before(applied, wanted) }
}

/// What the way from what was ordered to `target` raises: what pods are made from, and how many there are. What can be seen
/// in the world is looked for there.
pub fn raised(known: &Known<Database>, target: &Plan) -> BTreeSet<Event> {
    let Some(applied) = &known.applied else { return BTreeSet::new() };
    let (before, after) = (&applied.template, &target.template);
    let pods = (&before.resources, &before.pod_template, applied.port) != (&after.resources, &after.pod_template, target.port);
    let found = [
        (Event::ImageChanged, before.image != after.image),
        (Event::ParametersChanged, applied.parameters != target.parameters),
        (Event::TemplateChanged, known.refreshed || pods),
        (Event::ReplicasChanged, applied.replicas != target.replicas),
    ];
    found.into_iter().filter(|(_, so)| *so).map(|(event, _)| event).collect()
}

/// Do both ask for the same settings, extensions and pods?
pub fn is_alike(one: &Plan, other: &Plan) -> bool {
    (&one.template, &one.parameters, &one.extensions, one.port) == (&other.template, &other.parameters, &other.extensions, other.port)
}

/// What an image is asked about.
fn asks_of_an_image(plan: &Plan) -> (&String, &Strings, &BTreeSet<String>) {
    (&plan.template.image, &plan.parameters, &plan.extensions)
}

/// What can differ while nobody who is connected notices.
fn serves_nobody_at_once(plan: &Plan) -> (&Backup, &Service, DeletionPolicy) {
    (&plan.backup, &plan.service, plan.deletion_policy)
}
