//! The chart's values: one row each. `values.yaml`, its schema and the table of the chart's README are printed from here.

use super::{objects, places, settings};
use crate::kinds::pod_template::PodPlacement;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// One value.
pub(super) struct ChartValue {
    /// Its path in `values.yaml`.
    pub(super) path: String,
    /// What holds where nothing is set; nothing where the operator itself decides.
    pub(super) default: Option<Value>,
    /// What the operator decides then, in Markdown.
    pub(super) otherwise: String,
    /// What may be written for it.
    pub(super) schema: Value,
    /// What it means, in Markdown.
    pub(super) meaning: String,
}

/// A row: path, schema, meaning. The default is what the objects say; where they say nothing, what the schema says.
type Row = (&'static str, Value, &'static str);

/// Every value, in the order of `values.yaml`.
pub(super) fn values() -> Vec<ChartValue> {
    let objects = objects();
    let rows = operator(&objects).into_iter().chain(pods()).chain(surroundings());
    let value = |(path, schema, meaning): Row| ChartValue {
        path: path.to_owned(),
        default: places::said(&objects, path).or_else(|| schema.get("default").cloned()),
        otherwise: String::new(),
        schema,
        meaning: meaning.to_owned(),
    };
    rows.map(value).chain(operator_settings(&objects)).collect()
}

fn operator(objects: &[Value]) -> [Row; 6] {
    let image = places::said(objects, "image").unwrap_or_default();
    let name = image.as_str().and_then(|image| image.rsplit_once(':')).map_or("", |(name, _)| name);
    let (registry, repository) = name.split_once('/').unwrap_or_default();
    let namespaces = json!({ "type": "array", "uniqueItems": true, "default": [], "items": { "type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" } });
    [
        (
            "replicas",
            json!({ "type": "integer", "minimum": 0 }),
            "pods of the operator; 0 stops it, and with it every change of its objects",
        ),
        ("image.registry", some_text(registry), "the registry of the operator's image, with a path if it has one"),
        ("image.repository", some_text(repository), "the image's name there"),
        (
            "image.tag",
            json!({ "type": "string", "pattern": "^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$", "default": "" }),
            "the image's tag; empty: the chart's `appVersion`",
        ),
        ("image.pullPolicy", json!({ "enum": ["Always", "IfNotPresent", "Never"] }), "when the image is pulled"),
        (
            "watchNamespaces",
            namespaces,
            "namespaces to look after; they must exist, and the operator's rights are narrowed to them. Empty: all, with rights in all",
        ),
    ]
}

fn pods() -> [Row; 6] {
    let placement = placement();
    let core = |field: &str, empty: Value| {
        let mut schema = placement["properties"][field].clone();
        close(&mut schema);
        schema["default"] = empty;
        schema
    };
    let amounts = json!({ "type": "object", "additionalProperties": { "type": ["string", "number"] } });
    let resources = json!({ "type": "object", "additionalProperties": false, "properties": { "limits": amounts, "requests": amounts } });
    [
        (
            "imagePullSecrets",
            core("imagePullSecrets", json!([])),
            "Secrets in the operator's namespace that its image is pulled with, as `- name: NAME`",
        ),
        ("resources", resources, "what the operator's container is guaranteed, and the most that it may use"),
        ("nodeSelector", core("nodeSelector", json!({})), "labels that a node must have"),
        ("tolerations", core("tolerations", json!([])), "taints that the pods tolerate"),
        ("affinity", core("affinity", json!({})), "node and pod affinity; replicas are spread over nodes and zones anyway"),
        (
            "priorityClassName",
            json!({ "type": "string" }),
            "the pods' priority class; `pointsman` is made by this chart, another has to exist, empty is none",
        ),
    ]
}

fn surroundings() -> [Row; 10] {
    let switch = |default: bool| json!({ "type": "boolean", "default": default });
    let policy = json!({ "enum": ["SingleStack", "PreferDualStack", "RequireDualStack"] });
    let families = json!({ "type": "array", "default": [], "maxItems": 2, "uniqueItems": true, "items": { "enum": ["IPv4", "IPv6"] } });
    [
        ("service.ipFamilyPolicy", policy, "one family of addresses or two"),
        ("service.ipFamilies", families, "which, the first one first; empty: the cluster's"),
        ("podDisruptionBudget.enabled", switch(true), "one pod at a time may be drained"),
        ("networkPolicy.enabled", switch(true), "only the webhooks' port, and from pods the metrics' port, may be reached"),
        (
            "rbac.aggregate",
            switch(true),
            "let whoever may view, edit or administer a namespace do so with these kinds too, by roles that Kubernetes adds to its own",
        ),
        ("podMonitor.enabled", switch(false), "have a Prometheus operator scrape the pods; the cluster must know PodMonitor"),
        ("prometheusRule.enabled", switch(false), "have it call somebody; the cluster must know PrometheusRule"),
        ("crds.install", switch(true), "install the definitions, and upgrade them with the chart"),
        (
            "crds.keep",
            switch(true),
            "leave the definitions, and with them every object, when the release is uninstalled; with false both go, protected objects too, and what the operator looks after is to be deleted first, since nobody is left to do it",
        ),
        (
            "namespace.create",
            switch(false),
            "render the Namespace with its pod security labels too: for `helm template`. `helm install` needs it before, so there it is made beside the chart",
        ),
    ]
}

fn operator_settings(objects: &[Value]) -> Vec<ChartValue> {
    let environment = places::said(objects, "settings").unwrap_or_default();
    let value = |setting: crate::config::Described| ChartValue {
        path: settings::path(&setting),
        default: settings::said(&setting, &environment),
        schema: settings::schema(&setting),
        meaning: format!("`--{}`{}: {}", setting.name, if setting.many { ", as a list" } else { "" }, setting.help),
        otherwise: setting.default,
    };
    settings::settings().map(value).filter(|value| value.path.contains('.')).collect()
}

fn some_text(default: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "default": default })
}

/// Kubernetes' own words for where pods run, as the kinds have them too.
fn placement() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<PodPlacement>().to_value()
}

/// Refuses what is not named, at every level, and leaves out what only the API server reads.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|key, _| !key.starts_with("x-kubernetes-") && key != "description" && key != "format");
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
