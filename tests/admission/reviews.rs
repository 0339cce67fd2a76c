//! What passes: plans, warnings, scales, conversions.

use crate::desk::{CONVERT, conversion, ready, review, router, scale, with, write};
use serde_json::{Value, json};

const VALIDATE: &str = "/validate/memcached/secret";

async fn judged(body: &Value) -> Value {
    review(router(vec![ready("cache", 3)], &[]), VALIDATE, body).await
}

fn warned(uid: &str, warnings: &[&str]) -> Value {
    if warnings.is_empty() { json!({ "uid": uid, "allowed": true }) } else { json!({ "uid": uid, "allowed": true, "warnings": warnings }) }
}

#[tokio::test]
async fn a_change_that_restarts_pods_prints_its_plan() {
    let old = ready("cache", 3);
    let answer = judged(&write("UPDATE", "v1", &old, &with(old.clone(), "/spec/memory", json!("128Mi")))).await;
    let uid = "705ab4f5-6393-11e8-b7cc-42010a800002";
    assert_eq!(answer, warned(uid, &["mc/cache: Ready -> Updating -> Ready; 3 pods restart one at a time, each starts empty"]));
    assert_eq!(judged(&write("UPDATE", "v1", &old, &with(old.clone(), "/spec/replicas", json!(4)))).await, warned(uid, &[]));
    let mut tried = write("UPDATE", "v1", &old, &with(old.clone(), "/spec/replicas", json!(4)));
    tried["request"]["dryRun"] = json!(true);
    assert_eq!(judged(&tried).await, warned(uid, &["mc/cache: Ready -> Scaling -> Ready"]));
}

#[tokio::test]
async fn warnings_are_lines_that_the_api_server_keeps() {
    let object =
        with(ready("cache", 3), "/metadata/annotations", json!({ "pointsman.dev/answer": format!("line\none\u{9b}{}", "→".repeat(200)) }));
    let answer = judged(&write("CREATE", "v1", &Value::Null, &object)).await;
    let warnings = answer["warnings"].as_array().expect("warnings");
    for warning in warnings.iter().map(|warning| warning.as_str().expect("text")) {
        assert!(warning.len() <= 256 && !warning.contains(char::is_control), "{warning:?}");
    }
    assert!(warnings[0].as_str().expect("text").starts_with("mc/cache: pointsman.dev/answer=line one →→"), "{warnings:?}");
}

#[tokio::test]
async fn an_object_that_nobody_watches_is_stored_with_a_warning() {
    let object = ready("cache", 3);
    for (watched, warns) in [(&["shop"][..], false), (&[], false), (&["other"], true)] {
        let answer = review(router(Vec::new(), watched), VALIDATE, &write("CREATE", "v1", &Value::Null, &object)).await;
        let warning = "mc/cache: nobody watches this namespace; the object is stored and nothing will happen";
        assert_eq!(answer["warnings"] == json!([warning]), warns, "{answer}");
        assert_eq!(answer["allowed"], true);
    }
}

#[tokio::test]
async fn a_scale_is_judged_as_the_edit_that_it_is() {
    assert_eq!(judged(&scale("cache", Some(4))).await, warned("1", &[]));
    assert_eq!(judged(&scale("cache", Some(3))).await, warned("1", &[]));
    assert_eq!(
        judged(&scale("cache", Some(1))).await,
        warned("1", &["mc/cache: Ready -> Scaling -> Ready; 2 pods go with what they cached"])
    );
    // Zero is written as nothing.
    assert_eq!(
        judged(&scale("cache", None)).await,
        warned("1", &["mc/cache: Ready -> Scaling -> Stopped; 3 pods go with what they cached"])
    );
    assert_eq!(judged(&scale("not-known-yet", Some(1000))).await, warned("1", &[]));
    let answer = judged(&scale("cache", Some(1000))).await;
    assert_eq!(
        answer["status"]["details"]["causes"][0],
        json!({ "reason": "FieldValueForbidden", "field": "spec.replicas", "message": "Forbidden: 1000 is not from 0 to 100" })
    );
    assert_eq!(answer["status"]["details"]["kind"], "Memcached");
}

