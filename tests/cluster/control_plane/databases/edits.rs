//! Every row of the change table: what is said of it before, the way that it leads, and what it leaves behind.

use super::super::attempts::Attempt;
use super::{SOON, ready};
use crate::harness::{Space, Thing, eventually_or, golden, shared};
use pointsman::kinds::Served;
use pointsman::kinds::database::Database;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FOLDER: &str = "database-plans";

/// An edit that is made, the states that it leads through, and what is so then of a child.
struct Edit {
    /// Its golden file: what is said of it on a dry run.
    name: &'static str,
    field: &'static str,
    spec: fn() -> Value,
    ways: &'static [&'static str],
    /// Is another pod of the primary's name there afterwards?
    restarts: bool,
    child: &'static str,
    leaves: Leaves,
}

/// What an edit leaves of a child.
enum Leaves {
    /// A field with this value.
    Field(&'static str, fn() -> Value),
    /// A field with these words in it.
    Words(&'static str, &'static str),
    /// Another object than before.
    Another,
}
use Leaves::{Another, Field, Words};

const EDITS: &[Edit] = &[
    Edit {
        name: "more",
        field: "spec.replicas",
        spec: || json!({ "replicas": 3 }),
        ways: &["Ready", "Scaling", "Ready"],
        restarts: false,
        child: "statefulset/db",
        leaves: Field("/spec/replicas", || json!(3)),
    },
    Edit {
        name: "fewer",
        field: "spec.replicas",
        spec: || json!({ "replicas": 2 }),
        ways: &["Ready", "Scaling", "Ready"],
        restarts: false,
        child: "poddisruptionbudget/db",
        leaves: Field("/spec/maxUnavailable", || json!(1)),
    },
    Edit {
        name: "image-newer",
        field: "spec.image",
        spec: || json!({ "image": "postgres:17.12" }),
        ways: &["Ready", "Probing", "Restarting", "Ready"],
        restarts: true,
        child: "pod/db-0",
        leaves: Field("/spec/containers/0/image", || json!("postgres:17.12")),
    },
    Edit {
        name: "image-older",
        field: "spec.image",
        spec: || json!({ "image": "postgres:17.10" }),
        ways: &["Ready", "Probing", "Restarting", "Ready"],
        restarts: true,
        child: "pod/db-0",
        leaves: Field("/spec/containers/0/image", || json!("postgres:17.10")),
    },
    Edit {
        name: "setting-unknown",
        field: "spec.parameters",
        spec: || json!({ "parameters": { "work_mem": "8MB" } }),
        ways: &["Ready", "Probing", "Restarting", "Ready"],
        restarts: false,
        child: "configmap/db-settings",
        leaves: Words("/data/reloaded.conf", "work_mem = '8MB'"),
    },
    Edit {
        name: "setting-reloaded",
        field: "spec.parameters",
        spec: || json!({ "parameters": { "work_mem": "16MB" } }),
        ways: &["Ready", "Probing", "Restarting", "Ready"],
        restarts: false,
        child: "job/db-generation",
        leaves: Another,
    },
    Edit {
        name: "setting-that-restarts",
        field: "spec.parameters",
        spec: || json!({ "parameters": { "work_mem": "16MB", "max_connections": "200" } }),
        ways: &["Ready", "Probing", "Restarting", "Ready"],
        restarts: true,
        child: "pod/db-1",
        leaves: Another,
    },
    Edit {
        name: "extension",
        field: "spec.extensions",
        spec: || json!({ "extensions": [{ "name": "pg_trgm" }] }),
        ways: &["Ready", "Probing", "Initializing", "Ready"],
        restarts: false,
        child: "job/db-init",
        leaves: Another,
    },
    Edit {
        name: "extension-loaded-at-start",
        field: "spec.extensions",
        spec: || json!({ "extensions": [{ "name": "pg_trgm" }, { "name": "pg_stat_statements" }] }),
        ways: &["Ready", "Probing", "Restarting", "Initializing", "Ready"],
        restarts: true,
        child: "job/db-init",
        leaves: Another,
    },
    Edit {
        name: "growth",
        field: "spec.storage",
        spec: || json!({ "storage": { "size": "2Gi" } }),
        ways: &["Ready", "ExpandingStorage", "Restarting", "Ready"],
        restarts: false,
        child: "pvc/data-db-1",
        leaves: Field("/status/capacity/storage", || json!("2Gi")),
    },
    Edit {
        name: "resources",
        field: "spec.resources",
        spec: || json!({ "resources": { "requests": { "cpu": "200m" } } }),
        ways: &["Ready", "Restarting", "Ready"],
        restarts: true,
        child: "pod/db-0",
        leaves: Field("/spec/containers/0/resources/requests/cpu", || json!("200m")),
    },
    Edit {
        name: "pod-template",
        field: "spec.podTemplate",
        spec: || json!({ "podTemplate": { "metadata": { "labels": { "team": "shop" } } } }),
        ways: &["Ready", "Restarting", "Ready"],
        restarts: true,
        child: "pod/db-1",
        leaves: Field("/metadata/labels/team", || json!("shop")),
    },
    // What serves nobody at once leads nowhere else.
    Edit {
        name: "backup",
        field: "spec.backup",
        spec: || json!({ "backup": { "schedule": "30 2 * * *", "timeZone": "Europe/Berlin" } }),
        ways: &[],
        restarts: false,
        child: "cronjob/db",
        leaves: Field("/spec/schedule", || json!("30 2 * * *")),
    },
    Edit {
        name: "backup-later",
        field: "spec.backup",
        spec: || json!({ "backup": { "schedule": "30 3 * * *" } }),
        ways: &[],
        restarts: false,
        child: "cronjob/db",
        leaves: Field("/spec/schedule", || json!("30 3 * * *")),
    },
    Edit {
        name: "service",
        field: "spec.service",
        spec: || json!({ "service": { "type": "NodePort" } }),
        ways: &[],
        restarts: false,
        child: "service/db",
        leaves: Field("/spec/type", || json!("NodePort")),
    },
    Edit {
        name: "policy-delete",
        field: "spec.deletionPolicy",
        spec: || json!({ "deletionPolicy": "Delete" }),
        ways: &[],
        restarts: false,
        child: "db/db",
        leaves: Field("/status/applied/spec/deletionPolicy", || json!("Delete")),
    },
    Edit {
        name: "policy-retain",
        field: "spec.deletionPolicy",
        spec: || json!({ "deletionPolicy": "Retain" }),
        ways: &[],
        restarts: false,
        child: "db/db",
        leaves: Field("/status/applied/spec/deletionPolicy", || json!("Retain")),
    },
];

/// What is said of the edit before it is made: the way that it will take, in the words of the golden file.
#[track_caller]
fn foresee(space: &Space, edit: &Edit) {
    let patch = json!({ "spec": (edit.spec)() }).to_string();
    let attempt = Attempt::command(edit.name, &["patch", "db/db", "--type=merge", "--patch", &patch, "--dry-run=server"]);
    let told = attempt.run(space);
    assert_eq!(told.code, 0, "{}", told.text());
    let plan = told.err.lines().find_map(|line| line.strip_prefix("Warning: db/db: ")).unwrap_or_default();
    let way: Vec<&str> = plan.split("; ").next().unwrap_or_default().split(" -> ").collect();
    // A library that only a start loads is known once the image has been asked.
    let aside = |state: &&&str| **state == "Restarting" && plan.contains("Restarting comes first");
    let taken: Vec<&str> = edit.ways.iter().filter(|state| !aside(state)).copied().collect();
    assert_eq!(way, if taken.is_empty() { vec!["Ready"] } else { taken }, "{}: {plan}", edit.name);
    assert_eq!(golden::difference(&format!("{FOLDER}/{}.txt", edit.name), &attempt.transcript(&told, space)), None);
}

#[track_caller]
fn make(space: &Space, base: &Thing<'_>, edit: &Edit) {
    let (spec, told) = ((edit.spec)(), || base.status()["history"].clone());
    let uid = |what: &str| space.object(what)["metadata"]["uid"].clone();
    let (before, child, pod) = (told(), uid(edit.child), uid("pod/db-0"));
    base.patch(&spec.to_string()).ok();
    eventually_or(SOON, || base.is_ready_as_asked(), || format!("{spec}: {:?}\n{:#}", base.history(), base.status()));
    let is_so = || match edit.leaves {
        Field(pointer, value) => space.object(edit.child).pointer(pointer) == Some(&value()),
        Words(pointer, words) => space.object(edit.child).pointer(pointer).is_some_and(|text| text.as_str().unwrap().contains(words)),
        Another => uid(edit.child).is_string() && uid(edit.child) != child,
    };
    eventually_or(SOON, is_so, || format!("{spec}: {} is {:#}", edit.child, space.object(edit.child)));
    if edit.ways.is_empty() {
        assert_eq!(told(), before, "{spec}: {:?}", base.history());
    } else {
        base.went(edit.ways, 1);
    }
    assert_eq!(uid("pod/db-0") != pod, edit.restarts, "{spec}: was the primary restarted?");
}

#[test]
fn every_edit_goes_the_way_that_was_foreseen() {
    let _turn = shared();
    let space = Space::new("edits");
    let base = ready(&space, "db", &json!({ "replicas": 2, "image": "postgres:17.11" }));
    let uids = |what: &str| space.object_list(&[what]).iter().map(|one| one["metadata"]["uid"].to_string()).collect::<BTreeSet<_>>();
    let volumes = uids("pvc");
    for edit in EDITS {
        foresee(&space, edit);
        make(&space, &base, edit);
    }
    assert!(volumes.is_subset(&uids("pvc")), "a volume was replaced");
    let driven: BTreeSet<&str> = EDITS.iter().map(|edit| edit.field).collect();
    let rows = Database::changes_table().iter().filter(|row| row.raises.is_ok()).map(|row| row.field);
    assert_eq!(rows.filter(|field| !driven.contains(field)).collect::<Vec<_>>(), Vec::<&str>::new(), "nobody drives these");
    let stale: Vec<String> =
        golden::names(FOLDER).into_iter().filter(|file| !EDITS.iter().any(|edit| format!("{}.txt", edit.name) == *file)).collect();
    assert!(stale.is_empty(), "no edit prints {stale:?}");
}
