//! Certificates of our own: a Secret, and the places that hold the bundle.
//!
//! Flow: the Secret and every place are watched by name. At each event, and before the leaf is due,
//! [`Certificates::settle`] makes what is missing, renews what is due, swaps the key that the
//! server presents, and writes the bundle where it differs.
//! Guarantees: a key is used only after it was read back from the Secret; nothing is written where
//! everything is right. Assumes: one replica; while the authority itself is exchanged, calls fail
//! until the bundles have followed, a second or so.

mod bundle;
mod keys;
mod look;
mod secret;

use super::calls::{Unanswered, bounded};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bundle::Place;
use futures::stream::{BoxStream, SelectAll, StreamExt};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use keys::Keys;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, watch_object};
use look::Look;
use rustls::ServerConfig;
use secret::{SECRET, read, written};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

const MANAGER: &str = "pointsman-certificates";
/// How often the dates are looked at when nothing happens.
const LOOK: Duration = Duration::from_hours(1);
/// How long to wait after a failure, and between writes of one place: who fights over a bundle gets no storm.
const PAUSE: Duration = Duration::from_secs(2);

/// Why the certificates are not in order.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The API server refused, or was not there.
    #[error("{0}: {1}")]
    Api(String, Unanswered),
    /// A key or certificate could not be made.
    #[error("cannot make certificates: {0}")]
    Keys(keys::Fault),
}

/// A place, as it was last seen, and when we wrote it last.
struct Watched {
    place: Place,
    look: Look<DynamicObject>,
    written: Option<Instant>,
}

enum News {
    Secret(Option<Secret>),
    Place(usize, Option<DynamicObject>),
}

/// The operator's certificates.
pub struct Certificates {
    client: Client,
    secrets: Api<Secret>,
    names: Vec<String>,
    secret: Look<Secret>,
    places: Vec<Watched>,
    served: Option<Keys>,
    serving: watch::Sender<Arc<ServerConfig>>,
    missing: Arc<Mutex<Vec<String>>>,
}

impl Certificates {
    /// Starts with keys of the moment, so that the server can listen before the API server is asked.
    ///
    /// # Errors
    /// No key could be made.
    pub fn new(client: Client, namespace: &str) -> Result<Self, Fault> {
        let service = format!("pointsman.{namespace}.svc");
        let names = vec![service.clone(), format!("{service}.cluster.local"), "pointsman".to_owned(), "localhost".to_owned()];
        let first = Keys::new(&names, Timestamp::now()).and_then(|keys| keys.serving()).map_err(Fault::Keys)?;
        Ok(Certificates {
            secrets: Api::namespaced(client.clone(), namespace),
            client,
            names,
            secret: Look::Unread,
            places: bundle::places().into_iter().map(|place| Watched { place, look: Look::Unread, written: None }).collect(),
            served: None,
            serving: watch::Sender::new(Arc::new(first)),
            missing: Arc::new(Mutex::new(vec!["the certificates were not read yet".to_owned()])),
        })
    }

    /// What the server presents, now and after each change.
    pub fn serving(&self) -> watch::Receiver<Arc<ServerConfig>> {
        self.serving.subscribe()
    }

