//! Replicas come and go, and nobody who writes notices more than they must.

use super::databases::releases::Beside;
use crate::harness::load::{Ended, Failure, Load};
use crate::harness::{Space, alone, audit, eventually, kubectl, moves, processes};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

const NAMESPACE: &str = "pointsman-system";
/// Who is killed cannot say so: until the nodes know, some calls meet nobody.
const UNTIL_KNOWN: Duration = Duration::from_secs(3);

#[test]
fn a_leader_that_is_told_to_stop_hands_over_and_no_review_fails() {
    told_to_stop(3);
}

#[test]
fn a_leader_that_is_killed_is_followed_and_only_what_was_open_fails() {
    killed(2);
}

/// Rolls the operator's Deployment there and back; who is there says this of what was rendered before it came.
pub fn rolled_out(rendering: &str, there: impl FnOnce(), back: impl FnOnce()) {
    let _turn = alone();
    let watched = Watched::new("rolled");
    let space = Space::restricted("rolled-database");
    let database = Beside::new(&space);
    let ways = [("there", rendering, Box::new(there) as Box<dyn FnOnce() + '_>), ("back", "UpToDate", Box::new(back))];
    for (way, rendering, roll) in ways {
        let before = replicas();
        roll();
        two_ready();
        assert!(replicas().iter().all(|(pod, _)| before.iter().all(|(old, _)| old != pod)), "{way}: nothing was rolled out");
        watched.gains_reviews();
        database.stands(way, rendering);
    }
    watched.had_one_turn_each();
    // Who leads first hands over to whoever is there, which may be one more that has to go.
    watched.end("a roll-out there and back", 4, |failure| panic!("{failure:?}"));
}

/// Tells the leader to stop, again and again.
pub fn told_to_stop(rounds: usize) {
    let _turn = alone();
    let watched = Watched::new("told");
    let mut longest = Duration::ZERO;
    for round in 0..rounds {
        two_ready();
        watched.gains_reviews();
        let (old, mark) = (leader(), audit::mark());
        kubectl(&["--namespace", NAMESPACE, "delete", "pod", &old, "--wait=false"]).ok();
        let took = watched.acted_after(mark, &old, told(mark, &old));
        assert!(took <= Duration::from_secs(3), "round {round}: the next one acted {took:?} after {old} was told to stop");
        longest = longest.max(took);
    }
    two_ready();
    watched.gains_reviews();
    watched.told_once();
    watched.had_one_turn_each();
    println!("{rounds} leaders told to stop: the next one acted after {longest:?} at the latest");
    watched.end("leaders told to stop", rounds, |failure| panic!("{failure:?}"));
}

/// Kills the leader without a warning, again and again.
pub fn killed(rounds: usize) {
    let _turn = alone();
    let watched = Watched::new("killed");
    let (mut longest, mut kills) = (Duration::ZERO, Vec::new());
    for round in 0..rounds {
        two_ready();
        watched.gains_reviews();
        let (old, mark, at) = (leader(), audit::mark(), Timestamp::now());
        processes::kill(&process_of(&old));
        kills.push(at);
        let took = watched.acted_after(mark, &old, at);
        assert!(took <= Duration::from_secs(20), "round {round}: the next one acted {took:?} after {old} was killed");
        longest = longest.max(took);
    }
    two_ready();
    watched.gains_reviews();
    println!("{rounds} leaders killed: the next one acted after {longest:?} at the latest");
    let mut window = Duration::ZERO;
    watched.end("leaders killed", rounds, |failure| {
        let kill = kills.iter().rev().find(|kill| **kill <= failure.ended).unwrap_or_else(|| panic!("before any kill: {failure:?}"));
        let opened = Duration::try_from(failure.began.duration_since(*kill)).unwrap_or_default();
        assert!(opened <= UNTIL_KNOWN, "opened {opened:?} after the kill: {failure:?}");
        assert!(["failed calling webhook", "conversion webhook for"].iter().any(|words| failure.words.contains(words)), "{failure:?}");
        assert_eq!(failure.again, None, "the same call once more did not clear it: {failure:?}");
        window = window.max(opened);
    });
    println!("the last call that failed was opened {window:?} after its kill");
}

/// A space with an object that serves, and people who write all the time.
struct Watched {
    space: Space,
    load: Load,
    /// The pod that serves, and how often it was restarted.
    pods: Vec<(String, u64)>,
}

impl Watched {
    #[track_caller]
    fn new(name: &str) -> Self {
        two_ready();
        let space = Space::new(name);
        space.memcached("serving", "{}");
        space.ready("serving");
        let (load, pods) = (Load::on(&space), operands(&space));
        assert_eq!(pods.len(), 1);
        Watched { space, load, pods }
    }

    /// The load goes on for a while.
    #[track_caller]
    fn gains_reviews(&self) {
        let before = self.load.reviews();
        eventually(20, "fifty more calls are answered", || self.load.reviews() >= before + 50);
    }

    /// How long after `at` another than `old` wrote, by the API server's clock; whoever wrote before has ended by then.
    #[track_caller]
    fn acted_after(&self, mark: audit::Mark, old: &str, at: Timestamp) -> Duration {
        let first = || writers(&audit::within(mark, &self.space.name)).into_iter().find(|(_, pod)| pod != old);
        let mut found = None;
        eventually(40, "another replica acts", || {
            found = first().or(found.take());
            found.is_some()
        });
        Duration::try_from(found.unwrap().0.duration_since(at)).unwrap()
    }

    /// Every stored move follows from the one before, and each was told by one Event.
    #[track_caller]
    fn told_once(&self) {
        eventually(30, "every stored move is told once", || {
            let entries = self.space.audited();
            moves::told(&entries) == moves::to_tell(&moves::stored(&entries))
        });
    }

    /// No replica wrote again after another had: each that goes is another pod.
    #[track_caller]
    fn had_one_turn_each(&self) {
        let turns = turns_of(&self.space.audited());
        let names: BTreeSet<&String> = turns.iter().collect();
        assert_eq!(names.len(), turns.len(), "{turns:?}");
    }

    /// Nobody but one wrote at a time, nothing that was accepted is lost, nothing was made twice, and what failed may have.
    #[track_caller]
    fn end(self, what: &str, turns: usize, mut may_fail: impl FnMut(&Failure)) {
        let Watched { space, load, pods } = self;
        let Ended { reviews, failures, accepted } = load.end();
        println!("{what}: {reviews} reviews and conversions, {} failed", failures.len());
        failures.iter().for_each(&mut may_fail);
        assert!(!accepted.is_empty());
        for (name, connections) in &accepted {
            space.ready(name);
            let deployment = space.object(&format!("deployment/{name}"));
            let applied = deployment["spec"]["template"]["spec"]["containers"][0]["args"].to_string();
            assert!(applied.contains(&format!("\"{connections}\"")), "{name} was to have {connections} connections: {applied}");
            for plural in ["deployments", "services"] {
                let children = space.object_list(&[plural, "--selector", &format!("app.kubernetes.io/instance={name}")]);
                assert_eq!(children.len(), 1, "{name} has {plural}: {children:?}");
            }
        }
        let entries = space.audited();
        let mut made: Vec<_> = entries
            .iter()
            .filter(|entry| entry.by_operator() && entry.code() == 201)
            .map(|entry| (entry.resource(), entry.name()))
            .collect();
        made.retain(|(resource, _)| resource != "events");
        made.sort();
        assert!(made.windows(2).all(|pair| pair[0] != pair[1]), "made twice: {made:?}");
        let seen = turns_of(&entries);
        assert!((2..=turns + 1).contains(&seen.len()), "one did not end before the next began, or there was no turn: {seen:?}");
        assert_eq!(operands(&space), pods, "an operand was restarted");
    }
}

/// When the API server took in the deletion of a pod: kubectl needs a while to say it.
#[track_caller]
fn told(mark: audit::Mark, pod: &str) -> Timestamp {
    let mut told = None;
    eventually(10, "the deletion is in the log", || {
        told = audit::since(mark).into_iter().find(|entry| entry.what() == "delete pods" && entry.name() == pod);
        told.is_some()
    });
    received(&told.unwrap())
}

fn received(entry: &audit::Entry) -> Timestamp {
    entry.0["requestReceivedTimestamp"].as_str().unwrap().parse().unwrap()
}

/// Which replica wrote, and when, in the order of time.
fn writers(entries: &[audit::Entry]) -> Vec<(Timestamp, String)> {
    let pod = |entry: &audit::Entry| entry.0["user"]["extra"]["authentication.kubernetes.io/pod-name"][0].as_str().map(str::to_owned);
    let ours = entries.iter().filter(|entry| entry.by_operator() && entry.is_write());
    let mut writers: Vec<(Timestamp, String)> = ours.map(|entry| (received(entry), pod(entry).expect("a pod's token"))).collect();
    writers.sort();
    writers
}

/// The replicas that wrote, one after another.
fn turns_of(entries: &[audit::Entry]) -> Vec<String> {
    let mut turns: Vec<String> = writers(entries).into_iter().map(|(_, pod)| pod).collect();
    turns.dedup();
    turns
}

fn pods(what: &[&str]) -> Vec<Value> {
    let list: Value = serde_json::from_str(&kubectl(&[&["get", "pods", "--output=json"], what].concat()).ok()).unwrap();
    list["items"].as_array().unwrap().clone()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The operator's pods: their names, and whether each is Ready and stays.
pub fn replicas() -> Vec<(String, bool)> {
    let pods = pods(&["--namespace", NAMESPACE, "--selector", "app.kubernetes.io/component=operator"]);
    let is_ready = |pod: &Value| {
        let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    };
    let stays = |pod: &Value| pod["metadata"]["deletionTimestamp"].is_null();
    pods.iter().map(|pod| (word(&pod["metadata"]["name"]), is_ready(pod) && stays(pod))).collect()
}

/// Two replicas are Ready, and whoever was to go has gone.
#[track_caller]
pub fn two_ready() {
    eventually(60, "two replicas are Ready, and no other is left", || {
        let replicas = replicas();
        replicas.len() == 2 && replicas.iter().all(|(_, ready)| *ready)
    });
}

/// The pod that holds the Lease.
#[track_caller]
pub fn leader() -> String {
    let holder = kubectl(&["--namespace", NAMESPACE, "get", "lease", "pointsman", "--output", "jsonpath={.spec.holderIdentity}"]).ok();
    let pod = holder.rsplit_once('_').expect("the name of a pod, and more").0.to_owned();
    assert!(replicas().contains(&(pod.clone(), true)), "the holder {holder} is no replica that is Ready");
    pod
}

/// The operator's process in a pod.
#[track_caller]
pub fn process_of(pod: &str) -> String {
    let uid = kubectl(&["--namespace", NAMESPACE, "get", "pod", pod, "--output", "jsonpath={.metadata.uid}"]).ok();
    processes::first_of(&uid, "pointsman")
}

fn operands(space: &Space) -> Vec<(String, u64)> {
    let pods = pods(&["--namespace", &space.name]);
    let restarts = |pod: &Value| pod["status"]["containerStatuses"][0]["restartCount"].as_u64().unwrap_or_default();
    pods.iter().map(|pod| (word(&pod["metadata"]["uid"]), restarts(pod))).collect()
}
