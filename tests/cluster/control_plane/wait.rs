//! `Ready` is true: what `kubectl wait` returns on is so.

use crate::harness::{Space, shared};
use serde_json::{Value, json};

/// Changes one thing after another; right after `kubectl wait` the Deployment says it and has done it.
pub fn rounds(space: &Space, rounds: u64) {
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    let (mut replicas, mut memory, mut connections) = (2, 64, 1024);
    for round in 0..rounds {
        let change = match round % 3 {
            0 => {
                connections = 1024 + 16 * (round + 1);
                json!({ "maxConnections": connections })
            }
            1 => {
                memory = 64 + 8 * (round % 5);
                json!({ "memory": format!("{memory}Mi") })
            }
            _ => {
                replicas = 1 + round % 4;
                json!({ "replicas": replicas })
            }
        };
        space.patch("cache", &change.to_string()).ok();
        space.ready("cache");
        let deployment = space.object("deployment/cache");
        let pods = space.object_list(&["pods"]);
        let args = &deployment["spec"]["template"]["spec"]["containers"][0]["args"];
        let flag = |name: &str| args.as_array().unwrap().iter().skip_while(|word| *word != name).nth(1).cloned().unwrap_or_default();
        let said = (flag("-m"), flag("-c"), deployment["spec"]["replicas"].clone());
        assert_eq!(said, (memory.to_string().into(), connections.to_string().into(), replicas.into()), "round {round}: {change}");
        let (status, generation) = (&deployment["status"], &deployment["metadata"]["generation"]);
        assert_eq!(&status["observedGeneration"], generation, "round {round}: {change}");
        for count in ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"] {
            assert_eq!(status[count], replicas, "round {round}: {change}: {count}: {status}");
        }
        let old: Vec<&Value> = pods.iter().filter(|pod| pod["spec"]["containers"][0]["args"] != *args).collect();
        assert!(old.is_empty() && pods.len() as u64 == replicas, "round {round}: {change}: {} pods, old: {old:?}", pods.len());
    }
}

#[test]
fn ready_is_true_of_the_deployment_and_of_every_pod() {
    let _turn = shared();
    rounds(&Space::new("ready"), 12);
}