    /// What is missing before the API server can call the webhooks: one sentence each.
    pub fn missing(&self) -> impl Fn() -> Vec<String> + Send + Sync + 'static {
        let missing = self.missing.clone();
        move || missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps everything right until `shutdown`.
    pub async fn run(mut self, shutdown: impl Future<Output = ()> + Send) {
        let mut news = self.news();
        let mut next = Instant::now() + LOOK;
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => return,
                // The watches never end.
                Some(news) = news.next() => match news {
                    Ok(News::Secret(secret)) => self.secret.hear(secret),
                    Ok(News::Place(place, object)) => self.places[place].look.hear(object),
                    Err(fault) => {
                        tracing::warn!(%fault, "a watch of the certificates broke off; it is taken up again");
                        continue;
                    }
                },
                () = tokio::time::sleep_until(next) => {}
            }
            next = Instant::now() + self.settle().await;
        }
    }

    fn news(&self) -> SelectAll<BoxStream<'static, Result<News, watcher::Error>>> {
        let secret = watch_object(self.secrets.clone(), SECRET).map(|read| read.map(News::Secret));
        let mut news = SelectAll::from_iter([secret.default_backoff().boxed()]);
        for (index, Watched { place, .. }) in self.places.iter().enumerate() {
            let api = Api::all_with(self.client.clone(), &place.resource);
            let place = watch_object(api, &place.name).map(move |read| read.map(|object| News::Place(index, object)));
            news.push(place.default_backoff().boxed());
        }
        news
    }

    /// One look at everything; says when to look again if nothing happens.
    async fn settle(&mut self) -> Duration {
        let mut missing = Vec::new();
        match self.settle_keys().await {
            Ok(Some(authority)) => {
                let bundle = BASE64_STANDARD.encode(authority);
                for watched in &mut self.places {
                    missing.extend(settle_place(&self.client, watched, &bundle).await.err());
                }
            }
            Ok(None) => missing.push(format!("the Secret {SECRET} was not read yet")),
            Err(fault) => missing.push(fault.to_string()),
        }
        let wait = if missing.is_empty() { LOOK } else { PAUSE };
        let mut told = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != missing {
            match missing.as_slice() {
                [] => tracing::info!("the webhooks can be called: keys and bundles are in place"),
                missing => tracing::info!(missing = missing.join("; "), "the webhooks cannot be called yet"),
            }
            *told = missing;
        }
        wait
    }

    /// Keys that are right, stored, and presented by the server; returns their authority.
    async fn settle_keys(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let before = match &self.secret {
            Look::Unread => return Ok(None),
            Look::Absent => None,
            Look::There(secret) => Some(secret.as_ref()),
        };
        let stored = before.and_then(read);
        let lost = stored.is_none() && self.served.is_some();
        let known = stored.or_else(|| self.served.clone());
        let settled = keys::settled(known.as_ref(), &self.names, Timestamp::now()).map_err(Fault::Keys)?;
        // The bundles still trust the keys that are presented: those are stored again.
        let again = known.filter(|_| lost).map(|keys| (keys, "the stored ones are lost, the presented ones are right".to_owned()));
        if let Some((keys, why)) = settled.or(again) {
            tracing::info!(why, "keys are stored in the Secret {SECRET}");
            let new = written(&keys, before);
            let options = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
            // Both are compare-and-swap: the one by absence, the other by resourceVersion.
            let stored = match before {
                None => bounded(self.secrets.create(&options, &new)).await,
                Some(_) => bounded(self.secrets.replace(SECRET, &options, &new)).await,
            };
            let stored = stored.map_err(|fault| Fault::Api(format!("the Secret {SECRET} cannot be written"), fault))?;
            self.secret = Look::of(Some(stored));
        }
        let Look::There(secret) = &self.secret else { return Ok(None) };
        let Some(keys) = read(secret) else { return Ok(None) };
        if self.served.as_ref() != Some(&keys) {
            let config = keys.serving().map_err(Fault::Keys)?;
            self.serving.send_replace(Arc::new(config));
            self.served = Some(keys.clone());
        }
        Ok(Some(keys.authority))
    }
}

/// The bundle in one place, read back; or a sentence that says what is missing.
async fn settle_place(client: &Client, watched: &mut Watched, bundle: &str) -> Result<(), String> {
    let Watched { place, look, written } = watched;
    let title = place.title();
    let object = match look {
        Look::Unread => return Err(format!("the {title} was not read yet")),
        Look::Absent => return Err(format!("there is no {title}; apply the operator's manifests")),
        Look::There(object) if !place.calls(object) => return Err(format!("the {title} calls no webhook; apply the operator's manifests")),
        Look::There(object) if place.holds(object, bundle) => return Ok(()),
        Look::There(object) => object,
    };
    if written.is_some_and(|at| at.elapsed() < PAUSE) {
        return Err(format!("the bundle in the {title} was changed by somebody else"));
    }
    *written = Some(Instant::now());
    tracing::info!("the bundle is written to the {title}");
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &place.resource);
    let patch = Patch::Apply(place.wanted(object, bundle));
    let stored = bounded(api.patch(&place.name, &PatchParams::apply(MANAGER).force(), &patch)).await;
    *look = Look::of(Some(stored.map_err(|fault| format!("the bundle in the {title} cannot be written: {fault}"))?));
    match look {
        Look::There(object) if place.holds(object, bundle) => Ok(()),
        Look::There(_) | Look::Absent | Look::Unread => Err(format!("the {title} did not keep the bundle")),
    }
}
