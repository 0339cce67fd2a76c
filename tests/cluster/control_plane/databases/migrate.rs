//! Databases that were stored as v1alpha1 are migrated like any kind: each is read as before, and its fields stay whose they were.

use super::super::migrate::{stored_from_now_on, stored_versions};
use super::{SOON, create};
use crate::harness::{Alone, Space, alone, etcd, operator};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const DEFINITION: &str = "customresourcedefinition/databases.stable.imaginedata.com";
const OLDER: &str = "databases.v1alpha1.stable.imaginedata.com";

/// The older version is what is stored, until this goes.
struct OlderIsStored(());

impl OlderIsStored {
    #[track_caller]
    fn set(_alone: &Alone) -> Self {
        stored_from_now_on(DEFINITION, "v1alpha1");
        OlderIsStored(())
    }
}

impl Drop for OlderIsStored {
    fn drop(&mut self) {
        stored_from_now_on(DEFINITION, "v1");
    }
}

/// An object without what every write changes.
fn read(space: &Space, resource: &str) -> Value {
    let mut object = space.object(resource);
    object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    object
}

/// Who owns fields of an object, and the versions that they are named in.
fn owners(space: &Space, name: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let object: Value =
        serde_json::from_str(&space.kubectl(&["get", &format!("db/{name}"), "--show-managed-fields", "--output=json"]).ok()).unwrap();
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let word = |key: &str| entries.iter().map(|entry| entry[key].as_str().unwrap_or_default().to_owned()).collect();
    (word("manager"), word("apiVersion"))
}

#[test]
fn databases_are_stored_as_v1_and_owned_as_before() {
    let turn = alone();
    let space = Space::new("db-migrate");
    let older = OlderIsStored::set(&turn);
    let flat = json!({ "apiVersion": "stable.imaginedata.com/v1alpha1", "kind": "Database", "metadata": { "name": "flat" },
        "spec": { "name": "shop", "storage-size": "1G" } });
    space.kubectl_with(&["apply", "--server-side", "--field-manager=platform", "--filename", "-"], &flat.to_string()).ok();
    create(&space, "full", &json!({ "parameters": { "work_mem": "8MB" } }));
    for name in ["flat", "full"] {
        space.db(name).ready_within(SOON);
    }
    drop(older);
    let stored = |version| etcd::count(&etcd::stored("stable.imaginedata.com/databases", &space.name), version);
    assert_eq!((stored("v1alpha1"), stored("v1")), (2, 0));
    assert!(owners(&space, "flat").1.contains("stable.imaginedata.com/v1alpha1"));
    let resources = ["db/flat", "db/full", &format!("{OLDER}/flat"), &format!("{OLDER}/full")];
    let before = (resources.map(|resource| read(&space, resource)), owners(&space, "flat").0, owners(&space, "full").0);

    let said = operator(&["migrate-storage"]);
    println!("{said}");
    assert_eq!((stored("v1alpha1"), stored("v1"), stored_versions(DEFINITION)), (0, 2, vec!["v1".to_owned()]), "{said}");
    let after = (resources.map(|resource| read(&space, resource)), owners(&space, "flat").0, owners(&space, "full").0);
    assert_eq!(before, after);
    assert_eq!(space.object(&format!("{OLDER}/flat"))["spec"]["storage-size"], "1G", "as it was spelled");
    for name in ["flat", "full"] {
        assert_eq!(owners(&space, name).1, BTreeSet::from(["stable.imaginedata.com/v1".to_owned()]), "{name}");
    }
}
