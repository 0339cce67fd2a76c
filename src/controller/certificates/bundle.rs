//! The places that hold the bundle: who calls the webhooks believes the authority found there.
//! One function writes all of them.

use crate::kinds::{Served, Visitor, visit};
use kube::Resource;
use kube::api::{ApiResource, DynamicObject};
use serde_json::{Value, json};

/// The name of the webhook configuration.
const WEBHOOKS: &str = "pointsman";

/// An object that holds the bundle.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) resource: ApiResource,
    pub(super) name: String,
    /// Where in the object the clients' settings stand: of a list, or of one.
    path: &'static str,
}

/// Every place: the webhook configuration, and the definition of each kind.
pub(super) fn places() -> Vec<Place> {
    struct Places(Vec<Place>);
    impl Visitor for Places {
        fn kind<K: Served>(&mut self) {
            let name = format!("{}.{}", K::Object::plural(&()), K::Object::group(&()));
            let resource = resource("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions");
            self.0.push(Place { resource, name, path: "/spec/conversion/webhook" });
        }
    }
    let resource = resource("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
    let mut places = Places(vec![Place { resource, name: WEBHOOKS.to_owned(), path: "/webhooks" }]);
    visit(&mut places);
    places.0
}

fn resource(group: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource { group: group.into(), version: "v1".into(), api_version: format!("{group}/v1"), kind: kind.into(), plural: plural.into() }
}

impl Place {
    /// The place in words.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.resource.kind, self.name)
    }

    /// Does every client in `object` trust `bundle`, in base64, and it alone?
    pub(super) fn holds(&self, object: &DynamicObject, bundle: &str) -> bool {
        self.clients(object).iter().all(|client| client["clientConfig"]["caBundle"] == bundle)
    }

    /// Is there anything in `object` that calls a webhook?
    pub(super) fn calls(&self, object: &DynamicObject) -> bool {
        !self.clients(object).is_empty()
    }

    /// The fields that make it so, and no other: what a server-side apply of ours owns.
    pub(super) fn wanted(&self, object: &DynamicObject, bundle: &str) -> Value {
        let config = json!({ "caBundle": bundle });
        let fields = match object.data.pointer(self.path) {
            Some(Value::Array(webhooks)) => {
                let item = |webhook: &Value| json!({ "name": webhook["name"], "clientConfig": config });
                json!({ "webhooks": webhooks.iter().map(item).collect::<Vec<_>>() })
            }
            _ => json!({ "spec": { "conversion": { "webhook": { "clientConfig": config } } } }),
        };
        let mut wanted = json!({
            "apiVersion": self.resource.api_version,
            "kind": self.resource.kind,
            // With its uid, an apply cannot make an object that was just removed.
            "metadata": { "name": self.name, "uid": object.metadata.uid },
        });
        if let (Value::Object(wanted), Value::Object(fields)) = (&mut wanted, fields) {
            wanted.extend(fields);
        }
        wanted
    }

    fn clients<'a>(&self, object: &'a DynamicObject) -> Vec<&'a Value> {
        match object.data.pointer(self.path) {
            Some(Value::Array(webhooks)) => webhooks.iter().collect(),
            Some(webhook @ Value::Object(_)) => vec![webhook],
            _ => Vec::new(),
        }
    }
}
