//! Spec -> plan, or every violation with its field path. The webhook and the controller both parse.

pub mod fixes;
pub mod parameters;
mod plan_rules;
pub mod schedule;
pub mod version;
pub mod volume;

use super::object::fields;
use super::object::parts::{self, DeletionPolicy, Extension, RestoreFrom, ServiceType};
use super::object::v1::DatabaseSpec;
use crate::kinds::Violation;
use crate::kinds::pod_template::{PodTemplate, Resources, Strings};
use crate::kinds::resource_rules::illegal_amounts;
use crate::kinds::spec_rules::{below, canonical, illegal_image, illegal_template, out_of_range, too_large, unreadable};
use schedule::Schedule;
use std::collections::BTreeSet;
use volume::Volume;

/// A spec that obeys every rule, with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The database that applications use.
    pub database: String,
    /// The TCP port.
    pub port: i32,
    /// How many servers.
    pub replicas: i32,
    /// The volume of each.
    pub storage: Volume,
    /// What each pod is made from.
    pub template: Template,
    /// The user's settings of PostgreSQL.
    pub parameters: Strings,
    /// Extensions to create.
    pub extensions: BTreeSet<String>,
    /// How dumps are made and kept.
    pub backup: Backup,
    /// A backup that the data comes from.
    pub restore_from: Option<RestoreFrom>,
    /// What deleting the object does to the data.
    pub deletion_policy: DeletionPolicy,
    /// How the primary is reached.
    pub service: Service,
}

/// What each pod is made from, its port aside.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The image.
    pub image: String,
    /// Compute resources of the server.
    pub resources: Resources,
    /// What belongs to the user in the pods.
    pub pod_template: PodTemplate,
}

/// How dumps are made and kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Backup {
    /// When; only before deletion where there is none.
    pub schedule: Option<Schedule>,
    /// How many are kept.
    pub retain: i32,
    /// Are those on the schedule left out for now?
    pub suspend: bool,
    /// The volume that keeps them.
    pub storage: Volume,
}

/// How the primary is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// The type of the Service.
    pub type_: ServiceType,
    /// Its annotations.
    pub annotations: Strings,
    /// Who may come through the load balancer; everybody where it is empty.
    pub source_ranges: Vec<String>,
}

/// The plan of `spec`; `image` stands in where the spec names none.
///
/// # Errors
/// Every violation at once.
pub fn parse(spec: &DatabaseSpec, image: &str) -> Result<Plan, Vec<Violation>> {
    if let Some(why) = &spec.unreadable {
        return Err(vec![unreadable(why)]);
    }
    // What is too large to keep is not looked into.
    if let Some(fault) = too_large(spec) {
        return Err(vec![fault]);
    }
    let mut faults: Vec<Violation> = plan_rules::illegal_name(&spec.database_name).into_iter().collect();
    faults.extend(out_of_range([("spec.port", spec.port, fields::PORT), ("spec.replicas", spec.replicas, fields::REPLICAS)]));
    let storage = storage(&spec.storage, &mut faults);
    let template = template(spec, spec.image.as_deref().unwrap_or(image), &mut faults);
    let parameters = spec.parameters.clone().unwrap_or_default();
    faults.extend(parameters::illegal(&parameters));
    let extensions = spec.extensions.as_deref().unwrap_or_default();
    faults.extend(plan_rules::illegal_extensions(extensions));
    let backup = backup(spec.backup.clone().unwrap_or_default(), &storage, &mut faults);
    faults.extend(spec.restore_from.iter().flat_map(plan_rules::illegal_source));
    let service = service(spec.service.clone().unwrap_or_default());
    faults.extend(plan_rules::illegal_service(service.type_, &service.annotations, &service.source_ranges));
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Plan {
        database: spec.database_name.clone(),
        port: spec.port,
        replicas: spec.replicas,
        storage,
        template,
        parameters,
        extensions: extensions.iter().map(|extension| extension.name.clone()).collect(),
        backup,
        restore_from: spec.restore_from.clone(),
        deletion_policy: spec.deletion_policy,
        service,
    })
}

