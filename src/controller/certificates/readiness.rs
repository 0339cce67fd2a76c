//! Whether the API server can call this replica: told once each time it changes.

use std::sync::{Arc, Mutex, PoisonError};

/// What is missing: one sentence each. Cheap to clone.
#[derive(Clone)]
pub(super) struct Readiness(Arc<Mutex<Vec<String>>>);

impl Readiness {
    /// Before the first look.
    pub(super) fn unread() -> Self {
        Readiness(Arc::new(Mutex::new(vec!["the certificates were not read yet".to_owned()])))
    }

    /// What is missing now.
    pub(super) fn missing(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// After a look: what is missing, and what is to be tried again though nothing is missing.
    pub(super) fn tell(&self, missing: Vec<String>, faults: &[String]) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *told == missing {
            if !faults.is_empty() {
                tracing::warn!(faults = faults.join("; "), "the certificates are not in order; they are looked at again");
            }
            return;
        }
        match missing.as_slice() {
            [] => tracing::info!("the webhooks can be called: keys and bundles are in place"),
            missing => tracing::warn!(missing = missing.join("; "), "the webhooks cannot be called yet"),
        }
        *told = missing;
    }
}
