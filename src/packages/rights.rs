//! What the operator may do, and what people may be let do: roles and their bindings.

use super::manifests::{self, CERTIFICATES, NAME, NAMESPACE, labels};
use crate::kinds::children::ChildVisitor;
use crate::kinds::of_each;
use crate::kinds::order::{Child, ChildKind};
use crate::kinds::reading::ReadKind;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The role for what is done in watched namespaces: all of them, or those that its bindings stand in.
pub(super) const WATCHED: &str = "pointsman-watched";

/// The role of those who may answer at the risk of data.
pub(super) const ANSWERS: &str = "pointsman-answers";
/// The roles that Kubernetes adds to its own `view`, and to `edit` and `admin`.
pub(super) const VIEW: &str = "pointsman-view";
pub(super) const EDIT: &str = "pointsman-edit";

/// Every role with its binding, in the order in which they are applied.
pub(super) fn rights() -> Vec<Value> {
    let watched = [watched_role(), binding("ClusterRole", WATCHED)];
    let own = [role(), binding("Role", NAME), answers(), viewers(), editors()];
    [cluster_role(), binding("ClusterRole", NAME)].into_iter().chain(watched).chain(own).collect()
}

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({ "apiGroups": groups, "resources": resources, "verbs": verbs })
}

fn named(mut rule: Value, names: &[String]) -> Value {
    rule["resourceNames"] = json!(names);
    rule
}

/// What the operator may do everywhere, whatever it watches: keep its own two bundles, see that it is alone, and let go what goes
/// with its namespace, where what was granted inside of that is gone already.
fn cluster_role() -> Value {
    let names: Vec<String> =
        manifests::definitions().iter().filter_map(|definition| Some(definition["metadata"]["name"].as_str()?.to_owned())).collect();
    let bundles = ["list", "watch", "patch"];
    let rules = vec![
        named(rule(&["apiextensions.k8s.io"], &["customresourcedefinitions"], &bundles), &names),
        named(rule(&["admissionregistration.k8s.io"], &["validatingwebhookconfigurations"], &bundles), &[NAME.to_owned()]),
        rule(&["apps"], &["deployments"], &["list"]),
        rule(&["authorization.k8s.io"], &["subjectaccessreviews"], &["create"]),
    ];
    let rules: Vec<Value> = rules.into_iter().chain(readings(true)).chain(letting_go()).collect();
    role_of("ClusterRole", NAME, &rules)
}

/// What the operator may do in every namespace that it watches: its kinds, their children, events.
fn watched_role() -> Value {
    let mut rules = kinds();
    for (kind, changes) in child_kinds() {
        // Who makes itself the owner of an object that is there, as `adopt` does, must be allowed to delete it.
        let verbs = ["list", "watch", "create", "patch", "delete"].into_iter().filter(|verb| changes || *verb != "patch");
        rules.push(rule(&[kind.group()], &[kind.plural()], &verbs.collect::<Vec<_>>()));
    }
    let pods = ChildKind::Pod;
    let labelled = of_each!(K: bool => K::LABELS_PODS).contains(&true).then_some("patch");
    rules.push(rule(&[pods.group()], &[pods.plural()], &["list", "watch", "delete"].into_iter().chain(labelled).collect::<Vec<_>>()));
    rules.extend(readings(false));
    rules.push(rule(&["events.k8s.io"], &["events"], &["create"]));
    role_of("ClusterRole", WATCHED, &rules)
}

/// The kinds of children that some kind has, in the order in which they are written, and whether they are ever changed.
fn child_kinds() -> BTreeMap<ChildKind, bool> {
    struct Types(Vec<(ChildKind, bool)>);
    impl ChildVisitor for Types {
        fn child<T: Child>(&mut self) {
            self.0.push((T::KIND, true));
        }
        fn unchanging<T: Child>(&mut self) {
            self.0.push((T::KIND, false));
        }
    }
    let types = of_each!(K: Types => {
        let mut types = Types(Vec::new());
        K::child_types(&mut types);
        types
    });
    let mut kinds = BTreeMap::new();
    for (kind, changes) in types.into_iter().flat_map(|types| types.0) {
        *kinds.entry(kind).or_default() |= changes;
    }
    kinds
}

