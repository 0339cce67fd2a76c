//! The places that hold the bundle and the paths: who calls the webhooks believes the authorities found there, and calls the
//! path found there. One function writes all of them.

use super::look::Look;
use super::paths::Paths;
use super::trust::Believed;
use super::wanted::{Wanted, has_secret, lies_in, path};
use super::{MANAGER, PAUSE};
use crate::controller::calls::bounded;
use crate::kinds::of_each;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::{Client, Resource};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use tokio::time::Instant;

/// The name of the webhook configuration.
const WEBHOOKS: &str = "pointsman";
/// The name of the Service that leads to the operator.
const SERVICE: &str = "pointsman";

/// An object that holds the bundle.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) resource: ApiResource,
    pub(super) name: String,
    /// Where in the object the clients' settings stand: of a list, or of one.
    path: &'static str,
    /// The operator's own namespace: what leads to a Service elsewhere is another installation's.
    home: String,
}

/// Every place: the webhook configuration, and the definition of each kind.
fn places(home: &str) -> Vec<Place> {
    let place = |resource, name, path| Place { resource, name, path, home: home.to_owned() };
    let definitions = of_each!(K: String => format!("{}.{}", K::Object::plural(&()), K::Object::group(&())));
    let definition = |name| {
        let resource = resource("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions");
        place(resource, name, "/spec/conversion/webhook")
    };
    let resource = resource("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
    [place(resource, WEBHOOKS.to_owned(), "/webhooks")].into_iter().chain(definitions.into_iter().map(definition)).collect()
}

fn resource(group: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource { group: group.into(), version: "v1".into(), api_version: format!("{group}/v1"), kind: kind.into(), plural: plural.into() }
}

/// A place, as it was last seen, and when we wrote it last.
pub(super) struct Watched {
    pub(super) place: Place,
    pub(super) look: Look<DynamicObject>,
    written: Option<Instant>,
}

impl Watched {
    /// Every place, before the first look at it; `home` is the operator's namespace.
    pub(super) fn all(home: &str) -> Vec<Self> {
        places(home).into_iter().map(|place| Watched { place, look: Look::Unread, written: None }).collect()
    }

    /// Takes in what the watch says. A place that is gone is told here, since nothing is [`Self::missing`] then.
    pub(super) fn hear(&mut self, news: Option<DynamicObject>) {
        if news.is_none() {
            tracing::warn!("there is no {}, so nothing calls this operator from there; apply its manifests", self.place.title());
        }
        self.look.hear(news);
    }

    /// What some client there believes.
    pub(super) fn found(&self) -> Vec<CertificateDer<'static>> {
        match &self.look {
            Look::There(object) => self.place.believed(object).into_iter().flatten().collect(),
            Look::Unread | Look::Absent => Vec::new(),
        }
    }

    /// The paths that are called from there.
    pub(super) fn called(&self) -> Vec<String> {
        match &self.look {
            Look::There(object) => self.place.clients(object).into_iter().map(path).collect(),
            Look::Unread | Look::Absent => Vec::new(),
        }
    }

    /// How many of the places that call this operator believe all of these?
    pub(super) fn believed(all: &[Self], authorities: &[CertificateDer<'static>]) -> Believed {
        let calls = |watched: &&Watched| match &watched.look {
            Look::Unread => true,
            Look::Absent => false,
            Look::There(object) => watched.place.calls(object),
        };
        Believed::of(&all.iter().filter(calls).map(|watched| watched.believes(authorities)).collect::<Vec<_>>())
    }

    /// Does every client there believe all of these?
    fn believes(&self, authorities: &[CertificateDer<'static>]) -> bool {
        let Look::There(object) = &self.look else { return false };
        let all = |believed: &Vec<CertificateDer<'static>>| authorities.iter().all(|authority| believed.contains(authority));
        self.place.believed(object).iter().all(all)
    }

    /// Does a client there call, and not believe all of these?
    pub(super) fn disbelieves(&self, authorities: &[CertificateDer<'static>]) -> bool {
        matches!(&self.look, Look::There(object) if self.place.calls(object)) && !self.believes(authorities)
    }

    /// Why a client there cannot call with these authorities believed and these paths answered; nothing where it can, or where
    /// there is none.
    pub(super) fn missing(&self, authorities: &[CertificateDer<'static>], paths: &Paths) -> Option<String> {
        let title = self.place.title();
        match &self.look {
            Look::Unread => Some(format!("the {title} was not read yet")),
            // Nobody calls from there, and whoever calls from elsewhere is to be answered.
            Look::Absent => None,
            Look::There(object) if !self.place.calls(object) => {
                Some(format!("the {title} leads to no webhook of this operator; apply its manifests"))
            }
            Look::There(_) if !self.believes(authorities) => {
                Some(format!("the {title} does not believe the presented certificate; the replica that leads writes its bundle"))
            }
            // One without a secret no replica answers: that this one is not Ready would keep the one from its place that writes it.
            Look::There(_) if self.called().iter().all(|path| paths.knows(path) || !has_secret(path)) => None,
            Look::There(_) => Some(format!("the {title} calls a path that this replica does not answer; the replica that leads writes it")),
        }
    }

    /// Writes bundle and path where they differ, and reads them back; or a sentence that says why they are not right.
    pub(super) async fn settle(&mut self, client: &Client, wanted: &Wanted<'_>) -> Result<(), String> {
        let Watched { place, look, written } = self;
        let title = place.title();
        let now = wanted.now;
        let object = match look {
            Look::There(object) if place.calls(object) && !place.holds(object, wanted) => object,
            Look::There(_) | Look::Unread | Look::Absent => return Ok(()),
        };
        if written.is_some_and(|at| now.duration_since(at) < PAUSE) {
            return Err(format!("the bundle or the path in the {title} was changed soon after it was written"));
        }
        *written = Some(now);
        tracing::info!("the bundle and the path are written to the {title}");
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &place.resource);
        let patch = Patch::Apply(place.wanted(object, wanted));
        let stored = bounded(api.patch(&place.name, &PatchParams::apply(MANAGER).force(), &patch)).await;
        *look = Look::of(Some(stored.map_err(|fault| format!("the bundle and the path in the {title} cannot be written: {fault}"))?));
        match look {
            Look::There(object) if place.holds(object, wanted) => Ok(()),
            Look::There(_) | Look::Absent | Look::Unread => Err(format!("the {title} did not keep the bundle or the path")),
        }
    }
}

impl Place {
    /// The place in words.
    fn title(&self) -> String {
        format!("{} {}", self.resource.kind, self.name)
    }

    /// Does every client in `object` have what it is to have?
    fn holds(&self, object: &DynamicObject, wanted: &Wanted<'_>) -> bool {
        self.clients(object).into_iter().all(|client| lies_in(&wanted.of(client), &client["clientConfig"]))
    }

    /// What each client in `object` believes; of what is no certificate nothing.
    fn believed(&self, object: &DynamicObject) -> Vec<Vec<CertificateDer<'static>>> {
        let bundle = |client: &&Value| BASE64_STANDARD.decode(client["clientConfig"]["caBundle"].as_str()?).ok();
        let read = |bundle: Vec<u8>| CertificateDer::pem_slice_iter(&bundle).filter_map(Result::ok).collect();
        self.clients(object).iter().map(|client| bundle(client).map(read).unwrap_or_default()).collect()
    }

    /// Is there anything in `object` that calls this operator?
    fn calls(&self, object: &DynamicObject) -> bool {
        !self.clients(object).is_empty()
    }

    /// The fields that make it so, and no other: what a server-side apply of ours owns.
    fn wanted(&self, object: &DynamicObject, wanted: &Wanted<'_>) -> Value {
        let fields = match object.data.pointer(self.path) {
            Some(Value::Array(_)) => {
                let item = |webhook: &Value| json!({ "name": webhook["name"], "clientConfig": wanted.of(webhook) });
                json!({ "webhooks": self.clients(object).into_iter().map(item).collect::<Vec<_>>() })
            }
            Some(webhook) => json!({ "spec": { "conversion": { "webhook": { "clientConfig": wanted.of(webhook) } } } }),
            None => json!({}),
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

    /// The clients that call this operator; of an address nobody knows whose it is.
    fn clients<'a>(&self, object: &'a DynamicObject) -> Vec<&'a Value> {
        let ours = |client: &&Value| {
            let service = &client["clientConfig"]["service"];
            service.is_null() || (service["name"] == SERVICE && service["namespace"] == self.home)
        };
        match object.data.pointer(self.path) {
            Some(Value::Array(webhooks)) => webhooks.iter().filter(ours).collect(),
            Some(webhook @ Value::Object(_)) => Some(webhook).filter(ours).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_to_another_installation_calls_nobody_here() {
        let definition = places("ours").into_iter().nth(1).expect("a webhook configuration, and a definition of each kind");
        let led = |conversion: Value| DynamicObject {
            data: json!({ "spec": { "conversion": conversion } }),
            ..DynamicObject::new("", &definition.resource)
        };
        let service = |name: &str, namespace: &str| {
            led(json!({ "strategy": "Webhook", "webhook": { "clientConfig": { "service": { "name": name, "namespace": namespace } } } }))
        };
        for (object, calls) in [
            (service("pointsman", "ours"), true),
            (service("pointsman", "theirs"), false),
            (service("other", "ours"), false),
            (led(json!({ "strategy": "None" })), false),
        ] {
            assert_eq!(definition.calls(&object), calls, "{:?}", object.data);
        }
    }

    #[test]
    fn who_calls_is_given_the_bundle_and_a_path_of_its_own() {
        let mut paths = Paths::none();
        let now = Instant::now();
        paths.need([b"key".to_vec()], &[], now);
        let wanted = Wanted { bundle: "bundle".to_owned(), paths: &paths, now };
        let [webhooks, definition] = places("ours").into_iter().take(2).collect::<Vec<_>>().try_into().expect("both sorts of places");
        let service = json!({ "service": { "name": "pointsman", "namespace": "ours", "port": 9443 } });
        let url = json!({ "url": "https://10.0.0.1:9443/validate/one" });
        let called = |base: &str| paths.current(base, now).expect("a path");
        for (place, data, expected) in [
            (
                &webhooks,
                json!({ "webhooks": [{ "name": "one.pointsman.dev", "clientConfig": url }, { "name": "two.pointsman.dev", "clientConfig": service }] }),
                json!({ "webhooks": [
                    { "name": "one.pointsman.dev", "clientConfig": { "caBundle": "bundle", "url": format!("https://10.0.0.1:9443{}", called("/validate/one")) } },
                    { "name": "two.pointsman.dev", "clientConfig": { "caBundle": "bundle", "service": { "path": called("/validate/two") } } },
                ] }),
            ),
            (
                &definition,
                json!({ "spec": { "conversion": { "webhook": { "clientConfig": service } } } }),
                json!({ "spec": { "conversion": { "webhook": { "clientConfig": { "caBundle": "bundle", "service": { "path": called("/convert") } } } } } }),
            ),
        ] {
            let object = DynamicObject { data, ..DynamicObject::new("", &place.resource) };
            assert!(!place.holds(&object, &wanted));
            let written = place.wanted(&object, &wanted);
            assert!(lies_in(&expected, &written), "{written:#}");
        }
    }
}