async fn converted(to: &str, objects: &[Value]) -> Value {
    review(router(Vec::new(), &[]), CONVERT, &conversion(to, objects)).await
}

#[tokio::test]
async fn a_conversion_keeps_the_order_and_all_that_it_does_not_change() {
    let old = |index: i32| {
        let mut object = ready(&format!("cache-{index}"), index);
        object["apiVersion"] = json!("cache.example.com/v1alpha1");
        object["spec"] = json!({ "size": index, "v1": { "port": 12000 } });
        object["metadata"]["annotations"] = json!({ "example.com/note": "tägliche \"Sorge\"" });
        object["metadata"]["managedFields"] = json!([{ "manager": "kubectl", "fieldsV1": { "f:spec": { "f:size": {} } } }]);
        object["extra"] = json!({ "kept": [1, 2.5, null] });
        object
    };
    let mut objects: Vec<Value> = (0..20).map(old).collect();
    // One is of the wanted version already.
    objects[7] = ready("cache-7", 7);
    let answer = converted("cache.example.com/v1", &objects).await;
    assert_eq!(answer["result"], json!({ "status": "Success" }));
    let results = answer["convertedObjects"].as_array().expect("objects");
    assert_eq!(results.len(), objects.len());
    for (index, (before, after)) in objects.iter().zip(results).enumerate() {
        let mut expected = before.clone();
        if index != 7 {
            expected["apiVersion"] = json!("cache.example.com/v1");
            expected["spec"] = json!({
                "replicas": index, "memory": "64Mi", "maxItemSize": "1Mi", "maxConnections": 1024, "port": 12000,
                "resources": { "requests": { "cpu": "50m" } },
            });
        }
        assert_eq!(*after, expected);
    }
    let back = converted("cache.example.com/v1alpha1", results).await;
    assert_eq!(back["convertedObjects"][3], objects[3]);
}

#[tokio::test]
async fn an_object_without_a_spec_gets_every_default() {
    let object = json!({ "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": { "name": "x" } });
    let answer = converted("cache.example.com/v1", &[object]).await;
    assert_eq!(answer["convertedObjects"][0]["spec"]["replicas"], 1);
    assert_eq!(converted("cache.example.com/v1", &[]).await["convertedObjects"], json!([]));
}

#[tokio::test]
async fn what_is_not_known_fails_as_a_whole() {
    let object = |version: &str, kind: &str| json!({ "apiVersion": version, "kind": kind, "metadata": {}, "spec": {} });
    let cases = [
        (
            "cache.example.com/v1",
            object("cache.example.com/v1alpha1", "Other"),
            "no kind \"Other\" of group \"cache.example.com\" is known here",
        ),
        (
            "cache.example.com/v1",
            object("example.com/v1alpha1", "Memcached"),
            "no kind \"Memcached\" of group \"example.com\" is known here",
        ),
        (
            "cache.example.com/v1",
            object("cache.example.com/v2", "Memcached"),
            "Memcached has no version \"cache.example.com/v2\"; the versions of cache.example.com are v1, v1alpha1",
        ),
        (
            "cache.example.com/v2",
            object("cache.example.com/v1", "Memcached"),
            "Memcached has no version \"cache.example.com/v2\"; the versions of cache.example.com are v1, v1alpha1",
        ),
        (
            "v1",
            object("cache.example.com/v1", "Memcached"),
            "Memcached has no version \"v1\"; the versions of cache.example.com are v1, v1alpha1",
        ),
        ("cache.example.com/v1", json!({ "spec": {} }), "no kind \"\" of group \"\" is known here"),
        (
            "cache.example.com/v1",
            json!("text"),
            "an object is not readable: invalid type: string \"text\", expected a map at line 1 column 6",
        ),
    ];
    for (to, object, says) in cases {
        let answer = converted(to, &[ready("good", 1), object]).await;
        assert_eq!(answer["result"]["status"], "Failed");
        let message = answer["result"]["message"].as_str().expect("text");
        assert!(message == says || to != "cache.example.com/v1", "{message}");
        assert_eq!(answer["convertedObjects"], json!([]));
    }
}
