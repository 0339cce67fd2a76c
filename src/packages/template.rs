//! An object of the list as a template of the chart: its YAML, with the places where values go.

use super::manifests::{NAMESPACE, user, yaml};
use super::places::{self, Place, Write};
use super::rights::WATCHED;
use super::settings;
use serde_json::{Value, json};

/// Stands for the release's namespace until the YAML is printed.
const RELEASE: &str = "THE-NAMESPACE-OF-THE-RELEASE";

/// Stands for the operator's user, within a text, until the YAML is printed.
const USER: &str = "THE-USER-OF-THE-RELEASE";

/// What a template would take for its own, and how a template says it.
const BRACES: (&str, &str) = ("{{", "{{`{{`}}");

/// The template of one object.
pub(super) fn template(object: &Value) -> String {
    let text = if object["kind"] == "ClusterRoleBinding" && object["roleRef"]["name"] == WATCHED {
        let (each, all) = (filled(&in_a_watched_namespace(object)), filled(object));
        let watched = ".Values.watchNamespaces";
        format!("{{{{- range {watched} }}}}\n---\n{each}{{{{- end }}}}\n{{{{- if not {watched} }}}}\n{all}{{{{- end }}}}\n")
    } else {
        filled(object)
    };
    match places::condition(object) {
        Some(condition) => format!("{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"),
        None => text,
    }
}

/// The binding of the same role in one namespace alone.
fn in_a_watched_namespace(binding: &Value) -> Value {
    let mut narrow = binding.clone();
    narrow["kind"] = json!("RoleBinding");
    narrow
}

/// A place that is marked in the object, and what stood there.
struct Mark {
    sign: String,
    place: &'static Place,
    before: Value,
}

fn filled(object: &Value) -> String {
    let mut marked = object.clone();
    let mark = |(number, place)| mark(&mut marked, number, place);
    let marks: Vec<Mark> = places::places(object).enumerate().map(mark).collect();
    everywhere(&mut marked, &|text| {
        if text == NAMESPACE { RELEASE.to_owned() } else { text.replace(BRACES.0, BRACES.1).replace(&user(), USER) }
    });
    let line = |line: &str| match marks.iter().find(|mark| line.ends_with(&mark.sign)) {
        Some(mark) => written(line.strip_suffix(&mark.sign).unwrap_or(line), mark),
        None => line.to_owned(),
    };
    let lines: Vec<String> = yaml(&marked).lines().map(line).collect();
    lines
        .join("\n")
        .replace(RELEASE, "{{ $.Release.Namespace | quote }}")
        .replace(USER, &user().replace(NAMESPACE, "{{ $.Release.Namespace }}"))
        + "\n"
}

fn mark(object: &mut Value, number: usize, place: &'static Place) -> Mark {
    let sign = format!("PLACE-{number}-OF-A-VALUE");
    let (parent, key) = place.at.rsplit_once('/').unwrap_or_default();
    let before = match object.pointer_mut(parent) {
        Some(Value::Array(list)) => {
            let before = list.clone();
            list.retain(|variable| !settings::is_setting(variable));
            list.push(json!(sign));
            json!(before)
        }
        Some(parent) => std::mem::replace(&mut parent[key], json!(sign)),
        None => Value::Null,
    };
    Mark { sign, place, before }
}

/// Rewrites every string of an object.
fn everywhere(value: &mut Value, rewrite: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = rewrite(text),
        Value::Array(items) => items.iter_mut().for_each(|item| everywhere(item, rewrite)),
        Value::Object(fields) => fields.values_mut().for_each(|field| everywhere(field, rewrite)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The lines in the place of the one that begins with `line` and ended with the mark.
fn written(line: &str, mark: &Mark) -> String {
    let key = line.trim_end();
    let indent = line.len() - line.trim_start().len();
    let value = format!(".Values.{}", mark.place.value);
    let block = |of: &str| format!("{key} {{{{- toYaml {of} | nindent {} }}}}", indent + 2);
    match mark.place.write {
        Write::Number => format!("{line}{{{{ {value} }}}}"),
        Write::Text => format!("{line}{{{{ {value} | quote }}}}"),
        Write::Expression(expression) => format!("{line}{{{{ {expression} }}}}"),
        Write::TextIfAny => format!("{{{{- with {value} }}}}\n{line}{{{{ . | quote }}}}\n{{{{- end }}}}"),
        Write::Tree => block(&value),
        Write::TreeIfAny => format!("{{{{- with {value} }}}}\n{}\n{{{{- end }}}}", block(".")),
        Write::Switch(otherwise) => {
            let otherwise: Value = otherwise.iter().map(|(key, text)| ((*key).to_owned(), json!(text))).collect();
            let [is, is_not] = [&mark.before, &otherwise].map(|under| indented(&yaml(under), indent + 2));
            format!("{key}\n{{{{- if {value} }}}}\n{is}{{{{- else }}}}\n{is_not}{{{{- end }}}}")
        }
        Write::Settings => indented(&settings::variables(&mark.before), indent).trim_end().to_owned(),
    }
}

/// Every line moved to the right.
pub(super) fn indented(text: &str, by: usize) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{:by$}{line}\n", "")).collect();
    lines.concat()
}
