//! Somebody who has the operator's token, and tries what an administrator of the cluster could do.

use super::databases;
use crate::harness::{Answer, Space, audit, eventually, kubectl, kubectl_with, shared};
use serde_json::{Value, json};

/// How an attempt ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// RBAC knows no such right.
    Forbidden,
    /// A policy on the operator refuses it.
    Refused,
    /// It is done.
    Done,
}

/// What is tried: in which words, how it ends, the arguments, and an object for standard input.
type Attempt = (&'static str, Ends, Vec<String>, Value);

fn words(arguments: &str) -> Vec<String> {
    arguments.split(' ').map(str::to_owned).collect()
}

fn created(object: &Value) -> (Vec<String>, Value) {
    (words("create --filename -"), object.clone())
}

fn applied(object: &Value) -> (Vec<String>, Value) {
    (words("apply --server-side --force-conflicts --field-manager=thief --filename -"), object.clone())
}

fn map(namespace: &str, name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "namespace": namespace, "name": name }, "data": { "a": "b" } })
}

fn secret(namespace: &str, name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "namespace": namespace, "name": name }, "stringData": { "a": "b" } })
}

fn labelled(mut object: Value) -> Value {
    object["metadata"]["labels"] = json!({ "app.kubernetes.io/managed-by": "pointsman" });
    object
}

/// A Deployment as the operator writes one, but for a part of its pods.
fn deployment(namespace: &str, name: &str, pods: &Value) -> Value {
    let mut spec = json!({ "automountServiceAccountToken": false, "containers": [{ "name": "a", "image": "a:1" }] });
    for (field, value) in pods.as_object().expect("a part") {
        spec[field] = value.clone();
    }
    labelled(json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": namespace, "name": name }, "spec": {
        "selector": { "matchLabels": { "a": "b" } }, "template": { "metadata": { "labels": { "a": "b" } }, "spec": spec } } }))
}

fn pod(space: &str, fields: &Value) -> Value {
    let mut pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": space, "name": "theirs" } });
    for (field, value) in fields.as_object().expect("fields") {
        pod[field] = value.clone();
    }
    pod
}

/// A definition with other settings of its conversion, and with another schema.
fn definitions() -> [Value; 3] {
    let stored: Value = serde_json::from_str(&kubectl(&["get", "crd", "databases.stable.imaginedata.com", "--output=json"]).ok()).unwrap();
    let named = |spec: Value| {
        json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "databases.stable.imaginedata.com" }, "spec": spec })
    };
    let mut led = stored["spec"].clone();
    led["conversion"]["webhook"]["clientConfig"]["service"]["namespace"] = json!("default");
    let mut loose = stored["spec"].clone();
    for version in loose["versions"].as_array_mut().unwrap() {
        version["schema"]["openAPIV3Schema"] = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    }
    let mut owned = named(stored["spec"].clone());
    owned["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "v1", "kind": "Namespace", "name": "gone", "uid": "00000000-0000-0000-0000-000000000000" }]);
    [named(led), named(loose), owned]
}

