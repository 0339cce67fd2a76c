//! What stands in the world, as far as a change is judged by it: volumes, and whether they can grow.

use super::siblings::Children;
use crate::kinds::children::Slot;
use crate::kinds::database::plan::volume::{Size, Volume};
use crate::kinds::quantity::Quantity;
use crate::kinds::reading::Reading;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, PersistentVolumeClaimCondition};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::ResourceExt;
use std::collections::BTreeSet;

/// What stands.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// The volumes of the servers.
    pub data: Vec<Volume>,
    /// The volume of the backups, if it is there.
    pub backups: Option<Volume>,
    /// Has the claim of the backups got its volume? Before that it holds nothing.
    pub backups_are_bound: bool,
    /// Storage classes that let no volume grow.
    pub fixed: BTreeSet<String>,
}

impl Ground {
    /// What is seen of it.
    pub fn of(children: &Children) -> Self {
        let classes = children.classes.found().map(Vec::as_slice).unwrap_or_default();
        let fixed = classes.iter().filter(|class| !grows(class));
        Ground {
            data: children.claims.iter().filter_map(Slot::ours).filter_map(standing).collect(),
            backups: children.backups.ours().and_then(standing),
            backups_are_bound: children.backups.ours().is_some_and(|claim| granted(claim).is_some()),
            fixed: fixed.map(|class| class.name_any()).collect(),
        }
    }
}

/// What stands of a claim: what it asks for, and no more than it has got.
fn standing(claim: &PersistentVolumeClaim) -> Option<Volume> {
    let asked = wanted(claim)?;
    let granted = granted(claim).filter(|granted| granted.bytes < asked.size.bytes);
    Some(Volume { size: granted.unwrap_or(asked.size), ..asked })
}

/// What a claim asks for.
pub fn wanted(claim: &PersistentVolumeClaim) -> Option<Volume> {
    let spec = claim.spec.as_ref()?;
    let size = spec.resources.as_ref()?.requests.as_ref()?.get("storage")?;
    Some(Volume { size: Size::of(&Quantity::from(size.0.as_str()))?, class: spec.storage_class_name.clone() })
}

/// What a claim has got; nothing before it has a volume.
pub fn granted(claim: &PersistentVolumeClaim) -> Option<Size> {
    Size::of(&Quantity::from(claim.status.as_ref()?.capacity.as_ref()?.get("storage")?.0.as_str()))
}

/// Is the volume of a claim smaller than this? One that has none yet gets what it asks for first, and nothing of it can be
/// changed before.
pub fn is_smaller(claim: &PersistentVolumeClaim, size: &Size) -> bool {
    granted(claim).is_some_and(|granted| granted.bytes.min(asked(claim)) < size.bytes)
}

/// What is true of a claim, as its conditions say it.
pub fn conditions(claim: &PersistentVolumeClaim) -> impl Iterator<Item = &PersistentVolumeClaimCondition> {
    let conditions = claim.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.filter(|condition| condition.status == "True")
}

/// Lets a StorageClass its volumes grow?
pub fn grows(class: &StorageClass) -> bool {
    class.allow_volume_expansion == Some(true)
}

/// Does a claim get its volume only once a pod uses it? Nobody knows where its StorageClass is not known.
pub fn waits_for_a_user(claim: &PersistentVolumeClaim, children: &Children) -> Option<bool> {
    children.class_of(claim).found().map(|class| class.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer"))
}

fn asked(claim: &PersistentVolumeClaim) -> i64 {
    wanted(claim).map_or(i64::MAX, |volume| volume.size.bytes)
}

impl Children {
    /// The StorageClass that a claim names. Of a claim that names none it is not known.
    pub fn class_of(&self, claim: &PersistentVolumeClaim) -> Reading<StorageClass> {
        let named = claim.spec.as_ref().and_then(|spec| spec.storage_class_name.as_ref());
        let Some((name, classes)) = named.zip(self.classes.found()) else { return Reading::Unread };
        classes.iter().find(|class| class.name_any() == *name).map_or(Reading::Absent, |class| Reading::Found(class.clone()))
    }
}
