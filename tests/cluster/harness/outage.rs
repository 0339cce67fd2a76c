//! Parts of the cluster that a test takes away, and gets back however the test ends.

use super::{Answer, bash, eventually, kubectl, kubectl_with, memcached, operator};
use serde_json::Value;
use std::sync::RwLockWriteGuard;

const DEFINITION: &str = "customresourcedefinition/memcacheds.cache.example.com";
const WEBHOOK: &str = "validatingwebhookconfiguration/pointsman";

/// The operator is gone; it is started again at the end.
#[derive(Debug)]
pub struct NoOperator(());

impl NoOperator {
    /// Stops it. The test must hold the cluster for itself.
    #[track_caller]
    pub fn stopped(_alone: &RwLockWriteGuard<'static, ()>) -> Self {
        operator(&["stop"]);
        NoOperator(())
    }

    /// Ends it without a warning.
    #[track_caller]
    pub fn killed(_alone: &RwLockWriteGuard<'static, ()>) -> Self {
        operator(&["kill"]);
        NoOperator(())
    }
}

impl Drop for NoOperator {
    fn drop(&mut self) {
        // A panic in a panic would end the whole run.
        bash(&format!("{} start", super::repository().join("tests/cluster/operator").display()));
    }
}

/// The webhook is not asked, as after an administrator's emergency measure.
#[derive(Debug)]
pub struct NoWebhook {
    configuration: String,
}

impl NoWebhook {
    /// Removes its configuration. The test must hold the cluster for itself.
    #[track_caller]
    pub fn removed(_alone: &RwLockWriteGuard<'static, ()>) -> Self {
        let mut kept: Value = serde_json::from_str(&kubectl(&["get", WEBHOOK, "--output", "json"]).ok()).unwrap();
        for field in ["resourceVersion", "uid", "creationTimestamp", "generation", "managedFields"] {
            kept["metadata"].as_object_mut().unwrap().remove(field);
        }
        kubectl(&["delete", WEBHOOK]).ok();
        // The API server hears of it a moment later.
        let plan = || tried("{}").err.contains("Warning: mc/probe: ");
        eventually(20, "the webhook is not asked any more", || !plan());
        NoWebhook { configuration: kept.to_string() }
    }
}

impl Drop for NoWebhook {
    fn drop(&mut self) {
        kubectl_with(&["create", "--filename", "-"], &self.configuration);
    }
}

/// The rules of the spec are not in the definition, as in a release that did not know them.
#[derive(Debug)]
pub struct NoRules {
    definition: String,
}

impl NoRules {
    /// Removes them. The test must hold the cluster for itself.
    #[track_caller]
    pub fn removed(_alone: &RwLockWriteGuard<'static, ()>) -> Self {
        let mut kept: Value = serde_json::from_str(&kubectl(&["get", DEFINITION, "--output", "json"]).ok()).unwrap();
        kept["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        let mut lax = kept.clone();
        for version in lax["spec"]["versions"].as_array_mut().unwrap() {
            without_rules(&mut version["schema"]["openAPIV3Schema"]["properties"]["spec"]);
        }
        kubectl_with(&["replace", "--filename", "-"], &lax.to_string()).ok();
        let passes = || tried("{podTemplate: {metadata: {labels: {app.kubernetes.io/probe: x}}}}").code == 0;
        eventually(20, "the rules are gone", passes);
        NoRules { definition: kept.to_string() }
    }
}

impl Drop for NoRules {
    fn drop(&mut self) {
        kubectl_with(&["replace", "--filename", "-"], &self.definition);
    }
}

fn without_rules(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("x-kubernetes-validations");
            fields.values_mut().for_each(without_rules);
        }
        Value::Array(items) => items.iter_mut().for_each(without_rules),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The answer to an object that nobody wants to keep.
fn tried(spec: &str) -> Answer {
    kubectl_with(&["create", "--namespace", "default", "--dry-run=server", "--filename", "-"], &memcached("probe", spec))
}

/// Kubernetes' own controllers stand still: nobody but the test finishes a Deployment.
#[derive(Debug)]
pub struct NoControllers {
    pid: String,
}

impl NoControllers {
    /// Holds them. The test must hold the cluster for itself.
    #[track_caller]
    pub fn held(_alone: &RwLockWriteGuard<'static, ()>) -> Self {
        let pid = process("kube-controller-manager");
        bash(&format!("kill -STOP {pid}")).ok();
        NoControllers { pid }
    }
}

impl Drop for NoControllers {
    fn drop(&mut self) {
        bash(&format!("kill -CONT {}", self.pid));
    }
}

/// The process of a program of the bed.
#[track_caller]
pub fn process(name: &str) -> String {
    let run = std::env::var("POINTSMAN_RUN").expect("no cluster: run tests/run");
    let record = std::fs::read_to_string(format!("{run}/pids/{name}")).unwrap();
    record.split_whitespace().next().unwrap().to_owned()
}
