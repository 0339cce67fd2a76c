//! Servers that are to read settings anew. A kubelet brings another text of a mounted ConfigMap at its next look at the pod,
//! which is up to a minute and a half away; a change of the pod itself makes it look at once.

use super::scene::Scene;
use super::work::{self, Task};
use crate::kinds::order::{ChildKind, ChildRef, Order, patch_of};
use json_patch::{AddOperation, PatchOperation};
use jsonptr::PointerBuf;
use k8s_openapi::api::core::v1::Pod;
use kube::{Resource, ResourceExt};
use serde_json::json;

/// The mark of the settings that a pod was last told to read.
const TOLD: &str = "pointsman.dev/settings";

/// Each pod whose kubelet has not been told of this mark; and the Job that waits until every server has read it.
pub fn of<'a>(scene: &Scene<'a>) -> Option<(Vec<Order>, Task<'a>)> {
    let unread = scene.unread().filter(|_| scene.members.primary_is_ready())?;
    let told = scene.members.pods().filter_map(|(_, pod)| told(pod, &unread.mark.to_string()));
    Some((told.collect(), work::reading(scene.look, unread.mark)?))
}

/// The mark, where the pod has another one or none.
fn told(pod: &Pod, mark: &str) -> Option<Order> {
    let annotations = PointerBuf::from_tokens(["metadata", "annotations"]);
    let add = match pod.meta().annotations.as_ref().map(|known| known.get(TOLD)) {
        Some(Some(known)) if known == mark => return None,
        Some(_) => AddOperation { path: annotations.with_trailing_token(TOLD), value: json!(mark) },
        None => AddOperation { path: annotations, value: json!({ TOLD: mark }) },
    };
    let child = ChildRef { kind: ChildKind::Pod, name: pod.name_any() };
    Some(Order::Patch { child, patch: patch_of(pod.meta().uid.as_deref(), [PatchOperation::Add(add)]) })
}
