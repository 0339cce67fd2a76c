//! Objects read without kubectl: a program per look, ten times a second, would keep the machine busy with little else.

use super::run_folder;
use kube::{Client, Config};
use serde_json::Value;
use std::sync::OnceLock;
use tokio::runtime::Runtime;

/// What kubectl is told, and where the API server keeps it.
const PLACES: [(&[&str], &str, &str); 18] = [
    (&["mc"], "apis/cache.example.com/v1", "memcacheds"),
    (&["db"], "apis/stable.imaginedata.com/v1", "databases"),
    (&["pod", "pods"], "api/v1", "pods"),
    (&["service", "services"], "api/v1", "services"),
    (&["secret", "secrets"], "api/v1", "secrets"),
    (&["configmap", "configmaps"], "api/v1", "configmaps"),
    (&["pvc"], "api/v1", "persistentvolumeclaims"),
    (&["events"], "api/v1", "events"),
    (&["events.events.k8s.io"], "apis/events.k8s.io/v1", "events"),
    (&["deployment", "deployments"], "apis/apps/v1", "deployments"),
    (&["replicaset", "replicasets"], "apis/apps/v1", "replicasets"),
    (&["statefulset", "statefulsets"], "apis/apps/v1", "statefulsets"),
    (&["job", "jobs"], "apis/batch/v1", "jobs"),
    (&["cronjob", "cronjobs"], "apis/batch/v1", "cronjobs"),
    (&["pdb", "poddisruptionbudgets"], "apis/policy/v1", "poddisruptionbudgets"),
    (&["hpa"], "apis/autoscaling/v2", "horizontalpodautoscalers"),
    (&["lease", "leases"], "apis/coordination.k8s.io/v1", "leases"),
    (&["serviceaccount", "serviceaccounts"], "api/v1", "serviceaccounts"),
];

/// The object `KIND/NAME` of a namespace, `Null` when it is not there; nothing where this is no kind of the table.
#[track_caller]
pub fn object(namespace: &str, what: &str) -> Option<Value> {
    let (kind, name) = what.split_once('/')?;
    Some(without_field_owners(get(&format!("{}/{name}", place(namespace, kind)?))))
}

/// The objects of these kinds in a namespace, one kind after another; nothing where one of them is no kind of the table.
#[track_caller]
pub fn objects(namespace: &str, kinds: &str) -> Option<Vec<Value>> {
    let places: Option<Vec<String>> = kinds.split(',').map(|kind| place(namespace, kind)).collect();
    Some(places?.iter().flat_map(|place| listed(get(place))).collect())
}

/// The minor of the Kubernetes that runs: 37 of 1.37.
#[track_caller]
pub fn minor() -> u32 {
    static MINOR: OnceLock<u32> = OnceLock::new();
    *MINOR.get_or_init(|| get("/version")["minor"].as_str().and_then(|minor| minor.trim_end_matches('+').parse().ok()).unwrap())
}

fn place(namespace: &str, kind: &str) -> Option<String> {
    let (_, group, plural) = PLACES.iter().find(|(names, ..)| names.contains(&kind))?;
    Some(format!("/{group}/namespaces/{namespace}/{plural}"))
}

/// A list names its kind once; kubectl writes it into every item.
fn listed(mut list: Value) -> Vec<Value> {
    let kind = list["kind"].as_str().and_then(|kind| kind.strip_suffix("List")).map(str::to_owned);
    let version = list["apiVersion"].take();
    let items = list["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let named = |mut item: Value| {
        item["apiVersion"] = version.clone();
        item["kind"] = kind.clone().into();
        without_field_owners(item)
    };
    items.into_iter().map(named).collect()
}

/// As kubectl shows an object, where nobody asks for more.
fn without_field_owners(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}

/// What the API server answers to the administrator; `Null` where there is nothing.
#[track_caller]
fn get(path: &str) -> Value {
    static EDGE: OnceLock<(Runtime, Client)> = OnceLock::new();
    let (runtime, client) = EDGE.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let file = kube::config::Kubeconfig::read_from(run_folder().join("kubeconfig/admin")).unwrap();
            Client::try_from(Config::from_custom_kubeconfig(file, &kube::config::KubeConfigOptions::default()).await.unwrap()).unwrap()
        });
        (runtime, client)
    });
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    match runtime.block_on(client.request::<Value>(request)) {
        Ok(value) => value,
        Err(kube::Error::Api(status)) if status.code == 404 => Value::Null,
        Err(fault) => panic!("{path}: {fault}"),
    }
}
