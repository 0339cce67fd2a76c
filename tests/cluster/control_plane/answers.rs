//! Every answer to every question is driven to a place of rest, and every other verb is refused.

use super::answer_cases::{CASES, Case, NONE, UNJUDGED, bad_image, image_appears, strangers};
use super::attempts::Attempt;
use super::deputy;
use crate::harness::audit::{self, Entry};
use crate::harness::outage::{NoRules, NoWebhook, is_judged};
use crate::harness::{ASKS, Space, alone, eventually, golden, shared};
use pointsman::kinds::Served;
use pointsman::kinds::annotations::ANSWER;
use pointsman::kinds::memcached::Memcached;
use pointsman::kinds::reason::{Reason, Verb};
use serde_json::Value;
use std::collections::BTreeSet;

/// The texts of questions that are asked while every write is judged, and of the one that is not.
const FOLDER: &str = "answers";
const UNJUDGED_FOLDER: &str = "answers-unjudged";

fn question(space: &Space) -> Value {
    space.reaches("cache", "HumanIntervention", ASKS);
    space.object("mc/cache")["status"]["intervention"].clone()
}

fn verbs(question: &Value) -> BTreeSet<String> {
    question["answers"].as_array().unwrap().iter().map(|offer| offer["verb"].as_str().unwrap().to_owned()).collect()
}

/// Every verb that is not offered is refused, in the words of the golden file: the files that were compared, and the faults.
fn others_are_refused(folder: &str, case: &Case, space: &Space, question: &Value) -> (BTreeSet<String>, Vec<String>) {
    let offered = verbs(question);
    let lacking = case.reason.answers().iter().map(|verb| verb.word()).filter(|verb| !offered.contains(*verb));
    let words: Vec<String> = [case.reason.word().to_lowercase()].into_iter().chain(lacking.map(|verb| format!("without-{verb}"))).collect();
    let word = words.join("-");
    let others = Verb::ALL.iter().map(|verb| verb.word()).filter(|verb| !offered.contains(*verb));
    let refused = others.map(|verb| {
        let answer = format!("{ANSWER}={verb}-{}", question["id"].as_str().unwrap());
        let name = format!("{word}-{verb}.annotate");
        let attempt = Attempt::command(&name, &["annotate", "mc/cache", &answer, "--overwrite"]);
        let answer = attempt.run(space);
        let accepted = (answer.code == 0).then(|| format!("{verb} was accepted for {word}"));
        let other = golden::difference(&format!("{folder}/{name}.txt"), &attempt.transcript(&answer, space));
        (format!("{name}.txt"), accepted.or(other))
    });
    let (names, faults): (BTreeSet<String>, Vec<Option<String>>) = refused.unzip();
    (names, faults.into_iter().flatten().collect())
}

fn drive(case: &Case) -> (BTreeSet<String>, Vec<String>) {
    let space = Space::new(&format!("{}-{}", case.reason.word().to_lowercase(), case.verb.word()));
    (case.asks)(&space);
    let asked = asked(case, &space);
    let refused = others_are_refused(FOLDER, case, &space, &asked);
    answered(case, &space, &asked);
    refused
}

/// Waits for the question of a case.
#[track_caller]
fn asked(case: &Case, space: &Space) -> Value {
    let (word, verb) = (case.reason.word(), case.verb.word());
    let asked = question(space);
    assert_eq!(asked["reason"], word.as_str(), "{asked}");
    assert!(asked["message"].as_str().unwrap().len() > 20 && !asked["evidence"].as_array().unwrap().is_empty(), "{asked}");
    assert!(verbs(&asked).contains(verb), "{verb} is not offered: {asked}");
    asked
}

