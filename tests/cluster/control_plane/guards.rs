//! Somebody who may write these kinds, and nothing else of the namespace: what would reach further is refused.

use super::attempts::Attempt;
use super::databases;
use crate::harness::{Space, eventually, golden, shared};
use pointsman::kinds::annotations::PROTECTED;
use serde_json::{Value, json};

const MEMCACHED: &str = "mc/cache";
const DATABASE: &str = "db/db";

/// What the deputy tries: by name, of which object, and the change.
fn attempts() -> Vec<(&'static str, &'static str, Value)> {
    let spec = |fields: Value| json!({ "spec": fields });
    let pods = json!({ "podTemplate": { "spec": { "serviceAccountName": "payments" } } });
    vec![
        ("memcached-pods", MEMCACHED, spec(pods.clone())),
        ("database-pods", DATABASE, spec(pods)),
        ("database-service", DATABASE, spec(json!({ "service": { "type": "NodePort" } }))),
        (
            "database-names",
            DATABASE,
            spec(json!({ "service": { "annotations": { "external-dns.alpha.kubernetes.io/hostname": "shop.example.com" } } })),
        ),
        ("database-deletion", DATABASE, spec(json!({ "deletionPolicy": "Delete" }))),
        ("memcached-protection", MEMCACHED, json!({ "metadata": { "annotations": { PROTECTED: null } } })),
        ("database-protection", DATABASE, json!({ "metadata": { "annotations": { PROTECTED: "false" } } })),
    ]
}

#[test]
fn who_may_write_these_kinds_alone_reaches_nothing_else() {
    let _turn = shared();
    let space = Space::new("guards");
    databases::create(&space, "db", &json!({}));
    space.memcached("cache", "{}");
    for thing in [MEMCACHED, DATABASE] {
        space.kubectl(&["annotate", thing, &format!("{PROTECTED}=true")]).ok();
    }
    let kinds = "--resource=memcacheds.cache.example.com,databases.stable.imaginedata.com";
    space.kubectl(&["create", "role", "writer", "--verb=get,list,create,patch,update,delete", kinds]).ok();
    space.kubectl(&["create", "rolebinding", "writer", "--role=writer", "--user=writer"]).ok();
    let may = |verb: &str, what: &str| space.kubectl(&["auth", "can-i", verb, what, "--as=writer"]).out.trim() == "yes";
    eventually(20, "the writer's rights are known", || may("patch", "databases.stable.imaginedata.com"));
    // What reaches nothing else is theirs to write.
    for thing in [MEMCACHED, DATABASE] {
        space.kubectl(&["patch", thing, "--type=merge", "--patch", r#"{"spec":{"replicas":2}}"#, "--as=writer"]).ok();
    }
    let tried = |name: &str, thing: &str, change: &Value| {
        Attempt::command(name, &["patch", thing, "--type=merge", "--patch", &change.to_string(), "--as=writer"])
    };
    for (name, thing, change) in attempts() {
        let attempt = tried(name, thing, &change);
        let refused = attempt.run(&space);
        assert_eq!(refused.code, 1, "{name}: {}", refused.text());
        assert_eq!(golden::difference(&format!("guards/{name}.txt"), &attempt.transcript(&refused, &space)), None);
    }
    let restored = json!({ "apiVersion": "stable.imaginedata.com/v1alpha1", "kind": "Database", "metadata": { "name": "other" },
        "spec": { "name": "shop", "storage-size": "1Gi", "v1": { "restoreFrom": { "claimName": "payments" } } } });
    let attempt = Attempt::manifest("database-restored", &["create", "--as=writer"], &restored);
    let refused = attempt.run(&space);
    assert_eq!(refused.code, 1, "{}", refused.text());
    assert_eq!(golden::difference("guards/database-restored.txt", &attempt.transcript(&refused, &space)), None);
    // Whoever may make pods, and Services, and answer, may all of that.
    space.kubectl(&["create", "role", "maker", "--verb=create", "--resource=pods,services"]).ok();
    space.kubectl(&["create", "rolebinding", "maker", "--role=maker", "--user=writer"]).ok();
    space.kubectl(&["create", "rolebinding", "answers", "--clusterrole=pointsman-answers", "--user=writer"]).ok();
    eventually(20, "further rights are known", || may("create", "services") && may("answer", "databases.stable.imaginedata.com"));
    for (name, thing, change) in attempts() {
        let taken = tried(name, thing, &change).run(&space);
        assert_eq!(taken.code, 0, "{name}: {}", taken.text());
    }
}
