//! What the API server would refuse in the pods, and not in the object: told at the prompt, not by a roll-out that never comes.

use super::faults::{Fault, Faults, is_label};
use super::pod_template::{PodMetadata, PodPlacement, PodTemplate, Strings};
use k8s_openapi::api::core::v1::{Affinity, NodeSelectorTerm, PodAffinityTerm, Toleration, TopologySpreadConstraint};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// What an operator of a toleration may be; empty is as absent.
const TOLERATES: &[&str] = &["", "Exists", "Equal"];
/// What its effect may be.
const EFFECTS: &[&str] = &["", "NoSchedule", "PreferNoSchedule", "NoExecute"];
/// What a spread may do when it cannot be.
const UNSATISFIABLE: &[&str] = &["DoNotSchedule", "ScheduleAnyway"];
/// What it may do with nodes that a pod cannot go to.
const POLICIES: &[&str] = &["Honor", "Ignore"];
/// How nodes are chosen by a label.
const OF_NODES: &[&str] = &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
/// How pods are.
const OF_PODS: &[&str] = &["In", "NotIn", "Exists", "DoesNotExist"];
/// Every part of a pod template that is not legal.
pub fn illegal_parts(template: &PodTemplate) -> Vec<Fault> {
    let mut faults = Faults::default();
    if let Some(PodMetadata { labels, annotations }) = &template.metadata {
        for key in labels.keys() {
            faults.key("metadata.labels", key);
        }
        // Of these alone, the API server takes capitals in the prefix.
        for key in annotations.keys() {
            faults.key("metadata.annotations", &key.to_ascii_lowercase());
        }
    }
    if let Some(PodPlacement { node_selector, tolerations, affinity, topology_spread_constraints, .. }) = &template.spec {
        for key in node_selector.keys() {
            faults.key("spec.nodeSelector", key);
        }
        for (place, of) in tolerations.iter().enumerate() {
            toleration(&mut faults, &format!("spec.tolerations[{place}]"), of);
        }
        if let Some(affinity) = affinity {
            placed(&mut faults, affinity);
        }
        for (place, of) in topology_spread_constraints.iter().enumerate() {
            spread(&mut faults, &format!("spec.topologySpreadConstraints[{place}]"), of);
        }
    }
    faults.found()
}

fn toleration(faults: &mut Faults, at: &str, of: &Toleration) {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let (key, operator, value, effect) = (text(&of.key), text(&of.operator), text(&of.value), text(&of.effect));
    faults.word(&format!("{at}.operator"), &operator, TOLERATES);
    faults.word(&format!("{at}.effect"), &effect, EFFECTS);
    if key.is_empty() {
        faults.unless(operator == "Exists", &format!("{at}.operator"), || {
            "without a key it must be Exists, which tolerates every taint".into()
        });
    } else {
        faults.key(&format!("{at}.key"), &key);
    }
    if operator == "Exists" {
        faults.unless(value.is_empty(), &format!("{at}.value"), || {
            format!("{value:?} has no meaning where the operator is Exists; remove it")
        });
    } else {
        faults.value(&format!("{at}.value"), &value);
    }
    let lasts = of.toleration_seconds.is_none() || effect == "NoExecute";
    faults.unless(lasts, &format!("{at}.tolerationSeconds"), || "only a toleration of the effect NoExecute ends after some time".into());
}

