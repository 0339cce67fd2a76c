//! Nodes that a test opens and closes: pods that exist stay, new ones wait for a node.

use super::{Space, api};
use serde_json::{Value, json};

/// The node that the pool opens.
const NODE: &str = "fake-0";

/// A pool for the pods of one namespace.
#[derive(Debug)]
pub struct Pool {
    label: String,
}

impl Pool {
    /// An open pool.
    #[track_caller]
    pub fn new(space: &Space) -> Self {
        let pool = Pool { label: format!("example.com/{}", space.name) };
        pool.open();
        pool
    }

    /// The field of a spec that binds pods to the pool, in YAML's flow style.
    pub fn field(&self) -> String {
        format!("podTemplate: {{spec: {{nodeSelector: {{{}: open}}}}}}", self.label)
    }

    /// The same as JSON: what stands in `podTemplate`.
    pub fn json(&self) -> String {
        format!(r#"{{"spec":{{"nodeSelector":{{"{}":"open"}}}}}}"#, self.label)
    }

    /// Waiting pods are scheduled.
    #[track_caller]
    pub fn open(&self) {
        self.label_the_node(&json!("open")).unwrap();
    }

    /// New pods are not scheduled.
    #[track_caller]
    pub fn close(&self) {
        self.label_the_node(&Value::Null).unwrap();
    }

    fn label_the_node(&self, value: &Value) -> Result<Value, kube::Error> {
        api::ask("PATCH", &format!("/api/v1/nodes/{NODE}"), &json!({ "metadata": { "labels": { &self.label: value } } }))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _ = self.label_the_node(&Value::Null);
    }
}
