//! One line for each setting; the flags, the environment and the documentation are printed from it.

use super::default_settings;
use super::values::{self, COUNT, Deadline, LogFormat, Source};
use crate::kinds::Settings;
use crate::kinds::yielded::everywhere;
use Default::{Is, Says};
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, value_parser};
use std::fmt::Write;
use std::path::PathBuf;

/// One thing that can be set.
struct Setting {
    name: String,
    value: &'static str,
    default: Default,
    many: bool,
    parser: ValueParser,
    help: String,
}

/// What holds where nothing is set.
enum Default {
    /// This value.
    Is(&'static str),
    /// What these words say.
    Says(String),
}

/// The flag that names the image of one kind.
pub(super) fn image_flag(kind: &str) -> String {
    format!("default-{kind}-image")
}

/// Every setting as an argument.
pub(super) fn args() -> Vec<Arg> {
    settings().into_iter().map(arg).collect()
}

/// A setting in words.
pub struct Described {
    /// Its flag, without dashes.
    pub name: String,
    /// Its environment variable.
    pub environment: String,
    /// What is written for its value, as COUNT.
    pub value: &'static str,
    /// Are several values taken, separated by commas?
    pub many: bool,
    /// The only values that it takes; none where there are too many to list.
    pub words: Vec<String>,
    /// What holds where nothing is set, in Markdown.
    pub default: String,
    /// What it means.
    pub help: String,
}

/// Every setting in words.
pub fn described() -> Vec<Described> {
    let describe = |Setting { name, value, default, many, parser, help }: Setting| {
        let words = parser.possible_values().into_iter().flatten().map(|word| word.get_name().to_owned()).collect();
        let default = match default {
            Is(value) => format!("`{value}`"),
            Says(words) => words,
        };
        Described { environment: environment(&name), name, value, many, words, default, help }
    };
    settings().into_iter().map(describe).collect()
}

/// Every setting as a table of the documentation.
pub fn settings_table() -> String {
    let mut table = "| Flag | Environment | Default | Meaning |\n|---|---|---|---|\n".to_owned();
    for Described { name, environment, default, help, .. } in described() {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `--{name}` | `{environment}` | {default} | {help} |");
    }
    table
}

fn settings() -> Vec<Setting> {
    let mut settings: Vec<Setting> =
        looked_after().into_iter().chain(pace()).chain(turns()).chain(listeners()).chain(logs()).chain(surroundings()).collect();
    for (kind, defaults) in default_settings() {
        let help = format!("image of a {kind} whose spec names none; taken as it is written");
        let default = Says(format!("`{}`", defaults.default_image));
        settings.push(setting(&image_flag(kind), "IMAGE", default, ValueParser::new(values::image), &help));
    }
    settings
}

fn looked_after() -> [Setting; 3] {
    let kinds = default_settings();
    let each = |(kind, settings): (&&str, &Settings)| {
        settings.deadlines.iter().map(|(state, limit)| format!("`{kind}.{state}={limit:#}`")).collect::<Vec<_>>()
    };
    let deadlines = Says(kinds.iter().flat_map(each).collect::<Vec<_>>().join(", "));
    let time = "how long a state may take without progress, as 5m or 90s; repeatable, or separated by commas";
    let namespaces = "namespaces to look after, separated by commas";
    let fields = "fields of children that are left to another writer on every object, as Deployment:/spec/template/spec/nodeSelector where a \
                  policy sets that; repeatable, or separated by commas";
    [
        several("watch-namespaces", "NAMESPACE", says("all"), ValueParser::new(values::namespace), namespaces),
        several("deadline", "KIND.STATE=DURATION", deadlines, ValueParser::new(Deadline::parse), time),
        several("yield", "KIND:POINTER", says("none"), ValueParser::new(everywhere), fields),
    ]
}

fn pace() -> [Setting; 3] {
    let burst = "requests to the API server that may go out at once";
    [
        setting("concurrency", "COUNT", Is("64"), value_parser!(u16).range(COUNT).into(), "objects reconciled at once"),
        setting("api-qps", "RATE", Is("200"), ValueParser::new(values::rate), "requests to the API server per second, on average"),
        setting("api-burst", "COUNT", Is("400"), value_parser!(u32).range(COUNT).into(), burst),
    ]
}

fn turns() -> [Setting; 5] {
    let time = || ValueParser::new(values::time);
    let election = "whether one of several replicas acts at a time; without it there may be one alone";
    let duration = "how long the others wait for a leader that is gone";
    let deadline = "how long a leader acts after its last renewal that was answered";
    let delay = "how long reviews are answered on new connections after it was told to stop; at most 15s, since a pod has 30s to end";
    [
        setting("leader-election", "BOOL", Is("true"), value_parser!(bool), election),
        setting("lease-duration", "TERM", Is("15s"), time(), duration),
        setting("lease-renew-deadline", "DURATION", Is("10s"), time(), deadline),
        setting("lease-retry", "DURATION", Is("2s"), time(), "between two renewals; the others look twice as often"),
        setting("shutdown-delay", "DELAY", Is("5s"), ValueParser::new(values::delay), delay),
    ]
}

fn listeners() -> [Setting; 3] {
    let webhooks = "where the webhooks listen; [::] is IPv4 too, and becomes 0.0.0.0 on a host without IPv6";
    let metrics = "where /metrics is served, in plain HTTP";
    let health = "where /healthz and /readyz are served to the kubelet, in plain HTTP";
    [
        setting("webhook-bind", "ADDRESS:PORT", Is("[::]:9443"), ValueParser::new(values::address), webhooks),
        setting("metrics-bind", "ADDRESS:PORT", Is("[::]:8080"), ValueParser::new(values::address), metrics),
        setting("health-bind", "ADDRESS:PORT", Is("[::]:8081"), ValueParser::new(values::address), health),
    ]
}

fn logs() -> [Setting; 2] {
    let level = "error, warn, info, debug, trace, or directives of tracing as in info,kube=debug";
    [
        setting("log-level", "LEVEL", Is("info"), ValueParser::new(values::log_level), level),
        setting("log-format", "FORMAT", Is("text"), value_parser!(LogFormat).into(), "text or json"),
    ]
}

fn surroundings() -> [Setting; 4] {
    let own = says("`POD_NAMESPACE`, else that of the service account, else `pointsman-system`");
    let reach = says("`KUBECONFIG`, else `~/.kube/config`, else the service account");
    let registry = "registry, or registry and path, that takes the place of docker.io in default images";
    let certificates = "the operator's own namespace, where its certificates are kept";
    let source = "who makes the certificates in the Secret pointsman-certificates: own is the operator; the other is cert-manager";
    [
        setting("certificates", "SOURCE", Is("own"), value_parser!(Source).into(), source),
        setting("namespace", "NAMESPACE", own, ValueParser::new(values::namespace), certificates),
        setting("kubeconfig", "FILE", reach, value_parser!(PathBuf), "how to reach the API server"),
        setting("image-registry", "PREFIX", says("none"), ValueParser::new(values::registry), registry),
    ]
}

fn says(words: &str) -> Default {
    Says(words.to_owned())
}

fn setting(name: &str, value: &'static str, default: Default, parser: ValueParser, help: &str) -> Setting {
    Setting { name: name.to_owned(), value, default, many: false, parser, help: help.to_owned() }
}

fn several(name: &str, value: &'static str, default: Default, parser: ValueParser, help: &str) -> Setting {
    Setting { many: true, ..setting(name, value, default, parser, help) }
}

fn arg(setting: Setting) -> Arg {
    let variable = environment(&setting.name);
    // A variable that is set to nothing sets nothing.
    let empty = std::env::var_os(&variable).is_some_and(|value| value.is_empty());
    let action = if setting.many { ArgAction::Append } else { ArgAction::Set };
    let arg = Arg::new(setting.name.clone()).long(setting.name).value_name(setting.value).value_parser(setting.parser).action(action);
    let arg = if empty { arg } else { arg.env(variable) };
    let arg = if setting.many { arg.value_delimiter(',') } else { arg };
    match setting.default {
        Is(value) => arg.default_value(value).help(setting.help),
        Says(words) => arg.help(format!("{} [default: {}]", setting.help, words.replace('`', ""))),
    }
}

fn environment(name: &str) -> String {
    format!("POINTSMAN_{}", name.to_uppercase().replace('-', "_"))
}
