//! Each arrow is taken by the operator's own status write, read from the audit log.

use super::drives;
use crate::harness::moves::{self, Moved};
use crate::harness::outage::{NoOperator, NoRules, NoWebhook};
use crate::harness::pool::Pool;
use crate::harness::{Space, alone, audit, eventually, scraped, shared};
use pointsman::kinds::annotations::ANSWER;
use pointsman::kinds::intervention::id;
use pointsman::kinds::memcached::{Event, Memcached, Phase};
use pointsman::machine::{Machine, Word};
use std::collections::{BTreeMap, BTreeSet};

/// A way out of a state: from and cause. Of a junction, which is never stored: from and to.
type Way = (String, String);

/// The ways that these moves took. Behind a question lies the junction, and the next move begins there.
fn ways<'a>(moves: impl IntoIterator<Item = &'a moves::Triple>) -> BTreeSet<Way> {
    let (junction, asks) = (Memcached::START.text(), Phase::HumanIntervention.text());
    let closes = |cause: &str| Event::ALL.iter().any(|event| event.text() == cause && Memcached::closes_question(*event));
    let way = |(from, cause, to): &moves::Triple| {
        let through = (*from == asks && closes(cause) || *from == junction).then(|| (junction.clone(), to.clone()));
        let first = (*from != junction).then(|| (from.clone(), cause.clone()));
        first.into_iter().chain(through)
    };
    moves.into_iter().flat_map(way).collect()
}

/// What the operator's own counter says of each pair of states.
fn counted() -> BTreeMap<Way, usize> {
    let page = scraped();
    let label = |line: &str, name: &str| Some(line.split_once(&format!("{name}=\""))?.1.split_once('"')?.0.to_owned());
    let lines = page.lines().filter(|line| line.starts_with("pointsman_transitions_total{") && line.contains("kind=\"Memcached\""));
    lines.filter_map(|line| Some(((label(line, "from")?, label(line, "to")?), line.rsplit_once(' ')?.1.parse().ok()?))).collect()
}

fn pair(one: &Moved) -> Way {
    (one.arrow.0.clone(), one.arrow.2.clone())
}

fn pairs(moves: &[Moved]) -> BTreeSet<Way> {
    moves.iter().map(pair).collect()
}

fn taken(moves: &[Moved]) -> BTreeSet<Way> {
    ways(moves.iter().map(|one| &one.arrow))
}

/// A spec that no webhook judged: [`a_spec_that_no_webhook_judged_is_questioned_from_every_state`] drives these.
fn by_an_invalid_spec() -> BTreeSet<Way> {
    ways(&moves::declared()).into_iter().filter(|(_, cause)| *cause == Event::SpecInvalid.text()).collect()
}

/// An object that dies before it was seen: [`nothing_watches_while_an_object_is_born_and_dies`] drives it.
fn unseen() -> Way {
    (Memcached::START.text(), Phase::Deleting.text())
}

/// States that a hand wrote: `restored::a_ready_that_a_hand_wrote_is_looked_at` drives the first; the simulation takes all.
/// A fight is counted in moves, so it becomes a question where the object rests; and two releases of the operator that render
/// otherwise are a test of their own.
fn claimed() -> BTreeSet<Way> {
    use Phase::{Creating, Degraded, Ready, RolledBack, RollingBack, Scaling, Stopped, Updating};
    let refused = [Creating, Ready, Scaling, Updating, Degraded, Stopped].map(|phase| (phase, Event::SpecRefused));
    let fought = [Creating, Scaling, Updating, Degraded, RollingBack, Stopped].map(|phase| (phase, Event::DriftFought));
    let anew = [RollingBack, RolledBack].map(|phase| (phase, Event::TemplateChanged));
    let ways = [(Ready, Event::PodsPending)].into_iter().chain(refused).chain(fought).chain(anew);
    ways.map(|(phase, event)| (phase.text(), event.text())).collect()
}

/// The moves in these namespaces since `mark`, once every one has its Event; none is undeclared.
#[track_caller]
fn driven(mark: audit::Mark, spaces: &[&Space]) -> Vec<Moved> {
    let names: Vec<&str> = spaces.iter().map(|space| space.name.as_str()).collect();
    let mine = || audit::among(mark, &names);
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
    // All at once would keep the machine busy for longer than deadlines last.
    let all: Vec<_> = drives::ALL.iter().zip(&spaces).collect();
    for some in all.chunks(7) {
        std::thread::scope(|scope| {
            for ((_, drive), space) in some {
                scope.spawn(move || drive(space));
            }
        });
    }
    let moves = driven(mark, &spaces.iter().collect::<Vec<_>>());
    let (declared, taken) = (ways(&moves::declared()), taken(&moves));
    let elsewhere = &(&by_an_invalid_spec() | &claimed()) | &BTreeSet::from([unseen()]);
    assert!(elsewhere.is_subset(&declared), "an excuse for what is not declared");
    let missing: Vec<_> = (&declared - &elsewhere).difference(&taken).cloned().collect();
    assert!(missing.is_empty(), "not driven: {missing:?}");
    let counted = counted();
    for one in pairs(&moves) {
        let (stored, told) = (moves.iter().filter(|other| pair(other) == one).count(), counted.get(&one).copied().unwrap_or_default());
        assert!(told >= stored, "{one:?}: {stored} moves were stored, the metric says {told}");
    }
    println!("{} moves, {} of {} declared ways; {} are driven by other tests", moves.len(), taken.len(), declared.len(), elsewhere.len());
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
    assert_eq!(taken(&driven(mark, &[&space])), BTreeSet::from([unseen()]));
}

