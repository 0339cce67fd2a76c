//! What is somebody else's is never written to, and what is not there is asked about in words that name it.

use super::{ASKS, SOON, asked, create};
use crate::harness::{Space, Thing, eventually_or, kubectl_with, shared};
use serde_json::json;

/// Waits until the answer to a question, or what closes it, has led to Ready.
#[track_caller]
fn mended(base: &Thing<'_>) {
    eventually_or(ASKS, || base.status()["state"] == "Ready", || format!("{:?}\n{:#}", base.history(), base.status()));
}

#[test]
fn a_secret_or_a_volume_of_somebody_elses_is_asked_about_and_left_as_it_is() {
    let _turn = shared();
    let volume = json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } });
    let strangers = [
        (
            "secret/db-app",
            json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "db-app" }, "stringData": { "password": "theirs" } }),
        ),
        (
            "pvc/data-db-0",
            json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "data-db-0" }, "spec": volume }),
        ),
    ];
    for (what, stranger) in strangers {
        let space = Space::new("strange-db");
        space.kubectl_with(&["create", "--filename", "-"], &stranger.to_string()).ok();
        let before = space.object(what);
        let base = create(&space, "db", &json!({}));
        let question = asked(&base, "ChildConflict");
        let name = what.split_once('/').unwrap().1;
        assert!(question["evidence"].to_string().contains(name), "{question:#}");
        let offered = question["answers"].to_string();
        assert!(offered.contains("retry") && !offered.contains("adopt"), "what holds data or a secret is offered: {offered}");
        // It is looked at, and asked about, again.
        base.answer("retry").ok();
        let again = || base.status()["intervention"]["id"].as_str().is_some_and(|id| question["id"] != id);
        eventually_or(ASKS, again, || format!("{:#}", base.status()));
        assert_eq!(space.object(what), before, "what is somebody else's was written to");
        space.kubectl(&["delete", what]).ok();
        // Nobody watches Secrets: they are read at every look.
        base.annotate("example.com/looked=once");
        mended(&base);
        assert_ne!(space.object(what)["metadata"]["uid"], before["metadata"]["uid"]);
    }
}

#[test]
fn an_extension_that_the_image_lacks_is_asked_about() {
    let _turn = shared();
    let space = Space::new("no-extension");
    let base = create(&space, "db", &json!({ "extensions": [{ "name": "unknown_one" }] }));
    let question = asked(&base, "ProbeFailed");
    assert!(question["evidence"].to_string().contains("has no extension unknown_one"), "{question:#}");
    base.patch(r#"{"extensions":null}"#).ok();
    mended(&base);
}

#[test]
fn a_storage_class_that_is_not_there_is_named_until_somebody_makes_it() {
    let _turn = shared();
    let space = Space::new("no-class");
    let class = space.name.clone();
    let words = format!("no StorageClass is called {class}");
    let base = create(&space, "db", &json!({ "storage": { "size": "1Gi", "storageClassName": class } }));
    let waits = || base.status()["waitingFor"].to_string().contains(&words);
    eventually_or(SOON, waits, || format!("{:#}", base.status()));
    let question = asked(&base, "ProvisioningStuck");
    assert!(question["evidence"].to_string().contains(&words), "{question:#}");
    let made = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": class },
        "provisioner": "storage.example.com/played", "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": true });
    kubectl_with(&["create", "--filename", "-"], &made.to_string()).ok();
    mended(&base);
    crate::harness::kubectl(&["delete", "storageclass", &class]).ok();
}
