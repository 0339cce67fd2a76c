//! One Database in the pretend cluster, look by look.

use super::cluster::{Cluster, Things, View};
use crate::spec;
use kube::ResourceExt;
use pointsman::kinds::annotations::ANSWER;
use pointsman::kinds::database::object::v1;
use pointsman::kinds::database::{Database, Phase};
use pointsman::kinds::entropy::Entropy;
use pointsman::kinds::order::ChildKind;
use pointsman::kinds::{Observation, Served, Settings, decide};
use pointsman::machine::Word;
use pointsman::machine::prove::Provable;
use serde_json::{Value, json};

/// More looks than any life takes.
const ENOUGH: usize = 200;

/// A life, as far as it has come.
pub struct Life {
    /// Where it lives.
    pub cluster: Cluster,
    /// The states that were stored, each once in a row.
    pub path: Vec<String>,
    /// What is set.
    pub settings: Settings,
    /// When the operator dies.
    pub death: Death,
    /// How much each look had to write.
    pub writes: Vec<usize>,
    deaths: u8,
}

/// When the operator dies: what it would have written then is left undone, and the next one knows nothing of it.
#[derive(Clone, Copy)]
pub enum Death {
    /// Not before the object is gone.
    Never,
    /// At each look, after so many writes.
    Within(usize),
    /// Once, after so many writes.
    After(usize),
}

impl Death {
    /// How many of a look's writes are made.
    fn allows(&mut self, writes: usize) -> usize {
        match *self {
            Death::Never => writes,
            Death::Within(most) => writes.min(most),
            Death::After(most) if writes < most => {
                *self = Death::After(most - writes);
                writes
            }
            Death::After(most) => {
                *self = Death::Never;
                most
            }
        }
    }
}

impl Life {
    /// One that nobody has looked at yet.
    pub fn unborn(fields: &Value) -> Self {
        Life::dying(fields, Death::Never)
    }

    /// The same, whose operators die.
    pub fn dying(fields: &Value, death: Death) -> Self {
        let (cluster, settings) = (Cluster::of(object(fields)), Settings::of::<Database>());
        Life { cluster, path: Vec::new(), settings, death, writes: Vec::new(), deaths: 0 }
    }

    /// One that has come to rest.
    pub fn of(fields: &Value) -> Self {
        let mut life = Life::unborn(fields);
        life.settle();
        life
    }

    /// One look, and what comes of it. Is anything left to be done?
    pub fn look(&mut self) -> bool {
        let Some(object) = self.cluster.object.clone() else { return false };
        let before = object.status.clone();
        let seen = self.observed(&object, View::Cached);
        let mut decision = decide(seen);
        let facts = &decision.facts;
        let broken: Vec<_> = Database::LAWS.iter().filter(|law| !law.holds(&|fact| facts.contains(&fact))).collect();
        assert!(broken.is_empty(), "{broken:?} after {:?}: {facts:?}", self.path);
        // As the controller does; and what a watch has not kept is nothing that anything is decided by.
        let is_live = decision.needs_a_live_look();
        if is_live || decision.asks() || self.writes.len().is_multiple_of(8) {
            let whole = decide(self.observed(&object, View::Live));
            if self.cluster.unseen.is_empty() {
                assert_eq!((&whole.status, &whole.orders), (&decision.status, &decision.orders), "after {:?}", self.path);
            }
            if is_live {
                decision = whole;
            }
        }
        let wrong = crate::conditions::wrong::<Database>(&decision.status.conditions);
        assert!(wrong.is_empty(), "after {:?}: {wrong:#?}", self.path);
        let is_told = before.as_ref() != Some(&decision.status);
        let writes = usize::from(is_told) + decision.orders.len();
        let made = self.death.allows(writes);
        self.writes.push(writes);
        self.deaths += u8::from(made < writes);
        let object = self.cluster.object.as_mut().expect("an object");
        object.status = Some(decision.status.clone());
        let state = decision.status.state.clone().expect("a state");
        if self.path.last() != Some(&state) {
            self.path.push(state);
        }
        for order in decision.orders.iter().take(made - usize::from(is_told)) {
            if self.cluster.object.is_some() {
                self.cluster.perform(order);
            }
        }
        writes > 0
    }

