//! Whether the API server can call this replica: told once each time it changes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// After this a fault that lasts is told again.
const REMINDER: Duration = Duration::from_hours(1);

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

    /// After a look: what is missing. Was it told already?
    pub(super) fn tell(&self, missing: Vec<String>) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *told == missing {
            return true;
        }
        match missing.as_slice() {
            [] => tracing::info!("the webhooks can be called: keys and bundles are in place"),
            missing => tracing::warn!(missing = missing.join("; "), "the webhooks cannot be called yet"),
        }
        *told = missing;
        false
    }
}

/// What is to be tried again though nothing is missing: told when it changes, and then once an hour.
#[derive(Default)]
pub(super) struct Complaint(Option<(Vec<String>, Instant)>);

impl Complaint {
    /// After a look at `at`.
    pub(super) fn tell(&mut self, faults: Vec<String>, at: Instant) {
        if self.is_news(&faults, at) {
            tracing::warn!(faults = faults.join("; "), "the certificates are not in order; they are looked at again");
            self.0 = Some((faults, at));
        }
    }

    fn is_news(&mut self, faults: &[String], at: Instant) -> bool {
        if faults.is_empty() {
            self.0 = None;
        }
        !faults.is_empty() && self.0.as_ref().is_none_or(|(told, when)| told != faults || at >= *when + REMINDER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_lasts_is_told_when_it_changes_and_then_once_an_hour() {
        let (began, mut complaint) = (Instant::now(), Complaint::default());
        let mut told = Vec::new();
        for second in (0..3 * 3600).step_by(2) {
            let faults = match second {
                0..100 => vec!["immutable".to_owned()],
                200..300 => Vec::new(),
                _ => vec!["forbidden".to_owned()],
            };
            let at = began + Duration::from_secs(second);
            if complaint.is_news(&faults, at) {
                told.push(second);
            }
            complaint.tell(faults, at);
        }
        assert_eq!(told, [0, 100, 300, 3900, 7500]);
    }
}
