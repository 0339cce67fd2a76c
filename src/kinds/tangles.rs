//! What no apply can mend, since ours would be set beside what is there and be refused.

use super::drift::name;
use super::order::patch_of;
use super::quantity::Quantity;
use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation, TestOperation};
use jsonptr::PointerBuf;
use kube::Resource;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the API server tells ports apart by.
const KEYS_OF_PORTS: [&str; 3] = ["port", "containerPort", "protocol"];
/// Fields of which an object may have one: an apply sets ours beside another's, and is refused. A profile of the node's is
/// only for the type that names one.
const ONE_OF: [&[&str]; 3] =
    [&["tcpSocket", "httpGet", "exec", "grpc"], &["minAvailable", "maxUnavailable"], &["type", "localhostProfile"]];

/// Ports that keep their name under another number are put back in their places, and what excludes a field of ours goes.
/// Nothing where there is none.
pub fn tangles<T: Resource + Serialize>(live: &T, wanted: &Value) -> Option<Patch> {
    let mut operations = Vec::new();
    untangle(&serde_json::to_value(live).unwrap_or_default(), wanted, &PointerBuf::root(), &mut operations);
    (!operations.is_empty()).then(|| patch_of(live.meta().uid.as_deref(), operations))
}

fn untangle(live: &Value, wanted: &Value, at: &PointerBuf, operations: &mut Vec<PatchOperation>) {
    let below = |token: &str| at.with_trailing_token(token);
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            for (key, wanted) in wanted {
                untangle(live.get(key).unwrap_or(&Value::Null), wanted, &below(key), operations);
            }
            for (ours, other) in excluded(wanted).filter(|(_, other)| live.contains_key(*other)) {
                operations.extend(removed(below(other), &live[other]));
                // One there has to be.
                operations.push(PatchOperation::Add(AddOperation { path: below(ours), value: wanted[ours].clone() }));
            }
            for Crossed { theirs, ours, resource } in crossed(live, wanted) {
                operations.extend(removed(below(theirs).with_trailing_token(resource), &live[theirs][resource]));
                let (path, value) = (below(ours).with_trailing_token(resource), wanted[ours][resource].clone());
                operations.push(PatchOperation::Add(AddOperation { path, value }));
            }
        }
        (Value::Array(live), Value::Array(wanted)) => {
            for wanted in wanted {
                let Some(place) = live.iter().position(|other| name(wanted).is_some() && name(other) == name(wanted)) else { continue };
                let (path, before) = (below(&place.to_string()), &live[place]);
                if KEYS_OF_PORTS.iter().any(|key| wanted.get(key).is_some() && wanted.get(key) != before.get(key)) {
                    operations.push(PatchOperation::Test(TestOperation { path: path.clone(), value: before.clone() }));
                    operations.push(PatchOperation::Replace(ReplaceOperation { path, value: wanted.clone() }));
                } else {
                    untangle(before, wanted, &path, operations);
                }
            }
        }
        _ => {}
    }
}

/// Each field of ours of which there may be one, with each of the others.
fn excluded(wanted: &Map<String, Value>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let ours = ONE_OF.iter().filter_map(|group| Some((group, group.iter().find(|key| wanted.contains_key(**key))?)));
    ours.flat_map(|(group, ours)| group.iter().filter(move |other| *other != ours).map(move |other| (*ours, *other)))
}

/// A resource with a limit of others under our request, or with a request of others over our limit.
struct Crossed<'a> {
    theirs: &'static str,
    ours: &'static str,
    resource: &'a str,
}

fn crossed<'a>(live: &'a Map<String, Value>, wanted: &'a Map<String, Value>) -> impl Iterator<Item = Crossed<'a>> {
    let amount = |value: &Value| Quantity::deserialize(value).ok().and_then(|quantity| quantity.nanos());
    [("limits", "requests"), ("requests", "limits")].into_iter().flat_map(move |(theirs, ours)| {
        let wanted_here = wanted.get(ours).and_then(Value::as_object).into_iter().flatten();
        wanted_here.filter_map(move |(resource, value)| {
            let other = live.get(theirs)?.get(resource)?;
            let is_ours = wanted.get(theirs).and_then(|list| list.get(resource)).is_some();
            let (request, limit) = if theirs == "limits" { (value, other) } else { (other, value) };
            (!is_ours && amount(limit)? < amount(request)?).then_some(Crossed { theirs, ours, resource })
        })
    })
}

