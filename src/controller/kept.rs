//! What a watch keeps of what it is told: pure, so that whatever is decided can be tried on just that.

use crate::kinds::annotations::PREFIX;
use crate::kinds::children::{CONTENT_DIGEST, content_digest};
use crate::kinds::order::Child;
use crate::kinds::rendered::{INSTANCE, KIND, OWNER_UID};
use crate::kinds::workload::{TEMPLATE_DIGEST, Workload};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, PodSpec};
use kube::core::{ObjectMeta, PartialObjectMeta};
use kube::{Resource, ResourceExt};
use std::any::Any;
use std::collections::BTreeMap;

/// From how many bytes on what never changes is not kept.
const LARGE: usize = 4096;

/// So many bytes of one `ConfigMap` are kept: twice what a spec may be long, so none of ours holds more.
pub const BOUND: usize = 512 * 1024;

/// Drops what the API server keeps for writers only.
pub fn bookkeeping<T: Resource>(object: &mut T) {
    let meta = object.meta_mut();
    meta.managed_fields = None;
    if let Some(annotations) = &mut meta.annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
}

/// Of an object of ours, too, what others note on it.
pub fn object<T: Resource>(object: &mut T) {
    bookkeeping(object);
    let meta = object.meta_mut();
    meta.annotations = meta.annotations.take().map(ours).filter(|left| !left.is_empty());
}

/// Of a child, too, what is large and never changes: a digest stays. And one of what is ours of a pod template, which only the
/// bookkeeping tells.
pub fn child<T: Child>(child: &mut T) {
    let any = child as &mut dyn Any;
    if let Some(deployment) = any.downcast_mut::<Deployment>() {
        template(deployment);
    } else if let Some(set) = any.downcast_mut::<StatefulSet>() {
        template(set);
    }
    bookkeeping(child);
    if let Some(map) = (child as &mut dyn Any).downcast_mut::<ConfigMap>() {
        let size = map.data.iter().flatten().map(|(_, text)| text.len()).sum::<usize>();
        let digest = (map.immutable == Some(true) && size > LARGE).then(|| content_digest(map)).flatten();
        let annotations = map.metadata.annotations.get_or_insert_default();
        // Nobody else says what it holds.
        annotations.remove(CONTENT_DIGEST);
        if let Some(digest) = digest {
            annotations.insert(CONTENT_DIGEST.to_owned(), digest);
            map.data = None;
        }
        map.binary_data = None;
        map.data = map.data.take().map(bounded);
    }
}

/// Without the longest texts, where all together are longer than any of ours: somebody else wrote more.
fn bounded(texts: BTreeMap<String, String>) -> BTreeMap<String, String> {
    // What a place in the map takes beside its text.
    const PLACE: usize = 64;
    let size = |(name, text): &(String, String)| name.len() + text.len() + PLACE;
    let mut texts: Vec<(String, String)> = texts.into_iter().collect();
    texts.sort_by_key(size);
    let mut left = BOUND;
    let fits = |text: &(String, String)| left.checked_sub(size(text)).map(|rest| left = rest).is_some();
    texts.into_iter().take_while(fits).collect()
}

fn template<T: Workload>(workload: &mut T) {
    // Nobody else says what it is.
    workload.annotations_mut().remove(TEMPLATE_DIGEST);
    if workload.meta().managed_fields.is_some() {
        let digest = workload.template();
        workload.annotations_mut().insert(TEMPLATE_DIGEST.to_owned(), digest);
    }
}

/// Leaves of a pod who it is, since when, whose it is, what holds it, which claims it uses, and how it fares. Whoever decides by
/// something else of a pod has it left here.
pub fn pod(pod: &mut Pod) {
    let mut all = std::mem::take(&mut pod.metadata);
    pod.metadata = ObjectMeta {
        labels: all.labels.take().map(few),
        annotations: all.annotations.take().map(ours).filter(|left| !left.is_empty()),
        creation_timestamp: all.creation_timestamp.take(),
        deletion_timestamp: all.deletion_timestamp.take(),
        finalizers: all.finalizers.take(),
        ..identity(all)
    };
    pod.spec = pod.spec.take().map(|PodSpec { node_name, restart_policy, volumes, .. }| {
        let volumes = volumes.map(|volumes| volumes.into_iter().filter(|volume| volume.persistent_volume_claim.is_some()).collect());
        PodSpec { node_name, restart_policy, volumes, ..PodSpec::default() }
    });
}

/// Labels, where they are not more than anybody needs: else those alone that Kubernetes and the operator set.
fn few(mut labels: BTreeMap<String, String>) -> BTreeMap<String, String> {
    const MANY: usize = 100;
    if labels.len() > MANY {
        labels.retain(|key, _| {
            [PREFIX, "app.kubernetes.io/", "apps.kubernetes.io/", "statefulset.kubernetes.io/"].iter().any(|prefix| key.starts_with(prefix))
        });
    }
    labels
}

fn ours(mut annotations: BTreeMap<String, String>) -> BTreeMap<String, String> {
    annotations.retain(|key, _| key.starts_with(PREFIX));
    annotations
}

/// Leaves of a stranger who it is, whose it is or was, and whether it has labels at all.
pub fn stranger<T>(object: &mut PartialObjectMeta<T>) {
    object.types = None;
    let mut all = std::mem::take(&mut object.metadata);
    let labels = all.labels.take().map(|mut labels| {
        let kept: &[&str] = if labels.contains_key(KIND) { &[OWNER_UID, KIND, INSTANCE] } else { &[OWNER_UID] };
        labels.retain(|key, _| kept.contains(&key.as_str()));
        labels
    });
    object.metadata = ObjectMeta { labels, ..identity(all) };
}

fn identity(all: ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: all.name,
        namespace: all.namespace,
        uid: all.uid,
        resource_version: all.resource_version,
        owner_references: all.owner_references,
        ..ObjectMeta::default()
    }
}
