//! Lives in which anything may happen, at random: edits, answers, hands that remove any child in any state, pods of Jobs that
//! vanish, servers that are away, Jobs that fail, leaders whose clocks differ, an API server whose data is put back to an earlier
//! moment. What must never be is asserted at every look, and every life comes to rest once it is left alone.

use super::cluster::{Cluster, Trouble};
use super::life::Life;
use crate::dice::Dice;
use kube::ResourceExt;
use pointsman::kinds::annotations::{PAUSED, PROTECTED};
use pointsman::kinds::database::object::parts::DeletionPolicy;
use pointsman::kinds::order::ChildKind;
use serde_json::{Value, json};

/// Things that happen in one life.
const HAPPENINGS: usize = 30;

/// Specs that a user may write, one after another.
fn specs() -> Vec<Value> {
    vec![
        json!({}),
        json!({ "replicas": 3 }),
        json!({ "replicas": 2, "image": "postgres:17.3" }),
        json!({ "replicas": 2, "parameters": { "work_mem": "8MB" } }),
        json!({ "parameters": { "max_connections": "50" }, "extensions": [{ "name": "pg_trgm" }] }),
        json!({ "storage": { "size": "2Gi" } }),
        json!({ "image": "postgres:latest" }),
        json!({ "deletionPolicy": "Retain", "backup": { "schedule": "30 2 * * *" } }),
        json!({ "resources": { "requests": { "cpu": "1" } } }),
        json!({ "databaseName": "other" }),
    ]
}

/// Scripts whose Jobs may fail.
const SCRIPTS: [&str; 4] = ["probe.sh", "init.sh", "dump.sh", "generation.sh"];

/// Children that a hand may remove.
const REMOVED: [ChildKind; 7] = [
    ChildKind::Service,
    ChildKind::StatefulSet,
    ChildKind::ConfigMap,
    ChildKind::Job,
    ChildKind::CronJob,
    ChildKind::PodDisruptionBudget,
    ChildKind::Pod,
];

/// Those that hold what no order can bring back: a hand may remove them in some of the lives.
const KEPT: [ChildKind; 2] = [ChildKind::PersistentVolumeClaim, ChildKind::Secret];

/// How far the clock of the operator that looks may be off, in seconds; the API server's answers tell it more.
const SLIGHT: [i64; 3] = [0, 3, -3];

/// How far those of controllers and kubelets may be.
const SKEWS: [i64; 5] = [0, 25, -25, 400, -400];

impl Life {
    /// One thing happens.
    fn happens(&mut self, dice: &mut Dice, earlier: &mut Option<Cluster>, spares: bool) {
        let specs = specs();
        match dice.below(16) {
            0 => {
                let object = self.cluster.object.as_mut().expect("an object");
                if object.metadata.deletion_timestamp.is_none() {
                    object.spec = crate::spec(&specs[dice.below(specs.len())]);
                    object.metadata.generation = object.metadata.generation.map(|generation| generation + 1);
                }
            }
            1 => {
                let kind = if spares || dice.chance(70) { dice.pick(&REMOVED) } else { dice.pick(&KEPT) };
                let names = self.cluster.names(kind);
                if !names.is_empty() {
                    self.cluster.remove(kind, &names[dice.below(names.len())]);
                }
            }
            2 => drop(self.cluster.away.insert(u32::try_from(dice.below(3)).expect("a small number"))),
            3 => self.cluster.away.clear(),
            4 => {
                let script = dice.pick(&SCRIPTS).to_owned();
                self.cluster.says.insert(script, (false, "FAILED: told to".to_owned()));
            }
            5 => self.cluster.says.clear(),
            6 => self.annotates(if dice.chance(70) { PAUSED } else { PROTECTED }, if dice.chance(40) { "true" } else { "false" }),
            7 => self.says_one_of_the_answers(dice),
            8 => self.cluster.now += jiff::SignedDuration::from_mins(dice.pick(&[1, 11, 70])),
            9 => {
                self.cluster.ahead = jiff::SignedDuration::from_secs(dice.pick(&SLIGHT));
                self.cluster.others_ahead = jiff::SignedDuration::from_secs(dice.pick(&SKEWS));
            }
            10 => *earlier = Some(self.cluster.clone()),
            11 => {
                if let Some(then) = earlier.take().filter(|then| self.can_be_put_back(then, spares)) {
                    self.cluster.put_back(&then);
                }
            }
            12 => {
                let things: Vec<_> = self.cluster.things.keys().filter(|(kind, _)| *kind != ChildKind::Pod).cloned().collect();
                if !things.is_empty() {
                    let (kind, name) = &things[dice.below(things.len())];
                    self.cluster.loses_its_label(*kind, name);
                }
            }
            13 if self.state() == "Ready" && self.status()["readyReplicas"].as_u64() > Some(1) => {
                self.is_promoted(if self.status()["primary"] == "db-0" { "1" } else { "0" });
            }
            // It goes with its pod.
            14 if !spares => {
                let claims: Vec<String> =
                    self.claims().into_iter().map(|(name, _)| name).filter(|name| name.starts_with("data-")).collect();
                if !claims.is_empty() {
                    self.lets_go(&claims[dice.below(claims.len())]);
                }
            }
            _ => {}
        }
    }

