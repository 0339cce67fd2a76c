//! Are the definitions in the cluster those of this release, or later ones? Over older ones the API server would refuse what this
//! operator writes into a status, of every object.

use super::calls::{Unanswered, fetch};
use crate::kinds::of_each;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition as Definition;
use kube::api::ListParams;
use kube::core::{ObjectList, Request};
use kube::{Client, Resource, ResourceExt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;

/// Between two looks at definitions that lack something.
const WAIT: Duration = Duration::from_secs(5);

/// Returns once no definition lacks anything; until then `told` says what, one sentence for each. One that is not there yet is
/// waited for by whoever lists its objects.
pub async fn suffice(client: Client, told: watch::Sender<Vec<String>>) {
    loop {
        let lacking = lacking(&client).await.unwrap_or_else(|fault| vec![format!("the definitions cannot be read: {fault}")]);
        let suffice = lacking.is_empty();
        if *told.borrow() != lacking {
            for lacks in &lacking {
                tracing::error!(lacks, "this process does not lead");
            }
            told.send_replace(lacking);
        }
        if suffice {
            return;
        }
        tokio::time::sleep(WAIT).await;
    }
}

async fn lacking(client: &Client) -> Result<Vec<String>, Unanswered> {
    let mut lacking = Vec::new();
    for ours in of_each!(K: Definition => K::definition()) {
        let named = ListParams::default().fields(&format!("metadata.name={}", ours.name_any()));
        let all = Request::new(Definition::url_path(&(), None));
        let found: Option<ObjectList<Definition>> = fetch(client, all.list(&named)).await?;
        lacking.extend(found.iter().flat_map(|found| &found.items).filter_map(|theirs| lacks(&ours, theirs)));
    }
    Ok(lacking)
}

/// What a definition lacks of ours, in the version in which statuses are written.
fn lacks(ours: &Definition, theirs: &Definition) -> Option<String> {
    let [wanted, found] = [ours, theirs].map(status);
    let lack = match found {
        None => "the version v1".to_owned(),
        Some(found) => first_missing(&wanted?, &found, "status")?,
    };
    let name = ours.name_any();
    Some(format!("the definition {name} is of an earlier release: it lacks {lack}; apply the definitions of this release"))
}

/// The schema of the status.
fn status(definition: &Definition) -> Option<Value> {
    let version = definition.spec.versions.iter().find(|version| version.name == "v1")?;
    Some(json!(version.schema)["openAPIV3Schema"]["properties"]["status"].take())
}

/// The first field of `wanted`, value of it, or length, that `found` does not let in.
fn first_missing(wanted: &Value, found: &Value, path: &str) -> Option<String> {
    if found["x-kubernetes-preserve-unknown-fields"] == true {
        return None;
    }
    let fields = wanted["properties"].as_object().into_iter().flatten();
    let field = |(name, wanted): (&String, &Value)| {
        let path = format!("{path}.{name}");
        match found["properties"].get(name) {
            Some(found) => first_missing(wanted, found, &path),
            None => Some(path),
        }
    };
    let values = wanted["enum"].as_array().into_iter().flatten();
    let is_let_in = |value: &Value| found["enum"].as_array().is_none_or(|values| values.contains(value));
    if let Some(value) = values.into_iter().find(|value| !is_let_in(value)) {
        return Some(format!("{path}: {value}"));
    }
    let is_less = |bound: &&&str| found[**bound].as_u64().is_some_and(|least| wanted[**bound].as_u64().is_none_or(|most| most > least));
    if let Some(bound) = ["maxLength", "maxItems", "maxProperties"].iter().find(is_less) {
        return Some(format!("{path}: {bound} {}", wanted[*bound]));
    }
    let within = |part: &str| wanted.get(part).and_then(|wanted| first_missing(wanted, &found[part], path));
    fields.into_iter().find_map(field).or_else(|| within("items")).or_else(|| within("additionalProperties"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(ours: &Definition, edit: impl FnOnce(&mut Value)) -> Definition {
        let mut definition = json!(ours);
        edit(&mut definition);
        serde_json::from_value(definition).expect("a definition")
    }

    fn status_of(definition: &mut Value) -> &mut Value {
        let version = definition["spec"]["versions"].as_array_mut().expect("versions").iter_mut().find(|version| version["name"] == "v1");
        &mut version.expect("v1")["schema"]["openAPIV3Schema"]["properties"]["status"]
    }

    /// Without the last of these steps into the schema of its status.
    fn without(ours: &Definition, field: &[&str]) -> Definition {
        edited(ours, |definition| {
            let (last, way) = field.split_last().expect("a field");
            let fields = way.iter().fold(status_of(definition), |at, step| &mut at[*step]);
            assert!(fields.as_object_mut().expect("fields").remove(*last).is_some(), "{field:?}");
        })
    }

    #[test]
    fn what_an_older_definition_lacks_is_named() {
        for ours in of_each!(K: Definition => K::definition()) {
            let old = |definition: &mut Value| {
                definition["spec"]["versions"].as_array_mut().expect("some").retain(|version| version["name"] != "v1");
            };
            for (theirs, lack) in [
                (without(&ours, &["properties", "applied"]), "status.applied"),
                (without(&ours, &["properties", "applied", "properties", "generation"]), "status.applied.generation"),
                (without(&ours, &["properties", "history", "items", "properties", "cause"]), "status.history.cause"),
                (
                    edited(&ours, |definition| status_of(definition)["properties"]["history"]["maxItems"] = json!(1)),
                    "status.history: maxItems ",
                ),
                (edited(&ours, old), "the version v1"),
            ] {
                let said = lacks(&ours, &theirs).expect("it lacks something");
                assert!(
                    said.starts_with(&format!("the definition {} is of an earlier release: it lacks {lack}", ours.name_any())),
                    "{said}"
                );
                assert!(said.ends_with("; apply the definitions of this release"), "{said}");
            }
            let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
            let newer = edited(&ours, |definition| status_of(definition)["properties"]["ofALaterRelease"] = json!({ "type": "string" }));
            let open = edited(&ours, |definition| *status_of(definition) = open);
            for theirs in [ours.clone(), newer, open] {
                assert_eq!(lacks(&ours, &theirs), None);
            }
        }
    }
}
