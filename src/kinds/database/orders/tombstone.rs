//! What outlives the object: where its last dump is, and the manifest that brings it back.

use crate::kinds::database::children::labels;
use crate::kinds::database::children::names;
use crate::kinds::database::object::dumps::Taken;
use crate::kinds::database::object::parts::RestoreFrom;
use crate::kinds::database::object::v1::{Database as Object, DatabaseSpec};
use crate::kinds::database::scene::siblings::remembered;
use crate::kinds::digest;
use crate::kinds::order::{ChildKind, ChildRef};
use crate::kinds::rendered::{MANAGED_BY, RENDERED, Rendered};
use kube::{Resource, ResourceExt};
use serde_json::json;

/// The ConfigMap. It belongs to nobody, so that nobody removes it: its uid label names no owner.
pub fn config_map(object: &Object, taken: &Taken) -> Rendered {
    let (name, uid) = (object.name_any(), object.uid().unwrap_or_default());
    let of = names::tombstone(&name, &uid, remembered(object).dumps);
    let mut labels = labels(object, "tombstone");
    // It is not watched either.
    labels.remove(MANAGED_BY.0);
    let data = json!({
        "claim": names::backups(&name),
        "folder": taken.folder,
        "bytes": taken.bytes.to_string(),
        "sha256": taken.sha256,
        "time": taken.time.0.to_string(),
        "uid": uid,
        "restore.yaml": manifest(object, taken),
    });
    let metadata = json!({
        "name": of,
        "namespace": object.namespace(),
        "labels": labels,
        "annotations": { RENDERED: digest::of(&data) },
    });
    let body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "immutable": true, "data": data });
    Rendered { child: ChildRef { kind: ChildKind::ConfigMap, name: of }, object: body }
}

/// The manifest of an object like this one whose data comes from the dump.
fn manifest(object: &Object, taken: &Taken) -> String {
    let name = object.name_any();
    let restore_from = Some(RestoreFrom { claim_name: names::backups(&name), file: Some(taken.folder.clone()) });
    let spec = DatabaseSpec { restore_from, ..object.spec.clone() };
    let mut manifest = json!({
        "apiVersion": Object::api_version(&()),
        "kind": Object::kind(&()),
        "metadata": { "name": name, "namespace": object.namespace() },
        "spec": spec,
    });
    let labels = object.labels();
    if !labels.is_empty() {
        manifest["metadata"]["labels"] = json!(labels);
    }
    serde_saphyr::to_string(&manifest).unwrap_or_else(|_| manifest.to_string())
}
