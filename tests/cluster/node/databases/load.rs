//! Writers and readers that never stop, and what they saw: a pod of its own. One container writes with a new connection each
//! time, one runs pgbench on connections that it holds for as long as they last, and one reads.

use super::{Base, PROGRAMS};
use crate::harness::{Space, eventually_or};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The most that is written or read by one loop: they end by themselves.
const ROUNDS: u32 = 6000;
/// What pgbench runs again and again. Each client counts its transactions, so that one that is missing is a hole.
const TRANSACTION: &str = r"\set n :n + 1
\set account random(1, 100)
BEGIN;
UPDATE accounts SET balance = balance + 1 WHERE id = :account;
INSERT INTO ledger VALUES (:run, :client_id, :n);
END;";
const TABLES: &str = "CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
INSERT INTO accounts SELECT n, 0 FROM generate_series(1, 100) AS n;
CREATE TABLE ledger (run int, client int, n int, PRIMARY KEY (run, client, n));
CREATE TABLE kept (n int PRIMARY KEY);";

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
    /// Commits that pgbench logged, and on how many runs.
    benched: (usize, usize),
    /// Reads that were answered by a replica, and by a primary.
    reads: (usize, usize),
    /// Reads that failed on a new connection, twice in a row: when, and why.
    unread: Vec<String>,
}

fn secret(key: &str) -> Value {
    json!({ "secretKeyRef": { "name": "db-app", "key": key } })
}

