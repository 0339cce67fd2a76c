//! Children and target -> orders. An order that would change nothing is not given.

use super::Children;
use super::children;
use super::plan::Plan;
use super::v1::Memcached as Object;
use crate::kinds::apply::{apply, apply_or_remove};
use crate::kinds::intervention::Subject;
use crate::kinds::order::Order;
use crate::kinds::workload::apply_workload;

/// What is left as it stands.
pub struct LeftAlone<'a> {
    /// A pod template of this digest, which an older operator rendered.
    pub template: Option<&'a String>,
    /// Fields that a person has left to another writer.
    pub fields: &'a [Subject],
}

/// What it takes to make every child what `target` says, but for what is left alone; nothing when they are.
pub fn needed(object: &Object, children: &Children, target: &Plan, left: &LeftAlone<'_>) -> Vec<Order> {
    let mut orders: Vec<Order> = apply(&children.service, children::service(object, target), left.fields).into_iter().collect();
    let deployment = children::deployment(object, target);
    orders.extend(apply_workload(&children.deployment, deployment, target.replicas, left.template, left.fields));
    orders.extend(apply_or_remove(&children.budget, children::budget(object, target), left.fields));
    orders
}
