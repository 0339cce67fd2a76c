//! EDGE: takes an installation out of a cluster, however it came in. [`look`] -> [`decide`] -> [`remove`]; what is
//! decided and said is pure.
//!
//! It knows the parts by the list that they were installed from, and touches only what carries the installation's
//! labels. Objects of users go only where that is said: a definition takes every object of its kind along, and the pods
//! of all of them.

mod decide;
mod look;
mod remove;
mod words;

use crate::config::{Uninstall, reach};
pub use decide::{Consent, Verdict, decide};
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;
use kube::core::ApiResource;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// What runs the operator: it is gone once its pods are.
const OPERATOR: &str = "Deployment";

/// What pods of objects mount in their namespaces: it stays as long as any object does.
const SHARED: &str = "ConfigMap";

/// What of an installation is in the cluster.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Its parts in the order in which they go, definitions aside.
    pub parts: Vec<Part>,
    /// The definitions, each with its objects.
    pub definitions: Vec<Definition>,
}

/// One object that carries the installation's labels.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its type.
    pub resource: ApiResource,
    /// Its namespace, where it has one.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its uid: another object of this name is not it.
    pub uid: String,
    /// The Helm release that holds it, and that release's namespace.
    pub release: Option<(String, String)>,
    /// What would go with it that is not the installation's, as `PersistentVolumeClaim NAME`: only a namespace has any.
    pub others: Vec<String>,
}

impl Part {
    /// Would an object that stays go with this namespace?
    fn holds(&self, kept: &[&Definition]) -> bool {
        kept.iter().flat_map(|definition| definition.objects.iter().flatten()).any(|object| object.namespace == self.name)
    }
}

/// A definition and what would go with it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The definition.
    pub part: Part,
    /// The type of its objects.
    pub resource: ApiResource,
    /// What its objects are called at the prompt.
    pub short: String,
    /// Versions that objects may still be stored in, besides the one that is written: only the operator converts those.
    pub earlier: Vec<String>,
    /// Its objects, or why they cannot be listed.
    pub objects: Result<Vec<Object>, String>,
}

/// An object of a user.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// What has to let it go before it is gone, in words.
    pub finalizers: String,
    /// Is the operator among those?
    pub held: bool,
    /// Did a user protect it?
    pub protected: bool,
}

/// What is asked at the prompt is answered at the prompt, and not in the log. It is boxed, as `program::run` is.
pub fn at_the_prompt(wish: &Uninstall) -> BoxFuture<'_, ExitCode> {
    async move {
        let consent = Consent { yes: wish.yes, objects: wish.objects };
        let said = match client(wish.kubeconfig.as_deref()).await {
            Ok(client) => uninstall(&client, consent).await,
            Err(fault) => Err(format!("Nothing was removed: cannot reach the cluster: {fault}\n")),
        };
        match said {
            Ok(said) => {
                print!("{said}");
                ExitCode::SUCCESS
            }
            Err(why) => {
                eprint!("{why}");
                ExitCode::FAILURE
            }
        }
    }
    .boxed()
}

async fn client(kubeconfig: Option<&Path>) -> Result<Client, Box<dyn Error + Send + Sync>> {
    Ok(Client::try_from(reach(kubeconfig).await?)?)
}

/// Looks, decides, and removes as far as `consent` goes; gives what is to be said at the end, or why and where it stopped.
async fn uninstall(client: &Client, consent: Consent) -> Result<String, String> {
    let found = look::look(client).await?;
    match decide(&found, consent) {
        Verdict::Refused(why) => Err(why),
        Verdict::Told(text) => Ok(text),
        Verdict::Removed { objects, parts, said } => {
            remove::objects(client, &objects).await?;
            remove::parts(client, &parts, &found.definitions).await?;
            Ok(said)
        }
    }
}
