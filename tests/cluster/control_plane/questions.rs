//! What the operator asks, in whose words, and what closes it.

use crate::harness::pool::Pool;
use crate::harness::{ASKS, Answer, Space, audit, eventually, repository, shared};
use pointsman::kinds::annotations::ANSWER;
use pointsman::kinds::intervention::id;
use serde_json::Value;

const NONE: &str = "example.com/no-such:1";

/// Waits for the question, and checks the parts that every one has.
#[track_caller]
fn asked(space: &Space, name: &str, reason: &str) -> Value {
    space.reaches(name, "HumanIntervention", ASKS);
    let object = space.object(&format!("mc/{name}"));
    let question = object["status"]["intervention"].clone();
    let text = |key: &str| question[key].as_str().unwrap_or_default().to_owned();
    assert_eq!(text("reason"), reason, "{question}");
    let letters = |id: &str| id.bytes().all(|byte| b"abcdefghjkmnpqrstuvwxyz023456789".contains(&byte));
    assert!(text("id").len() == 5 && letters(&text("id")), "{question}");
    assert_eq!(text("id"), id(object["metadata"]["uid"].as_str().unwrap(), question["number"].as_i64().unwrap()));
    assert_eq!(question["generation"], object["metadata"]["generation"], "{question}");
    assert!(!question["evidence"].as_array().unwrap().is_empty(), "{question}");
    assert!(text("notDone").len() > 20 && text("message").len() > 20, "{question}");
    let (page, heading) = text("runbook").split_once('#').map(|(page, heading)| (page.to_owned(), heading.to_owned())).unwrap();
    let page = std::fs::read_to_string(repository().join(page)).unwrap();
    assert!(page.lines().any(|line| line.to_lowercase() == format!("### {heading}")), "{heading} is no heading of the runbook");
    assert_eq!(question["answers"][0]["verb"], "retry", "{question}");
    assert_eq!(question["answers"][0]["risk"], "None", "{question}");
    let condition = |kind: &str| condition(&object, kind)["status"].clone();
    assert_eq!((condition("Ready"), condition("Stalled")), ("False".into(), "True".into()), "{object}");
    question
}

fn condition(object: &Value, kind: &str) -> Value {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|condition| condition["type"] == kind).unwrap_or_default()
}

