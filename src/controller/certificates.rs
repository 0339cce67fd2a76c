//! The operator's certificates: a Secret, and the places that hold the bundle and the paths that are called.
//!
//! Flow: the Secret and every place are watched by name. At each event, and before the leaf is due,
//! [`Certificates::settle`] makes what is missing, renews what is due, swaps the key that the
//! server presents, and writes the bundle where it differs. [`trust`] says what the bundle is, and when a leaf of another
//! authority is presented, so that no call fails while the authority is exchanged.
//! Guarantees: a key is used only after it was read back from the Secret; nothing is written where
//! everything is right, nor by a replica that does not lead: it serves what the Secret holds.

mod bundle;
mod fault;
mod keys;
mod look;
mod news;
mod paths;
mod readiness;
mod secret;
mod trust;
mod wanted;

use super::lease::Leadership;
use super::names::SECRET;
use crate::config::Source;
use crate::telemetry;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bundle::Watched;
pub use fault::Fault;
use futures::StreamExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use keys::{Keys, certificates};
use kube::Client;
use kube::api::Api;
use look::Look;
use news::News;
use paths::Paths;
use readiness::{Complaint, Readiness};
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use secret::read;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use trust::{Handover, Trust};
use wanted::Wanted;

const MANAGER: &str = "pointsman-certificates";
/// How often the dates are looked at when nothing happens.
const LOOK: Duration = Duration::from_hours(1);
/// The same after a failure or amid a change, and between writes of one place: who fights over a bundle gets no storm.
const PAUSE: Duration = Duration::from_secs(2);

/// The operator's certificates.
pub struct Certificates {
    client: Client,
    leadership: Leadership,
    source: Source,
    secrets: Api<Secret>,
    names: Vec<String>,
    secret: Look<Secret>,
    places: Vec<Watched>,
    /// The keys that the server presents, once they were stored.
    served: Option<Keys>,
    serving: watch::Sender<Arc<ServerConfig>>,
    trust: Trust,
    handover: Handover,
    paths: Paths,
    readiness: Readiness,
    complaint: Complaint,
}

impl Certificates {
    /// Starts with keys of the moment, so that the server can listen before the API server is asked.
    ///
    /// # Errors
    /// No key could be made.
    pub fn new(client: Client, namespace: &str, source: Source, leadership: Leadership) -> Result<Self, Fault> {
        let names = keys::names(namespace);
        let first = Keys::new(&names, Timestamp::now()).and_then(|keys| keys.serving()).map_err(Fault::Keys)?;
        Ok(Certificates {
            secrets: Api::namespaced(client.clone(), namespace),
            client,
            leadership,
            source,
            names,
            secret: Look::Unread,
            places: Watched::all(namespace),
            served: None,
            serving: watch::Sender::new(Arc::new(first)),
            trust: Trust::default(),
            handover: Handover::default(),
            paths: Paths::none(),
            readiness: Readiness::unread(),
            complaint: Complaint::default(),
        })
    }

    /// What the server presents, now and after each change.
    pub fn serving(&self) -> watch::Receiver<Arc<ServerConfig>> {
        self.serving.subscribe()
    }

    /// Whether a path is one that the API server was told to call; who knows none is not heard.
    pub fn told(&self) -> impl Fn(&str) -> BoxFuture<'static, bool> + Send + Sync + 'static {
        self.paths.told()
    }

