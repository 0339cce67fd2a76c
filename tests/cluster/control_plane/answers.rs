//! Every answer to every question is driven to a place of rest, and every other verb is refused.

use super::attempts::Attempt;
use super::drives::{fight, lose_a_pod};
use crate::harness::audit::{self, Entry};
use crate::harness::pool::Pool;
use crate::harness::{Space, bash, eventually, golden, kubectl, shared};
use pointsman::kinds::Served;
use pointsman::kinds::annotations::ANSWER;
use pointsman::kinds::memcached::Memcached;
use pointsman::kinds::reason::{Reason, Verb};
use serde_json::Value;
use std::collections::BTreeSet;

const ASKS: u64 = 60;
const NONE: &str = "example.com/no-such:1";
const FOLDER: &str = "answers";

/// How a question comes about, and what makes its answer succeed.
struct Case {
    reason: Reason,
    verb: Verb,
    /// Leads to the question.
    asks: fn(&Space),
    /// Mends what the answer alone cannot, after it was given.
    mends: fn(&Space),
    /// Where the answer leads in the end.
    rests: &'static str,
}

const CASES: &[Case] = &[
    Case { reason: Reason::ProvisioningStuck, verb: Verb::Retry, asks: never_provisioned, mends: image_appears, rests: "Ready" },
    Case { reason: Reason::RolloutStuck, verb: Verb::Retry, asks: bad_image, mends: image_appears, rests: "Ready" },
    Case { reason: Reason::RolloutStuck, verb: Verb::Rollback, asks: bad_image, mends: nothing, rests: "RolledBack" },
    Case { reason: Reason::PodsUnavailable, verb: Verb::Retry, asks: no_place, mends: place, rests: "Ready" },
    Case { reason: Reason::ChildConflict, verb: Verb::Retry, asks: strangers, mends: strangers_go, rests: "Ready" },
    Case { reason: Reason::ChildConflict, verb: Verb::Adopt, asks: strangers, mends: nothing, rests: "Ready" },
    Case { reason: Reason::DriftFought, verb: Verb::Retry, asks: fought, mends: nothing, rests: "Ready" },
    Case { reason: Reason::DriftFought, verb: Verb::Yield, asks: fought, mends: nothing, rests: "Ready" },
];

fn nothing(_: &Space) {}

fn never_provisioned(space: &Space) {
    space.memcached("cache", &format!("{{image: {NONE}}}"));
}

fn bad_image(space: &Space) {
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    space.patch("cache", &format!(r#"{{"image":"{NONE}"}}"#)).ok();
}

/// The image that no pod could pull is there now, so to speak.
fn image_appears(space: &Space) {
    space.patch("cache", r#"{"image":"docker.io/library/memcached:1.6.38"}"#).ok();
}

fn no_place(space: &Space) {
    let pool = Pool::new(space);
    space.memcached("cache", &format!("{{replicas: 2, {}}}", pool.field()));
    space.ready("cache");
    pool.close();
    lose_a_pod(space, "cache");
}

fn place(space: &Space) {
    let _open = Pool::new(space);
    space.ready("cache");
}

/// Somebody's objects under the names that the cache needs, of a shape that can be taken over.
fn strangers(space: &Space) {
    let labels = "app.kubernetes.io/name: memcached, app.kubernetes.io/instance: cache, pointsman.dev/kind: Memcached";
    let containers = "[{name: memcached, image: example.com/theirs:1, workingDir: /theirs}, {name: theirs, image: example.com/theirs:1}]";
    let pods = format!("metadata: {{labels: {{{labels}, of: theirs}}}}, spec: {{hostNetwork: true, containers: {containers}}}");
    let deployment = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: cache}}\nspec: {{replicas: 0, selector: {{matchLabels: {{{labels}}}}}, template: {{{pods}}}}}\n"
    );
    space.apply(&deployment).ok();
    space.kubectl(&["create", "service", "clusterip", "cache", "--clusterip=None"]).ok();
    space.memcached("cache", "{}");
}

fn strangers_go(space: &Space) {
    space.kubectl(&["delete", "deployment/cache", "service/cache"]).ok();
}

/// Somebody scales the Deployment again and again.
fn fought(space: &Space) {
    space.memcached("cache", "{}");
    fight(space, "Ready");
}

fn question(space: &Space) -> Value {
    space.reaches("cache", "HumanIntervention", ASKS);
    space.object("mc/cache")["status"]["intervention"].clone()
}

fn verbs(question: &Value) -> BTreeSet<String> {
    question["answers"].as_array().unwrap().iter().map(|offer| offer["verb"].as_str().unwrap().to_owned()).collect()
}

/// Every verb that is not offered is refused, in the words of the golden file.
fn others_are_refused(space: &Space, question: &Value, seen: &mut BTreeSet<String>) -> Vec<String> {
    let offered = verbs(question);
    let word = question["reason"].as_str().unwrap().to_lowercase();
    let every: BTreeSet<Verb> = Memcached::REASONS.iter().flat_map(|reason| reason.answers()).copied().collect();
    let others = every.iter().map(|verb| verb.word()).filter(|verb| !offered.contains(*verb));
    let refused = others.map(|verb| {
        let answer = format!("{ANSWER}={verb}-{}", question["id"].as_str().unwrap());
        let name = format!("{word}-{verb}.annotate");
        let attempt = Attempt::command(&name, &["annotate", "mc/cache", &answer, "--overwrite"]);
        let answer = attempt.run(space);
        let accepted = (answer.code == 0).then(|| format!("{verb} was accepted for {word}"));
        let other = golden::difference(&format!("{FOLDER}/{name}.txt"), &attempt.transcript(&answer, space));
        (format!("{name}.txt"), accepted.or(other))
    });
    let (names, faults): (Vec<String>, Vec<Option<String>>) = refused.unzip();
    seen.extend(names);
    faults.into_iter().flatten().collect()
}