fn placed(faults: &mut Faults, affinity: &Affinity) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    if let Some(nodes) = &affinity.node_affinity {
        let at = "spec.affinity.nodeAffinity";
        if let Some(required) = &nodes.required_during_scheduling_ignored_during_execution {
            let at = format!("{at}.{REQUIRED}.nodeSelectorTerms");
            faults.unless(!required.node_selector_terms.is_empty(), &at, || "at least one term is needed".into());
            required.node_selector_terms.iter().enumerate().for_each(|(place, term)| node_term(faults, &format!("{at}[{place}]"), term));
        }
        for (place, term) in nodes.preferred_during_scheduling_ignored_during_execution.iter().flatten().enumerate() {
            let at = format!("{at}.{PREFERRED}[{place}]");
            weight(faults, &at, term.weight);
            node_term(faults, &format!("{at}.preference"), &term.preference);
        }
    }
    let (near, far) = (affinity.pod_affinity.as_ref(), affinity.pod_anti_affinity.as_ref());
    let near = near.map(|of| {
        ("podAffinity", &of.required_during_scheduling_ignored_during_execution, &of.preferred_during_scheduling_ignored_during_execution)
    });
    let far = far.map(|of| {
        (
            "podAntiAffinity",
            &of.required_during_scheduling_ignored_during_execution,
            &of.preferred_during_scheduling_ignored_during_execution,
        )
    });
    for (name, required, preferred) in near.into_iter().chain(far) {
        for (place, term) in required.iter().flatten().enumerate() {
            pod_term(faults, &format!("spec.affinity.{name}.{REQUIRED}[{place}]"), term);
        }
        for (place, term) in preferred.iter().flatten().enumerate() {
            let at = format!("spec.affinity.{name}.{PREFERRED}[{place}]");
            weight(faults, &at, term.weight);
            pod_term(faults, &format!("{at}.podAffinityTerm"), &term.pod_affinity_term);
        }
    }
}

fn weight(faults: &mut Faults, at: &str, weight: i32) {
    faults.unless((1..=100).contains(&weight), &format!("{at}.weight"), || format!("{weight} is not from 1 to 100"));
}

fn node_term(faults: &mut Faults, at: &str, term: &NodeSelectorTerm) {
    for (place, of) in term.match_expressions.iter().flatten().enumerate() {
        expression(faults, &format!("{at}.matchExpressions[{place}]"), (&of.key, &of.operator, of.values.as_deref()), OF_NODES);
    }
    for (place, of) in term.match_fields.iter().flatten().enumerate() {
        let at = format!("{at}.matchFields[{place}]");
        faults.unless(of.key == "metadata.name", &format!("{at}.key"), || {
            format!("{:?} is no field of a node that can be matched; metadata.name is", of.key)
        });
        faults.word(&format!("{at}.operator"), &of.operator, &["In", "NotIn"]);
        faults.unless(of.values.iter().flatten().count() == 1, &format!("{at}.values"), || "exactly one name is needed".into());
    }
}

fn pod_term(faults: &mut Faults, at: &str, term: &PodAffinityTerm) {
    faults.key(&format!("{at}.topologyKey"), &term.topology_key);
    selected(faults, &format!("{at}.labelSelector"), term.label_selector.as_ref());
    selected(faults, &format!("{at}.namespaceSelector"), term.namespace_selector.as_ref());
    for name in term.namespaces.iter().flatten() {
        faults.unless(is_label(name), &format!("{at}.namespaces"), || format!("{name:?} is no name of a namespace"));
    }
    let (with, without) = (term.match_label_keys.as_deref().unwrap_or_default(), term.mismatch_label_keys.as_deref().unwrap_or_default());
    matched_keys(faults, &format!("{at}.matchLabelKeys"), with, term.label_selector.as_ref());
    label_keys(faults, &format!("{at}.mismatchLabelKeys"), without, term.label_selector.as_ref());
    for key in with.iter().filter(|key| without.contains(key)) {
        faults.unless(false, &format!("{at}.mismatchLabelKeys"), || format!("{key:?} stands in matchLabelKeys too"));
    }
}

/// Keys whose values are taken from the pod: they refine a selector.
fn label_keys(faults: &mut Faults, at: &str, keys: &[String], selector: Option<&LabelSelector>) {
    faults.unless(keys.is_empty() || selector.is_some(), at, || "it has a meaning only beside a labelSelector".into());
    for key in keys {
        faults.key(at, key);
    }
}

