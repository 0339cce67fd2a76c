//! What is somebody else's is never written to, and what is not there is asked about in words that name it.

use super::{ASKS, SOON, asked, create, ready};
use crate::harness::{Space, Thing, eventually, eventually_or, kubectl_with, shared};
use serde_json::{Value, json};

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

/// A spec that names a claim is no word of whoever the claim belongs to.
#[test]
fn a_claim_of_dumps_is_taken_over_where_an_earlier_object_has_left_it_and_from_nobody_else() {
    let _turn = shared();
    let space = Space::new("strange-dumps");
    let claim = |labels: Value| {
        json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "db-backups", "labels": labels },
            "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } } })
    };
    let fields = json!({ "restoreFrom": { "claimName": "db-backups" }, "deletionPolicy": "Delete" });
    space.kubectl_with(&["create", "--filename", "-"], &claim(json!({ "app.kubernetes.io/managed-by": "Helm" })).to_string()).ok();
    let written = || {
        let claim = space.object("pvc/db-backups");
        json!([claim["metadata"]["uid"], claim["metadata"]["labels"], claim["metadata"]["annotations"]["pointsman.dev/adopted"]])
    };
    let before = written();
    // Its own dumps would go there.
    let base = create(&space, "db", &json!({ "restoreFrom": { "claimName": "db-backups" } }));
    let question = asked(&base, "ChildConflict");
    assert!(question["evidence"].to_string().contains("db-backups"), "{question:#}");
    // One that keeps none reads it.
    base.patch(r#"{"deletionPolicy":"Delete"}"#).ok();
    mended(&base);
    base.kubectl("delete", &["--wait=false"]).ok();
    eventually_or(ASKS, || base.seen().is_null(), || format!("{:#}", base.status()));
    assert_eq!(written(), before, "what is somebody else's was written to");
    // Its labels say whose it was: so does whoever makes a claim around a volume of dumps.
    space.kubectl(&["label", "pvc/db-backups", "app.kubernetes.io/instance=db", "pointsman.dev/kind=Database"]).ok();
    let base = ready(&space, "db", &fields);
    assert_eq!(written()[2], "true");
    base.kubectl("delete", &["--wait=false"]).ok();
    eventually_or(ASKS, || base.seen().is_null(), || format!("{:#}", base.status()));
    assert_eq!(written()[0], before[0], "what another object has left was deleted on the word of this one");
}

/// Somebody who may label a pod as he likes.
#[test]
fn a_pod_that_calls_itself_the_primary_is_led_to_by_nobody() {
    let _turn = shared();
    let space = Space::new("false-primary");
    ready(&space, "db", &json!({}));
    let labels = json!({ "statefulset.kubernetes.io/pod-name": "db-0" });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "false", "labels": labels },
        "spec": { "containers": [{ "name": "server", "image": "registry.k8s.io/pause:3.10", "ports": [{ "containerPort": 5432 }] }] } });
    space.kubectl_with(&["create", "--filename", "-"], &pod.to_string()).ok();
    // A Service of its own finds it, so whoever looks for it would have by now.
    let own = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "own" },
        "spec": { "selector": labels, "ports": [{ "port": 5432 }] } });
    space.kubectl_with(&["create", "--filename", "-"], &own.to_string()).ok();
    let led = |service: &str| {
        let slices = space.object_list(&["endpointslices", &format!("--selector=kubernetes.io/service-name={service}")]);
        let endpoints = slices.iter().flat_map(|slice| slice["endpoints"].as_array().cloned().unwrap_or_default());
        let mut pods: Vec<String> = endpoints.filter_map(|endpoint| Some(endpoint["targetRef"]["name"].as_str()?.to_owned())).collect();
        pods.sort();
        pods.dedup();
        pods
    };
    eventually(SOON, "the pod is found by its label", || led("own") == ["db-0", "false"]);
    assert_eq!([led("db"), led("db-ro"), led("db-pods")], [["db-0"]; 3]);
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
