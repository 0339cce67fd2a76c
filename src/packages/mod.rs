//! What an installation consists of: one list of objects, and the packages that are printed from it.
//! Pure: values in, values out.
//!
//! [`objects()`] is the list. [`install`] prints it as one file, [`base`] as a kustomization, [`chart`] as a Helm chart. A
//! further object is one more in the list, and all three have it; [`monitoring()`] is for clusters with a Prometheus operator
//! alone: a switch of the chart and a kustomize [`component`] add it; a further value of the chart is a row in `values` and
//! one in `places`.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod alerts;
mod availability;
mod chart;
mod confinement;
mod guards;
mod kustomize;
pub mod manifests;
mod monitoring;
mod objects;
mod places;
mod protection;
mod reserved;
mod rights;
mod settings;
mod template;
mod values;

pub use chart::chart;
pub use confinement::RULES;
pub use kustomize::{base, component};
pub use monitoring::monitoring;
pub use objects::objects;
pub use protection::DELETABLE;
use std::collections::BTreeMap;

/// Printed files: path and content.
pub type Files = BTreeMap<String, String>;

/// Every object in one file.
pub fn install() -> String {
    let documents: Vec<String> = objects().iter().map(manifests::yaml).collect();
    documents.join("---\n")
}
