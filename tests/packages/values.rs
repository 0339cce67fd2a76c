//! Every value goes where it should, and no other is taken.

use super::{CHART, Objects, helm, read, run};
use pointsman::config::{Described, described};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const OPERATOR: &str = "Deployment pointsman-system/pointsman";
const SERVICE: &str = "Service pointsman-system/pointsman";
const DEFINITION: &str = "CustomResourceDefinition /memcacheds.cache.example.com";
const BUDGET: &str = "PodDisruptionBudget pointsman-system/pointsman";
const POD: &str = "/spec/template/spec";
const CONTAINER: &str = "/spec/template/spec/containers/0";

/// A value's path, something that is set there, the object that shows it, where, and what stands there then.
type Row = (&'static str, Value, &'static str, String, Value);

fn at(pod: &str, field: &str) -> String {
    format!("{pod}/{field}")
}

fn operator_rows() -> Vec<Row> {
    let image = |text: &str| json!(text);
    let affinity = json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
        { "matchExpressions": [{ "key": "zone", "operator": "In", "values": ["a"] }] }] } } });
    let toleration = json!([{ "key": "control-plane", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 30 }]);
    let resources = json!({ "limits": { "memory": "1Gi", "cpu": 1 } });
    // A map is laid over the default one, key by key.
    let laid_over = json!({ "limits": { "memory": "1Gi", "cpu": 1 }, "requests": { "cpu": "50m", "memory": "64Mi" } });
    let own = concat!("pointsman/pointsman:", env!("CARGO_PKG_VERSION"));
    vec![
        ("replicas", json!(3), OPERATOR, "/spec/replicas".into(), json!(3)),
        (
            "image.registry",
            json!("mirror.example.com/hub"),
            OPERATOR,
            at(CONTAINER, "image"),
            json!(format!("mirror.example.com/hub/{own}")),
        ),
        (
            "image.repository",
            json!("own"),
            OPERATOR,
            at(CONTAINER, "image"),
            json!(concat!("registry.invalid/own:", env!("CARGO_PKG_VERSION"))),
        ),
        ("image.tag", json!("1"), OPERATOR, at(CONTAINER, "image"), image("registry.invalid/pointsman/pointsman:1")),
        ("image.pullPolicy", json!("Always"), OPERATOR, at(CONTAINER, "imagePullPolicy"), json!("Always")),
        ("imagePullSecrets", json!([{ "name": "a" }]), OPERATOR, at(POD, "imagePullSecrets"), json!([{ "name": "a" }])),
        ("resources", resources, OPERATOR, at(CONTAINER, "resources"), laid_over),
        ("nodeSelector", json!({ "os": "linux" }), OPERATOR, at(POD, "nodeSelector"), json!({ "os": "linux" })),
        ("tolerations", toleration.clone(), OPERATOR, at(POD, "tolerations"), toleration),
        ("affinity", affinity.clone(), OPERATOR, at(POD, "affinity"), affinity),
        ("priorityClassName", json!("own"), OPERATOR, at(POD, "priorityClassName"), json!("own")),
        ("priorityClassName", json!("own"), "PriorityClass /pointsman", String::new(), Value::Null),
        ("priorityClassName", json!(""), OPERATOR, at(POD, "priorityClassName"), Value::Null),
    ]
}

fn other_rows() -> Vec<Row> {
    let binding = "RoleBinding shop/pointsman-watched";
    vec![
        ("watchNamespaces", json!(["shop"]), binding, "/roleRef/name".into(), json!("pointsman-watched")),
        ("watchNamespaces", json!(["shop"]), "ClusterRoleBinding /pointsman-watched", String::new(), Value::Null),
        ("service.ipFamilyPolicy", json!("SingleStack"), SERVICE, "/spec/ipFamilyPolicy".into(), json!("SingleStack")),
        ("service.ipFamilies", json!(["IPv6", "IPv4"]), SERVICE, "/spec/ipFamilies".into(), json!(["IPv6", "IPv4"])),
        ("podDisruptionBudget.enabled", json!(false), BUDGET, String::new(), Value::Null),
        ("networkPolicy.enabled", json!(false), "NetworkPolicy pointsman-system/pointsman", String::new(), Value::Null),
        ("rbac.aggregate", json!(false), "ClusterRole /pointsman-view", String::new(), Value::Null),
        ("rbac.aggregate", json!(false), "ClusterRole /pointsman-edit", String::new(), Value::Null),
        ("podMonitor.enabled", json!(true), "PodMonitor pointsman-system/pointsman", "/kind".into(), json!("PodMonitor")),
        ("prometheusRule.enabled", json!(true), "PrometheusRule pointsman-system/pointsman", "/kind".into(), json!("PrometheusRule")),
        ("crds.install", json!(false), DEFINITION, String::new(), Value::Null),
        ("crds.keep", json!(false), DEFINITION, "/metadata/annotations".into(), json!({ "pointsman.dev/deletable": "true" })),
        ("namespace.create", json!(true), "Namespace /pointsman-system", "/kind".into(), json!("Namespace")),
    ]
}

