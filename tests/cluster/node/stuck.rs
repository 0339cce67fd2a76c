//! What stops a roll-out is told in the words of those it happens to.

use crate::harness::{ASKS, Space, bed, eventually, shared};

#[test]
fn more_connections_than_open_files_ends_in_memcacheds_own_words() {
    let _turn = shared();
    let space = Space::new("files");
    space.memcached("cache", "{maxConnections: 65535}");
    space.reaches("cache", "HumanIntervention", 60);
    let question = space.object("mc/cache")["status"]["intervention"].clone();
    assert_eq!(question["reason"], "ProvisioningStuck");
    let evidence = question["evidence"].to_string();
    assert!(evidence.contains("failed to set rlimit for open files"), "{evidence}");
    space.patch("cache", r#"{"maxConnections":1024}"#).ok();
    space.ready("cache");
}

#[test]
fn a_missing_image_asks_in_the_pods_own_words_and_old_pods_keep_serving() {
    let _turn = shared();
    let space = Space::new("image");
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    space.patch("cache", r#"{"image":"docker.io/library/memcached:no-such-tag"}"#).ok();
    space.reaches("cache", "HumanIntervention", ASKS);
    let status = space.object("mc/cache")["status"].clone();
    assert_eq!(status["intervention"]["reason"], "RolloutStuck");
    assert!(status["intervention"]["evidence"].to_string().contains("no-such-tag"), "{status}");
    assert_eq!(status["readyReplicas"], 2, "{status}");
    space.patch("cache", r#"{"image":"docker.io/library/memcached:1.6.38"}"#).ok();
    space.ready("cache");
}

/// Nothing but the answer ends it: the image has come, under the name that was asked for.
#[test]
fn a_missing_image_that_comes_later_is_tried_again() {
    let _turn = shared();
    let space = Space::new("comes");
    let image = format!("docker.io/library/memcached:{}", space.name);
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    space.patch("cache", &format!(r#"{{"image":"{image}"}}"#)).ok();
    space.reaches("cache", "HumanIntervention", ASKS);
    let asked = space.object("mc/cache");
    bed(&format!("image-tag docker.io/library/memcached:1.6 {image}"));
    space.answer("cache", "retry").ok();
    eventually(60, "the new image runs", || {
        let object = space.object("mc/cache");
        object["status"]["state"] == "Ready" && object["status"]["intervention"].is_null()
    });
    assert_eq!(space.object("mc/cache")["metadata"]["generation"], asked["metadata"]["generation"], "the spec was written to");
    let ran = space.object_list(&["pods"]);
    assert!(ran.iter().all(|pod| pod["spec"]["containers"][0]["image"] == image.as_str()) && ran.len() == 2, "{ran:?}");
}
