//! Each arrow is taken by the operator's own status write, read from the audit log.

use super::drives;
use crate::harness::moves::{self, Moved};
use crate::harness::outage::{NoOperator, NoRules, NoWebhook};
use crate::harness::{Space, alone, audit, eventually, shared};
use pointsman::kinds::intervention::{ANSWER, id};
use std::collections::BTreeSet;

/// Moves that only happen while somebody is away; [`nothing_watches_while_an_object_is_born_and_dies`] drives them.
const ALONE: &[(&str, &str)] = &[("Pending", "Deleting")];

/// Moves that no cluster shows, and why.
///
/// From the start of an object without a status every other state is out of reach: it was never
/// ready, so `NeverReady` decides; and the API server refuses to have a stored state removed. The
/// table declares them for a state that a newer operator stored and this one does not know.
const IMPOSSIBLE: &[(&str, &str)] =
    &[("Pending", "Ready"), ("Pending", "Scaling"), ("Pending", "Updating"), ("Pending", "Degraded"), ("Pending", "Stopped")];

fn pairs(moves: &[Moved]) -> BTreeSet<(String, String)> {
    moves.iter().map(|one| (one.arrow.0.clone(), one.arrow.2.clone())).collect()
}

fn owned(pairs: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
}

/// The moves in these namespaces since `mark`, once every one has its Event; none is undeclared.
#[track_caller]
fn driven(mark: audit::Mark, spaces: &[&Space]) -> Vec<Moved> {
    let mine = || -> Vec<audit::Entry> {
        audit::since(mark).into_iter().filter(|entry| spaces.iter().any(|space| space.name == entry.namespace())).collect()
    };
    eventually(10, "every stored move has exactly one Event", || {
        let entries = mine();
        moves::told(&entries) == moves::to_tell(&moves::stored(&entries))
    });
    let entries = mine();
    let refused: Vec<_> = moves::status_writes(&entries).filter(|entry| ![200, 404, 409].contains(&entry.code())).collect();
    assert!(refused.is_empty(), "the API server refused a status: {refused:?}");
    let moves = moves::stored(&entries);
    let declared = moves::declared();
    let undeclared: Vec<&Moved> = moves.iter().filter(|one| !declared.contains(&one.arrow)).collect();
    assert!(undeclared.is_empty(), "{undeclared:?}");
    moves
}

#[test]
fn every_declared_move_is_taken_by_the_operators_own_write() {
    let _turn = shared();
    let mark = audit::mark();
    let spaces: Vec<Space> = drives::ALL.iter().map(|(name, _)| Space::new(name)).collect();
    std::thread::scope(|scope| {
        for ((_, drive), space) in drives::ALL.iter().zip(&spaces) {
            scope.spawn(move || drive(space));
        }
    });
    let moves = driven(mark, &spaces.iter().collect::<Vec<_>>());
    let seen: BTreeSet<moves::Triple> = moves.iter().map(|one| one.arrow.clone()).collect();
    for (from, cause, to) in moves::declared() {
        let mark = if seen.contains(&(from.clone(), cause.clone(), to.clone())) { "taken " } else { "      " };
        println!("{mark} {from} --{cause}--> {to}");
    }
    let declared: BTreeSet<(String, String)> = moves::declared().into_iter().map(|(from, _, to)| (from, to)).collect();
    let excused = &owned(ALONE) | &owned(IMPOSSIBLE);
    assert!(excused.is_subset(&declared), "an excuse for what is not declared");
    let seen = pairs(&moves);
    let missing: Vec<_> = declared.difference(&excused).filter(|pair| !seen.contains(*pair)).collect();
    assert!(missing.is_empty(), "not driven: {missing:?}");
    println!(
        "{} moves of {} kinds, {} pairs of states",
        moves.len(),
        moves::declared().intersection(&moves.iter().map(|one| one.arrow.clone()).collect()).count(),
        seen.len()
    );
}

