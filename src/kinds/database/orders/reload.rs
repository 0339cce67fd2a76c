//! Servers that are to read settings anew. A kubelet brings another text of a mounted ConfigMap at its next look at the pod,
//! which is up to a minute and a half away; a change of the pod itself makes it look at once.

use crate::kinds::database::scene::Scene;
use crate::kinds::database::scene::work::{self, Task};
use crate::kinds::order::{ChildKind, ChildRef, Order};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde_json::json;

/// The mark of the settings that a pod was last told to read.
const TOLD: &str = "pointsman.dev/settings";

/// Each pod whose kubelet has not been told of this mark: what a primary lacks may be just that. Once that is ready, also the Job
/// that waits until every server has read it.
pub fn of<'a>(scene: &Scene<'a>) -> (Vec<Order>, Option<Task<'a>>) {
    let Some(unread) = scene.unread() else { return (Vec::new(), None) };
    let told = scene.members.pods().filter_map(|(_, pod)| told(pod, &unread.mark.to_string()));
    let task = scene.members.primary_is_ready().then(|| work::reading(scene.look, unread.mark)).flatten();
    (told.collect(), task)
}

/// The mark, where the pod has another one or none. It is applied, so that annotations of others stay that no cache shows.
fn told(pod: &Pod, mark: &str) -> Option<Order> {
    if pod.annotations().get(TOLD).is_some_and(|known| known == mark) {
        return None;
    }
    let child = ChildRef { kind: ChildKind::Pod, name: pod.name_any() };
    let metadata = json!({ "name": child.name, "namespace": pod.namespace(), "annotations": { TOLD: mark } });
    let object = json!({ "apiVersion": child.kind.api_version(), "kind": child.kind.name(), "metadata": metadata });
    Some(Order::Apply { child, object, uid: pod.uid(), whole: false })
}
