//! One run of the production `decide` in a pretend cluster: observe, decide, record, perform.

mod claims;

use super::dice::Dice;
use super::world::World;
use super::writes::slot;
use super::{Object, schema};
use pointsman::kinds::annotations::answer;
use pointsman::kinds::memcached::{Children, Event, Memcached, Phase};
use pointsman::kinds::order::{Fate, Order, Refusal};
use pointsman::kinds::{Decision, Observation, Served, Settings, decide};
use pointsman::machine::{Word, schema as stored};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, LazyLock};

/// The rule of the stored state, as the API server holds it.
pub static RULE: LazyLock<String> = LazyLock::new(stored::rule::<Memcached>);
static STATUS: LazyLock<Value> = LazyLock::new(|| schema::of_status(&Memcached::definition()));

/// What happened in a run.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Observations.
    pub looks: u64,
    /// Stored statuses.
    pub status_writes: u64,
    /// Orders that changed something.
    pub child_writes: u64,
    /// Orders that changed nothing.
    pub needless: u64,
    /// Orders that were refused.
    pub refusals: u64,
    /// Times that the operator died between two writes.
    pub crashes: u64,
    /// Statuses that lost the race against another write.
    pub lost_races: u64,
    /// Edits that the webhook refused.
    pub denied: u64,
    /// Edits that the webhook let pass, or that went past it.
    pub edits: u64,
    /// Questions asked.
    pub questions: u64,
    /// Arrows taken.
    pub arrows: BTreeMap<(Phase, Event), u64>,
}

/// A run.
pub struct Run {
    /// The cluster.
    pub world: World,
    /// The cluster as older caches show it, the newest last.
    pub past: VecDeque<World>,
    /// The dice.
    pub dice: Dice,
    /// How far caches may be behind.
    pub lag: usize,
    /// How likely a crash is at each point, in percent.
    pub crashes: usize,
    /// What was found wrong.
    pub faults: Vec<String>,
    /// What happened.
    pub counts: Counts,
    /// The operator's settings.
    pub settings: Settings,
    /// How often another writer will still change a child back.
    pub fight: u32,
    refusal: Option<Refusal>,
    written: BTreeMap<String, i64>,
    asked_with: Option<String>,
}

/// What one look saw: the caches, each of its own age.
struct View {
    object: Arc<Object>,
    deployment: World,
    service: World,
    budget: World,
    children: Children,
    live: bool,
}

impl Run {
    /// A run that begins.
    pub fn of(world: World, seed: u64, lag: usize) -> Self {
        Run {
            world,
            past: VecDeque::new(),
            dice: Dice::of(seed),
            lag,
            crashes: 8,
            faults: Vec::new(),
            counts: Counts::default(),
            settings: Settings::of::<Memcached>(),
            fight: 0,
            refusal: None,
            written: BTreeMap::new(),
            asked_with: None,
        }
    }

    /// Keeps the moment for caches that are behind.
    pub fn remember(&mut self) {
        self.past.push_back(self.world.clone());
        if self.past.len() > 8 {
            self.past.pop_front();
        }
    }

    /// One look of the operator; did it write anything?
    pub fn look(&mut self) -> bool {
        let Some(view) = self.view(false) else { return false };
        self.counts.looks += 1;
        let refusal = self.refusal.take();
        let (mut view, mut seen) = (view, None);
        let mut decision = self.decided(&view, refusal.clone(), &mut seen);
        if decision.needs_a_live_look() && !view.live {
            let Some(live) = self.view(true) else { return false };
            view = live;
            decision = self.decided(&view, refusal, &mut seen);
        }
        if !decision.trial.is_empty()
            && let Some(seen) = &mut seen
        {
            seen.adoption = World::attempt(&decision.trial);
            decision = decide::<Memcached>(seen.clone());
        }
        let Some(seen) = seen else { return false };
        self.claims(&seen, &decision, &view);
        for step in &decision.steps {
            if let Some(cause) = step.cause() {
                *self.counts.arrows.entry((step.from(), cause)).or_default() += 1;
            }
        }
        let before = seen.object.status.clone().unwrap_or_default();
        let changed = before != decision.status;
        if changed && (self.dies() || !self.record(&seen, &decision)) {
            return true;
        }
        for order in &decision.orders {
            if self.dies() || !self.perform(order) {
                return true;
            }
        }
        changed || !decision.orders.is_empty()
    }

    fn dies(&mut self) -> bool {
        let dies = self.crashes > 0 && self.dice.chance(self.crashes);
        self.counts.crashes += u64::from(dies);
        dies
    }

