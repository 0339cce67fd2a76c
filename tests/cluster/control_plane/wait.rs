//! `Ready` is true: what `kubectl wait` returns on is so.

use crate::harness::rounds::Wanted;
use crate::harness::{Space, shared};
use serde_json::Value;

/// Changes one thing after another; right after `kubectl wait` the Deployment says it and has done it.
pub fn rounds(space: &Space, rounds: u64) {
    space.memcached("cache", Wanted::MANIFEST);
    space.ready("cache");
    let mut wanted = Wanted::first();
    for round in 0..rounds {
        let change = wanted.change(round);
        let Wanted { replicas, memory, connections } = wanted;
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