/// The state that each of these objects is in when its spec becomes invalid.
const STATES: &[(&str, &str)] = &[
    ("creating", "Creating"),
    ("scaling", "Scaling"),
    ("degraded", "Degraded"),
    ("updating", "Updating"),
    ("ready", "Ready"),
    ("stopped", "Stopped"),
    ("back", "RolledBack"),
    ("returning", "RollingBack"),
];

/// Brings one of them into its state, where it is not there yet; no pod finds a place meanwhile.
fn brought(space: &Space, name: &str) {
    match name {
        "creating" => space.memcached(name, "{image: example.com/no-such:1}"),
        "scaling" => drop(space.patch(name, r#"{"replicas":2}"#).ok()),
        "degraded" => drives::lose_a_pod(space, name),
        "updating" => drop(space.patch(name, r#"{"image":"example.com/no-such:1"}"#).ok()),
        "returning" => {
            drives::lose_a_pod(space, name);
            space.answer(name, "rollback").ok();
        }
        _ => {}
    }
}

#[test]
fn a_spec_that_no_webhook_judged_is_questioned_from_every_state() {
    let turn = alone();
    let (mark, space) = (audit::mark(), Space::new("unjudged"));
    let invalid = r#"{"podTemplate":{"metadata":{"labels":{"app.kubernetes.io/name":"mine"}}}}"#;
    let pool = Pool::new(&space);
    space.memcached("stopped", "{replicas: 0}");
    for name in ["ready", "scaling", "degraded", "updating", "back", "returning"] {
        space.memcached(name, &format!("{{{}}}", pool.field()));
    }
    for name in ["ready", "scaling", "degraded", "updating", "back", "returning"] {
        space.ready(name);
    }
    for name in ["back", "returning"] {
        space.patch(name, r#"{"image":"example.com/no-such:1"}"#).ok();
    }
    for name in ["back", "returning"] {
        space.reaches(name, "HumanIntervention", 60);
    }
    space.answer("back", "rollback").ok();
    space.reaches("back", "RolledBack", 30);
    space.reaches("stopped", "Stopped", 30);
    let judges = (NoWebhook::removed(&turn), NoRules::removed(&turn));
    pool.close();
    space.memcached("born", "{podTemplate: {metadata: {labels: {app.kubernetes.io/name: mine}}}}");
    // An answer to a question that is still to be asked: it must not answer it then.
    let uid = space.object("mc/ready")["metadata"]["uid"].as_str().unwrap().to_owned();
    let early = format!("{ANSWER}=retry-{}", id(&uid, 1));
    space.kubectl(&["annotate", "mc/ready", &early]).ok();
    for (name, state) in STATES {
        // One at a time: a deadline would take it out of its state.
        brought(&space, name);
        space.reaches(name, state, 30);
        space.patch(name, invalid).ok();
    }
    for name in STATES.iter().map(|(name, _)| *name).chain(["born"]) {
        space.reaches(name, "HumanIntervention", 30);
        let question = space.object(&format!("mc/{name}"))["status"]["intervention"].clone();
        assert_eq!(question["reason"], "SpecInvalid", "{name}: {question}");
        assert!(question["evidence"].to_string().contains("app.kubernetes.io/name is refused"), "{question}");
    }
    assert_eq!(space.object("deployment/born"), serde_json::Value::Null, "something was made of an invalid spec");
    drop(judges);
    for name in STATES.iter().map(|(name, _)| *name).chain(["born"]).filter(|name| *name != "ready") {
        space.patch(name, r#"{"podTemplate":null,"image":null}"#).ok();
        space.reaches(name, if name == "stopped" { "Stopped" } else { "Ready" }, 30);
    }
    let status = space.object("mc/ready")["status"].clone();
    assert_eq!(status["state"], "HumanIntervention", "an answer from before the question answered it: {status}");
    assert_eq!(status["questions"], 1, "{status}");
    space.patch("ready", r#"{"podTemplate":null}"#).ok();
    space.reaches("ready", "Ready", 30);
    let taken = taken(&driven(mark, &[&space]));
    let missing: Vec<_> = by_an_invalid_spec().difference(&taken).cloned().collect();
    assert!(missing.is_empty(), "not driven: {missing:?}");
    assert!(taken.contains(&(Memcached::START.text(), Phase::HumanIntervention.text())), "born invalid: {taken:?}");
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
