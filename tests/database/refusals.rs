//! Specs that break a rule: fields in place of those of a spec that says the least. The unit tests hold our own words against
//! them; a cluster's tests, what a person sees.

use serde_json::{Value, json};

fn names(count: usize) -> Vec<Value> {
    (0..count).map(|number| json!({ "name": format!("e{number}") })).collect()
}

/// Each case is refused; the golden file of its name holds every text.
pub fn refusals() -> Vec<(&'static str, Value)> {
    let parameters = |parameters: Value| json!({ "parameters": parameters });
    let backup = |schedule: &str| json!({ "backup": { "schedule": schedule } });
    let many: Value = (0..101).map(|number| (format!("a.b{number}"), json!("1"))).collect::<serde_json::Map<_, _>>().into();
    vec![
        ("annotation", json!({ "service": { "annotations": { "a b": "c", "pointsman.dev/x": "y" } } })),
        ("backup-retain", json!({ "backup": { "retain": 0 } })),
        ("backup-storage", json!({ "backup": { "storage": { "size": "1Ki", "storageClassName": "Slow" } } })),
        ("cron-day-that-never-comes", backup("0 0 30 2 *")),
        ("cron-empty", backup("")),
        ("cron-hour", backup("0 24 * * *")),
        ("cron-range", backup("0 5-3 * * *")),
        ("cron-six-fields", backup("0 0 2 * * *")),
        ("cron-step", backup("*/0 * * * *")),
        ("cron-sunday", backup("0 0 * * 7")),
        ("cron-word", backup("@daily")),
        ("database-empty", json!({ "databaseName": "" })),
        ("database-long", json!({ "databaseName": "n".repeat(64) })),
        ("database-quoted", json!({ "databaseName": "a\"; DROP TABLE x; --\n" })),
        ("database-reserved", json!({ "databaseName": "template1" })),
        ("database-unicode", json!({ "databaseName": "größe" })),
        ("extensions", json!({ "extensions": [{ "name": "pg_trgm" }, { "name": "a--b" }, { "name": "../x" }, { "name": "pg_trgm" }] })),
        ("extensions-many", json!({ "extensions": names(65) })),
        ("image", json!({ "image": "Postgres:17" })),
        ("numbers", json!({ "port": 80, "replicas": 0 })),
        ("parameters-long", parameters(json!({ "a.b": "x".repeat(1025), "a.c": "line\nbreak" }))),
        ("parameters-many", parameters(many)),
        ("parameters-name", parameters(json!({ "": "1", "work mem": "1", "a.": "1", "naïve": "1", "9a": "1" }))),
        ("parameters-owned", parameters(json!({ "FSYNC": "off", "ssl_ca_file": "x", "port": "1", "include": "x", "work_mem": "4MB" }))),
        ("parameters-twice", parameters(json!({ "TimeZone": "UTC", "timezone": "UTC" }))),
        ("ranges", json!({ "service": { "loadBalancerSourceRanges": ["10.0.0.0", "10.0.0.0/33", "all"] } })),
        ("reserved-label", json!({ "podTemplate": { "metadata": { "labels": { "app.kubernetes.io/name": "x" } } } })),
        ("resources", json!({ "resources": { "requests": { "cpu": "2" }, "limits": { "cpu": "1", "foo": "1" } } })),
        ("restore-from", json!({ "restoreFrom": { "claimName": "A b", "file": "../../etc/passwd" } })),
        (
            "several-at-once",
            json!({ "databaseName": "postgres", "port": 1, "storage": { "size": "0" }, "image": "", "backup": { "schedule": "x", "timeZone": "y" } }),
        ),
        ("size-0", json!({ "storage": { "size": "0" } })),
        ("size-a-byte-less", json!({ "storage": { "size": 268_435_455 } })),
        ("size-negative", json!({ "storage": { "size": "-1Gi" } })),
        ("size-no-quantity", json!({ "storage": { "size": "50GB" } })),
        ("size-over", json!({ "storage": { "size": "100E" } })),
        ("storage-class", json!({ "storage": { "size": "1Gi", "storageClassName": "Fast SSD" } })),
        ("time-zone", json!({ "backup": { "timeZone": "Mars/Olympus" } })),
        ("time-zone-capitals", json!({ "backup": { "timeZone": "europe/berlin" } })),
        ("too-large", json!({ "podTemplate": { "metadata": { "annotations": { "a": "x".repeat(300_000) } } } })),
    ]
}
