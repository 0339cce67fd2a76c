//! The volumes: made by the operator before anything that mounts them, so that their uids are known from the first day
//! and a claim that comes back empty under an old name is told from the one that held the data.

use super::kept;
use super::names;
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::plan::Plan;
use crate::kinds::quantity::Quantity;
use crate::kinds::rendered::Rendered;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::ResourceExt;
use serde_json::{Value, json};

/// The claim of a server. The StatefulSet finds it by its name and takes it as it is.
pub fn data(object: &Object, plan: &Plan, ordinal: u32) -> Rendered {
    kept::<PersistentVolumeClaim>(
        object,
        &names::claim(&object.name_any(), ordinal),
        "server",
        json!({ "spec": spec(&plan.storage.size.spelling, plan.storage.class.as_ref()) }),
    )
}

/// The claim that keeps the dumps. It is made with the first children, so that its failure shows on the first day.
pub fn backups(object: &Object, plan: &Plan) -> Rendered {
    kept::<PersistentVolumeClaim>(
        object,
        &names::backups(&object.name_any()),
        "backup",
        json!({ "spec": spec(&plan.backup.storage.size.spelling, plan.backup.storage.class.as_ref()) }),
    )
}

/// What a claim of this size and class asks for.
pub fn spec(size: &Quantity, class: Option<&String>) -> Value {
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce"],
        "resources": { "requests": { "storage": size.canonical() } },
    });
    // An empty name would mean: no StorageClass at all.
    if let Some(class) = class {
        spec["storageClassName"] = json!(class);
    }
    spec
}
