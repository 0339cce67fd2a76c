//! A database in a service mesh that puts a container which never ends into every pod, whatever the pod says of that.

use super::{Base, SOON};
use crate::harness::mesh::{Habit, Mesh};
use crate::harness::{Space, eventually_or, shared};
use serde_json::json;

const IMAGE: &str = "docker.io/library/postgres:17";
/// It runs until it is told to end, as a proxy does. PostgreSQL's image has INT sent for that.
const FOR_EVER: [&str; 3] = ["bash", "-c", "trap 'exit 0' TERM INT; sleep infinity & wait"];

#[test]
fn its_last_dump_brings_all_of_it_back() {
    let _turn = shared();
    let space = Space::new("mesh");
    let _mesh = Mesh::over(&space, Habit::First, IMAGE, &FOR_EVER);
    let base = Base::ready(&space, "db", &json!({}));
    let uid = base.thing.seen()["metadata"]["uid"].as_str().unwrap().to_owned();
    assert_eq!(space.object("pod/db-0")["spec"]["containers"][0]["name"], "mesh-proxy");
    base.sql("db", "CREATE TABLE kept AS SELECT n FROM generate_series(1, 1000) AS n").ok();
    base.goes();
    let tombstone = space.object(&format!("configmap/db-tombstone-{}", &uid[..5]));
    space.apply(tombstone["data"]["restore.yaml"].as_str().unwrap_or_else(|| panic!("{tombstone:#}"))).ok();
    base.comes();
    base.answers("db", "SELECT count(*), sum(n) FROM kept", "1000|500500");
    let jobs = || space.object_list(&["pods", "--selector=batch.kubernetes.io/job-name"]);
    eventually_or(SOON, || jobs().is_empty(), || format!("{:#}", json!(jobs())));
}
