//! A json-patch of an object of ours.
//!
//! Where managedFields hold an entry of another version and nobody converts, the API server takes a patch all the same and
//! forgets who owns which field. A server-side apply fails then; a patch is tried first, and what that would leave is seen.

use super::calls::{Answer, Unanswered, call, fetch};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{GetParams, Patch, PatchParams};
use kube::core::{PartialObjectMeta, Request};

/// Patches an object, or its subresource.
///
/// # Errors
/// When the API server does not answer, or would empty the object's managedFields.
pub async fn patched(
    client: &Client,
    objects: &Request,
    name: &str,
    part: Option<&str>,
    by: &str,
    patch: json_patch::Patch,
) -> Result<Answer, Unanswered> {
    let patch = Patch::<()>::Json(patch);
    let request = |dry_run| {
        let params = PatchParams { dry_run, field_manager: Some(by.to_owned()), ..PatchParams::default() };
        match part {
            Some(part) => objects.patch_subresource(part, name, &params, &patch),
            None => objects.patch(name, &params, &patch),
        }
    };
    match call(client, request(true)).await? {
        Answer::Done { meta, .. } if has_no_owners(&meta) && !is_ownerless(client, objects, name).await? => Err(Unanswered::Forgetful),
        Answer::Done { .. } => call(client, request(false)).await,
        refused @ Answer::Refused(_) => Ok(refused),
    }
}

/// Does the object as it stands have no managedFields? Somebody emptied them before, and a patch does not begin new ones.
async fn is_ownerless(client: &Client, objects: &Request, name: &str) -> Result<bool, Unanswered> {
    let stands: Option<PartialObjectMeta> = fetch(client, objects.get(name, &GetParams::default())).await?;
    Ok(stands.is_some_and(|stands| has_no_owners(&stands.metadata)))
}

fn has_no_owners(meta: &ObjectMeta) -> bool {
    meta.managed_fields.iter().flatten().next().is_none()
}