    fn decided(&mut self, view: &View, refusal: Option<Refusal>, kept: &mut Option<Observation<Memcached>>) -> Decision<Memcached> {
        let seen =
            Observation::<Memcached>::new((*view.object).clone(), view.children.clone(), self.settings.clone(), refusal, self.world.now);
        *kept = Some(seen.clone());
        decide::<Memcached>(seen)
    }

    /// The caches as they are read now, each as old as it may be but never older than our own last write.
    fn view(&mut self, live: bool) -> Option<View> {
        let mut old = |what: &'static str| {
            let back = if live || self.lag == 0 { 0 } else { self.dice.below(self.lag + 1) };
            let own = self.written.get(what).copied().unwrap_or_default();
            let then = self.past.iter().rev().nth(back.wrapping_sub(1)).filter(|then| back > 0 && then.serial >= own);
            then.unwrap_or(&self.world).clone()
        };
        let (object, deployment, service, budget, pods) =
            (old("object"), old("Deployment"), old("Service"), old("PodDisruptionBudget"), old("Pod"));
        let owner = object.owner().to_owned();
        let children = Children {
            deployment: slot(deployment.deployment.as_ref(), &owner),
            service: slot(service.service.as_ref(), &owner),
            budget: slot(budget.budget.as_ref(), &owner),
            pods: pods.pods.clone(),
        };
        Some(View { object: object.object?, deployment, service, budget, children, live: live || self.lag == 0 })
    }

    /// What would be decided now of an object that has no state, but remembers what was good.
    pub fn afresh(&mut self) -> Option<Decision<Memcached>> {
        let mut view = self.view(true)?;
        let object = Arc::make_mut(&mut view.object);
        if let Some(status) = &mut object.status {
            (status.state, status.intervention) = (None, None);
        }
        Some(self.decided(&view, None, &mut None))
    }

    /// Stores the status where nobody else wrote in between; `false`: the reply is an error, or lost.
    fn record(&mut self, seen: &Observation<Memcached>, decision: &Decision<Memcached>) -> bool {
        let stored = self.world.object.clone().filter(|stored| stored.metadata.resource_version == seen.object.metadata.resource_version);
        let Some(stored) = stored else {
            self.counts.lost_races += 1;
            return false;
        };
        let opened = decision.status.questions > seen.object.status.as_ref().and_then(|status| status.questions);
        if opened {
            self.counts.questions += 1;
            self.asked_with = answer(&*stored).cloned();
        }
        let mut object = (*stored).clone();
        object.status = Some(decision.status.clone());
        self.world.serial += 1;
        object.metadata.resource_version = Some(self.world.serial.to_string());
        self.world.object = Some(Arc::new(object));
        self.written.insert("object".to_owned(), self.world.serial);
        self.counts.status_writes += 1;
        !self.dies()
    }

    fn perform(&mut self, order: &Order) -> bool {
        match self.world.perform(order, &mut self.faults) {
            Ok(true) => self.counts.child_writes += 1,
            Ok(false) => self.counts.needless += 1,
            Err(refusal) => {
                self.counts.refusals += 1;
                self.refusal = Some(refusal);
                return false;
            }
        }
        self.written.extend(order.child().map(|child| (child.kind.name(), self.world.serial)));
        if self.crashes > 0 && self.dice.chance(3) {
            self.refusal = Some(Refusal { child: order.child().cloned(), words: "the reply was lost".to_owned(), fate: Fate::Refused });
            return false;
        }
        true
    }

    /// Does the object rest, ask or end?
    pub fn is_at_rest(&self) -> bool {
        use pointsman::machine::{Machine, Role};
        let phase = self.world.object.as_ref().map(|object| object.status.as_ref().map(pointsman::kinds::status::Status::phase));
        phase.is_none_or(|phase| phase.is_some_and(|phase| matches!(Memcached::role(phase), Role::Rests | Role::Asks | Role::Ends)))
    }

    /// The object's state and moves, for a sentence.
    pub fn told(&self) -> String {
        let Some(status) = self.world.object.as_ref().and_then(|object| object.status.as_ref()) else { return "no status".to_owned() };
        let moves: Vec<String> = status.history.iter().map(|row| format!("{} -{}-> {}", row.from, row.cause, row.to)).collect();
        format!("{} after {}", status.state.clone().unwrap_or_default(), moves.join(", "))
    }
}

/// Every arrow that was never taken.
pub fn never_taken(taken: &BTreeMap<(Phase, Event), u64>) -> Vec<String> {
    let all = pointsman::machine::explore::arrows::<Memcached>().into_iter();
    all.filter(|arrow| !taken.contains_key(&(arrow.from, arrow.event)))
        .map(|arrow| format!("{} on {}", arrow.from.text(), arrow.event.text()))
        .collect()
}
