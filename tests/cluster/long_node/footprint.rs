//! What the released program costs where there is nothing to do.

use crate::harness::{alone, eventually, kubectl, nobody_elses, operator};
use crate::node::turns::{process_of, replicas, two_ready};
use serde_json::Value;

const MB: f64 = 1e6;

/// What a process holds in memory: in all, and what of it is its own, which no other process shares and no kernel takes back.
fn resident(pid: &str) -> [f64; 2] {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| -> f64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
    };
    [field("VmRSS:"), field("RssAnon:")]
}

#[test]
fn an_image_and_an_idle_replica_are_small() {
    let _turn = alone();
    operator(&["restart"]);
    two_ready();
    nobody_elses();
    let pod: Value =
        serde_json::from_str(&kubectl(&["--namespace", "pointsman-system", "get", "deployment", "pointsman", "--output=json"]).ok())
            .unwrap();
    let image = &pod["spec"]["template"]["spec"]["containers"][0]["image"];
    let known = || {
        let nodes: Value = serde_json::from_str(&kubectl(&["get", "nodes", "--output=json"]).ok()).unwrap();
        let images = nodes["items"][0]["status"]["images"].as_array().cloned().unwrap_or_default();
        images.into_iter().find(|one| one["names"].as_array().unwrap().contains(image))
    };
    // A kubelet reports anew which images it has every five minutes, where nothing else has changed.
    eventually(360, "the node tells of the image", || known().is_some());
    let ours = known().unwrap();
    let size = ours["sizeBytes"].as_f64().unwrap();
    println!("image {:.1} MB", size / MB);
    assert!(size < 20.0 * MB);
    for (pod, _) in replicas() {
        let [all, own] = resident(&process_of(&pod));
        println!("resident {:.1} MB, of them {:.1} MB that are no code", all / MB, own / MB);
        // Nearly all of its code is mapped, which both replicas of a node share.
        assert!(own < 12.0 * MB && all < 25.0 * MB, "{pod}: {all}, of them {own}");
    }
}
