//! The packages: one file, a kustomization and a chart, rendered by kubectl and Helm themselves.
//!
//! `tests/run` installs Helm and builds kubectl.

mod values;

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const CHART: &str = "deploy/helm/pointsman";

/// Objects by kind, namespace and name.
type Objects = BTreeMap<String, Value>;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn run(program: &str, arguments: &[&str], input: &str) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|fault| panic!("{program}: {fault}; tests/run prepares what this test needs"));
    // A program that reads no input may be gone already.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// What Helm renders of the chart with these values, in this namespace.
fn helm_in(namespace: &str, values: &str) -> Result<String, String> {
    run("tests/packages/helm", &["template", "pointsman", CHART, "--namespace", namespace, "--values", "-"], values)
}

fn helm(values: &Value) -> Objects {
    objects(&helm_in("pointsman-system", &values.to_string()).expect("the chart renders"))
}

fn kustomize(folder: &str) -> Objects {
    let kubectl = run("tests/cluster/bed", &["program", "kubectl"], "").expect("the bed knows kubectl");
    objects(&run(kubectl.trim(), &["kustomize", folder], "").expect("the kustomization builds"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|fault| panic!("{path}: {fault}"))
}

/// Every object of a file of YAML documents; two under one name would be one too many.
fn objects(text: &str) -> Objects {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).expect("YAML");
    let mut found = Objects::new();
    for object in documents.into_iter().filter(|document| !document.is_null()) {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let name = format!("{} {}/{}", word(&object["kind"]), word(&metadata["namespace"]), word(&metadata["name"]));
        assert!(found.insert(name.clone(), object).is_none(), "{name} is there twice");
    }
    assert!(found.len() > 10, "only {} objects", found.len());
    found
}

/// The same objects, each with the same content.
#[track_caller]
fn equal(one: &Objects, other: &Objects, what: &str) {
    let names = |objects: &Objects| objects.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(one), names(other), "{what}: not the same objects");
    let differences: Vec<String> = one.iter().flat_map(|(name, object)| differences(name, object, &other[name])).collect();
    assert_eq!(differences, Vec::<String>::new(), "{what}");
}

/// Where two values differ, each place with both sides. 1.0 is 1: a number has one meaning, however it is written.
fn differences(path: &str, one: &Value, other: &Value) -> Vec<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            let of = |fields: &serde_json::Map<String, Value>, key: &str| fields.get(key).cloned().unwrap_or(json!("(absent)"));
            keys.into_iter().flat_map(|key| differences(&format!("{path}.{key}"), &of(one, key), &of(other, key))).collect()
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs.flat_map(|(at, (one, other))| differences(&format!("{path}[{at}]"), one, other)).collect()
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => Vec::new(),
        (one, other) if one == other => Vec::new(),
        (one, other) => vec![format!("{path}: {one} and {other}")],
    }
}

#[test]
fn a_difference_is_told_with_its_place() {
    let (one, other) = (
        json!({ "spec": { "ports": [{ "port": 1, "name": "a" }] } }),
        json!({ "spec": { "ports": [{ "port": 2.0, "name": "a" }], "x": 1 } }),
    );
    assert_eq!(differences("Service", &one, &other), ["Service.spec.ports[0].port: 1 and 2.0", "Service.spec.x: \"(absent)\" and 1"]);
}

#[test]
fn the_three_renderings_are_equal() {
    let file = objects(&read("deploy/install.yaml"));
    equal(&file, &kustomize("deploy/kustomize/base"), "install.yaml and the kustomization");
    equal(&file, &helm(&json!({ "namespace": { "create": true } })), "install.yaml and the chart");
}

#[test]
fn only_the_namespace_is_left_to_whoever_installs_the_chart() {
    let mut file = objects(&read("deploy/install.yaml"));
    file.remove("Namespace /pointsman-system").expect("install.yaml makes its namespace");
    equal(&file, &helm(&json!({})), "install.yaml and the chart as it comes");
}