/// Answers it, and waits until that has led to rest.
#[track_caller]
fn answered(case: &Case, space: &Space, asked: &Value) {
    let (word, verb, number) = (case.reason.word(), case.verb.word(), &asked["number"]);
    let spec = space.object("mc/cache")["spec"].clone();
    space.answer("cache", verb).ok();
    eventually(30, &format!("{word}: {verb} is heard"), || {
        let status = space.object("mc/cache")["status"].clone();
        status["intervention"]["number"] != *number && status["history"].to_string().contains(&format!("\"answer\":\"{verb}-"))
    });
    assert_eq!(space.object("mc/cache")["spec"], spec, "the spec was written to");
    (case.mends)(space);
    eventually(90, &format!("{word} answered with {verb} rests in {}", case.rests), || {
        space.object("mc/cache")["status"]["state"] == case.rests
    });
}

/// Holds the texts that were compared against the files that are there.
#[track_caller]
fn as_the_files_say(folder: &str, seen: &BTreeSet<String>, faults: &[String]) {
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let stale: Vec<String> = golden::names(folder).difference(seen).cloned().collect();
    assert!(stale.is_empty(), "no case prints {stale:?}");
}

#[test]
fn every_answer_leads_to_rest_and_every_other_verb_is_refused() {
    let _turn = shared();
    let driven: BTreeSet<(Reason, Verb)> = CASES.iter().chain([&UNJUDGED]).map(|case| (case.reason, case.verb)).collect();
    let all = Memcached::REASONS.iter().flat_map(|reason| reason.answers().iter().map(|verb| (*reason, *verb)));
    let missing: Vec<_> = all.filter(|pair| !driven.contains(pair)).collect();
    assert!(missing.is_empty(), "nobody drives {missing:?}");
    let done: Vec<(BTreeSet<String>, Vec<String>)> = std::thread::scope(|scope| {
        let running: Vec<_> = CASES.iter().map(|case| scope.spawn(move || drive(case))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let (seen, faults): (Vec<BTreeSet<String>>, Vec<Vec<String>>) = done.into_iter().unzip();
    as_the_files_say(FOLDER, &seen.into_iter().flatten().collect(), &faults.concat());
}

/// No write that is judged leads to it. While the spec is what it was, `retry` is heard, and asks again.
#[test]
fn an_invalid_spec_is_asked_about_again_until_it_is_valid() {
    let turn = alone();
    let space = Space::new("invalid");
    let judges = (NoWebhook::removed(&turn), NoRules::removed(&turn));
    (UNJUDGED.asks)(&space);
    let first = asked(&UNJUDGED, &space);
    drop(judges);
    // What a rule of the definition has against a spec that stands is a warning beside the refusal.
    let warned = || space.kubectl(&["label", "mc/cache", "example.com/a=b", "--dry-run=server"]).err.contains("Warning: ");
    eventually(30, "every write is judged again", || is_judged() && warned());
    let (seen, faults) = others_are_refused(UNJUDGED_FOLDER, &UNJUDGED, &space, &first);
    answered(&UNJUDGED, &space, &first);
    assert_eq!(space.object("mc/cache")["status"]["questions"], 2, "it was not asked again");
    as_the_files_say(UNJUDGED_FOLDER, &seen, &faults);
}

/// A rollback holds against a count, whoever changes it, and ends with a new spec.
#[test]
fn scaling_keeps_what_was_rolled_back() {
    let _turn = shared();
    let space = Space::new("keeps-back");
    bad_image(&space);
    question(&space);
    space.answer("cache", "rollback").ok();
    space.reaches("cache", "RolledBack", 30);
    let image = || space.object("deployment/cache")["spec"]["template"]["spec"]["containers"][0]["image"].clone();
    for count in [4, 0, 3] {
        space.kubectl(&["scale", "mc/cache", &format!("--replicas={count}")]).ok();
        eventually(30, "the count is applied and the rollback holds", || {
            let object = space.object("mc/cache");
            object["status"]["state"] == "RolledBack" && object["status"]["readyText"] == format!("{count}/{count}")
        });
        assert_eq!(image(), "docker.io/library/memcached:1.6");
    }
    let object = space.object("mc/cache");
    assert_eq!(object["spec"]["image"], NONE, "the spec was written to");
    let current = object["status"]["conditions"].as_array().unwrap().iter().find(|one| one["type"] == "UpToDate").unwrap();
    assert_eq!((&current["status"], &current["reason"]), (&"False".into(), &"RolledBack".into()));
    image_appears(&space);
    space.ready("cache");
    assert_eq!(image(), "docker.io/library/memcached:1.6.38");
}

#[test]
fn an_answer_that_can_lose_data_is_taken_only_from_those_who_may() {
    let _turn = shared();
    let space = Space::new("at-risk");
    strangers(&space);
    question(&space);
    assert_eq!(space.kubectl(&["annotate", "mc/cache", &format!("{ANSWER}=retry-aaaaa")]).code, 1);
    deputy::answers_only_where_allowed(&space.mc("cache"), "memcacheds.cache.example.com", "adopt", || ());
    space.ready("cache");
    for (answer, verdict) in [("adopt-", "allowed"), ("retry-aaaaa", "refused")] {
        let so = || space.audited().iter().any(|entry| is_judged_so(entry, answer, verdict));
        eventually(20, &format!("the audit log says that {answer} was {verdict}"), so);
    }
    // A cache that nobody was before says what an adopted one is.
    space.memcached("other", "{replicas: 2}");
    space.ready("other");
    for plural in ["deployment", "service", "poddisruptionbudget"] {
        let mut adopted = space.object(&format!("{plural}/cache"));
        assert_eq!(adopted["metadata"]["ownerReferences"][0]["name"], "cache");
        let mut made =
            serde_json::from_str::<Value>(&space.object(&format!("{plural}/other")).to_string().replace("other", "cache")).unwrap();
        for object in [&mut adopted, &mut made] {
            object["spec"]["template"]["metadata"]["annotations"].take();
        }
        assert_eq!(adopted["spec"], made["spec"], "something of the stranger's {plural} stayed");
    }
}

/// The API server wrote down who answered, and what was made of it.
fn is_judged_so(entry: &Entry, answer: &str, verdict: &str) -> bool {
    let notes = entry.0["annotations"].as_object();
    let says = |what: &str, words: &str| {
        notes.is_some_and(|notes| {
            notes.iter().any(|(key, said)| key.ends_with(what) && said.as_str().is_some_and(|said| said.starts_with(words)))
        })
    };
    says("/answer", answer) && says("/verdict", verdict) && entry.0["user"]["username"].is_string()
}

#[test]
fn who_is_paused_is_left_alone_and_resumes_where_it_has_to() {
    let _turn = shared();
    let space = Space::new("pausing");
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/paused=true"]).ok();
    space.reaches("cache", "Paused", 20);
    space.ready("cache");
    let mark = audit::mark();
    space.patch("cache", r#"{"maxConnections":2048}"#).ok();
    space.kubectl(&["delete", "service/cache"]).ok();
    eventually(20, "the edit is held, and said to be", || {
        let object = space.object("mc/cache");
        object["status"]["observedGeneration"] == object["metadata"]["generation"]
            && object["status"]["conditions"].to_string().contains("held until the object is resumed")
    });
    let written = audit::writes(mark, &space.name);
    let on_children: Vec<String> = written.iter().map(Entry::what).filter(|what| !what.contains("memcacheds/status")).collect();
    assert_eq!(on_children, Vec::<String>::new(), "a child was written while paused");
    let columns = space.kubectl(&["get", "mc/cache", "--output=wide"]).ok();
    assert!(columns.contains("PAUSED") && columns.contains("PROTECTED") && columns.contains("True"), "{columns}");
    space.kubectl(&["annotate", "mc/cache", "pointsman.dev/paused-"]).ok();
    space.ready("cache");
    assert_eq!(space.object("service/cache")["spec"]["clusterIP"], "None");
    assert!(space.object("deployment/cache")["spec"]["template"]["spec"]["containers"][0]["args"].to_string().contains("2048"));
}