fn evidence(question: &Value) -> Vec<String> {
    question["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["kind"].as_str().unwrap(), one["words"].as_str().unwrap()))
        .collect()
}

fn annotate(space: &Space, answer: &str) -> Answer {
    space.kubectl(&["annotate", "mc/cache", &format!("{ANSWER}={answer}"), "--overwrite"])
}

/// Polls a second long whether something that must not happen happens.
#[track_caller]
fn stays(space: &Space, what: &str, is_so: impl Fn(&Value) -> bool) {
    for _ in 0..8 {
        let object = space.object("mc/cache");
        assert!(is_so(&object), "not so any more: {what}: {object}");
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
}

#[test]
fn first_pods_that_never_come_are_told_in_the_pods_own_words_and_retry_tries_them_afresh() {
    let _turn = shared();
    let (mark, space) = (audit::mark(), Space::new("provisioning"));
    space.memcached("cache", &format!("{{image: {NONE}}}"));
    let first = asked(&space, "cache", "ProvisioningStuck");
    let words = evidence(&first).join("\n");
    assert!(words.contains("Pod ImagePullBackOff: Back-off pulling image \"example.com/no-such:1\": ErrImagePull: not found"), "{words}");
    let id = first["id"].as_str().unwrap();
    for wrong in ["retry-aaaaa", &format!("rollback-{id}"), &format!("Retry-{id}"), "yes"] {
        let answer = annotate(&space, wrong);
        assert_eq!(answer.code, 1, "{wrong} was accepted");
        assert!(
            answer.err.contains(&format!("{wrong} does not answer question {id}; the legal answers are: retry-{id}")),
            "{}",
            answer.err
        );
    }
    let pod = space.object("pods")["items"][0]["metadata"].clone();
    space.answer("cache", "retry").ok();
    eventually(20, "the pod that waited is removed, and no other of its name", || {
        let entries = audit::writes(mark, &space.name);
        let removed: Vec<_> = entries.iter().filter(|entry| entry.what() == "delete pods").collect();
        removed.len() == 1 && removed[0].name() == pod["name"] && removed[0].body()["preconditions"]["uid"] == pod["uid"]
    });
    let second = asked_again(&space, "ProvisioningStuck", 2);
    assert_ne!(second["id"], first["id"]);
    // The first answer still stands in the annotation, and does not answer the second question.
    stays(&space, "the second question is open", |object| object["status"]["intervention"]["number"] == 2);
    let history = space.object("mc/cache")["status"]["history"].to_string();
    assert!(history.contains(&format!("\"answer\":\"retry-{id}\"")), "{history}");
    space.patch("cache", r#"{"image":null}"#).ok();
    space.ready("cache");
    assert_eq!(space.object("mc/cache")["status"]["intervention"], Value::Null);
    let late = annotate(&space, &format!("retry-{}", second["id"].as_str().unwrap()));
    assert!(late.code == 1 && late.err.contains("no question is open"), "{}", late.text());
}

#[track_caller]
fn asked_again(space: &Space, reason: &str, number: i64) -> Value {
    eventually(ASKS, &format!("question {number} is open"), || space.object("mc/cache")["status"]["intervention"]["number"] == number);
    asked(space, "cache", reason)
}

#[test]
fn the_same_name_in_another_life_asks_another_question() {
    let _turn = shared();
    let space = Space::new("lives");
    let mut ids = Vec::new();
    for _ in 0..2 {
        space.memcached("cache", &format!("{{image: {NONE}}}"));
        ids.push(asked(&space, "cache", "ProvisioningStuck")["id"].clone());
        if let [id] = ids.as_slice() {
            space.kubectl(&["delete", "mc/cache"]).ok();
            space.memcached("cache", &format!("{{image: {NONE}}}"));
            let early = annotate(&space, &format!("retry-{}", id.as_str().unwrap()));
            assert!(early.code == 1 && early.err.contains("no question is open"), "{}", early.text());
        }
    }
    assert_ne!(ids[0], ids[1]);
    let stale = annotate(&space, &format!("retry-{}", ids[0].as_str().unwrap()));
    assert!(stale.code == 1 && stale.err.contains("does not answer question"), "{}", stale.text());
}

#[test]
fn a_count_alone_is_held_while_a_question_is_open_and_a_new_spec_closes_it() {
    let _turn = shared();
    let space = Space::new("held");
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    space.patch("cache", &format!(r#"{{"image":"{NONE}"}}"#)).ok();
    let question = asked(&space, "cache", "RolloutStuck");
    assert!(evidence(&question).join("\n").contains("ImagePullBackOff"), "{question}");
    assert_eq!(space.object("mc/cache")["status"]["readyReplicas"], 2, "pods that served do not serve any more");
    let told = space.patch("cache", r#"{"replicas":4}"#);
    assert_eq!(told.code, 0, "{}", told.text());
    eventually(20, "the count is held, and the object says so", || {
        let object = space.object("mc/cache");
        let current = condition(&object, "UpToDate");
        current["status"] == "False" && current["reason"] == "Held" && current["observedGeneration"] == object["metadata"]["generation"]
    });
    stays(&space, "the question is open", |object| object["status"]["intervention"]["id"] == question["id"]);
    assert_eq!(space.object("deployment/cache")["spec"]["replicas"], 2, "a held count was applied");
    space.patch("cache", r#"{"image":"docker.io/library/memcached:1.6.38"}"#).ok();
    space.ready("cache");
    let deployment = space.object("deployment/cache");
    assert_eq!(deployment["spec"]["replicas"], 4, "{deployment}");
    let closed = space.history("cache");
    assert!(closed.iter().any(|one| one == "HumanIntervention -SpecRenewed-> Updating"), "{closed:?}");
}

#[test]
fn a_quota_that_stops_scaling_is_told_in_the_api_servers_words() {
    let _turn = shared();
    let space = Space::new("quota");
    space.memcached("cache", "{}");
    space.ready("cache");
    space.kubectl(&["create", "quota", "pods", "--hard=pods=1"]).ok();
    space.patch("cache", r#"{"replicas":2}"#).ok();
    let question = asked(&space, "cache", "RolloutStuck");
    let words = evidence(&question).join("\n");
    assert!(words.contains("Deployment pods \"cache-") && words.contains("exceeded quota: pods"), "{words}");
    space.kubectl(&["delete", "quota", "pods"]).ok();
    space.ready_within("cache", 90);
    let closed = space.history("cache");
    assert!(closed.iter().any(|one| one.starts_with("HumanIntervention -ObstacleGone-> ")), "{closed:?}");
}

#[test]
fn lost_pods_are_asked_about_and_the_question_closes_when_they_are_back() {
    let _turn = shared();
    let space = Space::new("unavailable");
    let pool = Pool::new(&space);
    space.memcached("cache", &format!("{{replicas: 2, {}}}", pool.field()));
    space.ready("cache");
    pool.close();
    space.kubectl(&["delete", "pods", "--all", "--wait=false"]).ok();
    let question = asked(&space, "cache", "PodsUnavailable");
    let words = evidence(&question);
    assert!(words.iter().filter(|words| words.starts_with("Pod Unschedulable: ")).count() == 2, "{words:?}");
    pool.open();
    space.ready("cache");
    let closed = space.history("cache");
    assert_eq!(closed.last().unwrap(), "HumanIntervention -ObstacleGone-> Ready", "{closed:?}");
}

/// Somebody else's objects under the names that a Memcached needs.
const STRANGERS: &[(&str, &str, &str)] = &[
    (
        "Deployment",
        "deployments",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cache}\nspec: {replicas: 0, selector: {matchLabels: {app: mine}}, template: {metadata: {labels: {app: mine}}, spec: {containers: [{name: mine, image: example.com/mine:1}]}}}\n",
    ),
    ("Service", "services", "apiVersion: v1\nkind: Service\nmetadata: {name: cache}\nspec: {selector: {app: mine}, ports: [{port: 80}]}\n"),
    (
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: cache}\nspec: {minAvailable: 1, selector: {matchLabels: {app: mine}}}\n",
    ),
];

#[test]
fn a_strangers_object_is_asked_about_and_never_written() {
    let _turn = shared();
    std::thread::scope(|scope| {
        for &(kind, plural, manifest) in STRANGERS {
            scope.spawn(move || a_stranger_in_the_way(kind, plural, manifest));
        }
    });
}

fn a_stranger_in_the_way(kind: &str, plural: &str, manifest: &str) {
    let (mark, space) = (audit::mark(), Space::new(&format!("foreign-{}", kind.to_lowercase())));
    let what = format!("{kind}/cache");
    space.apply(manifest).ok();
    let current = |object: &Value| kind == "Service" || object["status"]["observedGeneration"] == object["metadata"]["generation"];
    eventually(20, "its own controller has seen it", || current(&space.object(&what)));
    let before = space.object(&what);
    space.memcached("cache", "{replicas: 2}");
    let question = asked(&space, "cache", "ChildConflict");
    assert_eq!((&question["evidence"][0]["kind"], &question["evidence"][0]["name"]), (&kind.into(), &"cache".into()), "{question}");
    assert!(evidence(&question)[0].contains("nobody controls it"), "{question}");
    space.answer("cache", "retry").ok();
    let again = asked_again(&space, "ChildConflict", 2);
    assert_ne!(again["id"], question["id"]);
    let after = space.object(&what);
    assert_eq!(before["metadata"]["resourceVersion"], after["metadata"]["resourceVersion"], "{after}");
    let entries = audit::since(mark);
    let tried = entries.iter().filter(|entry| entry.by_operator() && entry.namespace() == space.name && entry.resource() == plural);
    assert_eq!(
        tried.filter(|entry| !entry.is_trial() && !["list", "watch"].contains(&entry.verb().as_str())).count(),
        0,
        "the operator touched it"
    );
    space.kubectl(&["delete", &what]).ok();
    space.ready("cache");
    let ours = space.object(&what)["metadata"]["ownerReferences"][0]["name"].clone();
    assert_eq!(ours, "cache", "{what} is not the operator's");
}

/// A budget that is not needed is nobody's obstacle, until it is.
#[test]
fn a_strangers_budget_is_in_the_way_only_from_two_pods_on() {
    let _turn = shared();
    let space = Space::new("budget");
    space.apply(STRANGERS[2].2).ok();
    space.memcached("cache", "{}");
    space.ready("cache");
    space.patch("cache", r#"{"replicas":2}"#).ok();
    asked(&space, "cache", "ChildConflict");
    assert_eq!(space.object("deployment/cache")["spec"]["replicas"], 1, "a part of the change was made");
    space.kubectl(&["delete", "poddisruptionbudget/cache"]).ok();
    space.ready("cache");
    assert_eq!(space.object("deployment/cache")["spec"]["replicas"], 2);
}
