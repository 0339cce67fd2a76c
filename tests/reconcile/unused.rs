//! What every Database of a namespace shares is removed once nobody needs it, and no sooner.

use super::fake::Fake;
use super::run_of;
use pointsman::kinds::Served;
use pointsman::kinds::database::Database;
use serde_json::{Value, json};
use std::time::Duration;

const OLD: &str = "pointsman-database-scripts-0123456789abcdef";

fn map(name: &str) -> Value {
    let labels = json!({ "app.kubernetes.io/managed-by": "pointsman", "pointsman.dev/shared-by": "Database" });
    let created = "2026-01-02T03:04:05Z";
    let written = json!([{ "manager": "pointsman", "operation": "Update", "time": created }]);
    json!({ "immutable": true, "metadata": { "name": name, "namespace": "shop", "uid": format!("uid-of-{name}"), "resourceVersion": "7",
        "labels": labels, "creationTimestamp": created, "managedFields": written } })
}

fn volumes(name: &str) -> Value {
    json!([{ "name": "scripts", "configMap": { "name": name } }])
}

/// A server that runs on although its StatefulSet names other scripts.
fn pod(name: &str) -> Value {
    let labels = json!({ "app.kubernetes.io/managed-by": "pointsman" });
    json!({ "metadata": { "name": "db-0", "namespace": "shop", "uid": "pod", "resourceVersion": "7", "labels": labels },
        "spec": { "containers": [], "volumes": volumes(name) } })
}

fn mounting(name: &str) -> Value {
    let volumes = volumes(name);
    json!({ "metadata": { "name": "db", "namespace": "shop", "uid": "set", "resourceVersion": "7" },
        "spec": { "serviceName": "db", "selector": {}, "template": { "spec": { "containers": [], "volumes": volumes } } } })
}

fn database() -> Value {
    json!({ "apiVersion": "stable.imaginedata.com/v1", "kind": "Database",
        "metadata": { "name": "db", "namespace": "shop", "uid": "u-1", "resourceVersion": "42", "generation": 1,
            "annotations": { "pointsman.dev/paused": "true" } },
        "spec": { "storage": { "size": "1Gi" } } })
}

/// The maps that are removed within this time.
async fn removed(lists: &[(&str, Value)], minutes: u64) -> Vec<String> {
    // By its name each is found as the first of them is.
    let first = lists.iter().find(|(list, _)| *list == "configmaps").map(|(_, map)| ("configmaps?", map.clone()));
    let lists: Vec<_> = lists.iter().cloned().chain(first).collect();
    let fake = Fake::new(&lists, |_, _| None);
    run_of::<Database>(&fake, Duration::from_mins(minutes)).await;
    let calls = fake.calls().into_iter();
    calls.filter_map(|call| call.strip_prefix("DELETE /api/v1/namespaces/shop/configmaps/").map(str::to_owned)).collect()
}

#[tokio::test(start_paused = true)]
async fn scripts_go_once_nobody_needs_them() {
    let current = Database::shared().expect("scripts");
    let both = [("configmaps", map(current)), ("configmaps", map(OLD))];
    assert_eq!(removed(&both, 4).await, [""; 0], "what is seen once may be new");
    let mut all = removed(&both, 8).await;
    all.sort();
    assert_eq!(all, [OLD, current]);
    let with_a_database = [both[0].clone(), both[1].clone(), ("databases", database())];
    assert_eq!(removed(&with_a_database, 8).await, [OLD]);
    // Whatever label the servers carry that mount them.
    for (seen, mounting) in [("statefulsets", mounting(OLD)), ("statefulsets!", mounting(OLD)), ("pods", pod(OLD))] {
        let mounted = [both[0].clone(), both[1].clone(), (seen, mounting)];
        assert_eq!(removed(&mounted, 8).await, [current], "{seen}");
    }
    // As one that was restored from a backup, before what mounts it.
    let mut restored = map(OLD);
    restored["metadata"]["managedFields"][0]["time"] = json!("2025-01-02T03:04:05Z");
    assert_eq!(removed(&[("configmaps", restored)], 8).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn maps_of_others_are_left_alone() {
    let mut owned = map(OLD);
    owned["metadata"]["labels"]["pointsman.dev/owner-uid"] = json!("u-1");
    let mut theirs = map("theirs");
    theirs["metadata"]["labels"]["pointsman.dev/shared-by"] = json!("Vault");
    let lists = [("configmaps", owned), ("configmaps", theirs)];
    assert_eq!(removed(&lists, 20).await, [""; 0]);
}