/// Keys whose values must be the pod's own: they may not stand in the selector too. Those whose values must differ may: so
/// tenants keep apart from each other, and from nobody else.
fn matched_keys(faults: &mut Faults, at: &str, keys: &[String], selector: Option<&LabelSelector>) {
    label_keys(faults, at, keys, selector);
    let labels = selector.and_then(|selector| selector.match_labels.as_ref());
    let expressions = selector.and_then(|selector| selector.match_expressions.as_ref());
    for key in keys {
        let named = labels.is_some_and(|labels| labels.contains_key(key)) || expressions.into_iter().flatten().any(|of| of.key == *key);
        faults.unless(!named, at, || format!("{key:?} stands in the labelSelector too"));
    }
}

fn spread(faults: &mut Faults, at: &str, of: &TopologySpreadConstraint) {
    faults.key(&format!("{at}.topologyKey"), &of.topology_key);
    faults.word(&format!("{at}.whenUnsatisfiable"), &of.when_unsatisfiable, UNSATISFIABLE);
    faults.unless(of.max_skew >= 1, &format!("{at}.maxSkew"), || format!("{} is not at least 1", of.max_skew));
    if let Some(least) = of.min_domains {
        faults.unless(least >= 1, &format!("{at}.minDomains"), || format!("{least} is not at least 1"));
        let strict = of.when_unsatisfiable == "DoNotSchedule";
        faults.unless(strict, &format!("{at}.minDomains"), || "it has a meaning only where whenUnsatisfiable is DoNotSchedule".into());
    }
    for (field, policy) in [("nodeAffinityPolicy", &of.node_affinity_policy), ("nodeTaintsPolicy", &of.node_taints_policy)] {
        if let Some(policy) = policy {
            faults.word(&format!("{at}.{field}"), policy, POLICIES);
        }
    }
    selected(faults, &format!("{at}.labelSelector"), of.label_selector.as_ref());
    let keys = of.match_label_keys.as_deref().unwrap_or_default();
    matched_keys(faults, &format!("{at}.matchLabelKeys"), keys, of.label_selector.as_ref());
}

fn selected(faults: &mut Faults, at: &str, selector: Option<&LabelSelector>) {
    let Some(selector) = selector else { return };
    let labels: &Strings = &selector.match_labels.clone().unwrap_or_default();
    for (key, value) in labels {
        faults.key(&format!("{at}.matchLabels"), key);
        faults.value(&format!("{at}.matchLabels[{key}]"), value);
    }
    for (place, of) in selector.match_expressions.iter().flatten().enumerate() {
        expression(faults, &format!("{at}.matchExpressions[{place}]"), (&of.key, &of.operator, of.values.as_deref()), OF_PODS);
    }
}

fn expression(faults: &mut Faults, at: &str, (key, operator, values): (&str, &str, Option<&[String]>), known: &[&str]) {
    faults.key(&format!("{at}.key"), key);
    faults.word(&format!("{at}.operator"), operator, known);
    let (at, count) = (format!("{at}.values"), values.map_or(0, <[String]>::len));
    match operator {
        "In" | "NotIn" => faults.unless(count > 0, &at, || format!("{operator} needs at least one")),
        "Exists" | "DoesNotExist" => faults.unless(count == 0, &at, || format!("{operator} takes none")),
        "Gt" | "Lt" => faults.unless(count == 1, &at, || format!("{operator} takes exactly one, a whole number")),
        _ => {}
    }
    let whole = ["Gt", "Lt"].contains(&operator);
    for value in values.into_iter().flatten() {
        if whole {
            let digits = value.chars().all(|c| c.is_ascii_digit()) && value.parse::<i64>().is_ok();
            faults.unless(digits, &at, || format!("{value:?} is no whole number of at least 0"));
        } else {
            faults.value(&at, value);
        }
    }
}
