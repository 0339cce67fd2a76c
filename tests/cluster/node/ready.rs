//! What `kubectl wait` promises is so on the wire.

use crate::harness::rounds::Wanted;
use crate::harness::wire::Client;
use crate::harness::{Space, eventually, shared};
use serde_json::Value;
use std::collections::BTreeSet;

/// Every pod of the object, terminating ones too: name and address.
pub fn pods(space: &Space, name: &str) -> Vec<(String, String)> {
    let answer = space.kubectl(&["get", "pods", "--selector", &format!("app.kubernetes.io/instance={name}"), "--output", "json"]).ok();
    let list: Value = serde_json::from_str(&answer).unwrap();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    list["items"].as_array().unwrap().iter().map(|pod| (word(&pod["metadata"]["name"]), word(&pod["status"]["podIP"]))).collect()
}

/// What one address answers to `stats settings`: memory in bytes and connections.
pub fn settings(address: &str) -> Option<(u64, u64)> {
    let settings = Client::connect(&format!("{address}:11211")).ok()?.settings().ok()?;
    Some((settings.get("maxbytes")?.parse().ok()?, settings.get("maxconns")?.parse().ok()?))
}

/// The addresses behind the Service's DNS name, as a pod sees them.
fn resolved(space: &Space, pod: &str, name: &str) -> BTreeSet<String> {
    let host = format!("{name}.{}.svc.cluster.local", space.name);
    let answer = space.kubectl(&["exec", pod, "--", "getent", "ahostsv4", &host]);
    answer.out.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Changes one thing after another; right after `kubectl wait` the change serves everywhere.
pub fn rounds(space: &Space, rounds: u64) {
    space.memcached("cache", Wanted::MANIFEST);
    space.ready("cache");
    let mut wanted = Wanted::first();
    for round in 0..rounds {
        let patch = wanted.change(round).to_string();
        let Wanted { replicas, memory, connections } = wanted;
        space.patch("cache", &patch).ok();
        space.ready("cache");
        let pods = pods(space, "cache");
        assert_eq!(pods.len() as u64, replicas, "round {round}: {patch}: {pods:?}");
        for (pod, address) in &pods {
            assert_eq!(settings(address), Some((memory * 1024 * 1024, connections)), "round {round}: {patch}: {pod}");
        }
        let expected: BTreeSet<String> = pods.iter().map(|(_, address)| address.clone()).collect();
        eventually(5, "the Service's name lists exactly these pods", || resolved(space, &pods[0].0, "cache") == expected);
    }
}

#[test]
fn ready_is_true_on_the_wire() {
    let _turn = shared();
    rounds(&Space::new("ready"), 4);
}

#[test]
fn the_classic_manifest_keeps_a_value_on_every_pod() {
    let _turn = shared();
    let space = Space::new("classic");
    let manifest = std::fs::read_to_string(crate::harness::repository().join("examples/memcached-v1alpha1.yaml")).unwrap();
    space.apply(&manifest).ok();
    space.ready("cache");
    let pods = pods(&space, "cache");
    assert_eq!(pods.len(), 3);
    for (pod, address) in pods {
        let mut client = Client::connect(&format!("{address}:11211")).unwrap();
        assert_eq!(client.set("greeting", pod.as_bytes()).unwrap(), "STORED");
        client.send(b"get greeting\r\n").unwrap();
        assert_eq!(client.line().unwrap(), format!("VALUE greeting 0 {}", pod.len()));
        assert_eq!(client.line().unwrap(), pod);
    }
}
