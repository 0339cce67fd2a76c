//! Parts of the cluster that a test takes away, and gets back however the test ends.

use super::{
    Alone, Answer, DEFINITION, WEBHOOK, anew, bash, eventually, kubectl, kubectl_with, memcached, operator, repository, run_folder, stored,
};
use serde_json::Value;

const SERVICE: [&str; 4] = ["--namespace", "pointsman-system", "service", "pointsman"];

/// The operator is gone; it is started again at the end.
#[derive(Debug)]
pub struct NoOperator(());

impl NoOperator {
    /// Stops it. The test must hold the cluster for itself.
    #[track_caller]
    pub fn stopped(_alone: &Alone) -> Self {
        operator(&["stop"]);
        NoOperator(())
    }

    /// Ends it without a warning.
    #[track_caller]
    pub fn killed(_alone: &Alone) -> Self {
        operator(&["kill"]);
        NoOperator(())
    }
}

impl Drop for NoOperator {
    fn drop(&mut self) {
        // A panic in a panic would end the whole run.
        bash(&format!("{} start", repository().join("tests/cluster/operator").display()));
    }
}

/// An object that is taken away; it is created anew at the end.
#[derive(Debug)]
struct Away(String);

impl Away {
    #[track_caller]
    fn taken(object: &[&str]) -> Self {
        let kept = anew(stored(object)).to_string();
        kubectl(&[&["delete", "--timeout=60s"], object].concat()).ok();
        Away(kept)
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        put_back("create", &self.0);
    }
}

/// A panic in a panic would end the whole run.
fn put_back(verb: &str, object: &str) {
    let answer = kubectl_with(&[verb, "--filename", "-"], object);
    if answer.code != 0 {
        eprintln!("what was taken away is not put back: {}", answer.text());
    }
}

/// The webhook is not asked, as after an administrator's emergency measure.
#[derive(Debug)]
pub struct NoWebhook {
    _configuration: Away,
}

impl NoWebhook {
    /// Removes its configuration. The test must hold the cluster for itself.
    #[track_caller]
    pub fn removed(_alone: &Alone) -> Self {
        let outage = NoWebhook { _configuration: Away::taken(&[WEBHOOK]) };
        // The API server hears of it a moment later.
        eventually(20, "the webhook is not asked any more", || !tried("{}").err.contains(PLAN));
        outage
    }
}

/// The Service is gone; the operator itself runs.
#[derive(Debug)]
pub struct NoService {
    _service: Away,
    _operator: NoOperator,
}

impl NoService {
    /// Deletes it. The test must hold the cluster for itself.
    #[track_caller]
    pub fn deleted(alone: &Alone) -> Self {
        // What is connected stays so without the Service.
        let stopped = NoOperator::stopped(alone);
        let outage = NoService { _service: Away::taken(&SERVICE), _operator: stopped };
        operator(&["start-unreached"]);
        eventually(20, "the webhook is not reached", || tried("{}").err.contains("failed calling webhook"));
        outage
    }
}

/// The definitions are deleted, and with them every object.
#[derive(Debug)]
pub struct NoDefinition {
    _definitions: [Away; 2],
}

impl NoDefinition {
    /// Deletes them. Nobody may run who would wait for them.
    #[track_caller]
    pub fn deleted(_away: &NoOperator) -> Self {
        const BOTH: [&str; 2] = [DEFINITION, "customresourcedefinition/databases.stable.imaginedata.com"];
        for definition in BOTH {
            kubectl(&["annotate", definition, "pointsman.dev/deletable=true"]).ok();
        }
        let outage = NoDefinition { _definitions: BOTH.map(|definition| Away::taken(&[definition])) };
        for kind in ["mc", "db"] {
            eventually(20, "the kind is unknown", || kubectl(&["get", kind]).code != 0);
        }
        outage
    }
}

/// The definition as this release has it; it is put back at the end.
#[derive(Debug)]
pub struct Definition(Value);

impl Definition {
    /// Keeps it. The test must hold the cluster for itself.
    #[track_caller]
    pub fn kept(_alone: &Alone) -> Self {
        Definition(anew(stored(&[DEFINITION])))
    }

    /// Takes the place of the definition that is there, with other versions.
    #[track_caller]
    pub fn replace(&self, change: impl Fn(&mut Vec<Value>)) {
        let mut changed = self.0.clone();
        change(changed["spec"]["versions"].as_array_mut().unwrap());
        kubectl_with(&["replace", "--filename", "-"], &changed.to_string()).ok();
    }
}

impl Drop for Definition {
    fn drop(&mut self) {
        put_back("replace", &self.0.to_string());
    }
}

/// The rules of the spec are not in the definition, as in a release that did not know them.
#[derive(Debug)]
pub struct NoRules(Definition);

impl NoRules {
    /// Removes them. The test must hold the cluster for itself.
    #[track_caller]
    pub fn removed(alone: &Alone) -> Self {
        let outage = NoRules(Definition::kept(alone));
        outage.0.replace(|versions| {
            for version in versions {
                without_rules(&mut version["schema"]["openAPIV3Schema"]["properties"]["spec"]);
            }
        });
        let passes = || tried("{podTemplate: {metadata: {labels: {app.kubernetes.io/probe: x}}}}").code == 0;
        eventually(20, "the rules are gone", passes);
        outage
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

/// What the webhook says of an object that nobody wants to keep.
const PLAN: &str = "Warning: mc/probe: ";

/// Does the API server reach the webhook, and take its answer?
pub fn is_judged() -> bool {
    let answer = tried("{}");
    answer.code == 0 && answer.err.contains(PLAN)
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
    pub fn held(_alone: &Alone) -> Self {
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
    let record = std::fs::read_to_string(run_folder().join("pids").join(name)).unwrap();
    record.split_whitespace().next().unwrap().to_owned()
}
