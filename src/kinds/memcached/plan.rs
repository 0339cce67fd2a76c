//! Spec -> plan, or every violation with its field path. The webhook and the controller both parse.

use super::fields;
use super::v1::MemcachedSpec;
use crate::kinds::Violation;
use crate::kinds::pod_template::{PodTemplate, Resources};
use crate::kinds::quantity::Quantity;
use crate::kinds::resource_rules::illegal_amounts;
use crate::kinds::spec_rules::{below, canonical, illegal_image, illegal_template, out_of_range, too_large, unreadable};

/// A spec that obeys every rule, with every default filled in and every quantity in one spelling.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How many pods.
    pub replicas: i32,
    /// The TCP port.
    pub port: i32,
    /// What each pod is made from.
    pub template: Template,
}

/// What each pod is made from, its port aside.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The image.
    pub image: String,
    /// Memory for items, in bytes.
    pub memory: i64,
    /// The largest item, in bytes.
    pub max_item_size: i64,
    /// Simultaneous connections to one pod.
    pub max_connections: i32,
    /// Compute resources of the container, memory aside.
    pub resources: Resources,
    /// What belongs to the user in the pods.
    pub pod_template: PodTemplate,
}

/// The plan of `spec`; `image` stands in where the spec names none.
///
/// # Errors
/// Every violation at once.
pub fn parse(spec: &MemcachedSpec, image: &str) -> Result<Plan, Vec<Violation>> {
    if let Some(why) = &spec.unreadable {
        return Err(vec![unreadable(why)]);
    }
    // What is too large to keep is not looked into.
    if let Some(fault) = too_large(spec) {
        return Err(vec![fault]);
    }
    let image = spec.image.as_deref().unwrap_or(image);
    let mut faults: Vec<Violation> = illegal_image(image, fields::DEFAULT_IMAGE).into_iter().collect();
    faults.extend(out_of_range([
        ("spec.replicas", spec.replicas, fields::REPLICAS),
        ("spec.maxConnections", spec.max_connections, fields::CONNECTIONS),
        ("spec.port", spec.port, fields::PORT),
    ]));
    let memory = bytes("spec.memory", &spec.memory, fields::MEMORY, &mut faults);
    let item = bytes("spec.maxItemSize", &spec.max_item_size, fields::ITEM, &mut faults);
    faults.extend(item_fits(spec, memory, item));
    faults.extend(illegal_resources(&spec.resources));
    let pod_template = spec.pod_template.clone().unwrap_or_default().trimmed();
    faults.extend(illegal_template(&pod_template));
    if !faults.is_empty() {
        return Err(faults);
    }
    let template = Template {
        image: image.to_owned(),
        memory,
        max_item_size: item,
        max_connections: spec.max_connections,
        resources: Resources { limits: canonical(&spec.resources.limits), requests: canonical(&spec.resources.requests) },
        pod_template,
    };
    Ok(Plan { replicas: spec.replicas, port: spec.port, template })
}

impl Plan {
    /// The plan as a spec with nothing left to fill in.
    pub fn spec(&self) -> MemcachedSpec {
        let Template { image, memory, max_item_size, max_connections, resources, pod_template } = self.template.clone();
        let quantity = |bytes: i64| Quantity::Text(Quantity::Text(format!("{}Ki", bytes / 1024)).canonical());
        MemcachedSpec {
            replicas: self.replicas,
            image: Some(image),
            memory: if memory % 1024 == 0 { quantity(memory) } else { Quantity::Number(memory) },
            max_item_size: quantity(max_item_size),
            max_connections,
            port: self.port,
            resources,
            pod_template: (pod_template != PodTemplate::default()).then_some(pod_template),
            unreadable: None,
        }
    }
}

fn bytes(field: &'static str, value: &Quantity, (least, most): (&'static str, &'static str), faults: &mut Vec<Violation>) -> i64 {
    let bound = |text: &str| Quantity::from(text).units().unwrap_or_default();
    match value.nanos().map(|nanos| i64::try_from(nanos.div_euclid(1_000_000_000)).unwrap_or(i64::MAX)) {
        Some(bytes) if (bound(least)..=bound(most)).contains(&bytes) => bytes,
        _ => {
            faults.push(Violation::invalid(field, format!("{value} is not a quantity from {least} to {most}")));
            0
        }
    }
}

/// What memcached itself would refuse.
fn item_fits(spec: &MemcachedSpec, memory: i64, item: i64) -> impl Iterator<Item = Violation> {
    let size = &spec.max_item_size;
    let step = (item % fields::ITEM_STEP != 0).then(|| format!("{size} is no multiple of 512Ki; memcached takes no other size"));
    let half = (memory > 0 && item * 2 > memory).then(|| format!("{size} is over half of memory {}", spec.memory));
    step.into_iter().chain(half).map(|text| Violation::invalid("spec.maxItemSize", text))
}

/// Amounts that no container can have: the API server would refuse the pods, not the object.
fn illegal_resources(resources: &Resources) -> Vec<Violation> {
    let mut faults = Vec::new();
    if resources.limits.contains_key("memory") || resources.requests.contains_key("memory") {
        let text = "the container's memory follows from spec.memory and spec.maxConnections; change those instead";
        faults.push(Violation::invalid("spec.resources", text));
    }
    faults.extend(below("spec.resources", illegal_amounts(resources)));
    faults
}
