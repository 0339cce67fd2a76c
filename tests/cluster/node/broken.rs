//! What goes on where an administrator has taken something away.

use super::turns::{replicas, two_ready};
use crate::harness::outage::NoWebhook;
use crate::harness::{Space, alone, kubectl_with, memcached};
use std::time::{Duration, Instant};

/// Longer than it takes the kubelet to find a pod unready, and the nodes to know.
const LONG_ENOUGH: Duration = Duration::from_secs(15);

#[test]
fn without_the_webhook_versions_are_converted_and_objects_are_looked_after() {
    let turn = alone();
    two_ready();
    let space = Space::new("unjudged");
    let (outage, began) = (NoWebhook::removed(&turn), Instant::now());
    let old = memcached("cache", "{size: 1}").replace("/v1\n", "/v1alpha1\n");
    kubectl_with(&["--namespace", &space.name, "create", "--filename", "-"], &old).ok();
    space.ready("cache");
    while began.elapsed() < LONG_ENOUGH {
        space.kubectl(&["get", "memcacheds.v1alpha1.cache.example.com"]).ok();
        assert!(replicas().iter().all(|(_, ready)| *ready), "{:?}", replicas());
        std::thread::sleep(Duration::from_millis(500));
    }
    drop(outage);
    two_ready();
}
