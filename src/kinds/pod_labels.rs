//! The labels that a user may not put on pods: by them controllers, Services and this operator find the pods that are theirs.

use super::annotations::PREFIX;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

/// Domains whose labels are Kubernetes' own, under whichever name before them.
const DOMAINS: [&str; 2] = ["kubernetes.io", "k8s.io"];
/// The keys without a prefix by which the controllers of workloads find their pods.
const KEYS: [&str; 4] = ["pod-template-hash", "controller-revision-hash", "job-name", "controller-uid"];
/// What is reserved, and why, in words.
pub const RESERVED: &str = "labels of kubernetes.io, k8s.io, pointsman.dev and the controllers of workloads say whose a pod is. \
                            Use a prefix of your own.";

/// Is a pod's label of this key somebody else's to set?
pub fn is_reserved(key: &str) -> bool {
    let is_of = |prefix: &str, domain: &str| prefix == domain || prefix.strip_suffix(domain).is_some_and(|name| name.ends_with('.'));
    let prefix = key.split_once('/').map(|(prefix, _)| prefix);
    key.starts_with(PREFIX) || KEYS.contains(&key) || prefix.is_some_and(|prefix| DOMAINS.iter().any(|domain| is_of(prefix, domain)))
}

/// The same rule, as the API server judges it.
fn rule() -> String {
    let mut refused = vec![format!("key.startsWith('{PREFIX}')")];
    refused.extend(DOMAINS.iter().map(|domain| format!("key.startsWith('{domain}/')")));
    refused.extend(DOMAINS.iter().map(|domain| format!("key.contains('.{domain}/')")));
    let keys: Vec<String> = KEYS.iter().map(|key| format!("'{key}'")).collect();
    refused.push(format!("key in [{}]", keys.join(", ")));
    format!("self.all(key, !({}))", refused.join(" || "))
}

/// The value of a label.
pub fn value() -> Value {
    serde_json::json!({ "type": "string", "maxLength": 63, "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$" })
}

/// The schema of a map of such labels.
pub fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "Labels; those of kubernetes.io, k8s.io, pointsman.dev and of the controllers of workloads are not a user's to set.",
        "maxProperties": 64,
        "additionalProperties": value(),
        "x-kubernetes-validations": [{ "rule": rule(), "reason": "FieldValueForbidden", "message": RESERVED }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_reserved_under_every_name_and_no_domain_that_only_ends_alike() {
        let reserved = [
            "app.kubernetes.io/name",
            "statefulset.kubernetes.io/pod-name",
            "kubernetes.io/hostname",
            "batch.kubernetes.io/job-name",
            "x.k8s.io/y",
            "pointsman.dev/role",
            "pod-template-hash",
            "job-name",
        ];
        let free = ["notkubernetes.io/name", "kubernetes.io.example.com/name", "sidecar.istio.io/inject", "app", "team", "kubernetes.io"];
        assert!(reserved.iter().all(|key| is_reserved(key)));
        assert!(!free.iter().any(|key| is_reserved(key)));
    }
}
