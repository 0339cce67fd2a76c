//! A cluster that migrates the storage by itself (Kubernetes 1.37), seen in its audit log; and objects that nobody may write,
//! where its controller shortens status.storedVersions although it has failed.

use super::migrate::{Run, stored_from_now_on, stored_versions};
use crate::harness::api::minor;
use crate::harness::{DEFINITION, Space, alone, audit, etcd, eventually, kubectl, kubectl_with};
use serde_json::{Value, json};

const NAME: &str = "pointsman-memcacheds.cache.example.com";
/// What is said when the cluster was asked by this run.
pub const ASKED: &str =
    "memcacheds.cache.example.com: the cluster migrates its objects by StorageVersionMigration pointsman-memcacheds.cache.example.com";
const MIGRATIONS: &str = "storageversionmigrations.storagemigration.k8s.io";
/// As whom the controller asks.
const CONTROLLER: &str = "system:serviceaccount:kube-system:storage-version-migrator-controller";

/// Returns true from the version on in which every API server serves `StorageVersionMigration`, unless told otherwise.
pub fn migrates_by_itself() -> bool {
    minor() >= 37
}

/// What the cluster was asked for, where it is still there.
pub fn migration() -> Option<Value> {
    let answer = kubectl(&["get", MIGRATIONS, NAME, "--ignore-not-found", "--output=json"]);
    serde_json::from_str(&answer.out).ok()
}

/// All runs since `mark` have made one migration, its controller has written so many objects, and it is gone; with none,
/// nobody has asked for any.
#[track_caller]
pub fn asked_once(mark: audit::Mark, space: &Space, count: usize, said: &str) {
    let entries = audit::since(mark);
    let of = |what: &str| entries.iter().filter(|entry| entry.what() == what && entry.is_write()).count();
    let asked = usize::from(count > 0);
    assert_eq!((of("create storageversionmigrations"), of("delete storageversionmigrations")), (asked, asked), "{said}");
    let written: std::collections::BTreeSet<String> = entries
        .iter()
        .filter(|entry| entry.what() == "patch memcacheds" && entry.0["user"]["username"] == CONTROLLER && entry.is_write())
        .filter(|entry| entry.namespace() == space.name)
        .map(audit::Entry::name)
        .collect();
    assert_eq!(written.len(), count, "{said}");
    assert_eq!(said.contains("has succeeded; each object is checked now"), count > 0, "{said}");
    assert_eq!(migration(), None, "it is left behind");
}

/// Nobody may write one object, until this goes.
struct Denied(());

impl Denied {
    #[track_caller]
    fn set(space: &Space, name: &str) -> Self {
        let rules =
            json!([{ "apiGroups": ["cache.example.com"], "apiVersions": ["*"], "resources": ["memcacheds"], "operations": ["UPDATE"] }]);
        let policy = json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": { "name": "nobody-writes" }, "spec": { "failurePolicy": "Fail", "matchConstraints": { "resourceRules": rules },
            "matchConditions": [{ "name": "this-one", "expression": format!("object.metadata.name == '{name}' && object.metadata.namespace == '{}'", space.name) }],
            "validations": [{ "expression": "false", "message": "nobody writes this one" }] } });
        let binding = json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": { "name": "nobody-writes" }, "spec": { "policyName": "nobody-writes", "validationActions": ["Deny"] } });
        let denied = Denied(());
        kubectl_with(&["create", "--filename", "-"], &format!("{policy}\n---\n{binding}")).ok();
        eventually(30, "the policy holds", || space.kubectl(&["label", &format!("mc/{name}"), "a=b", "--dry-run=server"]).code != 0);
        denied
    }
}

impl Drop for Denied {
    fn drop(&mut self) {
        for kind in ["validatingadmissionpolicybinding", "validatingadmissionpolicy"] {
            kubectl(&["delete", kind, "nobody-writes", "--ignore-not-found"]);
        }
    }
}

/// v1 is stored, however the test ends.
struct StoredAgain;

impl Drop for StoredAgain {
    fn drop(&mut self) {
        stored_from_now_on(DEFINITION, "v1");
    }
}

#[test]
fn the_definition_names_v1alpha1_until_the_last_object_is_written() {
    let _turn = alone();
    let space = Space::new("migrate-denied");
    let again = StoredAgain;
    stored_from_now_on(DEFINITION, "v1alpha1");
    for name in ["denied", "other"] {
        let object =
            json!({ "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": { "name": name }, "spec": { "size": 1 } });
        space.kubectl_with(&["create", "--filename", "-"], &object.to_string()).ok();
        space.ready(name);
    }
    drop(again);
    let denied = Denied::set(&space, "denied");
    let mark = audit::mark();
    let said = Run::started(&[]).finished();
    println!("{}{}", said.out, said.err);
    assert!(said.code != 0 && said.err.contains(&format!("mc/denied in namespace {}", space.name)), "{}", said.text());
    let stored = etcd::memcacheds(&space.name);
    assert_eq!((stored["denied"].version.as_str(), stored["other"].version.as_str()), ("v1alpha1", "v1"));
    assert_eq!(stored_versions(DEFINITION).len(), 2, "the definition says more than is true");
    if migrates_by_itself() {
        assert!(said.out.contains(ASKED) && said.out.contains("has failed"), "{}", said.text());
        let failed = migration().expect("the next run has to know");
        assert!(failed["status"]["conditions"].to_string().contains("nobody writes this one"), "{failed}");
    }

    drop(denied);
    eventually(30, "the policy holds no more", || space.kubectl(&["label", "mc/denied", "a=b", "--dry-run=server"]).code == 0);
    let said = Run::started(&[]).finished().ok();
    assert_eq!(etcd::count(&etcd::memcacheds(&space.name), "v1"), 2, "{said}");
    assert_eq!(stored_versions(DEFINITION), ["v1"], "{said}");
    assert_eq!(migration(), None, "{said}");
    let created = audit::since(mark).iter().filter(|entry| entry.what() == "create storageversionmigrations").count();
    assert_eq!(created, usize::from(migrates_by_itself()), "{said}");
}