/// A setting's value, the variable that it becomes, and the variable's text.
fn settings() -> Vec<(String, Value, String, String)> {
    let decided = ["namespace", "kubeconfig", "webhook-bind", "metrics-bind", "health-bind", "leader-election"];
    let settings = described().into_iter().filter(|setting| !decided.contains(&setting.name.as_str()));
    let row = |setting: Described| {
        let (value, text) = match setting.value {
            "NAMESPACE" => (json!(["shop", "bank"]), "shop,bank"),
            _ if setting.many => (json!(["memcached.Creating=1m", "memcached.Updating=2m"]), "memcached.Creating=1m,memcached.Updating=2m"),
            "COUNT" => (json!(65_535), "65535"),
            "RATE" => (json!(0.5), "0.5"),
            "BOOL" => (json!(false), "false"),
            "DURATION" | "TERM" => (json!("1m30s"), "1m30s"),
            "DELAY" => (json!("1.5s"), "1.5s"),
            "LEVEL" => (json!("info,kube=debug,a[\"{{b}}\"]"), "info,kube=debug,a[\"{{b}}\"]"),
            "PREFIX" => (json!("mirror.example.com/hub"), "mirror.example.com/hub"),
            "IMAGE" => (json!("example.com/own:1"), "example.com/own:1"),
            _ if !setting.words.is_empty() => (json!(setting.words[0]), setting.words[0].as_str()),
            other => panic!("nothing to set for {other}"),
        };
        (path(&setting.name), value, setting.environment.clone(), text.to_owned())
    };
    settings.map(row).collect()
}

/// The value of a flag, in the spelling of values.
fn path(flag: &str) -> String {
    let mut parts = flag.split('-').map(str::to_owned);
    let first = parts.next().unwrap_or_default();
    let name = parts.fold(first, |name, part| name + &part[..1].to_uppercase() + &part[1..]);
    if name == "watchNamespaces" { name } else { format!("settings.{name}") }
}

/// Values that say `value` at `path`.
fn values(path: &str, value: &Value) -> Value {
    path.rsplit('.').fold(value.clone(), |inner, key| json!({ key: inner }))
}

fn shown(objects: &Objects, object: &str, pointer: &str) -> Value {
    objects.get(object).and_then(|object| object.pointer(pointer)).cloned().unwrap_or_default()
}

#[test]
fn every_value_goes_where_it_belongs() {
    let default = helm(&json!({}));
    for (path, value, object, pointer, expected) in operator_rows().into_iter().chain(other_rows()) {
        let set = helm(&values(path, &value));
        assert_eq!(shown(&set, object, &pointer), expected, "{path}: {value}");
        assert_ne!(shown(&default, object, &pointer), expected, "{path} changes nothing");
    }
}

#[test]
fn every_setting_reaches_the_operator() {
    for (path, value, variable, text) in settings() {
        let environment = shown(&helm(&values(&path, &value)), OPERATOR, &at(CONTAINER, "env"));
        let set: Vec<&Value> = environment.as_array().expect("variables").iter().filter(|one| one["name"] == variable).collect();
        assert_eq!(set, [&json!({ "name": variable, "value": text })], "{path}");
    }
}

#[test]
fn no_value_is_left_untried() {
    let mut known = BTreeSet::new();
    for (name, schema) in schema()["properties"].as_object().expect("values") {
        // Helm's own word for what a chart shares with its parts; and values that are objects of Kubernetes.
        let whole = ["global", "resources", "affinity", "nodeSelector"].contains(&name.as_str());
        match schema["properties"].as_object().filter(|_| !whole) {
            Some(inner) => known.extend(inner.keys().map(|key| format!("{name}.{key}"))),
            None => drop(known.insert(name.clone())),
        }
    }
    known.remove("global");
    let rows = operator_rows().into_iter().chain(other_rows()).map(|row| row.0);
    let tried: BTreeSet<String> = rows.map(str::to_owned).chain(settings().into_iter().map(|row| row.0)).collect();
    assert_eq!(tried, known);
}

fn schema() -> Value {
    serde_json::from_str(&read("deploy/helm/pointsman/values.schema.json")).expect("JSON")
}

/// Values with a key that nobody knows, one for each level that the schema has.
fn strangers(schema: &Value) -> Vec<Value> {
    if schema["type"] == "array" {
        return strangers(&schema["items"]).into_iter().map(|item| json!([item])).collect();
    }
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    assert_eq!(schema["additionalProperties"], false, "a level is open: {properties:?}");
    let deeper = properties.iter().flat_map(|(key, inner)| strangers(inner).into_iter().map(move |value| json!({ key: value })));
    deeper.chain([json!({ "colour": "blue" })]).collect()
}

