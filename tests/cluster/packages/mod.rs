//! Installing, upgrading and removing, with Helm and kubectl, on a control plane where nothing is installed yet.
//!
//! No pod is real here: the Deployment's pods are played, and the operator is a process with the rights and the settings
//! that the package gives it. The chart is a copy whose Service leads to this machine's loopback, as in all of this tier.

mod narrow;
mod removal;
pub mod upgrade;

use crate::harness::{Answer, Space, bash, eventually, helm, kubectl, kubectl_with, nobody_elses, operator, repository};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The least of a Database.
const DATABASE: &str =
    "apiVersion: stable.imaginedata.com/v1\nkind: Database\nmetadata: {name: db}\nspec: {databaseName: shop, storage: {size: 1Gi}}\n";
const NAMESPACE: &str = "pointsman-system";
const ACCOUNT: &str = "system:serviceaccount:pointsman-system:pointsman";

/// A copy of the printed chart; it goes when the test ends.
struct Chart(PathBuf);

impl Chart {
    #[track_caller]
    fn copied() -> Self {
        let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let chart = Chart(std::env::temp_dir().join(format!("pointsman-chart-{nanos}")));
        bash(&format!("cp -r {}/deploy/helm/pointsman {}", repository().display(), chart.path())).ok();
        let port = format!(" port: {}", std::env::var("POINTSMAN_WEBHOOK_PORT").expect("no cluster: run tests/run"));
        // One place in the definition of each kind, and one in the registration of each kind's webhook.
        let definitions =
            ["customresourcedefinition-memcacheds.cache.example.com", "customresourcedefinition-databases.stable.imaginedata.com"];
        for file in definitions {
            chart.edit(&format!("templates/{file}.yaml"), " port: 9443", &port);
        }
        chart.edit_each(definitions.len(), "templates/validatingwebhookconfiguration.yaml", " port: 9443", &port);
        chart.edit("templates/service.yaml", "\nspec:\n", "\nspec:\n  type: ExternalName\n  externalName: localhost\n");
        // Addresses are not for a Service that has none.
        chart.edit("templates/service.yaml", "  ipFamilyPolicy: {{ .Values.service.ipFamilyPolicy | quote }}\n", "");
        chart
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }

    /// Changes what must stand there exactly once.
    #[track_caller]
    fn edit(&self, file: &str, from: &str, to: &str) {
        self.edit_each(1, file, from, to);
    }

    /// Changes what must stand there this often.
    #[track_caller]
    fn edit_each(&self, count: usize, file: &str, from: &str, to: &str) {
        let path = self.0.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(from).count(), count, "{from:?} in {file}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
    }

    fn helm(&self, verb: &str, values: &str) -> Answer {
        helm(&[verb, "pointsman", &self.path()], values)
    }
}

impl Drop for Chart {
    fn drop(&mut self) {
        // What is left lies in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the test installed goes when it ends. Definitions that Helm leaves stay for the next test, which Helm lets adopt
/// them: the API server takes half a minute to learn of a new kind.
struct Cluster(());

impl Cluster {
    #[track_caller]
    fn empty() -> Self {
        let cluster = Cluster(());
        let deployments = ["get", "deployments", "--all-namespaces", "--selector=app.kubernetes.io/name=pointsman", "--output=name"];
        assert_eq!(kubectl(&deployments).ok(), "", "another test left something");
        nobody_elses();
        let namespace = format!("{}/deploy/kustomize/base/namespace.yaml", repository().display());
        kubectl(&["apply", "--filename", &namespace]).ok();
        cluster
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", bash(&format!("{} logs | tail -n 20", script())).text());
        }
        bash(&format!("{} stop", script()));
        if helm(&["uninstall", "pointsman"], "").code != 0 {
            uninstall("--yes --remove-objects");
        }
    }
}

fn script() -> String {
    repository().join("tests/cluster/operator").display().to_string()
}

/// `pointsman uninstall`, as an administrator types it.
fn uninstall(flags: &str) -> Answer {
    bash(&format!("{} uninstall {flags}", script()))
}

/// Starts the operator with the settings that the Deployment gives its pods.
#[track_caller]
fn started() {
    let deployment = kubectl(&["--namespace", NAMESPACE, "get", "deployment", "pointsman", "--output", "json"]).ok();
    let deployment: Value = serde_json::from_str(&deployment).unwrap();
    let variables = deployment["spec"]["template"]["spec"]["containers"][0]["env"].as_array().unwrap().clone();
    let flag = |variable: &Value| {
        let name = variable["name"].as_str()?.strip_prefix("POINTSMAN_")?.to_lowercase().replace('_', "-");
        Some(format!("--{name}={}", variable["value"].as_str()?))
    };
    let flags: Vec<String> = variables.iter().filter_map(flag).collect();
    operator(&[&["start"], &*flags.iter().map(String::as_str).collect::<Vec<_>>()].concat());
}

/// The API server's admission of owner references learns of new kinds within seconds; children are refused until then.
#[track_caller]
fn known_as_an_owner(space: &Space) {
    for (version, kind) in [("cache.example.com/v1", "Memcached"), ("stable.imaginedata.com/v1", "Database")] {
        let owner = json!({ "apiVersion": version, "kind": kind, "name": "owner", "blockOwnerDeletion": true,
            "uid": "00000000-0000-0000-0000-000000000000" });
        let child = json!({ "apiVersion": "v1", "kind": "Service", "spec": { "clusterIP": "None" },
            "metadata": { "name": "owned", "namespace": space.name, "ownerReferences": [owner] } });
        let create = ["create", "--as", ACCOUNT, "--dry-run=server", "--filename", "-"];
        eventually(60, "the API server knows the kind as an owner", || kubectl_with(&create, &child.to_string()).code == 0);
    }
}

/// Who is there, and since when: names, uids and generations of objects, Deployments and pods.
fn operands(space: &Space) -> String {
    listed(space, "mc,deployments,pods,services")
}

fn listed(space: &Space, kinds: &str) -> String {
    let columns = "custom-columns=:.kind,:.metadata.name,:.metadata.uid,:.metadata.generation,:.status.containerStatuses[*].restartCount";
    let lines = space.kubectl(&["get", kinds, "--sort-by=.metadata.uid", "--no-headers", "--output", columns]).ok();
    lines.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}
