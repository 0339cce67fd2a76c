//! What is refused in the pods, and what is not.

use pointsman::kinds::pod_rules::illegal_parts;
use pointsman::kinds::pod_template::PodTemplate;
use serde_json::{Value, json};

fn faults(spec: &Value) -> Vec<String> {
    let template: PodTemplate = serde_json::from_value(json!({ "spec": spec })).expect("a template");
    illegal_parts(&template).into_iter().map(|(field, text)| format!("{field}: {text}")).collect()
}

fn term(key: &str, operator: &str, values: &Value) -> Value {
    json!({ "matchExpressions": [{ "key": key, "operator": operator, "values": values }] })
}

fn required(terms: &Value) -> Value {
    json!({ "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": terms } } } })
}

fn near(weight: i32, key: &str) -> Value {
    let term = json!({ "topologyKey": key, "labelSelector": { "matchLabels": { "a": "b" } } });
    let preferred = json!([{ "weight": weight, "podAffinityTerm": term }]);
    json!({ "affinity": { "podAntiAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": preferred } } })
}

fn spread(when: &str, least: i32, policy: &str) -> Value {
    let one = json!({ "topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": when, "minDomains": least, "nodeAffinityPolicy": policy });
    json!({ "topologySpreadConstraints": [one] })
}

fn far(term: &Value) -> Value {
    let mut term = term.clone();
    term["topologyKey"] = json!("zone");
    json!({ "affinity": { "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [term] } } })
}

fn tolerates(one: &Value) -> Value {
    json!({ "tolerations": [one] })
}

#[test]
fn what_the_api_server_takes_is_not_refused() {
    let legal = [
        tolerates(&json!({ "operator": "Exists" })),
        tolerates(&json!({ "key": "a/b", "value": "c", "effect": "NoExecute", "tolerationSeconds": 5 })),
        required(&json!([term("zone", "In", &json!(["a"])), term("cores", "Gt", &json!(["4"])), term("disk", "Exists", &Value::Null)])),
        near(100, "kubernetes.io/hostname"),
        spread("DoNotSchedule", 2, "Honor"),
        far(
            &json!({ "labelSelector": { "matchExpressions": [{ "key": "tenant", "operator": "Exists" }] }, "mismatchLabelKeys": ["tenant"] }),
        ),
        far(&json!({ "namespaces": ["shop"], "labelSelector": {}, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["b/c"] })),
    ];
    for spec in legal {
        assert_eq!(faults(&spec), Vec::<String>::new());
    }
}

#[test]
fn what_the_api_server_would_refuse_is_named_with_its_field() {
    let illegal = [
        (tolerates(&json!({ "key": "a", "operator": "Exists", "value": "b" })), "spec.tolerations[0].value: \"b\" has no meaning"),
        (tolerates(&json!({ "key": "a", "effect": "NoSchedule", "tolerationSeconds": 5 })), "spec.tolerations[0].tolerationSeconds: only"),
        (tolerates(&json!({ "operator": "Equal", "value": "b" })), "spec.tolerations[0].operator: without a key"),
        (tolerates(&json!({ "key": "bad key!" })), "spec.tolerations[0].key: \"bad key!\" is no key"),
        (tolerates(&json!({ "key": "a", "value": "bad value!" })), "spec.tolerations[0].value: \"bad value!\" is no value"),
        (tolerates(&json!({ "key": "a", "effect": "Never" })), "spec.tolerations[0].effect: \"Never\" is none of NoSchedule"),
        (required(&json!([])), "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: at least one"),
        (
            required(&json!([term("zone", "Bogus", &json!(["a"]))])),
            "nodeSelectorTerms[0].matchExpressions[0].operator: \"Bogus\" is none of In",
        ),
        (required(&json!([term("zone", "In", &json!([]))])), "matchExpressions[0].values: In needs at least one"),
        (near(500, "zone"), "preferredDuringSchedulingIgnoredDuringExecution[0].weight: 500 is not from 1 to 100"),
        (near(5, ""), "podAffinityTerm.topologyKey: \"\" is no key"),
        (
            far(&json!({ "namespaces": ["Bad_NS"] })),
            "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces: \"Bad_NS\"",
        ),
        (far(&json!({ "labelSelector": {}, "matchLabelKeys": ["a b"] })), "[0].matchLabelKeys: \"a b\" is no key"),
        (
            far(&json!({ "labelSelector": {}, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["a"] })),
            "[0].mismatchLabelKeys: \"a\" stands in",
        ),
        (far(&json!({ "labelSelector": { "matchLabels": { "a": "b" } }, "matchLabelKeys": ["a"] })), "[0].matchLabelKeys: \"a\" stands in"),
        (far(&json!({ "matchLabelKeys": ["a"] })), "[0].matchLabelKeys: it has a meaning only beside a labelSelector"),
        (required(&json!([term("zone", "In", &json!(["x y z!"]))])), "matchExpressions[0].values: \"x y z!\" is no value of a label"),
        (required(&json!([term("cores", "Gt", &json!(["-5"]))])), "matchExpressions[0].values: \"-5\" is no whole number"),
        (spread("ScheduleAnyway", 2, "Honor"), "spec.topologySpreadConstraints[0].minDomains: it has a meaning only"),
        (spread("DoNotSchedule", 2, "Bogus"), "nodeAffinityPolicy: \"Bogus\" is none of Honor, Ignore"),
    ];
    for (spec, expected) in illegal {
        let found = faults(&spec);
        assert!(found.len() == 1 && found[0].contains(expected), "{found:?} is not {expected}");
    }
}

#[test]
fn annotations_take_capitals_in_their_prefix_and_labels_do_not() {
    let metadata = json!({ "metadata": { "labels": { "Example.COM/owner": "a" }, "annotations": { "Example.COM/owner": "a" } } });
    let template: PodTemplate = serde_json::from_value(metadata).expect("a template");
    let fields: Vec<String> = illegal_parts(&template).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["metadata.labels"]);
}
