//! What a Prometheus operator takes: which pods to scrape, and what to call somebody for. Apart from the list of the
//! installation, since the API server of a cluster without that operator knows neither kind.

use super::alerts::{ALERTS, Alert};
use super::manifests::{NAME, NAMESPACE, labels, selector};
use serde_json::{Value, json};

/// Both objects. A switch of the chart and the kustomize component add them to the others.
pub fn monitoring() -> Vec<Value> {
    vec![pod_monitor(), rules()]
}

/// Each pod has metrics of its own, on a port that the Service does not carry.
fn pod_monitor() -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": { "name": NAME, "namespace": NAMESPACE, "labels": labels() },
        "spec": {
            "selector": { "matchLabels": selector() },
            // The namespace in our metrics is the object's: Prometheus would rename it in favour of the pod's.
            "podMetricsEndpoints": [{ "port": "metrics", "path": "/metrics", "interval": "30s", "honorLabels": true }],
        },
    })
}

fn rules() -> Value {
    let rules: Vec<Value> = ALERTS.iter().map(rule).collect();
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": { "name": NAME, "namespace": NAMESPACE, "labels": labels() },
        "spec": { "groups": [{ "name": NAME, "rules": rules }] },
    })
}

fn rule(alert: &Alert) -> Value {
    json!({
        "alert": alert.name,
        "expr": alert.expression,
        "for": alert.lasts,
        "labels": { "severity": alert.severity },
        "annotations": {
            "summary": alert.summary,
            "description": format!("{}. {}. Next: {}.", alert.what, alert.matters, alert.next),
            "runbook_url": format!("docs/alerts.md#{}", alert.name.to_lowercase()),
        },
    })
}
