//! Removes what was decided, one after another, each by its uid, and waits where something else must be gone first.

use super::words::title;
use super::{Definition, OPERATOR, Object, Part, look};
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Preconditions, PropagationPolicy};
use kube::{Client, Error, ResourceExt};
use std::time::Duration;

/// Between two looks at something that is to be gone.
const PAUSE: Duration = Duration::from_millis(250);
/// How many looks: a minute's.
const LOOKS: usize = 240;
/// Removes objects of users while the operator can still end what it does for them.
pub(super) async fn objects(client: &Client, objects: &[(Definition, Object)]) -> Result<(), String> {
    let part = |(definition, object): &(Definition, Object)| Part {
        resource: definition.resource.clone(),
        namespace: Some(object.namespace.clone()),
        name: object.name.clone(),
        uid: object.uid.clone(),
        release: None,
        others: Vec::new(),
    };
    let parts: Vec<Part> = objects.iter().map(part).collect();
    for part in &parts {
        delete(client, part).await?;
    }
    for part in &parts {
        gone(client, part).await?;
    }
    Ok(())
}

/// Removes the parts of the installation in their order; of definitions, only those that hold no object now.
pub(super) async fn parts(client: &Client, parts: &[Part], definitions: &[Definition]) -> Result<(), String> {
    for part in parts {
        if part.resource.kind == OPERATOR {
            nobody_waits(client, part, definitions).await?;
        }
        if let Some(definition) = definitions.iter().find(|definition| definition.part.uid == part.uid) {
            let objects = look::users(client, &definition.resource).await.map_err(|why| stopped(part, &why))?;
            if let Some(object) = objects.first() {
                let made = format!("{}/{} in namespace {} was made meanwhile", definition.short, object.name, object.namespace);
                return Err(stopped(part, &made));
            }
        }
        if part.resource.kind == "Namespace"
            && let Some(other) = look::others(client, &part.name).await.map_err(|why| stopped(part, &why))?.first()
        {
            return Err(stopped(part, &format!("{other} was made in it meanwhile")));
        }
        delete(client, part).await?;
        if part.resource.kind == OPERATOR {
            // As long as it runs it makes anew what it needs.
            gone(client, part).await?;
        }
        println!("removed {}", title(part));
    }
    for part in parts {
        gone(client, part).await?;
    }
    Ok(())
}

/// An object that came since the look, and that only the operator lets go, is there to be deleted while it runs.
async fn nobody_waits(client: &Client, operator: &Part, definitions: &[Definition]) -> Result<(), String> {
    for definition in definitions {
        let objects = look::users(client, &definition.resource).await.map_err(|why| stopped(operator, &why))?;
        if let Some(object) = objects.iter().find(|object| object.held) {
            let waits = format!("{}/{} in namespace {} waits for it before it can go", definition.short, object.name, object.namespace);
            return Err(stopped(operator, &waits));
        }
    }
    Ok(())
}

fn api(client: &Client, resource: &ApiResource, namespace: Option<&String>) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

async fn delete(client: &Client, part: &Part) -> Result<(), String> {
    let api = api(client, &part.resource, part.namespace.as_ref());
    let options = DeleteParams {
        preconditions: Some(Preconditions { uid: Some(part.uid.clone()), resource_version: None }),
        propagation_policy: Some(if part.resource.kind == OPERATOR {
            PropagationPolicy::Foreground
        } else {
            PropagationPolicy::Background
        }),
        ..DeleteParams::default()
    };
    for _ in 0..LOOKS {
        match api.delete(&part.name, &options).await {
            Ok(_) => return Ok(()),
            // It is gone, or another has its name.
            Err(Error::Api(status)) if [404, 409].contains(&status.code) => return Ok(()),
            // The API server takes a moment to forget a policy that was removed just before.
            Err(Error::Api(status)) if status.message.contains("ValidatingAdmissionPolicy '") => tokio::time::sleep(PAUSE).await,
            Err(fault) => return Err(stopped(part, &fault.to_string())),
        }
    }
    Err(stopped(part, "it is still refused after a minute"))
}

async fn gone(client: &Client, part: &Part) -> Result<(), String> {
    let api = api(client, &part.resource, part.namespace.as_ref());
    for _ in 0..LOOKS {
        match api.get_metadata_opt(&part.name).await {
            Ok(Some(object)) if object.uid().as_deref() == Some(part.uid.as_str()) => tokio::time::sleep(PAUSE).await,
            Ok(_) => return Ok(()),
            // The type went with its definition.
            Err(Error::Api(status)) if status.code == 404 => return Ok(()),
            Err(fault) => return Err(stopped(part, &fault.to_string())),
        }
    }
    Err(stopped(part, "it was deleted and is still there after a minute; its finalizers say who has to let it go"))
}

fn stopped(part: &Part, why: &str) -> String {
    format!("{} is not removed: {why}\nWhat came before it is gone. To go on, type the same again.\n", title(part))
}