    fn observed(&self, object: &v1::Database, view: View) -> Observation<Database> {
        let children = Database::children(&Things(&self.cluster, view), object);
        Observation::<Database>::new(object.clone(), children, self.settings.clone(), None, self.cluster.now + self.cluster.ahead)
            .with_entropy(Entropy::of([7 + self.deaths; 32]))
    }

    /// Until nothing happens any more.
    pub fn settle(&mut self) {
        let mut quiet = 0;
        for _ in 0..ENOUGH {
            quiet = if self.look() { 0 } else { quiet + 1 };
            if quiet > 2 {
                return;
            }
            self.cluster.settles();
        }
        panic!("it never rests: {:?}\n{:?}", self.path, self.cluster.done.iter().rev().take(20).collect::<Vec<_>>());
    }

    /// Until this is so, and no look further.
    pub fn until(&mut self, reached: impl Fn(&Self) -> bool) {
        for _ in 0..ENOUGH {
            if reached(self) {
                return;
            }
            self.look();
            if reached(self) {
                return;
            }
            self.cluster.settles();
        }
        panic!("it never gets there: {:?}\n{:?}", self.path, self.cluster.done.iter().rev().take(20).collect::<Vec<_>>());
    }

    /// Another spec, and what it leads to: the states since.
    pub fn edit(&mut self, fields: &Value) -> Vec<String> {
        self.set(fields);
        self.after()
    }

    /// Another spec, at which nobody has looked yet.
    pub fn set(&mut self, fields: &Value) {
        let object = self.cluster.object.as_mut().expect("an object");
        object.spec = spec(fields);
        object.metadata.generation = object.metadata.generation.map(|generation| generation + 1);
    }

    /// A claim is told to go: it is there only for as long as its pod.
    pub fn lets_go(&mut self, claim: &str) {
        let mut meta = self.cluster.get(ChildKind::PersistentVolumeClaim, claim).expect("a claim")["metadata"].clone();
        meta["deletionTimestamp"] = json!(self.cluster.now.to_string());
        self.cluster.edit(ChildKind::PersistentVolumeClaim, claim, "/metadata", meta);
    }

    /// The states since now.
    pub fn after(&mut self) -> Vec<String> {
        let now = self.path.len();
        self.cluster.done.clear();
        self.settle();
        self.path[now..].to_vec()
    }

    /// The open question is answered.
    pub fn answer(&mut self, verb: &str) -> Vec<String> {
        let id = self.status()["intervention"]["id"].as_str().expect("an open question").to_owned();
        let object = self.cluster.object.as_mut().expect("an object");
        object.annotations_mut().insert(ANSWER.to_owned(), format!("{verb}-{id}"));
        self.after()
    }

    /// A user deletes it.
    pub fn delete(&mut self) -> Vec<String> {
        self.cluster.delete();
        self.after()
    }

    /// The state as it is stored.
    pub fn state(&self) -> String {
        self.status()["state"].as_str().unwrap_or_default().to_owned()
    }

    /// A condition: whether it holds, and why.
    pub fn condition(&self, name: &str) -> (String, String) {
        let status = self.status();
        let found = status["conditions"].as_array().into_iter().flatten().find(|condition| condition["type"] == name);
        let word = |key: &str| found.and_then(|condition| condition[key].as_str()).unwrap_or_default().to_owned();
        (word("status"), word("reason"))
    }

    /// All that is told of it.
    pub fn status(&self) -> Value {
        json!(self.cluster.object.as_ref().expect("an object").status)
    }
}

/// A Database with these fields.
pub fn object(fields: &Value) -> v1::Database {
    let mut object = v1::Database::new("db", spec(fields));
    object.metadata.namespace = Some("shop".to_owned());
    object
}

/// The states as they are stored.
pub fn path(phases: &[Phase]) -> Vec<String> {
    phases.iter().map(|phase| phase.text()).collect()
}
