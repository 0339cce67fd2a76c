//! One write, tried with a verb of kubectl, and what a person sees of it.

use crate::harness::carrier::Versions;
use crate::harness::{Answer, Space, kubectl_with};
use pointsman::kinds::reason;
use regex_lite::{Captures, Regex};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The verbs that can change a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A new object.
    Create,
    /// Client-side.
    Apply,
    /// Server-side, taking fields from whoever owns them.
    ServerSide,
    /// A merge patch.
    Patch,
    /// The whole object.
    Replace,
    /// The scale subresource.
    Scale,
}

impl Verb {
    /// The verbs that write a spec over one that is there.
    pub const CHANGING: &[Verb] = &[Verb::Apply, Verb::ServerSide, Verb::Patch, Verb::Replace];
    /// The verbs that write a spec.
    pub const WRITING: &[Verb] = &[Verb::Create, Verb::Apply, Verb::ServerSide, Verb::Patch, Verb::Replace];
    /// The verbs that write a spec over one that is there, a new count included.
    pub const COUNTING: &[Verb] = &[Verb::Apply, Verb::ServerSide, Verb::Patch, Verb::Replace, Verb::Scale];

    fn text(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Apply => "apply",
            Verb::ServerSide => "apply-server-side",
            Verb::Patch => "patch",
            Verb::Replace => "replace",
            Verb::Scale => "scale",
        }
    }
}

/// An object by kind, version and name.
pub type Target<'a> = (&'a Versions, &'a str, &'a str);

/// A command that is run once.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// `case.verb`.
    pub name: String,
    /// kubectl's arguments.
    pub arguments: Vec<String>,
    /// Standard input.
    pub input: String,
}

impl Attempt {
    /// A command with arguments only.
    pub fn command(name: &str, arguments: &[&str]) -> Self {
        Attempt { name: name.to_owned(), arguments: arguments.iter().map(|word| (*word).to_owned()).collect(), input: String::new() }
    }

    /// A command that reads a manifest.
    pub fn manifest(name: &str, arguments: &[&str], manifest: &Value) -> Self {
        let mut attempt = Self::command(name, arguments);
        attempt.arguments.extend(["--filename", "-"].map(str::to_owned));
        attempt.input = manifest.to_string();
        attempt
    }

    /// The write `spec` + `change` of the object `name`, made with `verb`.
    pub fn write(case: &str, verb: Verb, (kind, version, name): Target<'_>, spec: &Value, change: &Value) -> Self {
        let golden = format!("{case}.{}", verb.text());
        let resource = kind.resource(version, name);
        let mut whole = spec.clone();
        json_patch::merge(&mut whole, change);
        let manifest = kind.manifest(version, name, &whole);
        match verb {
            Verb::Create => Self::manifest(&golden, &["create"], &kind.manifest(version, &format!("new-{name}"), &whole)),
            Verb::Apply => Self::manifest(&golden, &["apply"], &manifest),
            Verb::ServerSide => Self::manifest(&golden, &["apply", "--server-side", "--force-conflicts"], &manifest),
            Verb::Replace => Self::manifest(&golden, &["replace"], &manifest),
            Verb::Patch => Self::command(&golden, &["patch", &resource, "--type=merge", "--patch", &json!({ "spec": change }).to_string()]),
            Verb::Scale => {
                let count = ["replicas", "size"].iter().find_map(|field| change[field].as_i64()).unwrap();
                Self::command(&golden, &["scale", &resource, &format!("--replicas={count}")])
            }
        }
    }

    /// Runs it in a namespace.
    pub fn run(&self, space: &Space) -> Answer {
        let place = ["--namespace", &space.name];
        let words: Vec<&str> = place.into_iter().chain(self.arguments.iter().map(String::as_str)).collect();
        kubectl_with(&words, &self.input)
    }

    /// The command, all that was printed and the exit code, as a golden file keeps it.
    pub fn transcript(&self, answer: &Answer, space: &Space) -> String {
        let quoted = |word: &String| if word.contains(['"', ' ', '{']) { format!("'{word}'") } else { word.clone() };
        let command: Vec<String> = self.arguments.iter().map(quoted).collect();
        let input = if self.input.is_empty() { String::new() } else { format!(" <<< '{}'", self.input) };
        let said = in_order(&answer.text());
        normalised(&format!("$ kubectl {}{input}\n{said}exit code {}\n", command.join(" "), answer.code), space)
    }
}

/// Several causes are printed as a list, in an order that the API server does not promise.
fn in_order(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(first) = lines.iter().position(|line| line.starts_with("* ")) {
        let end = lines[first..].iter().position(|line| !line.starts_with("* ")).map_or(lines.len(), |length| first + length);
        lines[first..end].sort_unstable();
    }
    lines.into_iter().flat_map(|line| [line, "\n"]).collect()
}

/// A text without what differs from run to run.
pub fn normalised(text: &str, space: &Space) -> String {
    static PATTERNS: LazyLock<[(Regex, &str); 5]> = LazyLock::new(|| {
        let pattern = |text: &str| Regex::new(text).unwrap();
        let verbs: Vec<String> = reason::Verb::ALL.iter().map(|verb| format!("{}-", verb.word())).collect();
        let verbs = verbs.join("|");
        [
            (pattern(r#""\{\\"apiVersion.*\}":"#), "\"{THE OBJECT}\":"),
            (pattern("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UID"),
            (pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
            (pattern(r#""resourceVersion":"\d+""#), r#""resourceVersion":"VERSION""#),
            (pattern(&format!(r"\b(question|{verbs})( ?)[a-z0-9]{{5}}\b")), "$1${2}ID"),
        ]
    });
    let mut text = text.replace(&space.name, "NAMESPACE");
    for (pattern, word) in PATTERNS.iter() {
        text = pattern.replace_all(&text, *word).into_owned();
    }
    let run = Regex::new("a{60,}|n{60,}|x{60,}").unwrap();
    run.replace_all(&text, |found: &Captures<'_>| format!("({} times {})", found[0].len(), &found[0][..1])).into_owned()
}
