//! One line for each setting; the flags, the environment and the documentation are printed from it.

use super::default_settings;
use super::values::{self, Deadline, LogFormat};
use crate::kinds::Settings;
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

/// Every setting as a table of the documentation.
pub fn settings_table() -> String {
    let mut table = "| Flag | Environment | Default | Meaning |\n|---|---|---|---|\n".to_owned();
    for setting in settings() {
        let default = match &setting.default {
            Is(value) => format!("`{value}`"),
            Says(words) => words.clone(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `--{}` | `{}` | {default} | {} |", setting.name, environment(&setting.name), setting.help);
    }
    table
}

fn settings() -> Vec<Setting> {
    let mut settings: Vec<Setting> =
        looked_after().into_iter().chain(pace()).chain(listeners()).chain(logs()).chain(surroundings()).collect();
    for (kind, defaults) in default_settings() {
        let help = format!("image of a {kind} whose spec names none; taken as it is written");
        let default = Says(format!("`{}`", defaults.default_image));
        settings.push(setting(&image_flag(kind), "IMAGE", default, ValueParser::new(values::image), &help));
    }
    settings
}

fn looked_after() -> [Setting; 2] {
    let kinds = default_settings();
    let each = |(kind, settings): (&&str, &Settings)| {
        settings.deadlines.iter().map(|(state, limit)| format!("`{kind}.{state}={limit:#}`")).collect::<Vec<_>>()
    };
    let deadlines = Says(kinds.iter().flat_map(each).collect::<Vec<_>>().join(", "));
    let time = "how long a state may take without progress, as 5m or 90s; repeatable, or separated by commas";
    let namespaces = "namespaces to look after, separated by commas";
    [
        several("watch-namespaces", "NAMESPACE", says("all"), ValueParser::new(values::namespace), namespaces),
        several("deadline", "KIND.STATE=DURATION", deadlines, ValueParser::new(Deadline::parse), time),
    ]
}

fn pace() -> [Setting; 3] {
    let burst = "requests to the API server that may go out at once";
    [
        setting("concurrency", "COUNT", Is("64"), value_parser!(u16).range(1..).into(), "objects reconciled at once"),
        setting("api-qps", "RATE", Is("200"), ValueParser::new(values::rate), "requests to the API server per second, on average"),
        setting("api-burst", "COUNT", Is("400"), value_parser!(u32).range(1..).into(), burst),
    ]
}

fn listeners() -> [Setting; 2] {
    let webhooks = "where the webhooks listen; [::] is IPv4 too, and becomes 0.0.0.0 on a host without IPv6";
    let metrics = "where /metrics is served, in plain HTTP";
    [
        setting("webhook-bind", "ADDRESS:PORT", Is("[::]:9443"), ValueParser::new(values::address), webhooks),
        setting("metrics-bind", "ADDRESS:PORT", Is("[::]:8080"), ValueParser::new(values::address), metrics),
    ]
}

fn logs() -> [Setting; 2] {
    let level = "error, warn, info, debug, trace, or directives of tracing as in info,kube=debug";
    [
        setting("log-level", "LEVEL", Is("info"), ValueParser::new(values::log_level), level),
        setting("log-format", "FORMAT", Is("text"), ValueParser::new(LogFormat::parse), "text or json"),
    ]
}

fn surroundings() -> [Setting; 3] {
    let own = says("`POD_NAMESPACE`, else that of the service account, else `pointsman-system`");
    let reach = says("`KUBECONFIG`, else `~/.kube/config`, else the service account");
    let registry = "registry, or registry and path, that takes the place of docker.io in default images";
    let certificates = "the operator's own namespace, where its certificates are kept";
    [
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
