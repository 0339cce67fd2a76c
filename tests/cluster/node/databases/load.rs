//! Writers and readers that never stop, and what they saw: a pod of its own, in which each line is an acknowledged commit or
//! a read that failed twice.

use super::Base;
use crate::harness::{Space, eventually_or};
use serde_json::{Value, json};

/// The most that is written: the loops end by themselves.
const COMMITS: u32 = 6000;

/// The pod that writes and reads.
pub struct Load<'a> {
    base: &'a Base<'a>,
}

/// What a load saw.
pub struct Seen {
    /// Commits that were acknowledged.
    pub acknowledged: usize,
    /// The longest time without one, in milliseconds.
    pub longest: u64,
    /// When that was over, in milliseconds since 1970.
    over: u64,
    /// Reads that failed on a new connection, twice in a row: when, and why.
    pub unread: Vec<String>,
}

fn secret(key: &str) -> Value {
    json!({ "secretKeyRef": { "name": "db-app", "key": key } })
}

fn container(name: &str, service: &str, script: &str) -> Value {
    let env = [("PGUSER", "username"), ("PGPASSWORD", "password"), ("PGDATABASE", "database")];
    let mut env: Vec<Value> = env.iter().map(|(name, key)| json!({ "name": name, "valueFrom": secret(key) })).collect();
    env.extend([json!({ "name": "PGHOST", "value": service }), json!({ "name": "PGCONNECT_TIMEOUT", "value": "3" })]);
    json!({ "name": name, "image": "docker.io/library/postgres:17", "imagePullPolicy": "IfNotPresent", "env": env,
        "command": ["bash", "-c", script], "volumeMounts": [{ "name": "stop", "mountPath": "/stop" }] })
}

impl std::fmt::Display for Seen {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Seen { acknowledged, longest, over, unread } = self;
        let over = i64::try_from(*over).ok().and_then(|over| jiff::Timestamp::from_millisecond(over).ok()).unwrap_or_default();
        write!(
            out,
            "{acknowledged} commits were acknowledged and kept, {longest} ms at most between two (until {over}); {} reads failed twice {unread:?}",
            unread.len()
        )
    }
}

impl<'a> Load<'a> {
    /// Begins where each server has the table, since a ready replica may still look for its primary; waits for the first commit.
    #[track_caller]
    pub fn on(base: &'a Base<'a>) -> Self {
        base.sql(base.name(), "CREATE TABLE kept (n int PRIMARY KEY)").ok();
        for ordinal in 0..base.servers() {
            base.answers(&base.server(ordinal), "SELECT count(*) FROM kept", "0");
        }
        let writes = format!(
            "for n in $(seq 1 {COMMITS}); do [[ ! -e /stop/now ]] || break; \
             psql -XAtqc \"INSERT INTO kept VALUES ($n)\" 2>/dev/null && echo \"$n $(date +%s%3N)\"; sleep 0.05; done"
        );
        let reads = format!(
            "for n in $(seq 1 {COMMITS}); do [[ ! -e /stop/now ]] || break; \
             psql -XAtqc 'SELECT count(*) FROM kept' >/dev/null 2>&1 || why=$(psql -XAtqc 'SELECT count(*) FROM kept' 2>&1 >/dev/null) || echo $(date +%T.%3N) $why; sleep 0.1; done"
        );
        let containers = [container("writes", base.name(), &writes), container("reads", &format!("{}-ro", base.name()), &reads)];
        let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "load" },
            "spec": { "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": containers,
                "volumes": [{ "name": "stop", "emptyDir": {} }] } });
        base.space.apply(&pod.to_string()).ok();
        let load = Load { base };
        eventually_or(60, || !load.said("writes").is_empty(), || base.space.object("pod/load").to_string());
        load
    }

    fn said(&self, container: &str) -> Vec<String> {
        let said = self.base.space.kubectl(&["logs", "load", &format!("--container={container}")]).out;
        said.lines().map(str::to_owned).collect()
    }

    /// Waits until this many more commits were acknowledged.
    #[track_caller]
    pub fn goes_on(&self, more: usize) {
        let before = self.said("writes").len();
        let so = || self.said("writes").len() >= before + more;
        eventually_or(120, so, || format!("nobody can write: {:?}\n{:#}", self.base.thing.history(), self.base.thing.status()));
    }

    /// Ends, and holds what was acknowledged against what is there.
    #[track_caller]
    pub fn ends(self) -> Seen {
        self.base.space.kubectl(&["exec", "load", "--container=writes", "--", "touch", "/stop/now"]).ok();
        let ended = || self.base.space.object("pod/load")["status"]["phase"] == "Succeeded";
        eventually_or(60, ended, || self.base.space.object("pod/load")["status"].to_string());
        let lines = self.said("writes");
        let split = |line: &String| line.split_once(' ').map(|(n, time)| (n.to_owned(), time.parse::<u64>().unwrap())).unwrap();
        let commits: Vec<(String, u64)> = lines.iter().map(split).collect();
        let kept = self.base.sql(self.base.name(), "SELECT n FROM kept").ok();
        let kept: std::collections::BTreeSet<&str> = kept.lines().collect();
        let lost: Vec<&String> = commits.iter().map(|(n, _)| n).filter(|n| !kept.contains(n.as_str())).collect();
        assert_eq!(lost, Vec::<&String>::new(), "acknowledged commits are lost");
        let gaps = commits.windows(2).map(|pair| (pair[1].1 - pair[0].1, pair[1].1));
        let (longest, over) = gaps.max().unwrap_or_default();
        Seen { acknowledged: commits.len(), longest, over, unread: self.said("reads") }
    }
}

/// A database under load, in a namespace of its own.
#[track_caller]
pub fn two(space: &Space) -> Base<'_> {
    Base::ready(space, "db", &json!({ "replicas": 2 }))
}