#[test]
fn each_overlay_is_what_the_chart_makes_of_its_example() {
    let mut seen = 0;
    for example in std::fs::read_dir(root().join("deploy/helm/examples")).expect("examples") {
        let name = example.expect("an example").file_name().to_string_lossy().trim_end_matches(".yaml").to_owned();
        let values = read(&format!("deploy/helm/examples/{name}.yaml")) + "\nnamespace: {create: true}\n";
        let chart = objects(&helm_in("pointsman-system", &values).expect("the chart renders"));
        equal(&chart, &kustomize(&format!("deploy/kustomize/overlays/{name}")), &name);
        seen += 1;
    }
    let overlays = std::fs::read_dir(root().join("deploy/kustomize/overlays")).expect("overlays").count();
    assert_eq!((seen, overlays), (3, 3), "an overlay without an example, or an example without an overlay");
}

#[test]
fn the_chart_follows_its_release_into_another_namespace() {
    let text = helm_in("123", "namespace: {create: true}").expect("the chart renders");
    assert!(!text.contains("pointsman-system"), "{text}");
    let objects = objects(&text);
    assert_eq!(objects["Namespace /123"]["metadata"]["name"], "123");
    assert_eq!(objects["ValidatingWebhookConfiguration /pointsman"]["webhooks"][0]["clientConfig"]["service"]["namespace"], "123");
}

#[test]
fn helm_finds_no_fault_with_the_chart() {
    let said = run("tests/packages/helm", &["lint", "pointsman", CHART], "").expect("no error");
    assert_eq!(said, "Chart.yaml: icon is recommended\n");
}

#[test]
fn watched_namespaces_are_the_only_ones_with_rights() {
    let narrow = helm(&json!({ "watchNamespaces": ["shop", "bank"] }));
    let bindings: Vec<&str> = narrow.keys().filter(|name| name.contains("RoleBinding ")).map(String::as_str).collect();
    let expected = [
        "ClusterRoleBinding /pointsman",
        "RoleBinding bank/pointsman-watched",
        "RoleBinding pointsman-system/pointsman",
        "RoleBinding shop/pointsman-watched",
    ];
    assert_eq!(bindings, expected);
    // What is bound everywhere keeps its own bundles, reads the names of Deployments and how volumes are made, and lets go of
    // what goes with its namespace.
    let everywhere = narrow["ClusterRole /pointsman"]["rules"].as_array().expect("rules");
    let unnamed: Vec<&Value> = everywhere.iter().filter(|rule| rule["resourceNames"].is_null()).collect();
    let expected = [
        json!({ "apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list"] }),
        json!({ "apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"] }),
        json!({ "apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"] }),
        json!({ "apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": ["list", "watch"] }),
        json!({ "apiGroups": ["stable.imaginedata.com"], "resources": ["databases"], "verbs": ["get", "patch"] }),
    ];
    assert_eq!(unnamed, expected.each_ref());
    let page = read("docs/installing.md");
    let section = page.split("\n## ").find(|section| section.starts_with("For some namespaces only")).expect("the section");
    let granted = |rule: &Value| {
        let verbs: Vec<&str> = rule["verbs"].as_array().expect("verbs").iter().filter_map(Value::as_str).collect();
        format!("`{} {}`", verbs.join(","), rule["resources"][0].as_str().expect("a resource"))
    };
    let untold: Vec<String> = expected.iter().map(granted).filter(|right| !section.contains(right.as_str())).collect();
    assert_eq!(untold, Vec::<String>::new(), "docs/installing.md does not name what stays for the whole cluster");
}

/// A policy with a parameter of a kind that is gone fails at every namespace, once the API server has started anew.
#[test]
fn what_judges_namespaces_lets_them_go_where_our_kinds_are_gone() {
    let all = objects(&read("deploy/install.yaml"));
    let policies = all.values().filter(|object| object["kind"] == "ValidatingAdmissionPolicy");
    let with_parameter: Vec<&Value> = policies.filter(|policy| !policy["spec"]["paramKind"].is_null()).collect();
    assert_eq!(with_parameter.len(), 2, "one for each kind");
    for policy in with_parameter {
        assert_eq!(policy["spec"]["failurePolicy"], "Ignore", "{policy:#}");
    }
}
