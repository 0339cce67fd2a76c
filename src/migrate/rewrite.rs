//! Has objects written anew, one after another, and then says in the definition what they are stored in.

use super::decide::{Found, Passed};
use super::{Kind, Name, look, owners, words};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::Status;
use kube::{Client, Error, ResourceExt};
use serde_json::{Value, json};

/// How often an object is read again because somebody else wrote it meanwhile.
const TRIES: usize = 20;
/// In one run about that many lines tell of progress, unless there are more objects than `STEP` for each.
const LINES: usize = 20;
/// At most that many objects go by without a line.
const STEP: usize = 100;

/// What came of one object.
enum Outcome {
    Written,
    Unchanged,
    Gone,
    Refused(String),
}

/// Goes through all objects that are named, and tells how far it is.
pub(super) async fn all(client: &Client, kind: &Kind, found: &Found, names: &[Name]) -> Result<Passed, String> {
    let mut passed = Passed::default();
    let step = (names.len() / LINES).clamp(1, STEP);
    for (at, name) in names.iter().enumerate() {
        match rewritten(client, kind, name).await {
            Ok(Outcome::Written) => passed.written += 1,
            Ok(Outcome::Unchanged) => passed.unchanged += 1,
            Ok(Outcome::Gone) => passed.gone += 1,
            Ok(Outcome::Refused(why)) => passed.refused.push((name.clone(), why)),
            Err(fault) => return Err(words::stopped(kind, found, (at, names.len()), name, &fault)),
        }
        let done = at + 1;
        if done % step == 0 || done == names.len() {
            println!("{}", words::progress(kind, done, names.len()));
        }
    }
    Ok(passed)
}

/// The object is replaced by itself, at the version that was read: nobody's write in between is lost.
async fn rewritten(client: &Client, kind: &Kind, name: &Name) -> Result<Outcome, Error> {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &name.namespace, &kind.resource);
    for _ in 0..TRIES {
        let Some(mut object) = api.get_opt(&name.name).await? else { return Ok(Outcome::Gone) };
        let before = object.resource_version();
        object.metadata.managed_fields = object.metadata.managed_fields.map(|entries| owners::restated(kind, entries));
        match api.replace(&name.name, &PostParams::default(), &object).await {
            Ok(after) if after.resource_version() == before => return Ok(Outcome::Unchanged),
            Ok(_) => return Ok(Outcome::Written),
            Err(Error::Api(status)) => match status.code {
                404 => return Ok(Outcome::Gone),
                409 => {}
                _ if is_refused(&status) => return Ok(Outcome::Refused(status.message.clone())),
                _ => return Err(Error::Api(status)),
            },
            Err(fault) => return Err(fault),
        }
    }
    Ok(Outcome::Refused(format!("somebody else changed it each of the {TRIES} times that it was to be written")))
}

/// Is it this object that may not be written as it is? A policy or a webhook of somebody else says so too.
fn is_refused(status: &Status) -> bool {
    let lacks_rights = status.code == 403 && status.message.contains("cannot update resource");
    [400, 403, 422].contains(&status.code) && !lacks_rights
}

/// Says that nothing is stored in another version; not if the definition was changed since it was read.
pub(super) async fn shrink(client: &Client, kind: &Kind, found: &Found) -> Result<(), String> {
    let only = [&kind.resource.version];
    if found.stored.iter().eq(only) {
        return Ok(());
    }
    let patch = json!([
        { "op": "test", "path": "/metadata/generation", "value": found.generation },
        { "op": "test", "path": "/status/storedVersions", "value": found.stored },
        { "op": "replace", "path": "/status/storedVersions", "value": only },
    ]);
    patch_status(client, kind, patch).await.map_err(|fault| words::not_shrunk(kind, found, &fault))
}

/// Has the definition say at least what it said when it was found; gives what it says then.
pub(super) async fn put_back(client: &Client, kind: &Kind, found: &Found) -> Result<Vec<String>, String> {
    let Some(now) = look::definition(client, kind).await? else { return Ok(found.stored.clone()) };
    // It may not name a version that it no longer has.
    let there = |name: &&String| now.versions.iter().any(|version| version.name == **name);
    let mut wanted: Vec<&String> = found.stored.iter().filter(there).collect();
    if wanted.iter().all(|name| now.stored.contains(name)) {
        return Ok(now.stored);
    }
    let others: Vec<&String> = now.stored.iter().filter(|name| !wanted.contains(name)).collect();
    wanted.extend(others);
    let patch = json!([
        { "op": "test", "path": "/status/storedVersions", "value": now.stored },
        { "op": "replace", "path": "/status/storedVersions", "value": wanted },
    ]);
    patch_status(client, kind, patch).await.map_err(|fault| words::not_put_back(kind, &now, &fault))?;
    Ok(wanted.into_iter().cloned().collect())
}

async fn patch_status(client: &Client, kind: &Kind, operations: Value) -> Result<(), Error> {
    // A list of operations, as each caller writes it.
    let patch: Patch<()> = Patch::Json(serde_json::from_value(operations).expect("the operations are a JSON patch"));
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    api.patch_status(&kind.definition, &PatchParams::default(), &patch).await.map(drop)
}
