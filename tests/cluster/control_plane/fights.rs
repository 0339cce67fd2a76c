//! Another writer takes back what the operator wrote: each round is answered later, and one that
//! nothing can win becomes a question.

use crate::harness::policy::{Does, Policies, Rule};
use crate::harness::{Space, audit, eventually, moves, shared};
use std::time::Instant;

const ROUNDS: usize = 4;

/// Somebody edits the Deployment whenever it is mended.
#[test]
fn a_fight_with_another_writer_is_no_hot_loop() {
    let _turn = shared();
    let space = Space::new("fight");
    space.memcached("cache", "{replicas: 2}");
    space.ready("cache");
    let (from, began) = (audit::mark(), Instant::now());
    for _ in 0..ROUNDS {
        space.kubectl(&["scale", "deployment/cache", "--replicas=3"]).ok();
        eventually(60, "the last word is the spec's", || space.object("deployment/cache")["spec"]["replicas"] == 2);
        space.ready("cache");
    }
    let took = began.elapsed().as_secs_f32();
    let writes = audit::writes(from, &space.name);
    let count = |what: &str| writes.iter().filter(|entry| entry.what() == what).count();
    let (mends, statuses) = (count("patch deployments"), count("patch memcacheds/status"));
    println!("{ROUNDS} rounds in {took:.1} s: {mends} mends, {statuses} status writes");
    assert_eq!(mends, ROUNDS, "each edit is mended once");
    assert!(statuses <= 6 * ROUNDS, "{statuses} status writes");
    assert!(took > 0.5 + 1.0 + 2.0, "the waits between the rounds do not grow: {took} s");
    let declared = moves::declared();
    assert!(moves::stored(&space.audited()).iter().all(|one| declared.contains(&one.arrow)));
}

/// It gives every Deployment three replicas.
const REPLICAS: Rule = Rule {
    name: "replicas",
    resources: "apiGroups: [apps], apiVersions: [v1], resources: [deployments]",
    does: Does::Adds("Object{spec: Object.spec{replicas: 3}}"),
};

/// The API server accepts every order, and none of them stays.
#[test]
fn what_a_policy_changes_back_becomes_a_question() {
    let _turn = shared();
    let space = Space::new("policy");
    let attempt = ["create", "deployment", "any", "--image=any", "--dry-run=server", "--output=jsonpath={.spec.replicas}"];
    let policy = Policies::in_force(&space, &[REPLICAS], || space.kubectl(&attempt).ok() == "3");
    let from = audit::mark();
    space.memcached("cache", "{replicas: 2}");
    space.reaches("cache", "HumanIntervention", 60);
    let mends = audit::writes(from, &space.name).iter().filter(|entry| entry.what() == "patch deployments").count();
    assert!((2..=8).contains(&mends), "{mends} mends before the question");
    let question = space.object("mc/cache")["status"]["intervention"].clone();
    assert_eq!(question["evidence"][0]["words"], "it was written and accepted, and it is not so: something changes it back", "{question}");
    drop(policy);
    space.answer("cache", "retry").ok();
    space.ready("cache");
    assert_eq!(space.object("deployment/cache")["spec"]["replicas"], 2);
}
