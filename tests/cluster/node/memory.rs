//! An accepted spec cannot be killed for being accepted.

use super::ready::pods;
use crate::harness::wire::Client;
use crate::harness::{Space, shared};
use serde_json::Value;

/// Restarts of the container, and the memory that its cgroup holds, in bytes.
fn watched(space: &Space, pod: &str) -> (u64, u64) {
    let object = space.object(&format!("pod/{pod}"));
    let restarts = object["status"]["containerStatuses"][0]["restartCount"].as_u64().unwrap();
    let uid = object["metadata"]["uid"].as_str().unwrap().to_owned();
    (restarts, cgroup_memory(&uid).expect("the pod's cgroup says how much it held"))
}

/// The pod's cgroup, of version 1 or 2, wherever the kubelet put it.
fn cgroup_memory(uid: &str) -> Option<u64> {
    let folders = [("/sys/fs/cgroup/memory/kubepods", "memory.max_usage_in_bytes"), ("/sys/fs/cgroup/kubepods", "memory.peak")];
    for (root, file) in folders {
        for class in [".", "burstable", "guaranteed"] {
            let path = format!("{root}/{class}/pod{uid}/{file}");
            if let Some(bytes) = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()) {
                return Some(bytes);
            }
        }
    }
    None
}

fn limit(space: &Space, pod: &str) -> String {
    let object: Value = space.object(&format!("pod/{pod}"));
    object["spec"]["containers"][0]["resources"]["limits"]["memory"].to_string()
}

/// Clients that hold a request which never ends: half a value each. The last ones are turned away, since memcached counts
/// its own open files among its connections.
fn hold_half_read(address: &str, count: usize) -> Vec<Client> {
    let half = vec![b'x'; 12 * 1024];
    let mut clients = Vec::new();
    for number in 0..count {
        let Ok(mut client) = Client::connect(address) else { break };
        // One that was turned away may learn it here; the others are counted by the server.
        let _ = client.send(format!("set held{number} 0 0 16384\r\n").as_bytes()).and_then(|()| client.send(&half));
        clients.push(client);
    }
    clients
}

/// Values that are half read are not thrown out: they may leave no room.
#[track_caller]
fn stored_or_full(answer: &str) {
    assert!(answer == "STORED" || answer.to_lowercase().contains("out of memory"), "{answer}");
}

/// Fills with more than fits: the smallest items first, then the largest, so that both kinds of overhead are paid.
fn fill(client: &mut Client, memory: usize, item: usize) {
    const BATCH: usize = 2000;
    for batch in 0..memory / 48 / BATCH {
        let sets: Vec<String> = (0..BATCH).map(|number| format!("set {:x} 0 0 1\r\n1\r\n", batch * BATCH + number)).collect();
        client.send(sets.concat().as_bytes()).unwrap();
        for _ in 0..BATCH {
            stored_or_full(&client.line().unwrap());
        }
    }
    let value = vec![b'x'; item - 1024];
    for number in 0..2 * memory / item {
        stored_or_full(&client.set(&format!("large{number}"), &value).unwrap());
    }
}

/// At most so many open files are its own.
const ITS_OWN_FILES: usize = 40;

fn is_never_restarted(space: &Space, name: &str, spec: &str, memory_mib: u64, item_kib: usize, connections: usize) {
    space.memcached(name, spec);
    space.ready(name);
    let (pod, address) = pods(space, name).remove(0);
    let address = format!("{address}:11211");
    let mut client = Client::connect(&address).unwrap();
    let held = hold_half_read(&address, connections);
    assert_eq!(held.len(), connections, "{name} was not offered so many connections");
    fill(&mut client, usize::try_from(memory_mib).unwrap() << 20, item_kib << 10);
    let stats = client.stats("").expect("it still answers");
    let taken: usize = stats["curr_connections"].parse().unwrap();
    let (restarts, peak) = watched(space, &pod);
    println!("{name}: {taken} of {connections} connections held, peak {} MiB of limit {}", peak >> 20, limit(space, &pod));
    assert_eq!(restarts, 0, "{name} was restarted");
    assert!(peak > memory_mib << 20, "{name} was not full");
    assert!(taken >= connections - ITS_OWN_FILES, "{name} took only {taken} connections");
}

#[test]
fn a_full_pod_is_never_restarted() {
    let _turn = shared();
    let space = Space::new("full");
    is_never_restarted(&space, "small", "{memory: 8Mi, maxItemSize: 4Mi, maxConnections: 1024}", 8, 4096, 1024);
    is_never_restarted(&space, "middle", "{memory: 64Mi, maxItemSize: 16Mi, maxConnections: 4096}", 64, 16384, 4096);
}
