//! What tests do all the time, without kubectl: a tenth of a second of CPU for each start of a program would be a third of all
//! that a tier of them takes. What a user would type, and what is printed then, is tried by kubectl.

use super::run_folder;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersion;
use kube::runtime::wait::await_condition;
use kube::{Client, Config};
use serde_json::{Value, json};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::runtime::Runtime;

/// What kubectl is told, the path of the group's version, and the plural.
type Row = (&'static [&'static str], &'static str, &'static str);

/// What kubectl is told, and where the API server keeps it.
const PLACES: [Row; 20] = [
    (&["mc"], "apis/cache.example.com/v1", "memcacheds"),
    (&["db"], "apis/stable.imaginedata.com/v1", "databases"),
    (&["memcacheds.v1alpha1.cache.example.com"], "apis/cache.example.com/v1alpha1", "memcacheds"),
    (&["databases.v1alpha1.stable.imaginedata.com"], "apis/stable.imaginedata.com/v1alpha1", "databases"),
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

/// The objects that `kubectl get WHAT` lists in a namespace: kinds, one after another, and perhaps a selector; nothing where it
/// says something else, or names no kind of the table.
#[track_caller]
pub fn objects(namespace: &str, what: &[&str]) -> Option<Vec<Value>> {
    let (kinds, flags) = what.split_first()?;
    // `--selector X` or `--selector=X`, and no other flag.
    let flag = flags.join("=");
    let query = match flag.split_once('=') {
        None if flag.is_empty() => String::new(),
        Some(("--selector", labels)) => format!("?labelSelector={}", escaped(labels)),
        Some(("--field-selector", fields)) => format!("?fieldSelector={}", escaped(fields)),
        _ => return None,
    };
    let places: Option<Vec<String>> = kinds.split(',').map(|kind| place(namespace, kind)).collect();
    Some(places?.iter().flat_map(|place| listed(get(&format!("{place}{query}")))).collect())
}

fn escaped(selector: &str) -> String {
    selector.replace('=', "%3D").replace('/', "%2F").replace('!', "%21").replace(',', "%2C")
}

/// The minor of the Kubernetes that runs: 37 of 1.37.
#[track_caller]
pub fn minor() -> u32 {
    static MINOR: OnceLock<u32> = OnceLock::new();
    *MINOR.get_or_init(|| get("/version")["minor"].as_str().and_then(|minor| minor.trim_end_matches('+').parse().ok()).unwrap())
}

fn row(kind: &str) -> Option<&'static Row> {
    PLACES.iter().find(|(names, ..)| names.contains(&kind))
}

/// The path of a kind's objects in a namespace; nothing where it is no kind of the table.
pub fn place(namespace: &str, kind: &str) -> Option<String> {
    let (_, group, plural) = row(kind)?;
    Some(format!("/{group}/namespaces/{namespace}/{plural}"))
}

/// A list names its kind once; kubectl writes it into every item.
#[track_caller]
fn listed(mut list: Value) -> Vec<Value> {
    assert!(list.is_object(), "nobody serves this kind");
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
    match ask("GET", path, &Value::Null) {
        Ok(value) => value,
        Err(kube::Error::Api(status)) if status.code == 404 => Value::Null,
        Err(fault) => panic!("{path}: {fault}"),
    }
}

/// One request of the administrator's.
///
/// # Errors
/// Returns an error if the API server refuses it, or does not answer.
pub fn ask(verb: &str, path: &str, body: &Value) -> Result<Value, kube::Error> {
    let kind = if verb == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = http::Request::builder().method(verb).uri(path).header("content-type", kind).body(body).unwrap();
    let (runtime, client) = edge();
    runtime.block_on(client.request(request))
}

/// Creates an object as `kubectl apply` does, which can apply it again then; false if there is one of this name.
#[track_caller]
pub fn applied_first(namespace: &str, manifest: &Value) -> bool {
    let (version, kind) = (manifest["apiVersion"].as_str().unwrap(), manifest["kind"].as_str().unwrap().to_lowercase());
    let mut object = manifest.clone();
    object["metadata"]["namespace"] = namespace.into();
    let annotations = object["metadata"]["annotations"].take();
    object["metadata"]["annotations"] = if annotations.is_null() { json!({}) } else { annotations };
    let last = format!("{object}\n");
    object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = last.into();
    let path = format!("/apis/{version}/namespaces/{namespace}/{kind}s?fieldManager=kubectl-client-side-apply&fieldValidation=Strict");
    match ask("POST", &path, &object) {
        Ok(_) => true,
        Err(kube::Error::Api(status)) if status.code == 409 => false,
        Err(fault) => panic!("{manifest}: {fault}"),
    }
}

/// Waits until `KIND/NAME` of a namespace `is_so`, as `kubectl wait` does; false if it never was in these seconds.
#[track_caller]
pub fn becomes(namespace: &str, what: &str, seconds: u64, is_so: impl Fn(&Value) -> bool) -> bool {
    let (kind, name) = what.split_once('/').unwrap();
    let (_, group, plural) = row(kind).unwrap();
    let version: GroupVersion = group.trim_start_matches("apis/").trim_start_matches("api/").parse().unwrap();
    let resource = ApiResource::from_gvk_with_plural(&version.with_kind(""), plural);
    let (runtime, client) = edge();
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
    let met = |object: Option<&DynamicObject>| object.is_some_and(|object| is_so(&serde_json::to_value(object).unwrap()));
    let waits = async {
        // While the API server cannot convert objects, it can show none.
        while await_condition(api.clone(), name, met).await.is_err() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(seconds), waits).await }).is_ok()
}

fn edge() -> &'static (Runtime, Client) {
    static EDGE: OnceLock<(Runtime, Client)> = OnceLock::new();
    EDGE.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let file = kube::config::Kubeconfig::read_from(run_folder().join("kubeconfig/admin")).unwrap();
            Client::try_from(Config::from_custom_kubeconfig(file, &kube::config::KubeConfigOptions::default()).await.unwrap()).unwrap()
        });
        (runtime, client)
    })
}
