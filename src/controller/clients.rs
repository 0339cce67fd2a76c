//! How this process speaks with the API server.

use super::access::Access;
use super::clock;
use super::lease::Leadership;
use super::lease::fence::FenceLayer;
use crate::config::{Config, reach};
use crate::telemetry::requests::CountLayer;
use kube::Client;
use kube::client::ClientBuilder;
use kube::client::retry::RetryPolicy;
use std::time::Duration;
use tower::buffer::BufferLayer;
use tower::limit::RateLimitLayer;
use tower::retry::RetryLayer;
use tower::util::MapResponseLayer;

/// Why there is no client.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// One client for each purpose.
pub struct Clients {
    /// For watches and looks: it keeps to the configured rate, retries what the server was too busy for, and writes
    /// only while this process leads.
    pub looks: Client,
    /// To ask who may do what, whoever leads: a POST that writes nothing.
    pub access: Access,
    /// For the Lease alone: it waits behind nobody, and retries nothing, since a late renewal is worth nothing.
    pub lease: Client,
}

/// Makes them.
///
/// # Errors
/// Nothing says how to reach the API server, or what does is wrong.
pub async fn clients(config: &Config, leadership: Leadership) -> Result<Clients, Fault> {
    let mut reach = reach(config.kubeconfig.as_deref()).await?;
    // The default would retry for minutes inside one call; the controller looks again anyway.
    reach.default_retry = false;
    let counted = CountLayer::new(reach.cluster_url.authority().map_or("", |host| host.as_str()));
    let lease = ClientBuilder::try_from(reach.clone())?.with_layer(&MapResponseLayer::new(clock::heard)).with_layer(&counted).build();
    let retry = RetryPolicy::new(Duration::from_millis(200), Duration::from_secs(5), 5, true)?;
    let window = Duration::from_secs_f64(f64::from(config.api_burst) / f64::from(config.api_qps));
    // The first layer is the innermost: what waited its turn, or is tried again, is judged, and counted, as it leaves.
    let looks = ClientBuilder::try_from(reach.clone())?
        .with_layer(&MapResponseLayer::new(clock::heard))
        .with_layer(&counted)
        .with_layer(&FenceLayer { leadership, between: config.lease_duration.saturating_sub(config.lease_renew_deadline) })
        .with_layer(&BufferLayer::new(1024))
        .with_layer(&RetryLayer::new(retry.clone()))
        .with_layer(&RateLimitLayer::new(u64::from(config.api_burst), window));
    let access =
        ClientBuilder::try_from(reach)?.with_layer(&counted).with_layer(&BufferLayer::new(1024)).with_layer(&RetryLayer::new(retry));
    Ok(Clients { looks: looks.build(), access: Access(access.build()), lease })
}
