//! Every row of the change table: the way that it leads, and what it leaves behind.

use super::{SOON, ready};
use crate::harness::{Space, Thing, eventually_or, shared};
use pointsman::kinds::Served;
use pointsman::kinds::database::Database;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An edit that is made, the states that it leads through, and what is so then of a child.
struct Edit {
    field: &'static str,
    spec: fn() -> Value,
    ways: &'static [&'static str],
    child: &'static str,
    pointer: &'static str,
    becomes: fn() -> Value,
}

const EDITS: &[Edit] = &[
    Edit {
        field: "spec.replicas",
        spec: || json!({ "replicas": 3 }),
        ways: &["Ready", "Scaling", "Ready"],
        child: "statefulset/db",
        pointer: "/spec/replicas",
        becomes: || json!(3),
    },
    Edit {
        field: "spec.replicas",
        spec: || json!({ "replicas": 2 }),
        ways: &["Ready", "Scaling", "Ready"],
        child: "poddisruptionbudget/db",
        pointer: "/spec/maxUnavailable",
        becomes: || json!(1),
    },
    Edit {
        field: "spec.image",
        spec: || json!({ "image": "postgres:17.12" }),
        ways: &["Ready", "Probing", "Restarting", "Ready"],
        child: "pod/db-0",
        pointer: "/spec/containers/0/image",
        becomes: || json!("postgres:17.12"),
    },
    Edit {
        field: "spec.parameters",
        spec: || json!({ "parameters": { "work_mem": "8MB" } }),
        ways: &["Ready", "Probing", "Restarting", "Ready"],
        child: "configmap/db-settings",
        pointer: "/metadata/name",
        becomes: || json!("db-settings"),
    },
    Edit {
        field: "spec.parameters",
        spec: || json!({ "parameters": { "work_mem": "16MB" } }),
        ways: &["Ready", "Probing", "Restarting", "Ready"],
        child: "job/db-generation",
        pointer: "/status/succeeded",
        becomes: || json!(1),
    },
    Edit {
        field: "spec.parameters",
        spec: || json!({ "parameters": { "work_mem": "16MB", "max_connections": "200" } }),
        ways: &["Ready", "Probing", "Restarting", "Ready"],
        child: "pod/db-0",
        pointer: "/status/phase",
        becomes: || json!("Running"),
    },
    Edit {
        field: "spec.extensions",
        spec: || json!({ "extensions": [{ "name": "pg_trgm" }] }),
        ways: &["Ready", "Probing", "Initializing", "Ready"],
        child: "job/db-init",
        pointer: "/status/succeeded",
        becomes: || json!(1),
    },
    Edit {
        field: "spec.storage",
        spec: || json!({ "storage": { "size": "2Gi" } }),
        ways: &["Ready", "ExpandingStorage", "Restarting", "Ready"],
        child: "pvc/data-db-1",
        pointer: "/status/capacity/storage",
        becomes: || json!("2Gi"),
    },
    Edit {
        field: "spec.resources",
        spec: || json!({ "resources": { "requests": { "cpu": "200m" } } }),
        ways: &["Ready", "Restarting", "Ready"],
        child: "pod/db-0",
        pointer: "/spec/containers/0/resources/requests/cpu",
        becomes: || json!("200m"),
    },
    Edit {
        field: "spec.podTemplate",
        spec: || json!({ "podTemplate": { "metadata": { "labels": { "team": "shop" } } } }),
        ways: &["Ready", "Restarting", "Ready"],
        child: "pod/db-1",
        pointer: "/metadata/labels/team",
        becomes: || json!("shop"),
    },
    // What serves nobody at once leads nowhere else.
    Edit {
        field: "spec.backup",
        spec: || json!({ "backup": { "schedule": "30 2 * * *", "timeZone": "Europe/Berlin" } }),
        ways: &[],
        child: "cronjob/db",
        pointer: "/spec/schedule",
        becomes: || json!("30 2 * * *"),
    },
    Edit {
        field: "spec.backup",
        spec: || json!({ "backup": { "schedule": "30 3 * * *" } }),
        ways: &[],
        child: "cronjob/db",
        pointer: "/spec/schedule",
        becomes: || json!("30 3 * * *"),
    },
    Edit {
        field: "spec.service",
        spec: || json!({ "service": { "type": "NodePort" } }),
        ways: &[],
        child: "service/db",
        pointer: "/spec/type",
        becomes: || json!("NodePort"),
    },
    Edit {
        field: "spec.deletionPolicy",
        spec: || json!({ "deletionPolicy": "Retain" }),
        ways: &[],
        child: "db/db",
        pointer: "/status/applied/spec/deletionPolicy",
        becomes: || json!("Retain"),
    },
];

#[track_caller]
fn make(space: &Space, base: &Thing<'_>, edit: &Edit) {
    let (spec, told) = ((edit.spec)(), || base.history().len());
    let before = told();
    base.patch(&spec.to_string()).ok();
    eventually_or(SOON, || base.is_ready_as_asked(), || format!("{spec}: {:?}\n{:#}", base.history(), base.status()));
    let is_so = || space.object(edit.child).pointer(edit.pointer) == Some(&(edit.becomes)());
    eventually_or(SOON, is_so, || format!("{spec}: {} is {:#}", edit.child, space.object(edit.child)));
    if edit.ways.is_empty() {
        assert_eq!(told(), before, "{spec}: {:?}", base.history());
    } else {
        base.went(edit.ways, 1);
    }
}

#[test]
fn every_edit_goes_its_way() {
    let _turn = shared();
    let space = Space::new("edits");
    let base = ready(&space, "db", &json!({ "replicas": 2, "image": "postgres:17.11" }));
    let uids = |what: &str| space.object_list(&[what]).iter().map(|one| one["metadata"]["uid"].to_string()).collect::<BTreeSet<_>>();
    let volumes = uids("pvc");
    for edit in EDITS {
        make(&space, &base, edit);
    }
    assert!(volumes.is_subset(&uids("pvc")), "a volume was replaced");
    let driven: BTreeSet<&str> = EDITS.iter().map(|edit| edit.field).collect();
    let rows = Database::changes_table().iter().filter(|row| row.raises.is_ok()).map(|row| row.field);
    assert_eq!(rows.filter(|field| !driven.contains(field)).collect::<Vec<_>>(), Vec::<&str>::new(), "nobody drives these");
}
