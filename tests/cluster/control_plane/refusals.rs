//! What nobody gets past: each refusal with every verb, word for word, and nothing changed after it.

use super::attempts::Attempt;
use super::carried::Carried;
use super::refusal_cases::{Case, Says, base, cases, classic, rule};
use super::wrong_answers::wrong_answers;
use crate::harness::carrier::MEMCACHED;
use crate::harness::{Answer, Space, golden, shared};
use pointsman::kinds::Served;
use pointsman::kinds::memcached::Memcached;
use regex_lite::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FOLDER: &str = "refusals";
const OBJECTS: [&str; 6] = ["cache", "classic", "leaving", "asking", "exported", "applied"];
const V1ALPHA1: &str = MEMCACHED.old;

#[test]
fn every_refusal_says_what_to_do_and_changes_nothing() {
    let _turn = shared();
    let space = Space::new("refusals");
    let mut cases = cases();
    cases.extend(prepared(&space));
    cases.extend(wrong_answers(&MEMCACHED, "cache", "classic", "asking"));
    cases.extend(forged_statuses());
    let before = specs(&space);
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    for Case { attempt, says } in &cases {
        let answer = attempt.run(&space);
        let name = format!("{}.txt", attempt.name);
        assert!(seen.insert(name.clone()), "two cases are called {name}");
        faults.extend(golden::difference(&format!("{FOLDER}/{name}"), &attempt.transcript(&answer, &space)));
        faults.extend(lacks(&answer, says).map(|what| format!("{name}: {what}:\n{}", answer.text())));
        if answer.code != 1 {
            faults.push(format!("{name}: exit code {}, not 1", answer.code));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert_eq!(specs(&space), before, "a refused write changed an object");
    let stale: Vec<String> = golden::names(FOLDER).difference(&seen).cloned().collect();
    assert!(stale.is_empty(), "no case prints {stale:?}");
    every_unsupported_row_is_met(&cases);
}

/// The rows of the change table that nobody gets past are exactly the fields of these cases.
fn every_unsupported_row_is_met(cases: &[Case]) {
    let rows: BTreeSet<&str> = Memcached::changes_table().iter().filter(|row| row.raises.is_err()).map(|row| row.field).collect();
    let met = cases.iter().filter_map(|case| if let Says::Unsupported(field, ..) = case.says { Some(field) } else { None });
    assert_eq!(rows, met.collect(), "the table's unsupported rows, and what was tried");
}

/// What a refusal does not say although it has to.
fn lacks(answer: &Answer, says: &Says) -> Option<String> {
    let causes = causes(answer);
    let wanted: (&str, Vec<String>) = match says {
        Says::Printed => {
            return (!answer.text().contains("nvalid") && !answer.text().contains("rror")).then(|| "no error is printed".to_owned());
        }
        Says::Rule(field, words) => (field, words.iter().map(|word| (*word).to_owned()).collect()),
        Says::Unsupported(field, from, to) => {
            let row = Memcached::changes_table().iter().find(|row| row.field == *field)?;
            let Err(remedy) = row.raises else { return Some(format!("the table allows a change of {field}")) };
            (field, vec![format!("unsupported: {from} -> {to}; {remedy}")])
        }
        Says::Busy(field, from, to) => (
            field,
            vec![format!("busy: {from} -> {to}; "), "the object was deleted at 2".to_owned(), "Once it is gone, create it anew".to_owned()],
        ),
    };
    let (field, words) = wanted;
    let Some(text) = causes.iter().find_map(|cause| cause.strip_prefix(&format!("{field}: Forbidden: "))) else {
        return Some(format!("no cause is about {field}"));
    };
    if causes.len() != 1 {
        return Some(format!("{} causes for one fault", causes.len()));
    }
    words.into_iter().find(|word| !text.contains(word.as_str())).map(|word| format!("{field} lacks {word:?}"))
}

/// The causes that kubectl prints, one or a list.
fn causes(answer: &Answer) -> Vec<String> {
    let title = Regex::new("(?m)^The Memcached \"[^\"]*\" is invalid: ").unwrap();
    let Some(found) = title.find(&answer.err) else { return Vec::new() };
    let rest = answer.err[found.end()..].trim_end();
    rest.split("\n* ").map(|part| part.strip_prefix("* ").unwrap_or(part)).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn specs(space: &Space) -> Vec<(Value, Value)> {
    let read = |name: &&str| {
        let object = space.object(&format!("mc/{name}"));
        (object["spec"].clone(), object["metadata"]["generation"].clone())
    };
    OBJECTS.iter().map(read).collect()
}

/// Makes the objects that the cases are about; what has to be read first becomes a case here.
fn prepared(space: &Space) -> Vec<Case> {
    let apply = |version, name, spec: &Value| space.apply(&MEMCACHED.manifest(version, name, spec).to_string()).ok();
    apply("v1", "cache", &base());
    apply("v1alpha1", "classic", &classic());
    let mut leaving = MEMCACHED.manifest("v1", "leaving", &base());
    leaving["metadata"]["finalizers"] = json!(["example.com/held-by-a-test"]);
    space.apply(&leaving.to_string()).ok();
    space.kubectl(&["create", "service", "clusterip", "asking", "--clusterip=None"]).ok();
    apply("v1", "asking", &base());
    apply("v1", "exported", &base());
    carried().applied(space, &rich());
    for name in ["cache", "classic", "exported", "applied"] {
        space.ready(name);
    }
    space.reaches("asking", "HumanIntervention", 30);
    space.kubectl(&["delete", "mc/leaving", "--wait=false"]).ok();
    [carried().on_objects(), carried().old_exports(space, &json!({ "memory": "256Mi" })), vec![carried().same_manager()]].concat()
}

/// The walks that would lose what v1alpha1 cannot say.
fn carried() -> Carried {
    Carried {
        kind: &MEMCACHED,
        plain: ("classic", classic()),
        rich: ("cache", classic()),
        added: json!({ "memory": "256Mi" }),
        mistyped: json!({ "port": "11311" }),
        unknown: "maxConections",
    }
}

/// A spec of which v1alpha1 can say the size alone.
fn rich() -> Value {
    json!({
        "replicas": 3, "memory": "128Mi", "port": 12000, "maxConnections": 2048,
        "resources": { "requests": { "cpu": "20m" }, "limits": { "cpu": "1" } },
        "podTemplate": { "metadata": { "labels": { "example.com/team": "payments" } } },
    })
}

/// The state is the operator's claim: nobody forges a move, and nobody removes the claim.
fn forged_statuses() -> Vec<Case> {
    let merge = |name: &str, target: &str, patch: &str| {
        Attempt::command(name, &["patch", target, "--subresource=status", "--type=merge", "--patch", patch])
    };
    let json = |name: &str, target: &str, patch: &str| {
        Attempt::command(name, &["patch", target, "--subresource=status", "--type=json", "--patch", patch])
    };
    let mut forged = MEMCACHED.manifest("v1", "cache", &base());
    forged["status"] = json!({ "state": "Creating" });
    let v1alpha1 = format!("{V1ALPHA1}/cache");
    let undeclared = &["undeclared move: Ready -> Creating"];
    let stays = &["the status may not be removed"];
    let creating = r#"{"status":{"state":"Creating"}}"#;
    vec![
        rule(merge("state-forged.patch", "mc/cache", creating), "status.state", undeclared),
        rule(merge("state-forged-v1alpha1.patch", &v1alpha1, creating), "status.state", undeclared),
        rule(Attempt::manifest("state-forged.replace", &["replace", "--subresource=status"], &forged), "status.state", undeclared),
        rule(merge("state-removed.patch", "mc/cache", r#"{"status":{"state":null}}"#), "status.state", &["the state may not be removed"]),
        rule(json("status-removed.patch", "mc/cache", r#"[{"op":"remove","path":"/status"}]"#), "status", stays),
        rule(json("status-removed-v1alpha1.patch", &v1alpha1, r#"[{"op":"remove","path":"/status"}]"#), "status", stays),
        rule(json("status-nulled.patch", "mc/cache", r#"[{"op":"replace","path":"/status","value":null}]"#), "status", stays),
        rule(
            Attempt::manifest("status-removed.replace", &["replace", "--subresource=status"], &MEMCACHED.manifest("v1", "cache", &base())),
            "status",
            stays,
        ),
    ]
}
