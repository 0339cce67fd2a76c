//! One object of the operator's, as a user speaks of it: `mc/cache`, `db/shop`.

use super::{Answer, Space, api, bash, eventually, eventually_or};
use serde_json::Value;

/// An object in a test's namespace; it need not be there.
#[derive(Clone, Debug)]
pub struct Thing<'a> {
    /// Where it is.
    pub space: &'a Space,
    short: &'static str,
    /// Its name.
    pub name: String,
}

impl<'a> Thing<'a> {
    /// That of a short name.
    pub fn of(space: &'a Space, short: &'static str, name: &str) -> Self {
        Thing { space, short, name: name.to_owned() }
    }

    /// As kubectl is told of it.
    pub fn path(&self) -> String {
        format!("{}/{}", self.short, self.name)
    }

    /// All of it; `Null` when it is not there.
    #[track_caller]
    pub fn seen(&self) -> Value {
        self.space.object(&self.path())
    }

    /// What its status says.
    #[track_caller]
    pub fn status(&self) -> Value {
        self.seen()["status"].clone()
    }

    /// A condition of it.
    #[track_caller]
    pub fn condition(&self, name: &str) -> Value {
        condition(&self.seen(), name).cloned().unwrap_or_default()
    }

    /// Is it ready as its spec asks now?
    #[track_caller]
    pub fn is_ready_as_asked(&self) -> bool {
        is_ready_as_asked(&self.seen())
    }

    /// Runs kubectl with a verb on it.
    pub fn kubectl(&self, verb: &str, rest: &[&str]) -> Answer {
        self.space.kubectl(&[&[verb, &self.path()], rest].concat())
    }

    /// Changes fields of its spec, given as JSON.
    pub fn patch(&self, spec: &str) -> Answer {
        self.kubectl("patch", &["--type=merge", "--patch", &format!("{{\"spec\":{spec}}}")])
    }

    /// Sets an annotation, or takes it off.
    #[track_caller]
    pub fn annotate(&self, annotation: &str) {
        self.kubectl("annotate", &[annotation, "--overwrite"]).ok();
    }

    /// Runs the command that the open question offers for `verb`.
    #[track_caller]
    pub fn answer(&self, verb: &str) -> Answer {
        let question = self.status()["intervention"].clone();
        let offers = question["answers"].as_array().cloned().unwrap_or_default();
        let offer = offers.iter().find(|offer| offer["verb"] == verb);
        let offer = offer.unwrap_or_else(|| panic!("{verb} is not offered: {question}"));
        bash(offer["command"].as_str().unwrap())
    }

    /// Waits until it is in `state`.
    #[track_caller]
    pub fn reaches(&self, state: &str, seconds: u64) {
        let met = api::becomes(&self.space.name, &self.path(), seconds, |object| object["status"]["state"] == state);
        assert!(met, "{} is not {state} after {seconds} s: {:#}", self.path(), self.status());
    }

    /// Waits until it is ready as its spec asks, as `kubectl wait --for=condition=Ready` does.
    #[track_caller]
    pub fn ready_within(&self, seconds: u64) {
        let met = api::becomes(&self.space.name, &self.path(), seconds, is_ready_as_asked);
        assert!(met, "{} is not ready after {seconds} s: {:#}", self.path(), self.status());
    }

    /// The states that it went through, as its history tells.
    #[track_caller]
    pub fn history(&self) -> Vec<String> {
        let word = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let moves = self.status()["history"].as_array().cloned().unwrap_or_default();
        moves.iter().map(|entry| format!("{} -{}-> {}", word(entry, "from"), word(entry, "cause"), word(entry, "to"))).collect()
    }

    /// Waits until the history's last moves are these.
    #[track_caller]
    pub fn went(&self, ways: &[&str], seconds: u64) {
        let arrows: Vec<String> = ways.windows(2).map(|pair| format!("{} -> {}", pair[0], pair[1])).collect();
        // The cause stands between the two.
        let moved = |one: &String| one.split(' ').step_by(2).collect::<Vec<_>>().join(" -> ");
        let so = || self.history().iter().map(moved).collect::<Vec<_>>().ends_with(&arrows);
        eventually_or(seconds, so, || format!("{} went {ways:?}; it went {:?}\n{:#}", self.path(), self.history(), self.status()));
    }

    /// Waits until every move so far is told by an Event: they are written after the status.
    #[track_caller]
    pub fn all_told(&self) {
        let kind = self.seen()["kind"].clone();
        let told = || {
            let events = self.space.object_list(&["events.events.k8s.io"]);
            events.iter().filter(|event| event["regarding"]["name"] == self.name && event["regarding"]["kind"] == kind).count()
        };
        eventually(10, "every move is told", || told() >= self.history().len());
    }
}

fn condition<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == name)
}

fn is_ready_as_asked(object: &Value) -> bool {
    condition(object, "Ready")
        .is_some_and(|ready| ready["status"] == "True" && ready["observedGeneration"] == object["metadata"]["generation"])
}