    /// A hand names another primary.
    fn is_promoted(&mut self, ordinal: &str) {
        let epoch =
            self.cluster.get(ChildKind::ConfigMap, "db-topology").and_then(|map| map["data"]["epoch"].as_str()?.parse::<u32>().ok());
        let Some(epoch) = epoch else { return };
        self.cluster.edit(ChildKind::ConfigMap, "db-topology", "/data/primary", json!(ordinal));
        self.cluster.edit(ChildKind::ConfigMap, "db-topology", "/data/epoch", json!((epoch + 1).to_string()));
        for pod in ["db-0", "db-1"] {
            if self.cluster.get(ChildKind::Pod, pod).is_some() {
                self.cluster.remove(ChildKind::Pod, pod);
            }
        }
    }

    /// Is every volume of then there still? Data of an API server does not bring back a volume; and a claim that it does not know
    /// is lost with what that volume alone knows, which a life that spares volumes does not do.
    fn can_be_put_back(&self, then: &Cluster, spares: bool) -> bool {
        let now = &self.cluster;
        let both = now.object.is_some() && then.object.is_some();
        both && holds_all(now, then) && (!spares || holds_all(then, now))
    }

    fn annotates(&mut self, key: &str, value: &str) {
        self.cluster.object.as_mut().expect("an object").annotations_mut().insert(key.to_owned(), value.to_owned());
    }

    fn says_one_of_the_answers(&mut self, dice: &mut Dice) {
        let question = self.status()["intervention"].clone();
        let offers = question["answers"].as_array().cloned().unwrap_or_default();
        if !offers.is_empty() {
            let verb = offers[dice.below(offers.len())]["verb"].as_str().expect("a verb").to_owned();
            let id = question["id"].as_str().expect("an id");
            self.annotates(pointsman::kinds::annotations::ANSWER, &format!("{verb}-{id}"));
        }
    }

    /// Everything is as it should be from now on, and whoever is asked tries again.
    fn is_left_alone(&mut self) {
        self.cluster.away.clear();
        // A volume that was told to go waits for its pod, which nobody removes but a person.
        for pod in self.cluster.names(ChildKind::Pod) {
            let claim = self.cluster.get(ChildKind::PersistentVolumeClaim, &format!("data-{pod}"));
            if claim.is_some_and(|claim| !claim["metadata"]["deletionTimestamp"].is_null()) {
                self.cluster.remove(ChildKind::Pod, &pod);
            }
        }
        self.cluster.says.clear();
        for key in [PAUSED, PROTECTED] {
            self.annotates(key, "false");
        }
        for round in 0..6 {
            self.settle();
            if self.cluster.object.is_none() {
                return;
            }
            let status = self.status();
            if !status["intervention"].is_null() {
                let offers = status["intervention"]["answers"].as_array().cloned().unwrap_or_default();
                let is_offered = |verb: &&str| offers.iter().any(|offer| offer["verb"] == **verb);
                // Where no server is left no dump can be taken, however often it is tried.
                let tired = (round > 2).then_some("keep-volumes");
                let verb = tired.into_iter().chain(["believe-volumes", "reset-passwords", "retry"]).find(is_offered);
                self.answer(verb.expect("an answer"));
            } else if !status["deadlineTime"].is_null() {
                // What nobody can tell any more, as the words of a Job whose pod was removed, is asked about in time.
                self.cluster.now += jiff::SignedDuration::from_hours(2);
            }
        }
    }

