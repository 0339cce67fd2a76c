//! Somebody else's object becomes ours, as a person has let it: every field of its spec.
//!
//! An apply takes out what its manager no longer names, and leaves what others own. So that nothing of a spec that was not
//! ours stays, ours is first made the manager of all of it. What others own beside the spec stays theirs.

use super::calls::{Answer, Unanswered, call};
use crate::kinds::field_set::unite;
use crate::kinds::order::{ChildRef, patch_of};
use json_patch::{AddOperation, PatchOperation, TestOperation};
use jsonptr::PointerBuf;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use kube::Client;
use kube::api::{Patch, PatchParams};
use kube::core::Request;
use serde_json::{Map, Value, json};

const SPEC: &str = "f:spec";

/// Makes us the manager of the spec of the object with this uid; its values stay as they are.
///
/// # Errors
/// When the API server does not answer.
pub(super) async fn seize(client: &Client, children: &Request, child: &ChildRef, uid: &str, manager: &str) -> Result<Answer, Unanswered> {
    let params = |dry_run| PatchParams { field_manager: Some(manager.to_owned()), dry_run, ..PatchParams::default() };
    let tested = |changes: Vec<PatchOperation>| Patch::<()>::Json(patch_of(Some(uid), changes));
    let metadata = |field: &str| PointerBuf::from_tokens(["metadata", field]);
    // A patch of nothing shows who manages what.
    let seen = call(client, children.patch(&child.name, &params(true), &tested(Vec::new()))).await?;
    let Answer::Done { meta, .. } = seen else { return Ok(seen) };
    // Who writes in between keeps what they wrote: it is seized by the next look.
    let unchanged = TestOperation { path: metadata("resourceVersion"), value: json!(meta.resource_version) };
    let entries = seized(meta.managed_fields.unwrap_or_default(), child.kind.api_version(), manager);
    let change = AddOperation { path: metadata("managedFields"), value: json!(entries) };
    let changes = vec![PatchOperation::Test(unchanged), PatchOperation::Add(change)];
    call(client, children.patch(&child.name, &params(false), &tested(changes))).await
}

/// The entries with the spec in ours, and in no other.
fn seized(mut entries: Vec<ManagedFieldsEntry>, api_version: &str, manager: &str) -> Vec<ManagedFieldsEntry> {
    let mut spec = None;
    for entry in &mut entries {
        let whole = entry.subresource.as_deref().unwrap_or_default().is_empty() && entry.api_version.as_deref() == Some(api_version);
        let fields = entry.fields_v1.as_mut().filter(|_| whole).and_then(|FieldsV1(fields)| fields.as_object_mut());
        if let Some(theirs) = fields.and_then(|fields| fields.remove(SPEC)) {
            match &mut spec {
                Some(spec) => unite(spec, theirs),
                none => *none = Some(theirs),
            }
        }
    }
    let is_empty = |fields: &FieldsV1| fields.0.as_object().is_none_or(Map::is_empty);
    entries.retain(|entry| !entry.fields_v1.as_ref().is_none_or(is_empty));
    entries.push(ManagedFieldsEntry {
        manager: Some(manager.to_owned()),
        operation: Some("Apply".to_owned()),
        api_version: Some(api_version.to_owned()),
        fields_type: Some("FieldsV1".to_owned()),
        fields_v1: Some(FieldsV1(Value::Object(Map::from_iter(spec.map(|spec| (SPEC.to_owned(), spec)))))),
        ..ManagedFieldsEntry::default()
    });
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, api_version: &str, subresource: Option<&str>, fields: Value) -> ManagedFieldsEntry {
        ManagedFieldsEntry {
            manager: Some(manager.to_owned()),
            api_version: Some(api_version.to_owned()),
            subresource: subresource.map(str::to_owned),
            fields_v1: Some(FieldsV1(fields)),
            ..ManagedFieldsEntry::default()
        }
    }

    #[test]
    fn the_spec_is_ours_and_the_rest_stays_whose_it_was() {
        let both = json!({ "f:metadata": { "f:labels": {} }, SPEC: { "f:replicas": {}, "f:template": { "f:a": {} } } });
        let seized = seized(
            vec![
                entry("someone", "apps/v1", None, both),
                entry("another", "apps/v1", None, json!({ SPEC: { "f:template": { "f:b": {} } } })),
                entry("controller", "apps/v1", Some("status"), json!({ "f:status": {} })),
                entry("scaler", "autoscaling/v1", Some("scale"), json!({ SPEC: { "f:replicas": {} } })),
            ],
            "apps/v1",
            "ours",
        );
        let who: Vec<_> = seized.iter().map(|entry| entry.manager.as_deref().expect("a manager")).collect();
        assert_eq!(who, ["someone", "controller", "scaler", "ours"]);
        let fields = |at: usize| &seized[at].fields_v1.as_ref().expect("fields").0;
        assert_eq!(*fields(0), json!({ "f:metadata": { "f:labels": {} } }));
        assert_eq!(*fields(3), json!({ SPEC: { "f:replicas": {}, "f:template": { "f:a": {}, "f:b": {} } } }));
    }
}