/// What looks need besides objects and children: what is the cluster's, or what stands in namespaces.
fn readings(the_clusters: bool) -> Vec<Value> {
    let mut verbs: BTreeMap<ReadKind, BTreeSet<&str>> = BTreeMap::new();
    let all = of_each!(K: Vec<(ReadKind, Vec<&'static str>)> => K::READINGS.iter().map(|source| (source.kind, source.verbs())).collect());
    for (kind, needed) in all.into_iter().flatten() {
        verbs.entry(kind).or_default().extend(needed);
    }
    let rules = verbs.into_iter().filter(|(kind, _)| kind.is_the_clusters() == the_clusters);
    rules.map(|(kind, verbs)| rule(&[kind.group()], &[kind.plural()], &Vec::from_iter(verbs))).collect()
}

/// Of objects of a kind that has a finalizer, the operator writes that, and sees what a write would leave of them.
fn letting_go() -> Vec<Value> {
    let rules = of_each!(K: Option<Value> => {
        let spec = K::definition().spec;
        K::FINALIZER.map(|_| rule(&[&spec.group], &[&spec.names.plural], &["get", "patch"]))
    });
    rules.into_iter().flatten().collect()
}

/// Of its kinds the operator writes the status; `finalizers` is what owner references need.
fn kinds() -> Vec<Value> {
    let rules = of_each!(K: [Value; 3] => {
        let spec = K::definition().spec;
        let (group, plural) = (spec.group.as_str(), spec.names.plural);
        [
            rule(&[group], &[&plural], if K::FINALIZER.is_some() { &["list", "watch"] } else { &["get", "list", "watch"] }),
            rule(&[group], &[&format!("{plural}/status")], &["patch"]),
            rule(&[group], &[&format!("{plural}/finalizers")], &["update"]),
        ]
    });
    rules.into_iter().flatten().collect()
}

/// What the operator may do in its own namespace: keep its certificates, and take turns.
fn role() -> Value {
    let secret = named(rule(&[""], &["secrets"], &["list", "watch", "update"]), &[CERTIFICATES.to_owned()]);
    let lease = named(rule(&["coordination.k8s.io"], &["leases"], &["get", "list", "watch", "update"]), &[NAME.to_owned()]);
    let made = [rule(&[""], &["secrets"], &["create"]), rule(&["coordination.k8s.io"], &["leases"], &["create"])];
    let rules: Vec<Value> = [secret, lease].into_iter().chain(made).collect();
    role_of("Role", NAME, &rules)
}

/// For people, and bound to nobody: who may answer where data can be lost for good.
fn answers() -> Value {
    let rules = of_each!(K: Value => {
        let spec = K::definition().spec;
        rule(&[&spec.group], &[&spec.names.plural], &["answer"])
    });
    role_of("ClusterRole", ANSWERS, &rules)
}

/// For people: who may look at what stands in a namespace may look at these kinds too. Their Secrets are no part of it.
fn viewers() -> Value {
    added_to(&["view", "edit", "admin"], VIEW, &["", "/status", "/scale"], &["get", "list", "watch"])
}

/// For people: who may write to what stands in a namespace may write these kinds too, and count their pods.
fn editors() -> Value {
    added_to(&["edit", "admin"], EDIT, &["", "/scale"], &["create", "update", "patch", "delete", "deletecollection"])
}

/// A role that Kubernetes adds to roles of its own.
fn added_to(roles: &[&str], name: &str, parts: &[&str], verbs: &[&str]) -> Value {
    let kinds = of_each!(K: (String, String) => {
        let spec = K::definition().spec;
        (spec.group, spec.names.plural)
    });
    let granted = kinds.iter().map(|(group, plural)| {
        let resources: Vec<String> = parts.iter().map(|part| format!("{plural}{part}")).collect();
        rule(&[group], &resources.iter().map(String::as_str).collect::<Vec<_>>(), verbs)
    });
    let mut role = role_of("ClusterRole", name, &granted.collect::<Vec<_>>());
    for of in roles {
        role["metadata"]["labels"][format!("rbac.authorization.k8s.io/aggregate-to-{of}")] = json!("true");
    }
    role
}

fn role_of(kind: &str, name: &str, rules: &[Value]) -> Value {
    let metadata = metadata_of(kind, name);
    json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": rules })
}

/// A Role and its binding stand in the operator's own namespace.
fn metadata_of(kind: &str, name: &str) -> Value {
    let mut metadata = json!({ "name": name, "labels": labels() });
    if kind == "Role" {
        metadata["namespace"] = json!(NAMESPACE);
    }
    metadata
}

fn binding(kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{kind}Binding"),
        "metadata": metadata_of(kind, name),
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name },
        "subjects": [{ "kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE }],
    })
}