#[test]
fn nothing_watches_while_an_object_is_born_and_dies() {
    let turn = alone();
    let (mark, space) = (audit::mark(), Space::new("unwatched"));
    let operator = NoOperator::stopped(&turn);
    let webhook = NoWebhook::removed(&turn);
    space.held_memcached("cache", "{}");
    space.kubectl(&["delete", "mc/cache", "--wait=false"]).ok();
    drop(webhook);
    drop(operator);
    space.reaches("cache", "Deleting", 30);
    assert_eq!(space.object("deployment/cache"), serde_json::Value::Null, "a child was made for an object that is being deleted");
    space.release("cache");
    let seen = pairs(&driven(mark, &[&space]));
    assert_eq!(seen, owned(ALONE));
}

#[test]
fn a_spec_that_no_webhook_judged_is_questioned_from_every_state() {
    let turn = alone();
    let (mark, space) = (audit::mark(), Space::new("unjudged"));
    let invalid = r#"{"podTemplate":{"metadata":{"labels":{"app.kubernetes.io/name":"mine"}}}}"#;
    space.memcached("ready", "{}");
    space.memcached("stopped", "{replicas: 0}");
    space.memcached("creating", "{image: example.com/no-such:1}");
    space.ready("ready");
    space.reaches("stopped", "Stopped", 30);
    space.reaches("creating", "Creating", 30);
    let judges = (NoWebhook::removed(&turn), NoRules::removed(&turn));
    space.memcached("born", "{podTemplate: {metadata: {labels: {app.kubernetes.io/name: mine}}}}");
    // An answer to a question that is still to be asked: it must not answer it then.
    let uid = space.object("mc/ready")["metadata"]["uid"].as_str().unwrap().to_owned();
    let early = format!("{ANSWER}=retry-{}", id(&uid, 1));
    space.kubectl(&["annotate", "mc/ready", &early]).ok();
    for name in ["ready", "stopped", "creating"] {
        space.patch(name, invalid).ok();
    }
    for name in ["ready", "stopped", "creating", "born"] {
        space.reaches(name, "HumanIntervention", 30);
        let question = space.object(&format!("mc/{name}"))["status"]["intervention"].clone();
        assert_eq!(question["reason"], "SpecInvalid", "{question}");
        assert!(question["evidence"].to_string().contains("app.kubernetes.io/name is the operator's"), "{question}");
    }
    assert_eq!(space.object("deployment/born"), serde_json::Value::Null, "something was made of an invalid spec");
    drop(judges);
    for name in ["stopped", "creating", "born"] {
        space.patch(name, r#"{"podTemplate":null,"image":null}"#).ok();
    }
    space.reaches("stopped", "Stopped", 30);
    space.reaches("creating", "Ready", 30);
    space.reaches("born", "Ready", 30);
    let status = space.object("mc/ready")["status"].clone();
    assert_eq!(status["state"], "HumanIntervention", "an answer from before the question answered it: {status}");
    assert_eq!(status["questions"], 1, "{status}");
    space.patch("ready", r#"{"podTemplate":null}"#).ok();
    space.reaches("ready", "Ready", 30);
    let seen = pairs(&driven(mark, &[&space]));
    for from in ["Pending", "Ready", "Stopped", "Creating"] {
        assert!(seen.contains(&(from.to_owned(), "HumanIntervention".to_owned())), "{from}: {seen:?}");
    }
}

/// The rule of the stored state holds against everybody, administrators too; nothing here is stored.
#[test]
fn forged_moves_are_refused_by_the_api_server() {
    let _turn = shared();
    let space = Space::new("forged");
    space.memcached("cache", "{}");
    space.ready("cache");
    let forge = |kind: &str, patch: &str| {
        let arguments = ["patch", "mc/cache", "--subresource=status", "--dry-run=server", "--type", kind, "--patch", patch];
        space.kubectl(&arguments)
    };
    for state in ["Creating", "Stopped"] {
        let answer = forge("merge", &format!(r#"{{"status":{{"state":"{state}"}}}}"#));
        assert_eq!(answer.code, 1, "Ready -> {state} was accepted");
        assert!(answer.err.contains(&format!("undeclared move: Ready -> {state}")), "{}", answer.err);
    }
    assert_eq!(forge("merge", r#"{"status":{"state":null}}"#).code, 1, "the state was removed");
    assert_eq!(forge("json", r#"[{"op":"remove","path":"/status"}]"#).code, 1, "the status was removed");
    assert_eq!(forge("merge", r#"{"status":{"state":"Degraded"}}"#).code, 0, "a declared move was refused");
}
