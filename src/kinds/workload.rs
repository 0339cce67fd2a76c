//! Children that own pods: a Deployment, a StatefulSet.

use super::apply::{apply, count};
use super::children::Slot;
use super::intervention::Subject;
use super::order::{Child, Order};
use super::rendered::{MANAGER, Rendered};
use super::{digest, field_set, yielded};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use kube::ResourceExt;
use serde_json::json;

/// On a workload as a watch keeps it: a digest of what is ours of its pod template.
pub const TEMPLATE_DIGEST: &str = "pointsman.dev/template-digest";

/// A child that owns pods.
pub trait Workload: Child {
    /// A digest of what is ours of its pod template. What others write there, and what an API server of another release adds by
    /// default, makes no other template of it.
    fn template(&self) -> String;
    /// How many pods it is to have.
    fn replicas(&self) -> Option<i32>;
}

macro_rules! workloads {
    ($($type:ty)*) => { $(impl Workload for $type {
        fn template(&self) -> String {
            let template = || json!(self.spec.as_ref().map(|spec| &spec.template));
            match field_set::owned_by(&self.metadata, MANAGER) {
                Some(fields) => digest::of(&field_set::part(&template(), &fields["f:spec"]["f:template"])),
                None => self.annotations().get(TEMPLATE_DIGEST).cloned().unwrap_or_else(|| digest::of(&template())),
            }
        }
        fn replicas(&self) -> Option<i32> {
            self.spec.as_ref()?.replicas
        }
    })* };
}

workloads! { Deployment StatefulSet }

/// How many pods are worked towards: as many as the spec asks for, or where the count is left to another writer, as many as that
/// one wrote last.
pub fn counted<T: Workload>(slot: &Slot<T>, yielded: &[Subject], wanted: i32) -> i32 {
    let left = slot.ours().filter(|_| yielded::leaves(yielded, T::KIND, "/spec/replicas", &wanted));
    left.and_then(Workload::replicas).unwrap_or(wanted)
}

/// What makes the owner of pods what is rendered, unless its template stands as an older operator rendered it. Of one that
/// stands, only the pods are counted.
pub fn apply_workload<T: Workload>(
    slot: &Slot<T>,
    rendered: Rendered,
    wanted: i32,
    stands: Option<&String>,
    yielded: &[Subject],
) -> Option<Order> {
    if let (Some(settled), Some(live)) = (stands, slot.ours())
        && live.template() == *settled
    {
        let replicas = live.replicas().unwrap_or(1);
        return (replicas != wanted).then(|| count(live, rendered.child, &["spec", "replicas"], replicas, wanted));
    }
    apply(slot, rendered, yielded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn deployment(template: &Value) -> Deployment {
        let fields = json!({ "f:spec": { "f:replicas": {}, "f:template": { "f:metadata": { "f:labels": { "f:app": {} } }, "f:spec": {
            "f:containers": { "k:{\"name\":\"server\"}": { ".": {}, "f:name": {}, "f:image": {}, "f:args": {} } },
            "f:nodeSelector": {} } } } });
        let ours =
            json!({ "manager": MANAGER, "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": fields });
        let deployment =
            json!({ "metadata": { "name": "shop", "managedFields": [ours] }, "spec": { "selector": {}, "template": template } });
        serde_json::from_value(deployment).expect("a Deployment")
    }

    #[test]
    fn what_others_add_to_a_template_makes_no_other_template() {
        let plain = json!({ "metadata": { "labels": { "app": "shop" } }, "spec": {
            "containers": [{ "name": "server", "image": "one:2", "args": ["-m", "64"] }], "nodeSelector": { "disk": "ssd" } } });
        let digest = deployment(&plain).template();
        let changed = |path: &str, value: Value| {
            let mut other = plain.clone();
            let (parent, name) = path.rsplit_once('/').expect("a path");
            other.pointer_mut(parent).expect("a field")[name] = value;
            deployment(&other).template() != digest
        };
        // Defaults of an API server, a label of a policy, a sidecar in front of ours.
        assert!(!changed("/spec/dnsPolicy", json!("ClusterFirst")));
        assert!(!changed("/spec/containers/0/imagePullPolicy", json!("Always")));
        assert!(!changed("/metadata/labels/team", json!("shop")));
        let containers = json!([{ "name": "proxy", "image": "proxy" }, plain["spec"]["containers"][0]]);
        assert!(!changed("/spec/containers", containers));
        // What is ours.
        assert!(changed("/spec/containers/0/image", json!("one:1")));
        assert!(changed("/spec/containers/0/args", json!(["-m", "32"])));
        assert!(changed("/spec/nodeSelector/disk", json!("hdd")));
        assert!(changed("/metadata/labels/app", json!("other")));
    }
}