impl Plan {
    /// The plan as a spec with nothing left to fill in.
    pub fn spec(&self) -> DatabaseSpec {
        let Plan { storage, template, backup, service, .. } = self.clone();
        let extensions = self.extensions.iter().map(|name| Extension { name: name.clone() });
        let (line, zone) = backup.schedule.map(|schedule| (schedule.line().to_owned(), schedule.zone().to_owned())).unzip();
        DatabaseSpec {
            database_name: self.database.clone(),
            image: Some(template.image),
            port: self.port,
            replicas: self.replicas,
            storage: parts::Storage { size: storage.size.spelling, storage_class_name: storage.class },
            parameters: Some(self.parameters.clone()).filter(|parameters| !parameters.is_empty()),
            extensions: Some(extensions.collect::<Vec<_>>()).filter(|extensions| !extensions.is_empty()),
            backup: Some(parts::Backup {
                schedule: line,
                time_zone: zone,
                retain: Some(backup.retain),
                suspend: Some(backup.suspend),
                storage: Some(parts::BackupStorage { size: Some(backup.storage.size.spelling), storage_class_name: backup.storage.class }),
            }),
            restore_from: self.restore_from.clone(),
            deletion_policy: self.deletion_policy,
            service: Some(parts::Service {
                type_: Some(service.type_),
                annotations: Some(service.annotations).filter(|annotations| !annotations.is_empty()),
                load_balancer_source_ranges: Some(service.source_ranges).filter(|ranges| !ranges.is_empty()),
            }),
            resources: Some(template.resources).filter(|resources| *resources != Resources::default()),
            pod_template: Some(template.pod_template).filter(|template| *template != PodTemplate::default()),
            unreadable: None,
        }
    }
}

fn storage(written: &parts::Storage, faults: &mut Vec<Violation>) -> Volume {
    let size = volume::size("spec.storage.size", &written.size, faults);
    let class = volume::class("spec.storage.storageClassName", written.storage_class_name.as_deref(), faults);
    Volume { size, class }
}

fn template(spec: &DatabaseSpec, image: &str, faults: &mut Vec<Violation>) -> Template {
    faults.extend(illegal_image(image, fields::DEFAULT_IMAGE));
    let Resources { limits, requests } = spec.resources.clone().unwrap_or_default();
    let resources = Resources { limits: canonical(&limits), requests: canonical(&requests) };
    faults.extend(below("spec.resources", illegal_amounts(&Resources { limits, requests })));
    let pod_template = spec.pod_template.clone().unwrap_or_default().trimmed();
    faults.extend(illegal_template(&pod_template));
    Template { image: image.to_owned(), resources, pod_template }
}

/// The volume of the dumps is like a server's where nothing else is said.
fn backup(written: parts::Backup, data: &Volume, faults: &mut Vec<Violation>) -> Backup {
    let parts::Backup { schedule, time_zone, retain, suspend, storage } = written;
    let schedule = schedule::parse(schedule.as_deref(), time_zone.as_deref(), faults);
    let retain = retain.unwrap_or(fields::DEFAULT_RETAIN);
    faults.extend(out_of_range([("spec.backup.retain", retain, fields::RETAIN)]));
    let parts::BackupStorage { size, storage_class_name } = storage.unwrap_or_default();
    let size = size.map_or_else(|| data.size.clone(), |size| volume::size("spec.backup.storage.size", &size, faults));
    let class = volume::class("spec.backup.storage.storageClassName", storage_class_name.as_deref(), faults);
    Backup { schedule, retain, suspend: suspend.unwrap_or_default(), storage: Volume { size, class: class.or_else(|| data.class.clone()) } }
}

fn service(written: parts::Service) -> Service {
    let parts::Service { type_, annotations, load_balancer_source_ranges } = written;
    Service {
        type_: type_.unwrap_or_default(),
        annotations: annotations.unwrap_or_default(),
        source_ranges: load_balancer_source_ranges.unwrap_or_default(),
    }
}