fn container(name: &str, service: &str, script: &str) -> Value {
    let env = [("PGUSER", "username"), ("PGPASSWORD", "password"), ("PGDATABASE", "database")];
    let mut env: Vec<Value> = env.iter().map(|(name, key)| json!({ "name": name, "valueFrom": secret(key) })).collect();
    env.extend([json!({ "name": "PGHOST", "value": service }), json!({ "name": "PGCONNECT_TIMEOUT", "value": "3" })]);
    json!({ "name": name, "image": "docker.io/library/postgres:17", "imagePullPolicy": "IfNotPresent", "env": env,
        "securityContext": { "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } },
        "command": ["bash", "-c", format!("{PROGRAMS}\n{script}")], "volumeMounts": [{ "name": "stop", "mountPath": "/stop" }] })
}

/// Each line is the number of a commit that was acknowledged, and when.
fn writes() -> String {
    format!(
        "for n in $(seq 1 {ROUNDS}); do [[ ! -e /stop/now ]] || break
        ./psql -XAtqc \"INSERT INTO kept VALUES ($n)\" 2>/dev/null && echo \"$n $(date +%s%3N)\"; sleep 0.05; done"
    )
}

/// Each line is the answer whether a replica was read, `t` or `f`, or tells why nobody was on a second try.
fn reads() -> String {
    format!(
        "look() {{ ./psql -XAtqc 'SELECT pg_is_in_recovery(), count(*) FROM kept' 2>&1; }}
        for n in $(seq 1 {ROUNDS}); do [[ ! -e /stop/now ]] || break
        said=$(look) || said=$(look) || said=\"failed $(date +%T.%3N) ${{said//$'\\n'/ }}\"; echo \"${{said%%|*}}\"; sleep 0.1; done"
    )
}

/// pgbench ends where its connections do, and is begun anew. Of each client it logs every transaction that was acknowledged,
/// some of it late: at the end it is left to write all of that, and loses its connections alone.
fn bench() -> String {
    format!(
        "cat >/stop/script <<'EOF'\n{TRANSACTION}\nEOF
        (until [[ -e /stop/now ]]; do sleep 0.2; done
        for try in $(seq 1 60); do [[ ! -e /stop/over ]] || break
        ./psql -XAtqc \"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pgbench'\" >/dev/null 2>&1; sleep 0.5; done) &
        for run in $(seq 1 {ROUNDS}); do [[ ! -e /stop/now ]] || break
        ./pgbench -n -c 4 -R 40 -T 900 -P 1 -D run=$run -D n=0 -f /stop/script -l --log-prefix=/stop/run-$run \
            \"tcp_user_timeout=3000 keepalives_idle=1 keepalives_interval=1 keepalives_count=3\" 2>&1
        cat /stop/run-$run.* 2>/dev/null | awk -v run=$run '{{ n[$1]++ }} END {{ for (client in n) print \"acknowledged\", run, client, n[client] }}'
        sleep 0.3; done; touch /stop/over"
    )
}

impl std::fmt::Display for Seen {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Seen { acknowledged, longest, over, benched: (benched, runs), reads: (replica, primary), unread } = self;
        let over = i64::try_from(*over).ok().and_then(|over| jiff::Timestamp::from_millisecond(over).ok()).unwrap_or_default();
        write!(
            out,
            "{acknowledged} commits were acknowledged and kept, {longest} ms at most between two (until {over}); {benched} more of pgbench on {runs} runs; \
             {replica} reads of a replica, {primary} of a primary, {} failed twice {unread:?}",
            unread.len()
        )
    }
}

impl Seen {
    /// No read failed twice, and where replicas were ready it was they who answered.
    #[track_caller]
    pub fn is_read_from_replicas(&self) {
        assert_eq!(self.unread, Vec::<String>::new(), "reads failed twice in a row");
        let (replica, primary) = self.reads;
        assert!(primary * 20 <= replica, "{primary} reads led to a primary, {replica} to a replica");
    }
}

impl<'a> Load<'a> {
    /// Begins where each server has the table, since a ready replica may still look for its primary; waits for the first commits.
    #[track_caller]
    pub fn on(base: &'a Base<'a>) -> Self {
        base.sql(base.name(), TABLES).ok();
        for ordinal in 0..base.servers() {
            base.answers(&base.server(ordinal), "SELECT count(*) FROM kept", "0");
        }
        let readers = format!("{}-ro", base.name());
        let containers = [
            container("writes", base.name(), &writes()),
            container("bench", base.name(), &bench()),
            container("reads", &readers, &reads()),
        ];
        let security = json!({ "runAsNonRoot": true, "runAsUser": 999, "runAsGroup": 999, "seccompProfile": { "type": "RuntimeDefault" } });
        let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "load" },
            "spec": { "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "securityContext": security, "containers": containers,
                "volumes": [{ "name": "stop", "emptyDir": {} }] } });
        base.space.apply(&pod.to_string()).ok();
        let load = Load { base };
        let begun = || ["writes", "reads"].iter().all(|name| !load.said(name).is_empty()) && load.bench_seconds() > 0;
        eventually_or(60, begun, || format!("{:?}\n{:#}", load.said("bench"), base.space.object("pod/load")["status"]));
        load
    }

    fn said(&self, container: &str) -> Vec<String> {
        let said = self.base.space.kubectl(&["logs", "load", &format!("--container={container}")]).out;
        said.lines().map(str::to_owned).collect()
    }

    /// Seconds in which pgbench committed something.
    fn bench_seconds(&self) -> usize {
        self.said("bench").iter().filter(|line| line.starts_with("progress:") && !line.contains(", 0.0 tps")).count()
    }

    /// Waits until this many more commits were acknowledged, and pgbench commits too.
    #[track_caller]
    pub fn goes_on(&self, more: usize) {
        let (before, seconds) = (self.said("writes").len(), self.bench_seconds());
        let so = || self.said("writes").len() >= before + more && self.bench_seconds() >= seconds + 2;
        eventually_or(120, so, || format!("nobody can write: {:?}\n{:#}", self.base.thing.history(), self.base.thing.status()));
    }

    /// Ends, and holds what was acknowledged against what is there.
    #[track_caller]
    pub fn ends(self) -> Seen {
        // Its container may end before this command does, and takes it along.
        self.base.space.kubectl(&["exec", "load", "--container=writes", "--", "touch", "/stop/now"]);
        let ended = || self.base.space.object("pod/load")["status"]["phase"] == "Succeeded";
        eventually_or(60, ended, || self.base.space.object("pod/load")["status"].to_string());
        let lines = self.said("writes");
        let split = |line: &String| line.split_once(' ').map(|(n, time)| (n.to_owned(), time.parse::<u64>().unwrap())).unwrap();
        let commits: Vec<(String, u64)> = lines.iter().map(split).collect();
        let kept = self.base.sql(self.base.name(), "SELECT n FROM kept").ok();
        let kept: BTreeSet<&str> = kept.lines().collect();
        let lost: Vec<&String> = commits.iter().map(|(n, _)| n).filter(|n| !kept.contains(n.as_str())).collect();
        assert_eq!(lost, Vec::<&String>::new(), "acknowledged commits are lost");
        let gaps = commits.windows(2).map(|pair| (pair[1].1 - pair[0].1, pair[1].1));
        let (longest, over) = gaps.max().unwrap_or_default();
        let (failed, read): (Vec<String>, Vec<String>) = self.said("reads").into_iter().partition(|line| line.starts_with("failed"));
        let of = |answer: &str| read.iter().filter(|line| *line == answer).count();
        let reads = (of("t"), of("f"));
        assert!(reads.0 + reads.1 == read.len() && read.len() >= 20, "too few reads: {reads:?} of {read:?}");
        Seen { acknowledged: commits.len(), longest, over, benched: self.benched(), reads, unread: failed }
    }

    /// How many commits of pgbench's clients were acknowledged, on how many runs: each is there, no transaction is half there.
    #[track_caller]
    fn benched(&self) -> (usize, usize) {
        let number = |word: &str| word.parse::<usize>().unwrap();
        let there = "SELECT run || ' ' || client, count(*), max(n) FROM ledger GROUP BY run, client";
        let there = self.base.sql(self.base.name(), there).ok();
        let there: BTreeMap<&str, (usize, usize)> =
            there.lines().map(|line| line.split('|').collect::<Vec<_>>()).map(|row| (row[0], (number(row[1]), number(row[2])))).collect();
        let (mut all, mut runs) = (0, BTreeSet::new());
        for line in self.said("bench").iter().filter_map(|line| line.strip_prefix("acknowledged ")) {
            let (client, logged) = line.rsplit_once(' ').unwrap();
            let (rows, last) = there.get(client).copied().unwrap_or_default();
            assert!(rows == last && rows >= number(logged), "{client}: {logged} were acknowledged, {rows} are there up to {last}");
            all += number(logged);
            runs.insert(client.split_once(' ').unwrap().0.to_owned());
        }
        assert!(all >= 50, "pgbench committed {all} times: {:?}", self.said("bench"));
        let halves = "SELECT (SELECT sum(balance) FROM accounts) - (SELECT count(*) FROM ledger)";
        assert_eq!(self.base.sql(self.base.name(), halves).ok().trim(), "0", "a transaction is half there");
        (all, runs.len())
    }
}

/// A database under load, in a namespace of its own.
#[track_caller]
pub fn two(space: &Space) -> Base<'_> {
    Base::ready(space, "db", &json!({ "replicas": 2 }))
}
