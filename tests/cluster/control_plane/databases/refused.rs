//! A write that nobody gets past, with every verb and through both versions: word for word, one golden file a case.

use super::super::attempts::{Attempt, Verb};
use super::super::refusal_cases as cases;
use crate::harness::carrier::DATABASE;
use crate::harness::{Answer, Space, golden};
use pointsman::kinds::Served;
use pointsman::kinds::carrier::{OLDER, STORED};
use pointsman::kinds::database::Database;
use pointsman::kinds::database::object::convert::FIELDS;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A write that is refused: its golden file, each way in which it is tried, and words that the refusal has to have.
pub struct Refused {
    /// The golden file.
    pub name: String,
    /// Every way.
    pub attempts: Vec<(Attempt, Vec<String>)>,
}

/// A spec that says the least, with some fields in place of its own.
pub fn spec(fields: &Value) -> Value {
    let mut spec = json!({ "databaseName": "shop", "storage": { "size": "1Gi" } });
    for (field, value) in fields.as_object().expect("fields") {
        spec[field] = value.clone();
    }
    spec
}

/// What a change says in v1alpha1: its fields by the table of fields; nothing where v1alpha1 only carries them.
pub fn older(change: &Value) -> Option<Value> {
    let said = |path: &str| {
        let older = Database::field_in(OLDER, &format!("spec.{path}"));
        let name = older.strip_prefix("spec.").filter(|name| !name.starts_with("v1."))?.to_owned();
        Some((name, change.pointer(&format!("/{}", path.replace('.', "/")))?.clone()))
    };
    let fields: serde_json::Map<String, Value> = FIELDS.rows.iter().filter_map(|row| said(row.path())).collect();
    (!fields.is_empty()).then_some(Value::Object(fields))
}

impl Refused {
    /// A change of an object that is there, through v1, and through v1alpha1 where that has words for it.
    pub fn change(space: &Space, name: &str, object: &str, change: &Value, words: &[&str]) -> Self {
        let versions = [(STORED, Some(change.clone())), (OLDER, older(change))];
        let of = |(version, change): (&str, Option<Value>)| Some((version.to_owned(), change?));
        let attempts = versions.into_iter().filter_map(of).flat_map(|(version, change)| {
            let (target, whole) = (DATABASE.resource(&version, object), space.object(&DATABASE.resource(&version, object))["spec"].clone());
            assert!(whole.is_object(), "there is no {target}");
            let scale = change["replicas"].is_i64().then_some(Verb::Scale);
            let verbs = [Verb::Apply, Verb::Patch].into_iter().chain(scale);
            let tried = verbs.map(move |verb| Attempt::write(name, verb, (&DATABASE, &version, object), &whole, &change));
            let words: Vec<String> = words.iter().map(|word| in_version(target.starts_with(DATABASE.old), word)).collect();
            tried.map(move |attempt| (attempt, words.clone())).collect::<Vec<_>>()
        });
        Refused { name: name.to_owned(), attempts: attempts.collect() }
    }

    /// An object that is not made, through both versions.
    pub fn birth(name: &str, object: &str, fields: &Value, words: &[&str]) -> Self {
        let stored = spec(fields);
        let older = FIELDS.convert(&stored, OLDER).expect("a known version");
        let made = |version: &str, spec: &Value| {
            let attempt = Attempt::manifest(name, &["create"], &DATABASE.manifest(version, object, spec));
            (attempt, words.iter().map(|word| in_version(version == OLDER, word)).collect())
        };
        Refused { name: name.to_owned(), attempts: vec![made(STORED, &stored), made(OLDER, &older)] }
    }

    /// Cases that any kind has, those of one name in one file.
    pub fn generic(all: Vec<cases::Case>) -> Vec<Self> {
        let mut refused: Vec<Self> = Vec::new();
        for cases::Case { attempt, says } in all {
            let name = attempt.name.split('.').next().unwrap().to_owned();
            let words = match says {
                cases::Says::Rule(field, words) => std::iter::once(field).chain(words).map(str::to_owned).collect(),
                cases::Says::Printed | cases::Says::Unsupported(..) | cases::Says::Busy(..) => Vec::new(),
            };
            match refused.iter_mut().find(|one| one.name == name) {
                Some(one) => one.attempts.push((attempt, words)),
                None => refused.push(Refused { name, attempts: vec![(attempt, words)] }),
            }
        }
        refused
    }
}

/// A field as a version calls it; other words as they are.
fn in_version(is_older: bool, word: &str) -> String {
    if is_older && word.starts_with("spec.") { Database::field_in(OLDER, word) } else { word.to_owned() }
}

/// Tries them all: what was not refused, lacks words or reads otherwise than its golden file; and files that nobody prints.
pub fn faults(space: &Space, folder: &str, cases: &[Refused]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut faults: Vec<String> = cases.iter().flat_map(|case| tried(space, folder, case, &mut seen)).collect();
    faults.extend(golden::names(folder).difference(&seen).map(|file| format!("no case prints {file}")));
    faults
}

fn tried(space: &Space, folder: &str, case: &Refused, seen: &mut BTreeSet<String>) -> Vec<String> {
    let (mut faults, mut texts) = (Vec::new(), Vec::new());
    for (attempt, words) in &case.attempts {
        let answer = attempt.run(space);
        let told = || format!("{}: {}", case.name, attempt.transcript(&answer, space));
        if answer.code != 1 || !is_an_error(&answer) {
            faults.push(format!("exit code {}, not 1: {}", answer.code, told()));
        }
        faults.extend(words.iter().find(|word| !answer.err.contains(word.as_str())).map(|word| format!("lacks {word:?}: {}", told())));
        texts.push(attempt.transcript(&answer, space));
    }
    let file = format!("{}.txt", case.name);
    faults.extend(golden::difference(&format!("{folder}/{file}"), &texts.join("\n")));
    assert!(seen.insert(file), "two cases are called {}", case.name);
    faults
}

fn is_an_error(answer: &Answer) -> bool {
    answer.err.contains("nvalid") || answer.err.contains("rror")
}
