//! The Helm chart: its templates are the list, with the values in their places.

use super::manifests::{NAMESPACE, PRINTED, yaml};
use super::places::file_name;
use super::template::{indented, template};
use super::values::{ChartValue, values};
use super::{Files, monitoring, objects};
use serde_json::{Value, json};

/// Every file of the chart, by its path in the chart.
pub fn chart() -> Files {
    let values = values();
    let mut files = Files::from([
        ("Chart.yaml".to_owned(), about()),
        ("values.yaml".to_owned(), defaults(&values)),
        ("values.schema.json".to_owned(), format!("{:#}\n", schema(&values))),
        ("README.md".to_owned(), readme(&values)),
        ("templates/NOTES.txt".to_owned(), NOTES.to_owned()),
    ]);
    files.extend(objects().iter().chain(&monitoring()).map(|object| (format!("templates/{}", file_name(object)), template(object))));
    files
}

fn about() -> String {
    yaml(&json!({
        "apiVersion": "v2",
        "name": "pointsman",
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "type": "application",
        "version": env!("CARGO_PKG_VERSION"),
        "appVersion": env!("CARGO_PKG_VERSION"),
        "kubeVersion": ">=1.34.0-0",
    }))
}

/// `values.yaml`: each value under its meaning; what the operator itself decides is named in a comment.
fn defaults(values: &[ChartValue]) -> String {
    let mut text = format!("# {PRINTED}\n");
    let mut group = "";
    for ChartValue { path, default, otherwise, meaning, .. } in values {
        let (parent, key) = path.split_once('.').unwrap_or(("", path));
        if parent != group && !parent.is_empty() {
            text += parent;
            text += ":\n";
        }
        group = parent;
        let line = match default {
            Some(value) => yaml(&json!({ key: value })),
            None => format!("# {key}: {}\n", otherwise.replace('`', "")),
        };
        let indent = if parent.is_empty() { 0 } else { 2 };
        text += &indented(&format!("# {}\n{line}", meaning.replace('`', "")), indent);
    }
    text
}

/// The schema of all values: a key that it does not name is refused, at every level.
fn schema(values: &[ChartValue]) -> Value {
    let mut root = closed();
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    // What a chart around this one shares with all its parts.
    root["properties"]["global"] = json!({ "type": "object" });
    for value in values {
        let (parent, key) = value.path.split_once('.').unwrap_or(("", &value.path));
        if parent.is_empty() {
            describe(&mut root, key, value);
            continue;
        }
        if root["properties"][parent].is_null() {
            root["properties"][parent] = closed();
            require(&mut root, parent);
        }
        describe(&mut root["properties"][parent], key, value);
    }
    // The API server refuses two families of addresses for one.
    let service = &mut root["properties"]["service"];
    service["if"] = json!({ "properties": { "ipFamilyPolicy": { "const": "SingleStack" } } });
    service["then"] = json!({ "properties": { "ipFamilies": { "maxItems": 1 } } });
    root
}

fn closed() -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": {}, "required": [] })
}

fn describe(level: &mut Value, key: &str, value: &ChartValue) {
    let mut schema = value.schema.clone();
    schema["description"] = json!(value.meaning.replace('`', ""));
    if let Some(default) = &value.default {
        schema["default"] = default.clone();
        require(level, key);
    }
    level["properties"][key] = schema;
}

/// A value that somebody sets to null would be missing in a template.
fn require(level: &mut Value, key: &str) {
    if let Some(required) = level["required"].as_array_mut() {
        required.push(json!(key));
    }
}

fn readme(values: &[ChartValue]) -> String {
    let row = |value: &ChartValue| {
        let default = value.default.as_ref().map_or(value.otherwise.clone(), |default| format!("`{default}`"));
        format!("| `{}` | {default} | {} |\n", value.path, value.meaning)
    };
    let rows: String = values.iter().map(row).collect();
    format!("<!-- {PRINTED} -->\n\n{BEFORE}| Value | Default | Meaning |\n|---|---|---|\n{rows}{AFTER}").replace("NAMESPACE", NAMESPACE)
}

const BEFORE: &str = "\
# pointsman

The operator, its definitions, its rights and its webhooks: the same objects as in `deploy/install.yaml`.

```
kubectl apply --filename deploy/kustomize/base/namespace.yaml
helm install pointsman deploy/helm/pointsman --namespace NAMESPACE
```

The first line makes the namespace with its pod security labels, which `--create-namespace` would not set. One
installation a cluster: names are fixed, and Helm refuses a second release.

## Values

A value that is not in this table is refused, with its name.

";

const AFTER: &str = "
`settings` become the operator's flags; those that are not set keep the operator's own defaults.

## Upgrading and removing

`helm upgrade` upgrades the definitions too, and restarts no operand. `helm uninstall` leaves the definitions and every
object, whose pods keep running: install again, and they are looked after again. `pointsman uninstall` then removes
definitions that hold nothing any more, and says what the others hold.
";

const NOTES: &str = "\
The operator {{ .Chart.AppVersion }} is being started in namespace {{ .Release.Namespace }}.

  kubectl --namespace {{ .Release.Namespace }} rollout status deployment/pointsman

It looks after {{ if .Values.watchNamespaces }}namespaces {{ join \", \" .Values.watchNamespaces }} and no other{{ else }}every namespace{{ end }}.
";