fn attempts(space: &str) -> Vec<Attempt> {
    use Ends::{Done, Forbidden, Refused};
    let home = "pointsman-system";
    let job = labelled(
        json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "namespace": "kube-system", "name": "thief" }, "spec": { "template": {
        "spec": { "restartPolicy": "Never", "automountServiceAccountToken": false, "serviceAccountName": "clusterrole-aggregation-controller",
            "containers": [{ "name": "a", "image": "a:1" }] } } } }),
    );
    let operator = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": home, "name": "pointsman" },
        "spec": { "template": { "spec": { "containers": [{ "name": "pointsman", "image": "thief:1" }] } } } });
    let hosted = |pods: Value| created(&deployment(space, "thief", &pods));
    let privileged = json!({ "containers": [{ "name": "a", "image": "a:1", "securityContext": { "privileged": true } }] });
    let files = json!({ "volumes": [{ "name": "a", "hostPath": { "path": "/" } }] });
    let projected = json!({ "volumes": [{ "name": "a", "projected": { "sources": [{ "serviceAccountToken": { "path": "token" } }] } }] });
    let capable =
        json!({ "containers": [{ "name": "a", "image": "a:1", "securityContext": { "capabilities": { "add": ["SYS_MODULE"] } } }] });
    let port = json!({ "containers": [{ "name": "a", "image": "a:1", "ports": [{ "containerPort": 1, "hostPort": 1 }] }] });
    let mut token = labelled(secret(space, "thief"));
    token["type"] = json!("kubernetes.io/service-account-token");
    token["metadata"]["annotations"] = json!({ "kubernetes.io/service-account.name": "default" });
    let service = labelled(json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "namespace": space, "name": "thief" },
        "spec": { "ports": [{ "port": 443 }], "externalIPs": ["10.96.0.1"] } }));
    let image = json!({ "spec": { "containers": [{ "name": "a", "image": "thief:1" }] } });
    let moved = json!({ "metadata": { "namespace": space, "name": "theirs", "labels": { "app": "payments" } } });
    let edited = json!({ "apiVersion": "stable.imaginedata.com/v1", "kind": "Database", "metadata": { "namespace": space, "name": "db" },
        "spec": { "image": "thief:1" } });
    let [led, loose, owned] = definitions();
    let delete = |what: &str| (words(&format!("delete --namespace {space} {what} --wait=false")), Value::Null);
    let read = |what: &str| (words(&format!("get {what}")), Value::Null);
    let with = |attempt: (Vec<String>, Value), what, ends| (what, ends, attempt.0, attempt.1);
    vec![
        with(created(&job), "a Job in kube-system, as one who may change every role", Refused),
        with(created(&deployment("kube-system", "thief", &json!({}))), "a Deployment in kube-system", Refused),
        with(applied(&operator), "another image of the operator", Refused),
        with(created(&secret(home, "thief")), "a Secret in its own namespace", Refused),
        with(hosted(files), "pods that mount the files of their node", Refused),
        with(hosted(projected), "pods that mount a token", Refused),
        with(hosted(privileged), "pods with privileges", Refused),
        with(hosted(capable), "pods with a capability", Refused),
        with(hosted(port), "pods at a port of their node", Refused),
        with(created(&token), "a token of another ServiceAccount, in a Secret", Refused),
        with(created(&service), "a Service that takes the address of another", Refused),
        with(hosted(json!({ "hostNetwork": true })), "pods in the network of their node", Refused),
        with(hosted(json!({ "automountServiceAccountToken": true })), "pods with a token", Refused),
        with(created(&map(space, "thief")), "a ConfigMap without the operator's label", Refused),
        with(applied(&secret(space, "theirs")), "other content of a stranger's Secret", Refused),
        with(applied(&labelled(secret(space, "theirs"))), "the operator's label on a stranger's Secret", Refused),
        with(delete("secret/theirs"), "a stranger's Secret deleted", Refused),
        with(delete("pvc/theirs"), "a stranger's volume deleted", Refused),
        with(delete("configmap/theirs"), "a stranger's ConfigMap deleted", Refused),
        with(delete("pod/theirs"), "a stranger's pod deleted", Refused),
        with(applied(&pod(space, &image)), "another image of a stranger's pod", Refused),
        with(applied(&pod(space, &moved)), "a stranger's pod moved below another Service", Refused),
        with(applied(&edited), "another image of a Database", Refused),
        with(applied(&led), "conversions led elsewhere", Refused),
        with(applied(&loose), "a definition that checks nothing", Refused),
        // Where the API server asks who makes an owner whether he may delete, it says so before the policy does.
        with(applied(&owned), "a definition that goes with an owner that is gone", Forbidden),
        with(
            (words("create clusterrolebinding thief --clusterrole=cluster-admin --user=thief"), Value::Null),
            "a role of its own choice",
            Forbidden,
        ),
        with(
            created(&pod(
                space,
                &json!({ "metadata": { "namespace": space, "name": "thief" }, "spec": { "containers": [{ "name": "a", "image": "a:1" }] } }),
            )),
            "a pod of its own",
            Forbidden,
        ),
        with(read(&format!("secrets --namespace {space}")), "every Secret listed", Forbidden),
        with(read("nodes"), "the nodes", Forbidden),
        // What is left to a thief, as docs/security.md says.
        with(read(&format!("secret/theirs --namespace {space}")), "a Secret read by its name", Done),
        with(applied(&labelled(map(space, "theirs"))), "a stranger's ConfigMap that nobody controls taken over", Done),
        with(delete("configmap/db-settings"), "a child of the operator's deleted", Done),
        with(
            hosted(json!({ "serviceAccountName": "payments" })),
            "an image run under a ServiceAccount of the namespace, without its token",
            Done,
        ),
    ]
}

fn tried(attempt: &Attempt) -> Answer {
    let (_, ends, arguments, object) = attempt;
    let mut line: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let identity = format!("--as={}", audit::OPERATOR);
    line.extend([identity.as_str(), "--as-group=system:serviceaccounts", "--as-group=system:authenticated"]);
    // What is refused is tried in earnest: of a trial, which stores nothing, less is asked.
    if *ends == Ends::Done && line[0] != "get" {
        line.push("--dry-run=server");
    }
    kubectl_with(&line, &object.to_string())
}

#[test]
fn a_stolen_token_of_the_operator_writes_its_children_and_nothing_else() {
    let _turn = shared();
    let space = Space::new("stolen");
    databases::create(&space, "db", &json!({}));
    for object in [
        map(&space.name, "theirs"),
        secret(&space.name, "theirs"),
        pod(&space.name, &json!({ "spec": { "containers": [{ "name": "a", "image": "a:1" }] } })),
    ] {
        space.kubectl_with(&["create", "--filename", "-"], &object.to_string()).ok();
    }
    let claim = json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "theirs" },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } } });
    space.kubectl_with(&["create", "--filename", "-"], &claim.to_string()).ok();
    eventually(30, "the operator has made what is tried to be deleted", || space.kubectl(&["get", "configmap/db-settings"]).code == 0);
    let ends = |answer: &Answer| match answer {
        Answer { code: 0, .. } => Ends::Done,
        answer if answer.err.contains("the operator may not do this: ") => Ends::Refused,
        answer if answer.err.contains("cannot ") => Ends::Forbidden,
        answer => panic!("{}", answer.text()),
    };
    let mut others = Vec::new();
    for attempt in attempts(&space.name) {
        let (what, expected, ..) = attempt;
        let answer = tried(&attempt);
        println!("{what}: {:?}", ends(&answer));
        if ends(&answer) != expected {
            others.push(format!("{what}: {}", answer.text()));
        }
    }
    assert_eq!(others, Vec::<String>::new());
}
