//! A service mesh of bad habits: a webhook that puts a container into every pod of one namespace, whatever the pod says of that.

use super::{Space, kubectl, kubectl_with};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum_server::tls_rustls::RustlsConfig;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// The name of the container that is put in.
pub const PROXY: &str = "mesh-proxy";

/// Where a mesh puts its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// In front of the pod's own.
    First,
    /// Behind the pod's own.
    Last,
    /// Among the init containers, as a sidecar of Kubernetes' own.
    Native,
}

/// A mesh over one namespace, until it is dropped.
#[derive(Debug)]
pub struct Mesh {
    name: String,
    seen: Arc<Mutex<Vec<Value>>>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Clone)]
struct Rules {
    habit: Habit,
    container: Value,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl Mesh {
    /// Puts a container of this image and command into each pod of the namespace that is made from now on, and into the pod
    /// templates of Deployments and stateful sets at every write.
    #[track_caller]
    pub fn over(space: &Space, habit: Habit, image: &str, command: &[&str]) -> Self {
        let mut container = json!({ "name": PROXY, "image": image, "command": command });
        if habit == Habit::Native {
            container["restartPolicy"] = json!("Always");
        }
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (runtime, port, certificate) = serve(Rules { habit, container, seen: seen.clone() });
        let mesh = Mesh { name: space.name.clone(), seen, _runtime: runtime };
        let only_here = json!({ "matchLabels": { "kubernetes.io/metadata.name": space.name } });
        let webhook = |name: &str, group: &str, resources: &[&str], operations: &[&str]| {
            json!({
                "name": format!("{name}.mesh.example.com"),
                "clientConfig": { "url": format!("https://127.0.0.1:{port}/{name}"), "caBundle": BASE64_STANDARD.encode(&certificate) },
                "rules": [{ "apiGroups": [group], "apiVersions": ["v1"], "operations": operations, "resources": resources }],
                "namespaceSelector": only_here, "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            })
        };
        let templates = webhook("templates", "apps", &["deployments", "statefulsets"], &["CREATE", "UPDATE"]);
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": { "name": mesh.name },
            "webhooks": [webhook("pods", "", &["pods"], &["CREATE"]), templates],
        });
        kubectl_with(&["apply", "--filename", "-"], &configuration.to_string()).ok();
        Mesh::works(space);
        mesh
    }

    /// The API server hears of a webhook a moment after it is registered.
    #[track_caller]
    fn works(space: &Space) {
        let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "first" }, "spec": { "containers": [{ "name": "first", "image": "first" }] } });
        super::eventually(30, "the mesh is asked about pods", || {
            space.kubectl_with(&["create", "--dry-run=server", "--output=json", "--filename", "-"], &pod.to_string()).ok().contains(PROXY)
        });
    }

    /// The pods of this component that it was asked about, as they came.
    pub fn pods_of(&self, component: &str) -> Vec<Value> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|pod| pod["metadata"]["labels"]["app.kubernetes.io/component"] == component).cloned().collect()
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        kubectl(&["delete", "mutatingwebhookconfiguration", &self.name, "--ignore-not-found"]);
    }
}

/// Listens on a port of this machine, and presents this certificate.
fn serve(rules: Rules) -> (tokio::runtime::Runtime, u16, String) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    // Another test of the same process may have said so before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let presented = certificate.clone();
    runtime.spawn(async move {
        let config = RustlsConfig::from_pem(presented.into_bytes(), key.into_bytes()).await.unwrap();
        let app = Router::new()
            .route("/pods", post(async |State(rules): State<Rules>, body: Bytes| rules.answer(&body, "/spec")))
            .route("/templates", post(async |State(rules): State<Rules>, body: Bytes| rules.answer(&body, "/spec/template/spec")))
            .with_state(rules);
        axum_server::from_tcp_rustls(listener, config).unwrap().serve(app.into_make_service()).await.unwrap();
    });
    (runtime, port, certificate)
}

impl Rules {
    fn answer(&self, review: &[u8], spec: &str) -> ([(HeaderName, &'static str); 1], String) {
        let review: Value = serde_json::from_slice(review).unwrap();
        let object = &review["request"]["object"];
        if spec == "/spec" {
            self.seen.lock().unwrap().push(object.clone());
        }
        let patch = BASE64_STANDARD.encode(self.patch(object, spec).to_string());
        let response = json!({ "uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch", "patch": patch });
        let review = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response });
        ([(CONTENT_TYPE, "application/json")], review.to_string())
    }

    /// A pod of a template that was changed before is left as it is.
    fn patch(&self, object: &Value, at: &str) -> Value {
        let spec = object.pointer(at).cloned().unwrap_or_default();
        let (list, place) = match self.habit {
            Habit::First => ("containers", "/0"),
            Habit::Last => ("containers", "/-"),
            Habit::Native if spec["initContainers"].is_null() => {
                return json!([{ "op": "add", "path": format!("{at}/initContainers"), "value": [self.container] }]);
            }
            Habit::Native => ("initContainers", "/-"),
        };
        if spec[list].as_array().into_iter().flatten().any(|container| container["name"] == PROXY) {
            return json!([]);
        }
        json!([{ "op": "add", "path": format!("{at}/{list}{place}"), "value": self.container }])
    }
}
