//! The operator's settings as values of the chart: every flag, but for those that the manifests themselves decide.

use crate::config::{COUNT, Described, LEVELS, LONGEST_DELAY, RATE, default_settings, described};
use crate::kinds::image;
use serde_json::{Value, json};

/// Settings that are no values: ports and names that the objects agree on, and that replicas take turns, which a roll-out
/// needs of a single one too.
const DECIDED: [&str; 6] = ["namespace", "kubeconfig", "webhook-bind", "metrics-bind", "health-bind", "leader-election"];

/// Every setting that is a value.
pub(super) fn settings() -> impl Iterator<Item = Described> {
    described().into_iter().filter(|setting| !DECIDED.contains(&setting.name.as_str()))
}

/// The path of a setting among the values; the namespaces to watch decide more than a flag.
pub(super) fn path(setting: &Described) -> String {
    match setting.name.as_str() {
        "watch-namespaces" => camel(&setting.name),
        name => format!("settings.{}", camel(name)),
    }
}

/// The flag's name as values are written.
fn camel(name: &str) -> String {
    let (first, rest) = name.split_once('-').unwrap_or((name, ""));
    let word = |word: &str| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect::<String>();
    rest.split('-').map(word).fold(first.to_owned(), |name, word| name + &word)
}

/// What may be written for a setting: nothing that the operator would not take, as far as one value can tell.
pub(super) fn schema(setting: &Described) -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let spelled = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    match setting.value {
        "KIND.STATE=DURATION" => json!({ "type": "array", "items": spelled(&deadline()) }),
        _ if setting.many => json!({ "type": "array", "items": text }),
        "DURATION" => spelled(&format!("^(({NUMBER}|{PART})(h|m|s|ms) ?)+$")),
        // Whole seconds, and at most ten minutes.
        "TERM" => spelled("^(([1-9]|[1-9][0-9]|[1-5][0-9][0-9]|600)s|([1-9]|10)m|[1-9]m ?([1-9]|[1-5][0-9])s)$"),
        "DELAY" => spelled(&delay()),
        "IMAGE" => spelled(image::PATTERN),
        "PREFIX" => spelled(image::PREFIX),
        "LEVEL" => spelled(&level()),
        "COUNT" => json!({ "type": "integer", "minimum": COUNT.start(), "maximum": COUNT.end() }),
        "BOOL" => json!({ "type": "boolean" }),
        "RATE" => json!({ "type": "number", "minimum": RATE.start(), "maximum": RATE.end() }),
        _ if !setting.words.is_empty() => json!({ "enum": setting.words }),
        _ => text,
    }
}

/// A number that is not below one, and one that is.
const NUMBER: &str = r"[1-9][0-9]*(\.[0-9]+)?";
const PART: &str = r"0\.[0-9]*[1-9][0-9]*";

/// A second is the shortest deadline, so it is the smallest unit.
fn deadline() -> String {
    let states = default_settings().into_iter().map(|(kind, settings)| {
        let states: Vec<String> = settings.deadlines.into_keys().collect();
        format!(r"{kind}\.({})", states.join("|"))
    });
    format!("^({})=({NUMBER}(h|m|s) ?)+$", states.collect::<Vec<_>>().join("|"))
}

fn delay() -> String {
    let longest = LONGEST_DELAY.as_secs();
    let seconds: Vec<String> = (0..longest).map(|second| second.to_string()).collect();
    format!(r"^(({})(\.[0-9]+)?s|{longest}s|[0-9]{{1,4}}ms)$", seconds.join("|"))
}

/// Levels and directives with commas between them; what stands in the brackets of a directive only the operator can judge.
fn level() -> String {
    let levels = LEVELS.join("|");
    let part = format!(r"({levels}|[^,]+=({levels})|[^,]*\[[^,]*)");
    format!("^{part}(,{part})*$")
}

/// Is this environment variable of the operator's container a setting?
pub(super) fn is_setting(variable: &Value) -> bool {
    described().iter().any(|setting| variable["name"] == setting.environment)
}

/// What the container's environment says of a setting.
pub(super) fn said(setting: &Described, environment: &Value) -> Option<Value> {
    let mut variables = environment.as_array().into_iter().flatten();
    variables.find(|variable| variable["name"] == setting.environment).map(|variable| variable["value"].clone())
}

/// The container's environment variables as a template: those that it has anyway come first.
pub(super) fn variables(environment: &Value) -> String {
    let (first, then): (Vec<_>, Vec<_>) = settings().partition(|setting| said(setting, environment).is_some());
    first.iter().chain(&then).map(variable).collect()
}

fn variable(setting: &Described) -> String {
    let (value, name) = (format!(".Values.{}", path(setting)), &setting.environment);
    // An empty list is no setting; all else is one where it is given, false and 0 too.
    let (given, text) = if setting.many {
        (value.clone(), format!(r#"join "," {value}"#))
    } else {
        (format!(r#"not (kindIs "invalid" {value})"#), text(setting, &value))
    };
    format!("{{{{- if {given} }}}}\n- name: {name}\n  value: {{{{ {text} | quote }}}}\n{{{{- end }}}}\n")
}

/// A large number would be written with an exponent.
fn text(setting: &Described, value: &str) -> String {
    if matches!(setting.value, "COUNT" | "RATE") { format!("toJson {value}") } else { value.to_owned() }
}
