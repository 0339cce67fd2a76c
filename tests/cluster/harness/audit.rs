//! The API server's own record of who wrote what: the only witness that counts.

use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// As whom the operator asks.
pub const OPERATOR: &str = "system:serviceaccount:pointsman-system:pointsman";

/// A place in the audit log; what comes later can be read from it.
#[derive(Clone, Copy, Debug)]
pub struct Mark(u64);

/// One request that was answered.
#[derive(Clone, Debug)]
pub struct Entry(pub Value);

/// The end of the log as it is now.
pub fn mark() -> Mark {
    Mark(std::fs::metadata(path()).map_or(0, |file| file.len()))
}

/// What was asked since `mark`.
pub fn since(mark: Mark) -> Vec<Entry> {
    lines_with(&[""], mark)
}

/// The same, within one namespace.
pub fn within(mark: Mark, namespace: &str) -> Vec<Entry> {
    among(mark, &[namespace])
}

/// The same, within some namespaces.
pub fn among(mark: Mark, namespaces: &[&str]) -> Vec<Entry> {
    lines_with(namespaces, mark).into_iter().filter(|entry| namespaces.contains(&entry.namespace().as_str())).collect()
}

/// The log is long, and most of it is about others: only lines that hold one of these words are taken apart.
fn lines_with(words: &[&str], mark: Mark) -> Vec<Entry> {
    let mut file = File::open(path()).unwrap();
    file.seek(SeekFrom::Start(mark.0)).unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    let lines = text.lines().filter(|line| words.iter().any(|word| line.contains(word)));
    // The last line may still be on its way.
    lines.filter_map(|line| serde_json::from_str(line).ok().map(Entry)).collect()
}

/// Every request of the operator's since the cluster began, one after another: the log is long.
pub fn all_by_operator(mut each: impl FnMut(&Entry)) {
    let lines = BufReader::new(File::open(path()).unwrap()).lines();
    for line in lines.map(Result::unwrap).filter(|line| line.contains(OPERATOR)) {
        // The last line may still be on its way.
        let entry = serde_json::from_str(&line).ok().map(Entry);
        entry.iter().filter(|entry| entry.by_operator()).for_each(&mut each);
    }
}

fn path() -> String {
    std::env::var("POINTSMAN_AUDIT_LOG").expect("no cluster: run tests/run")
}

impl Entry {
    /// Did our operator ask?
    pub fn by_operator(&self) -> bool {
        self.0["user"]["username"] == OPERATOR
    }

    /// Name and uid of the pod that asked, which its token says.
    pub fn pod(&self) -> (&str, &str) {
        let word = |key: &str| self.0["user"]["extra"][format!("authentication.kubernetes.io/{key}")][0].as_str();
        (word("pod-name").expect("a pod's token"), word("pod-uid").expect("a pod's token"))
    }

    /// Was it only tried?
    pub fn is_trial(&self) -> bool {
        self.0["requestURI"].as_str().unwrap_or_default().contains("dryRun=All")
    }

    /// Was it a write that was carried out?
    pub fn is_write(&self) -> bool {
        let verb = self.verb();
        !self.is_trial() && ["create", "update", "patch", "delete", "deletecollection"].contains(&verb.as_str()) && self.code() < 300
    }

    /// The HTTP code of the answer.
    pub fn code(&self) -> u64 {
        self.0["responseStatus"]["code"].as_u64().unwrap_or_default()
    }

    /// The verb.
    pub fn verb(&self) -> String {
        self.0["verb"].as_str().unwrap_or_default().to_owned()
    }

    /// The resource, with its subresource: `memcacheds/status`.
    pub fn resource(&self) -> String {
        let word = |key: &str| self.0["objectRef"][key].as_str().unwrap_or_default().to_owned();
        match word("subresource").as_str() {
            "" => word("resource"),
            subresource => format!("{}/{subresource}", word("resource")),
        }
    }

    /// The namespace of the object.
    pub fn namespace(&self) -> String {
        self.0["objectRef"]["namespace"].as_str().unwrap_or_default().to_owned()
    }

    /// The name of the object.
    pub fn name(&self) -> String {
        let named = self.0["objectRef"]["name"].as_str().or(self.0["responseObject"]["metadata"]["name"].as_str());
        named.unwrap_or_default().to_owned()
    }

    /// `verb resource`, as in `patch memcacheds/status`.
    pub fn what(&self) -> String {
        format!("{} {}", self.verb(), self.resource())
    }

    /// The body that was sent.
    pub fn body(&self) -> &Value {
        &self.0["requestObject"]
    }
}

/// Every write in a namespace since `mark`, a line each: for people who look for what went wrong.
pub fn story(mark: Mark, namespace: &str) -> String {
    if !Path::new(&path()).is_file() {
        return "this cluster's audit log is not ours to read".to_owned();
    }
    let entries = within(mark, namespace).into_iter().filter(|entry| !["get", "list", "watch"].contains(&&*entry.verb()));
    let line = |entry: Entry| {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (time, user) = (word(&entry.0["requestReceivedTimestamp"]), word(&entry.0["user"]["username"]));
        let state = word(&entry.body()["status"]["state"]);
        format!("{time} {user} {} {} {} {state}", entry.what(), entry.name(), entry.code())
    };
    entries.map(line).collect::<Vec<_>>().join("\n")
}

/// The operator's writes in a namespace since `mark`.
pub fn writes(mark: Mark, namespace: &str) -> Vec<Entry> {
    within(mark, namespace).into_iter().filter(|entry| entry.by_operator() && entry.is_write()).collect()
}