fn removed(path: PointerBuf, live: &Value) -> [PatchOperation; 2] {
    let test = TestOperation { path: path.clone(), value: live.clone() };
    [PatchOperation::Test(test), PatchOperation::Remove(RemoveOperation { path })]
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::{Pod, Service};
    use serde_json::json;

    #[test]
    fn a_renumbered_port_is_put_back_in_its_place() {
        let wanted = json!({ "spec": { "ports": [{ "name": "main", "port": 11211, "protocol": "TCP" }] } });
        let service = |port: i32| -> Service {
            let ports = json!([{ "name": "other", "port": 9, "protocol": "TCP" }, { "name": "main", "port": port, "protocol": "TCP" }]);
            serde_json::from_value(json!({ "metadata": { "uid": "u" }, "spec": { "ports": ports } })).expect("a Service")
        };
        assert_eq!(tangles(&service(11211), &wanted), None);
        let patch = tangles(&service(80), &wanted).expect("a patch");
        let mut live = json!(service(80));
        json_patch::patch(&mut live, &patch).expect("its tests hold");
        assert_eq!(live["spec"], json!(service(11211))["spec"]);
        assert!(json_patch::patch(&mut json!(service(81)), &patch).is_err(), "what somebody changed since is overwritten");
    }

    #[test]
    fn what_excludes_a_field_of_ours_goes() {
        let probe = json!({ "name": "main", "readinessProbe": { "httpGet": { "port": 80 } } });
        let pod: Pod = serde_json::from_value(json!({ "metadata": { "uid": "u" }, "spec": { "containers": [probe] } })).expect("a Pod");
        let wanted = json!({ "spec": { "containers": [{ "name": "main", "readinessProbe": { "tcpSocket": { "port": 1 } } }] } });
        let mut live = json!(pod);
        json_patch::patch(&mut live, &tangles(&pod, &wanted).expect("a patch")).expect("its tests hold");
        assert_eq!(live["spec"], wanted["spec"]);
    }

    #[test]
    fn what_an_apply_would_be_refused_for_goes_and_nothing_else() {
        let wanted = json!({ "spec": { "containers": [{ "name": "main", "resources": { "requests": { "cpu": "50m" }, "limits": { "memory": "1Gi" } },
            "securityContext": { "seccompProfile": { "type": "RuntimeDefault" } } }] } });
        let pod = |resources: Value, profile: Value| -> Pod {
            let container = json!({ "name": "main", "resources": resources, "securityContext": { "seccompProfile": profile } });
            serde_json::from_value(json!({ "metadata": { "uid": "u" }, "spec": { "containers": [container] } })).expect("a Pod")
        };
        let plain = json!({ "type": "RuntimeDefault" });
        let roomy = json!({ "requests": { "cpu": "10m", "ephemeral-storage": "1Gi" }, "limits": { "memory": "1Gi", "cpu": "1" } });
        assert_eq!(tangles(&pod(roomy, plain.clone()), &wanted), None);
        let tight = json!({ "requests": { "cpu": "10m", "memory": "2Gi" }, "limits": { "memory": "2Gi", "cpu": "20m" } });
        let tight = pod(tight, json!({ "type": "Localhost", "localhostProfile": "p.json" }));
        let mut live = json!(tight);
        json_patch::patch(&mut live, &tangles(&tight, &wanted).expect("a patch")).expect("its tests hold");
        let container = &live["spec"]["containers"][0];
        assert_eq!(container["resources"], json!({ "requests": { "cpu": "50m" }, "limits": { "memory": "1Gi" } }));
        assert_eq!(container["securityContext"]["seccompProfile"], plain);
    }
}
