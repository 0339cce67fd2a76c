//! Where looks take place.

use super::caches::Caches;
use super::memory::Memories;
use super::queue::Queue;
use crate::kinds::{Served, Settings};
use kube::Client;
use std::sync::Arc;

/// What all looks share.
pub struct Site<K: Served> {
    /// For writes, and for the one live read.
    pub client: Client,
    /// The operator's settings for the kind.
    pub settings: Settings,
    /// Everything that is read.
    pub caches: Caches<K>,
    /// What is remembered between looks.
    pub memories: Arc<Memories>,
    /// What waits to be looked at.
    pub queue: Arc<Queue>,
    /// The name under which this process reports.
    pub instance: String,
}