#[test]
fn a_value_that_nobody_knows_is_refused_at_every_level() {
    let strangers = strangers(&schema());
    assert!(strangers.len() > 20, "only {} levels", strangers.len());
    let said = run("tests/packages/helm", &["judge", "pointsman", CHART], &json!(strangers).to_string()).expect("Helm judges");
    let said: Vec<String> = serde_json::from_str(&said).expect("JSON");
    assert_eq!(said.len(), strangers.len());
    for (values, said) in strangers.iter().zip(said) {
        assert!(said.contains("additional properties 'colour' not allowed"), "{values}: {said}");
    }
    println!("{} levels of values are closed", strangers.len());
}

#[test]
fn what_is_known_but_wrong_is_refused_with_its_place() {
    let wrong = [
        (json!({ "replicas": "two" }), "at '/replicas': got string, want integer"),
        (json!({ "watchNamespaces": ["Shop"] }), "at '/watchNamespaces/0': 'Shop' does not match pattern"),
        (json!({ "watchNamespaces": ["a", "a"] }), "at '/watchNamespaces': items at 0 and 1 are equal"),
        (json!({ "settings": { "concurrency": "many" } }), "at '/settings/concurrency': got string, want integer"),
        (json!({ "settings": { "logFormat": "xml" } }), "at '/settings/logFormat': value must be one of 'text', 'json'"),
        (json!({ "settings": { "leaseDuration": "soon" } }), "at '/settings/leaseDuration': 'soon' does not match pattern"),
        (json!({ "settings": { "deadline": ["Creating"] } }), "at '/settings/deadline/0': 'Creating' does not match pattern"),
        (json!({ "settings": { "deadline": ["memcached.Sleeping=5m"] } }), "'memcached.Sleeping=5m' does not match pattern '^(database"),
        (json!({ "settings": { "deadline": ["memcached.Creating=0s"] } }), "'memcached.Creating=0s' does not match pattern"),
        (json!({ "settings": { "deadline": ["database.Removing=1h30m", "memcached.Creating=90s"] } }), ""),
        (json!({ "settings": { "leaseDuration": "0s" } }), "at '/settings/leaseDuration': '0s' does not match pattern"),
        (json!({ "settings": { "leaseRetry": "500ms" } }), ""),
        (json!({ "settings": { "shutdownDelay": "60s" } }), "at '/settings/shutdownDelay': '60s' does not match pattern '^((0|1|2|"),
        (json!({ "settings": { "shutdownDelay": "15.5s" } }), "at '/settings/shutdownDelay': '15.5s' does not match pattern"),
        (json!({ "settings": { "shutdownDelay": "15s" } }), ""),
        (json!({ "settings": { "shutdownDelay": "0s" } }), ""),
        (json!({ "settings": { "logLevel": "verbose" } }), "'verbose' does not match pattern '^(off|error|warn|info|debug|trace|"),
        (json!({ "settings": { "logLevel": "info,verbose" } }), "at '/settings/logLevel': 'info,verbose' does not match pattern"),
        (json!({ "settings": { "logLevel": "kube=verbose" } }), "at '/settings/logLevel': 'kube=verbose' does not match pattern"),
        (json!({ "settings": { "logLevel": "warn,kube=debug" } }), ""),
        (json!({ "settings": { "imageRegistry": "a b" } }), "at '/settings/imageRegistry': 'a b' does not match pattern"),
        (json!({ "settings": { "imageRegistry": "localhost:5000/hub" } }), ""),
        (json!({ "settings": { "defaultMemcachedImage": "a b" } }), "at '/settings/defaultMemcachedImage': 'a b' does not match pattern"),
        (json!({ "settings": { "leaderElection": false } }), "additional properties 'leaderElection' not allowed"),
        (json!({ "service": { "ipFamilies": ["IPv5"] } }), "at '/service/ipFamilies/0': value must be one of 'IPv4', 'IPv6'"),
        (
            json!({ "service": { "ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv6", "IPv4"] } }),
            "at '/service/ipFamilies': maxItems: got 2, want 1",
        ),
        (json!({ "service": { "ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv6"] } }), ""),
        (json!({ "service": { "ipFamilies": ["IPv6", "IPv4"] } }), ""),
        (json!({ "tolerations": [{ "tolerationSeconds": "long" }] }), "at '/tolerations/0/tolerationSeconds': got string, want integer"),
        (json!({ "crds": null }), "missing property 'crds'"),
        (json!({ "settings": null }), "missing property 'settings'"),
        (json!({ "global": { "team": "payments" } }), ""),
    ];
    let values: Vec<&Value> = wrong.iter().map(|(values, _)| values).collect();
    let said = run("tests/packages/helm", &["judge", "pointsman", CHART], &json!(values).to_string()).expect("Helm judges");
    let said: Vec<String> = serde_json::from_str(&said).expect("JSON");
    for ((values, expected), said) in wrong.iter().zip(&said) {
        assert!(if expected.is_empty() { said.is_empty() } else { said.contains(expected) }, "{values}: {said}");
    }
}