fn drive(case: &Case) -> (BTreeSet<String>, Vec<String>) {
    let (word, verb) = (case.reason.word(), case.verb.word());
    let space = Space::new(&format!("{}-{verb}", word.to_lowercase()));
    (case.asks)(&space);
    let asked = question(&space);
    assert_eq!(asked["reason"], word.as_str(), "{asked}");
    assert!(asked["message"].as_str().unwrap().len() > 20 && !asked["evidence"].as_array().unwrap().is_empty(), "{asked}");
    let (mut seen, offered) = (BTreeSet::new(), verbs(&asked));
    assert!(offered.contains(verb), "{verb} is not offered: {asked}");
    let faults = others_are_refused(&space, &asked, &mut seen);
    space.answer("cache", verb).ok();
    let number = asked["number"].clone();
    eventually(30, &format!("{word}: {verb} is heard"), || {
        let status = space.object("mc/cache")["status"].clone();
        status["intervention"]["number"] != number && status["history"].to_string().contains(&format!("\"answer\":\"{verb}-"))
    });
    (case.mends)(&space);
    eventually(90, &format!("{word} answered with {verb} rests in {}", case.rests), || {
        space.object("mc/cache")["status"]["state"] == case.rests
    });
    (seen, faults)
}

#[test]
fn every_answer_leads_to_rest_and_every_other_verb_is_refused() {
    let _turn = shared();
    let driven: BTreeSet<(Reason, Verb)> = CASES.iter().map(|case| (case.reason, case.verb)).collect();
    // No write that is judged leads to an invalid spec, so `restored` drives that question; and one of pods that did not come
    // back has nothing else to go back to where the template is the one that was ready.
    let apart = [(Reason::SpecInvalid, Verb::Retry), (Reason::PodsUnavailable, Verb::Rollback)];
    let all = Memcached::REASONS.iter().flat_map(|reason| reason.answers().iter().map(|verb| (*reason, *verb)));
    let missing: Vec<_> = all.filter(|pair| !driven.contains(pair) && !apart.contains(pair)).collect();
    assert!(missing.is_empty(), "nobody drives {missing:?}");
    let done: Vec<(BTreeSet<String>, Vec<String>)> = std::thread::scope(|scope| {
        let running: Vec<_> = CASES.iter().map(|case| scope.spawn(move || drive(case))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let (seen, faults): (Vec<BTreeSet<String>>, Vec<Vec<String>>) = done.into_iter().unzip();
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let seen: BTreeSet<String> = seen.into_iter().flatten().collect();
    let stale: Vec<String> = golden::names(FOLDER).difference(&seen).cloned().collect();
    assert!(stale.is_empty(), "no case prints {stale:?}");
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

/// A deputy who may edit, and was not allowed to lose data.
#[test]
fn an_answer_that_can_lose_data_is_taken_only_from_those_who_may() {
    let _turn = shared();
    let space = Space::new("at-risk");
    strangers(&space);
    let asked = question(&space);
    let adopt = asked["answers"].as_array().unwrap().iter().find(|offer| offer["verb"] == "adopt").unwrap().clone();
    assert_eq!(adopt["risk"], "DataLoss", "{adopt}");
    let role = ["create", "rolebinding", "deputies", "--clusterrole=edit", "--user=deputy"];
    space.kubectl(&role).ok();
    space.kubectl(&["create", "role", "caches", "--verb=get,patch", "--resource=memcacheds.cache.example.com"]).ok();
    space.kubectl(&["create", "rolebinding", "caches", "--role=caches", "--user=deputy"]).ok();
    let name = "at-risk.annotate";
    let annotation = format!("{ANSWER}=adopt-{}", asked["id"].as_str().unwrap());
    let attempt = Attempt::command(name, &["annotate", "mc/cache", &annotation, "--overwrite", "--as=deputy"]);
    let mut refused = attempt.run(&space);
    eventually(20, "the deputy's rights are known", || {
        refused = attempt.run(&space);
        !refused.err.contains("cannot")
    });
    assert_eq!(refused.code, 1, "{}", refused.text());
    let other = golden::difference(&format!("risks/{name}.txt"), &attempt.transcript(&refused, &space));
    assert_eq!(other, None);
    let deputies = format!("{}-deputies", space.name);
    kubectl(&["create", "clusterrolebinding", &deputies, "--clusterrole=pointsman-answers", "--user=deputy"]).ok();
    let taken = || bash(&format!("{} --as=deputy", adopt["command"].as_str().unwrap())).code == 0;
    eventually(20, "who may answer is believed", taken);
    kubectl(&["delete", "clusterrolebinding", &deputies]).ok();
    space.ready("cache");
    // A cache that nobody was before says what an adopted one is.
    space.memcached("other", "{}");
    space.ready("other");
    for plural in ["deployment", "service"] {
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