    /// What is missing before the API server can call the webhooks: one sentence each.
    pub fn missing(&self) -> impl Fn() -> Vec<String> + Send + Sync + 'static {
        let readiness = self.readiness.clone();
        move || readiness.missing()
    }

    /// Keeps everything right until `shutdown`.
    pub async fn run(mut self, shutdown: impl Future<Output = ()> + Send) {
        let mut news = news::all(&self.client, &self.secrets, &self.places);
        let leadership = self.leadership.clone();
        let (mut next, mut leads) = (Instant::now() + LOOK, false);
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => return,
                () = leadership.begun(), if !leads => leads = true,
                () = leadership.ended(), if leads => leads = false,
                // The watches never end.
                Some(news) = news.next() => match news {
                    Ok(News::Secret(secret)) => self.secret.hear(secret),
                    Ok(News::Place(place, object)) => self.places[place].hear(object),
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

    /// One look at everything; says when to look again if nothing happens.
    async fn settle(&mut self) -> Duration {
        let stored = self.settle_secret().await;
        let mut faults: Vec<String> = [stored, self.present()].into_iter().filter_map(|done| Some(done.err()?.to_string())).collect();
        faults.extend(self.settle_bundles().await);
        let missing = self.missing_now(&faults);
        let changes = self.trust.is_changing() || self.paths.is_changing() || self.stored() != self.served;
        let settled = faults.is_empty() && missing.is_empty() && !changes;
        let presented = self.served.as_ref().and_then(|served| certificates(&served.authority).ok());
        telemetry::certificate_mismatch(presented.is_some_and(|of| self.places.iter().any(|place| place.disbelieves(&of))));
        if self.readiness.tell(missing) {
            self.complaint.tell(faults, Instant::now());
        }
        if settled { self.until_the_end().min(LOOK) } else { PAUSE }
    }

    /// From now until the presented certificate is believed no more.
    fn until_the_end(&self) -> Duration {
        let end = self.served.as_ref().and_then(|keys| keys.ends().ok()).map(|(leaf, authority)| leaf.min(authority));
        end.and_then(|end| Duration::try_from(end.duration_since(Timestamp::now())).ok()).map_or(PAUSE, |left| left + PAUSE)
    }

    /// The keys in the Secret, if they are all there.
    fn stored(&self) -> Option<Keys> {
        match &self.secret {
            Look::There(secret) => read(secret),
            Look::Unread | Look::Absent => None,
        }
    }

    /// Keys that are right are stored: by the replica that leads, unless they are somebody else's to make.
    async fn settle_secret(&mut self) -> Result<(), Fault> {
        let before = match &self.secret {
            Look::Unread => return Ok(()),
            Look::Absent => None,
            Look::There(secret) => Some(secret.as_ref()),
        };
        let maker = match self.source {
            Source::CertManager => Some("cert-manager, as a Certificate tells it"),
            Source::Own if !self.leadership.leads() => Some("the replica that leads"),
            Source::Own => None,
        };
        if let Some(maker) = maker {
            return if before.and_then(read).is_some() { Ok(()) } else { Err(Fault::NoKeys(maker)) };
        }
        let due = secret::due(before, self.served.as_ref(), &self.names, Timestamp::now())?;
        let Some((keys, why)) = due else { return Ok(()) };
        let stored = secret::store(&self.secrets, &keys, before).await;
        let stored = stored.map_err(|fault| Fault::Api(secret::unwritten(before), fault))?;
        tracing::info!(why, "keys are stored in the Secret {SECRET}");
        self.secret = Look::of(Some(stored));
        Ok(())
    }

    /// Presents the stored keys, once their authority is believed.
    fn present(&mut self) -> Result<(), Fault> {
        let Some(stored) = self.stored().filter(|stored| self.served.as_ref() != Some(stored)) else { return Ok(()) };
        stored.check(&self.names[..1], Timestamp::now()).map_err(Fault::Unusable)?;
        let config = stored.serving().map_err(Fault::Unusable)?;
        let new = certificates(&stored.authority).map_err(Fault::Keys)?;
        if let Some(served) = self.served.as_ref().filter(|served| served.authority != stored.authority) {
            let old = certificates(&served.authority).map_err(Fault::Keys)?;
            let believed = |of: &[CertificateDer<'static>]| Watched::believed(&self.places, of);
            if !self.handover.is_due(&stored.authority, believed(&new), believed(&old), Instant::now()) {
                return Ok(());
            }
        }
        let (end, authority_end) = stored.ends().map_err(Fault::Keys)?;
        tracing::info!(%end, %authority_end, "the stored certificate is presented");
        telemetry::certificate_expiry("leaf", end.as_second());
        telemetry::certificate_expiry("authority", authority_end.as_second());
        self.serving.send_replace(Arc::new(config));
        self.served = Some(stored);
        Ok(())
    }

    /// The replica that leads writes the bundle and the paths; each of them knows what belongs there.
    async fn settle_bundles(&mut self) -> Vec<String> {
        let now = Instant::now();
        let keys: Vec<Keys> = self.served.clone().into_iter().chain(self.stored()).collect();
        let called: Vec<String> = self.places.iter().flat_map(Watched::called).collect();
        self.paths.need(keys.iter().map(|keys| keys.leaf_key.clone()), &called, now);
        self.trust.need(keys.iter().flat_map(|keys| certificates(&keys.authority).unwrap_or_default()), now);
        self.trust.meet(self.places.iter().flat_map(Watched::found), now);
        let wanted = Wanted { bundle: BASE64_STANDARD.encode(self.trust.bundle(now)), paths: &self.paths, now };
        let mut faults = Vec::new();
        // With nothing stored yet, nobody knows what belongs there.
        if self.leadership.leads() && self.served.is_some() {
            for place in &mut self.places {
                faults.extend(place.settle(&self.client, &wanted).await.err());
            }
        }
        faults
    }

    /// Why the API server cannot call this replica, in sentences.
    fn missing_now(&self, faults: &[String]) -> Vec<String> {
        let Some(served) = &self.served else {
            let unread = format!("the Secret {SECRET} was not read yet");
            return if faults.is_empty() { vec![unread] } else { faults.to_vec() };
        };
        let believed = served.check(&self.names[..1], Timestamp::now()).and_then(|()| certificates(&served.authority));
        match believed {
            Ok(authorities) => self.places.iter().filter_map(|place| place.missing(&authorities, &self.paths)).collect(),
            Err(fault) => vec![format!("the presented certificate is not believed: {fault}")],
        }
    }
}
