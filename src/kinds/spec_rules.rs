//! The rules on a spec that kinds share, where the API server's own have been stepped over: each fault with its field.

use super::Violation;
use super::digest::json_bytes;
use super::faults::Fault;
use super::image::{is_reference, text};
use super::pod_labels::{RESERVED, is_reserved};
use super::pod_rules::illegal_parts;
use super::pod_template::{PodTemplate, Strings};
use super::quantity::Quantity;
use serde::Serialize;
use std::collections::BTreeMap;

/// The largest spec, as JSON: etcd takes 1.5 MiB, and an object holds it up to five times.
pub const SPEC_BYTES: usize = 256 * 1024;

/// Why a spec that was stored cannot be judged.
pub fn unreadable(why: &str) -> Violation {
    Violation::invalid("spec", format!("the stored one cannot be read: {why}; write one that can"))
}

/// A spec that is too large to keep, and so not looked into.
pub fn too_large(spec: &impl Serialize) -> Option<Violation> {
    let size = json_bytes(spec);
    let text = format!("{size} bytes are over {SPEC_BYTES}: the status keeps the spec twice, and all has to fit into one object");
    (size > SPEC_BYTES).then(|| Violation::invalid("spec", text))
}

/// What is no image reference.
pub fn illegal_image(image: &str, example: &str) -> Option<Violation> {
    (!is_reference(image)).then(|| Violation::invalid("spec.image", format!("{image:?} is {}", text(example))))
}

/// Counts outside their bounds.
pub fn out_of_range(counts: impl IntoIterator<Item = (&'static str, i32, (i32, i32))>) -> impl Iterator<Item = Violation> {
    let outside = counts.into_iter().filter(|(_, value, (least, most))| !(least..=most).contains(&value));
    outside.map(|(field, value, (least, most))| Violation::invalid(field, format!("{value} is not from {least} to {most}")))
}

/// Faults of a part of the spec, by their fields in the whole.
pub fn below(part: &str, faults: Vec<Fault>) -> impl Iterator<Item = Violation> {
    faults.into_iter().map(move |(field, text)| Violation::invalid(&format!("{part}.{field}"), text))
}

/// What the pods may not be, and labels that are ours.
pub fn illegal_template(template: &PodTemplate) -> impl Iterator<Item = Violation> {
    reserved_labels(template).into_iter().chain(below("spec.podTemplate", illegal_parts(template)))
}

fn reserved_labels(template: &PodTemplate) -> Option<Violation> {
    let labels: &Strings = &template.metadata.as_ref()?.labels;
    let reserved = labels.keys().find(|key| is_reserved(key))?;
    Some(Violation::invalid("spec.podTemplate.metadata.labels", format!("{reserved} is refused: {RESERVED}")))
}

/// Amounts in the API server's spelling, so that another spelling is no change.
pub fn canonical(list: &BTreeMap<String, Quantity>) -> BTreeMap<String, Quantity> {
    list.iter().map(|(name, quantity)| (name.clone(), Quantity::Text(quantity.canonical()))).collect()
}
