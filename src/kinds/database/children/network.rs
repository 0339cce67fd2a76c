//! The addresses: of the primary, of the replicas and of each pod, and how many pods may be evicted at once.

use super::names;
use super::servers::CONTAINER;
use super::{kept, labels, selector};
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::plan::Plan;
use crate::kinds::pod_template::Strings;
use crate::kinds::rendered::{MANAGED_BY, Rendered};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::ResourceExt;
use serde_json::{Value, json};

/// On pods that serve as replicas. A pod that is made anew does not have it until the operator has looked.
pub const ROLE: (&str, &str) = ("pointsman.dev/role", "replica");
/// By it a Service selects one pod.
const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
/// No pod has this name, since names have no capitals; with an empty selector the old address would stay.
const NOBODY: &str = "Nobody";

/// The pod that a Service of one pod leads to.
pub fn leads_to(service: &Service) -> Option<&String> {
    service.spec.as_ref()?.selector.as_ref()?.get(POD_NAME)
}

/// Does a Service lead to where this one would?
pub fn leads_as(service: &Service, rendered: &Rendered) -> bool {
    service.spec.as_ref().is_some_and(|spec| json!(spec.selector) == rendered.object["spec"]["selector"])
}

/// The Service of the primary: it leads to one pod by its name, and nowhere while nobody is the primary.
pub fn primary(object: &Object, plan: &Plan, primary: Option<u32>) -> Rendered {
    let service = &plan.service;
    let mut spec = spec(plan, service.type_.name(), &the_pod(object, primary));
    if !service.source_ranges.is_empty() {
        spec["loadBalancerSourceRanges"] = json!(service.source_ranges);
    }
    let body = json!({ "metadata": { "annotations": service.annotations }, "spec": spec });
    kept::<Service>(object, &names::own(&object.name_any()), "server", body).annotated(&service.annotations)
}

/// The Service of the replicas; the primary's where no replica is `ready`.
pub fn read_only(object: &Object, plan: &Plan, primary: Option<u32>, ready: bool) -> Rendered {
    let selector = if ready { replicas(object) } else { the_pod(object, primary) };
    kept::<Service>(object, &names::read_only(&object.name_any()), "server", json!({ "spec": spec(plan, "ClusterIP", &selector) }))
}

/// The headless Service that gives each pod an address, ready or not: servers find each other before they are.
pub fn pods(object: &Object, plan: &Plan) -> Rendered {
    let mut spec = spec(plan, "ClusterIP", &watched(object));
    spec["clusterIP"] = json!("None");
    spec["publishNotReadyAddresses"] = json!(true);
    kept::<Service>(object, &names::pods(&object.name_any()), "server", json!({ "spec": spec }))
}

/// The `PodDisruptionBudget`, where there is more than one pod to keep.
pub fn budget(object: &Object, plan: &Plan) -> Option<Rendered> {
    let body = json!({
        "spec": { "maxUnavailable": 1, "selector": { "matchLabels": selector(object) }, "unhealthyPodEvictionPolicy": "AlwaysAllow" },
    });
    let name = names::own(&object.name_any());
    (plan.replicas >= 2).then(|| Rendered::owned::<PodDisruptionBudget>(object, &name, &labels(object, "server"), body))
}

/// The address of a pod, ready or not.
pub fn host(object: &Object, ordinal: u32) -> String {
    let name = object.name_any();
    format!("{}.{}.{}.svc", names::pod(&name, ordinal), names::pods(&name), crate::kinds::database::children::namespace(object))
}

fn spec(plan: &Plan, type_: &str, selector: &Strings) -> Value {
    let port = json!({ "name": CONTAINER, "port": plan.port, "protocol": "TCP", "targetPort": plan.port });
    json!({ "type": type_, "ipFamilyPolicy": "PreferDualStack", "selector": selector, "ports": [port], "publishNotReadyAddresses": false })
}

/// By our labels too: whoever may label a pod as he likes would else be found by the name of another's.
fn the_pod(object: &Object, ordinal: Option<u32>) -> Strings {
    let pod = ordinal.map_or_else(|| NOBODY.to_owned(), |ordinal| names::pod(&object.name_any(), ordinal));
    let mut selector = watched(object);
    selector.insert(POD_NAME.to_owned(), pod);
    selector
}

fn replicas(object: &Object) -> Strings {
    let mut selector = watched(object);
    selector.insert(ROLE.0.to_owned(), ROLE.1.to_owned());
    selector
}

/// Only pods that are watched: what is counted as ready is what the name leads to.
fn watched(object: &Object) -> Strings {
    let mut watched = selector(object);
    watched.insert(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned());
    watched
}
