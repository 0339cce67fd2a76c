//! Databases in a service mesh that puts a container which never ends into every pod, whatever the pod says of that.

use super::backups::{SCHEDULE, back_up, tells};
use super::{SOON, asked, create, ready, saying};
use crate::harness::mesh::{Habit, Mesh, PROXY};
use crate::harness::{Space, Thing, audit, eventually_or, shared};
use serde_json::{Value, json};
use std::time::Duration;

/// What the simulated nodes play.
const IMAGE: &str = "docker.io/library/memcached:1.6";
const JOBS: &str = "--selector=batch.kubernetes.io/job-name";

fn over(space: &Space, habit: Habit) -> Mesh {
    Mesh::over(space, habit, IMAGE, &["sleep", "infinity"])
}

/// Jobs' pods that have not ended.
#[track_caller]
fn running(space: &Space) -> Vec<String> {
    let ended = |pod: &Value| ["Succeeded", "Failed"].iter().any(|phase| pod["status"]["phase"] == *phase);
    let pods = space.object_list(&["pods", JOBS]).into_iter().filter(|pod| !ended(pod));
    pods.map(|pod| pod["metadata"]["name"].to_string()).collect()
}

/// Nothing is mended that nobody has broken.
#[track_caller]
fn settles(space: &Space, base: &Thing<'_>) {
    eventually_or(SOON, || running(space).is_empty(), || format!("{:?}", running(space)));
    eventually_or(SOON, || base.is_ready_as_asked(), || format!("{:#}", base.status()));
    std::thread::sleep(Duration::from_secs(2));
    let mark = audit::mark();
    std::thread::sleep(Duration::from_secs(5));
    space.unwritten(mark, "what the mesh has changed is fought over");
    let history = base.history();
    assert!(history.iter().all(|told| !told.contains("Drift")), "{history:?}");
}

/// A backup that is made twice shows that the first one keeps none from being made.
#[track_caller]
fn backs_up_twice(space: &Space, base: &Thing<'_>, mesh: &Mesh) {
    for (name, times) in [("first", 1), ("second", 2)] {
        back_up(space, name);
        let is_over = || mesh.pods_of("backup").len() >= times && running(space).is_empty();
        tells(base, "lastSuccess");
        eventually_or(SOON, is_over, || format!("{:?}\n{:#}", running(space), base.status()));
    }
}

/// A whole life of a Database, from its probe to its restore.
pub fn lives(name: &str, habit: Habit) {
    let _turn = shared();
    let space = Space::new(name);
    let mesh = over(&space, habit);
    space.memcached("cache", "{replicas: 2}");
    let backup = json!({ "schedule": SCHEDULE });
    let base = ready(&space, "db", &json!({ "replicas": 2, "backup": backup }));
    space.ready("cache");
    let server = space.object("pod/db-0")["spec"].to_string();
    assert!(server.contains(PROXY), "the mesh does nothing: {server}");
    settles(&space, &base);
    backs_up_twice(&space, &base, &mesh);
    base.patch(r#"{"parameters":{"work_mem":"8MB"}}"#).ok();
    settles(&space, &base);

    let uid = base.seen()["metadata"]["uid"].as_str().unwrap().to_owned();
    base.kubectl("delete", &["--wait=false"]).ok();
    eventually_or(SOON, || base.seen().is_null(), || format!("{:?}\n{:#}", base.history(), base.status()));
    let tombstone = space.object(&format!("configmap/db-tombstone-{}", &uid[..5]));
    space.apply(tombstone["data"]["restore.yaml"].as_str().unwrap_or_else(|| panic!("{tombstone:#}"))).ok();
    base.ready_within(SOON);
    assert!(base.history().iter().any(|told| told.contains("Restoring")), "{:?}", base.history());
    settles(&space, &base);

    // Whatever such a mesh makes of it, each says to the others that it is to be left alone.
    for component in ["probe", "init", "backup", "generation", "snapshot", "restore"] {
        let pods = mesh.pods_of(component);
        assert!(!pods.is_empty(), "no pod of {component} was made");
        for meta in pods.iter().map(|pod| &pod["metadata"]) {
            assert_eq!(meta["labels"]["sidecar.istio.io/inject"], "false", "{meta:#}");
            assert_eq!(meta["annotations"]["sidecar.istio.io/inject"], "false", "{meta:#}");
            assert_eq!(meta["annotations"]["linkerd.io/inject"], "disabled", "{meta:#}");
        }
    }
}

#[test]
fn it_lives_where_the_mesh_comes_first() {
    lives("mesh-first", Habit::First);
}

#[test]
fn what_fails_in_a_mesh_is_tried_again_and_asked_about() {
    let _turn = shared();
    let space = Space::new("mesh-fails");
    let mesh = over(&space, Habit::First);
    let base = create(&space, "db", &json!({ "podTemplate": saying("init", "FAILED: psql: error: no") }));
    let question = asked(&base, "InitJobFailed");
    assert!(question["message"].as_str().unwrap_or_default().contains("psql: error: no"), "{question:#}");
    let is_over = || mesh.pods_of("init").len() == 3 && running(&space).is_empty();
    eventually_or(SOON, is_over, || {
        format!("{} attempts, as many as without a mesh are 3: {:?}", mesh.pods_of("init").len(), running(&space))
    });
}