    /// What must never be, where the claims stood before the last look, and so much was done before it.
    fn is_sound(&self, claims: &[(String, String)], before: usize) {
        let Some(object) = &self.cluster.object else { return };
        let going = object.metadata.deletion_timestamp.is_some();
        let done = &self.cluster.done[before..];
        let removed = |what: &str| done.iter().any(|done| done.starts_with(&format!("delete {what}")));
        let kept = removed("PersistentVolumeClaim") || removed("Secret");
        assert!(going || !kept, "a volume or a Secret was removed of an object that stays: {done:?}");
        let status = self.status();
        let is_wanted = object.spec.deletion_policy == DeletionPolicy::Snapshot && status["lastWord"].is_null();
        let holds = |key: &str| !status[key].is_null() && status[key] != json!(false);
        if is_wanted && removed("PersistentVolumeClaim data-") && ["begun", "initialized", "restored", "lastGood"].into_iter().any(holds) {
            let dumps = claims.iter().find(|(name, _)| name == "db-backups").map(|(_, uid)| json!(uid));
            assert_eq!(dumps.as_ref(), Some(&status["snapshot"]["uid"]), "data went without a dump that stands: {done:?}");
        }
        for (name, uid) in claims {
            let live = self.cluster.get(ChildKind::PersistentVolumeClaim, name);
            assert!(going || live.is_some_and(|live| live["metadata"]["uid"] == json!(uid)), "{name} is another one");
        }
        let told = self.status()["message"].as_str().unwrap_or_default().chars().count();
        assert!(told <= 120, "{}", self.status()["message"]);
    }

    /// The claims that stand.
    pub fn claims(&self) -> Vec<(String, String)> {
        let names = self.cluster.names(ChildKind::PersistentVolumeClaim);
        let uid = |name: &String| self.cluster.get(ChildKind::PersistentVolumeClaim, name).expect("a claim")["metadata"]["uid"].clone();
        names.iter().map(|name| (name.clone(), uid(name).as_str().expect("a uid").to_owned())).collect()
    }
}

/// Stands each claim of the other in this cluster, and is the same?
fn holds_all(cluster: &Cluster, other: &Cluster) -> bool {
    let mut claims = other.things.iter().filter(|((kind, _), _)| *kind == ChildKind::PersistentVolumeClaim);
    claims.all(|((kind, name), claim)| cluster.get(*kind, name).is_some_and(|stands| stands["metadata"]["uid"] == claim["metadata"]["uid"]))
}

/// Prints the seed of a life that fails: `POINTSMAN_SEED` begins there.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("seed {}", self.0);
        }
    }
}

/// What a hand that removed volumes or passwords may leave asked, whoever answers.
const LOSSES: [&str; 5] = ["PrimaryVolumeLost", "TopologyBehind", "CredentialsLost", "SnapshotFailed", "RemovalStuck"];

#[test]
fn whatever_happens_it_comes_to_rest_and_nothing_is_lost() {
    let seeds = if std::env::var_os("POINTSMAN_LONG").is_some() { 3000 } else { 16 };
    let mut ends = std::collections::BTreeMap::<String, usize>::new();
    let mut asked = std::collections::BTreeSet::new();
    let first = std::env::var("POINTSMAN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    for seed in first..=seeds {
        let (mut dice, _told) = (Dice::of(seed), Told(seed));
        if seed % 100 == 0 {
            println!("so far: {} lives", seed - first);
        }
        let all = specs();
        let mut life = Life::unborn(&all[dice.below(all.len() - 1)]);
        if seed % 3 == 0 {
            life.cluster.troubles.insert(Trouble::Mesh);
        }
        let (spares, mut earlier) = (seed % 4 != 0, None);
        let ending = dice.chance(30).then(|| dice.below(HAPPENINGS));
        for happening in 0..HAPPENINGS {
            if Some(happening) == ending {
                life.cluster.delete();
            }
            if life.cluster.object.is_none() {
                break;
            }
            life.happens(&mut dice, &mut earlier, spares);
            for _ in 0..dice.below(7) {
                let (claims, before) = (life.claims(), life.cluster.done.len());
                life.look();
                life.is_sound(&claims, before);
                if life.cluster.object.is_none() {
                    break;
                }
                life.cluster.settles();
            }
            if life.cluster.object.is_none() {
                break;
            }
            if let Some(reason) = life.status()["intervention"]["reason"].as_str() {
                asked.insert(reason.to_owned());
            }
        }
        if life.cluster.object.is_some() {
            life.is_left_alone();
        }
        let end = if life.cluster.object.is_some() { life.state() } else { "gone".to_owned() };
        let asks = ["HumanIntervention", "RemovalBlocked"].contains(&end.as_str());
        let reason = if asks { life.status()["reason"].as_str().unwrap_or_default().to_owned() } else { String::new() };
        *ends.entry(format!("{end} {reason}").trim().to_owned()).or_default() += 1;
        let mourns = !spares && LOSSES.contains(&reason.as_str());
        let rests = ["Ready", "RolledBack", "gone"].contains(&end.as_str()) || reason == "SpecInvalid" || mourns;
        let left: Vec<_> = life.cluster.things.keys().collect();
        assert!(rests, "seed {seed} ends in {end} {reason}: {:?}\n{:#}\n{left:?}", life.path, life.status()["intervention"]);
    }
    println!("seeds {first} to {seeds}: {ends:?}; asked: {asked:?}");
    assert!(ends.get("Ready").is_some_and(|count| *count > 3), "{ends:?}");
}
