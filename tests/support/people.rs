//! What people and other programs do to the object, to its children and to the cluster.

use super::rule::allows;
use super::run::{RULE, Run};
use super::world::{Live, turn};
use super::writes::stranger;
use super::{BAD_IMAGE, IMAGE, Object};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use pointsman::kinds::annotations::{ANSWER, PAUSED, REFRESH, is_set};
use pointsman::kinds::judge::judge;
use pointsman::kinds::memcached::v1::MemcachedSpec;
use pointsman::kinds::memcached::{Memcached, Phase};
use pointsman::kinds::pod_template::{PodPlacement, PodTemplate};
use pointsman::kinds::reason::Verb;
use pointsman::kinds::review::Review;
use pointsman::kinds::status::SpecAt;
use pointsman::kinds::verdict::Verdict;
use pointsman::machine::Word;
use serde_json::json;
use std::sync::Arc;

impl Run {
    /// One thing that somebody does.
    pub fn somebody_acts(&mut self) {
        self.world.serial += 1;
        let asked =
            self.world.object.as_ref().is_some_and(|object| object.status.as_ref().is_some_and(|status| status.intervention.is_some()));
        if asked && self.dice.chance(40) {
            return self.answers();
        }
        let paused = self.world.object.as_ref().is_some_and(|object| is_set(&**object, PAUSED));
        if paused && self.dice.chance(30) {
            // Whom others fight over may be paused meanwhile.
            if self.dice.chance(30) {
                self.remembers_a_fight();
                self.redeploy(|deployment| deployment.spec.get_or_insert_default().replicas = Some(9));
            }
            return self.marks();
        }
        let back = self.world.object.as_ref().and_then(|object| object.status.as_ref()?.state.clone());
        if back.is_some_and(|state| state.starts_with("Roll")) && self.dice.chance(60) {
            return self.disturbs_what_came_back();
        }
        match self.dice.below(100) {
            0..=41 => self.edits(),
            42..=58 => self.answers(),
            59..=78 => self.meddles(),
            79..=85 => self.takes_a_name(),
            86..=88 => self.edits_the_status(),
            89..=92 => self.marks(),
            93 | 94 => self.fight = 6,
            95 => self.settings.renderer += 1,
            _ => self.world.quota = !self.world.quota,
        }
    }

    fn edits(&mut self) {
        let Some(old) = self.world.object.clone() else { return };
        let mut new = (*old).clone();
        let small = i32::try_from(self.dice.below(5)).expect("below five");
        match self.dice.below(12) {
            0..=3 => new.spec.replicas = small,
            4 | 5 => new.spec.image = Some(self.dice.pick(&[IMAGE, BAD_IMAGE, "docker.io/library/memcached:1.5"]).to_owned()),
            6 => new.spec.image = None,
            7 => new.spec.max_connections = 1024 + small,
            8 => new.spec.memory = self.dice.pick(&["64Mi", "128Mi", "1Mi"]).into(),
            9 => new.spec.port = 11211 + small,
            10 => new.spec.max_item_size = self.dice.pick(&["1Mi", "2Mi", "1000Ki"]).into(),
            _ => {
                let spec = PodPlacement { node_selector: [("disk".to_owned(), format!("ssd{small}"))].into(), ..PodPlacement::default() };
                new.spec.pod_template = self.dice.chance(60).then_some(PodTemplate { metadata: None, spec: Some(spec) });
            }
        }
        let bypassed = self.dice.chance(15);
        self.store(&old, new, bypassed);
    }

    /// A write of the object, past the webhook or through it.
    fn store(&mut self, old: &Object, mut new: Object, bypassed: bool) {
        let review =
            Review::<Memcached> { old: Some(old), new: &new, settings: &self.settings, ground: None, dry_run: false, watched: true };
        if !bypassed && matches!(judge(&review), Verdict::Deny(_)) {
            self.counts.denied += 1;
            return;
        }
        if new.spec != old.spec {
            self.counts.edits += 1;
            new.metadata.generation = new.metadata.generation.map(|generation| generation + 1);
        }
        new.metadata.resource_version = Some(self.world.serial.to_string());
        self.world.object = Some(Arc::new(new));
    }

    fn answers(&mut self) {
        let Some(old) = self.world.object.clone() else { return };
        let question = old.status.as_ref().and_then(|status| status.intervention.as_ref());
        let verbs: Vec<&str> = question.iter().flat_map(|question| &question.answers).map(|offer| offer.verb.as_str()).collect();
        let verb =
            if verbs.is_empty() || verbs.contains(&"rollback") && self.dice.chance(50) { "rollback" } else { self.dice.pick(&verbs) };
        let right = question.map(|question| format!("{verb}-{}", question.id));
        let answer = right.filter(|_| self.dice.chance(70)).unwrap_or_else(|| "retry-zzzzz".to_owned());
        let mut new = (*old).clone();
        let annotations = new.metadata.annotations.get_or_insert_default();
        if self.dice.chance(15) {
            annotations.remove(ANSWER);
        } else {
            annotations.insert(ANSWER.to_owned(), answer);
        }
        let bypassed = self.dice.chance(10);
        self.store(&old, new, bypassed);
    }

    /// Somebody pauses the object, resumes it, or wants its pods rendered anew.
    pub fn marks(&mut self) {
        let Some(old) = self.world.object.clone() else { return };
        let (mut new, renderer) = ((*old).clone(), self.settings.renderer);
        let annotations = new.metadata.annotations.get_or_insert_default();
        if annotations.remove(PAUSED).is_none() {
            let (mark, value) = if self.dice.chance(60) { (PAUSED, "true".to_owned()) } else { (REFRESH, renderer.to_string()) };
            annotations.insert(mark.to_owned(), value);
        }
        self.store(&old, new, false);
    }

    /// A roll-out begins that cannot end.
    pub fn breaks(&mut self) {
        let Some(old) = self.world.object.clone() else { return };
        let mut new = (*old).clone();
        new.spec = MemcachedSpec { image: Some(BAD_IMAGE.to_owned()), replicas: 2, ..MemcachedSpec::default() };
        if let Some(annotations) = &mut new.metadata.annotations {
            annotations.remove(PAUSED);
        }
        self.store(&old, new, false);
    }

    /// Somebody answers with `rollback`, where that is offered, and with `retry` elsewhere.
    pub fn wants_it_back(&mut self) {
        let Some(old) = self.world.object.clone() else { return };
        let Some(question) = old.status.as_ref().and_then(|status| status.intervention.as_ref()) else { return };
        let verb = if question.offers(Verb::Rollback) { Verb::Rollback } else { Verb::Retry };
        let answer = format!("{}-{}", verb.word(), question.id);
        let mut new = (*old).clone();
        new.metadata.annotations.get_or_insert_default().insert(ANSWER.to_owned(), answer);
        self.store(&old, new, false);
    }

    /// What was rolled back, or is about to be, is met by all that can happen to it.
    fn disturbs_what_came_back(&mut self) {
        match self.dice.below(6) {
            0 => self.marks(),
            1 => self.fight = 6,
            2 => {
                self.world.budget = None;
                self.takes_a_name();
            }
            3 => {
                let Some(old) = self.world.object.clone() else { return };
                let mut new = (*old).clone();
                new.spec.max_connections = 1;
                self.store(&old, new, true);
            }
            4 => {
                self.settings.renderer += 1;
                self.marks();
            }
            _ => self.edits_the_status(),
        }
    }

    /// Another writer changes a child back, if it still does.
    pub fn fights_on(&mut self) {
        let rests = self.world.object.as_ref().and_then(|object| object.status.as_ref()?.state.clone());
        if self.fight > 0 && rests.is_some_and(|state| ["Ready", "Stopped", "RolledBack"].contains(&&*state)) {
            self.fight -= 1;
            let count = i32::try_from(self.fight % 2).expect("below two") + 7;
            self.redeploy(|deployment| deployment.spec.get_or_insert_default().replicas = Some(count));
        }
    }

    /// A hand on the status: another state, as far as the API server's rule lets it pass, or a part of it lost.
    fn edits_the_status(&mut self) {
        let Some(old) = self.world.object.clone() else { return };
        let Some(mut status) = old.status.clone() else { return };
        let state = self.dice.pick(Phase::ALL).text();
        match self.dice.below(10) {
            8 => {
                let applied = status.applied.clone();
                status.refused = applied.map(|applied| SpecAt { generation: applied.generation, spec: applied.spec });
                status.last_good.iter_mut().for_each(|good| good.spec.0.max_connections += 1);
            }
            9 => return self.remembers_a_fight(),
            0 => status.deadline_time = None,
            1 => status.last_good = None,
            2 => status.applied = None,
            3 => status.intervention = None,
            _ if allows(&RULE, status.state.as_deref(), &state) => status.state = Some(state),
            _ => {}
        }
        let mut new = (*old).clone();
        new.status = Some(status);
        self.store(&old, new, true);
    }

    /// The status tells of repairs that did not last.
    fn remembers_a_fight(&mut self) {
        let Some(old) = self.world.object.clone() else { return };
        let mut new = (*old).clone();
        new.status.get_or_insert_default().drift_times = vec![Time(self.world.now); 4];
        self.store(&old, new, true);
    }

    /// Hands on the children.
    pub fn meddles(&mut self) {
        let count = i32::try_from(self.dice.below(5)).expect("below five");
        match self.dice.below(10) {
            0 => self.world.deployment = None,
            1 => self.world.service = None,
            2 => self.world.budget = None,
            3 => self.redeploy(|deployment| deployment.spec.get_or_insert_default().replicas = Some(count)),
            4 => self.redeploy(|deployment| {
                let mut value = json!(deployment);
                value["spec"]["template"]["spec"]["containers"][0]["image"] = json!("docker.io/library/hand:1");
                *deployment = super::from_json(value);
            }),
            5 => self.redeploy(|deployment| drop(deployment.metadata.labels.take())),
            6 => self.redeploy(|deployment| {
                deployment.metadata.labels.get_or_insert_default().extend([("app.kubernetes.io/component".to_owned(), "hand".to_owned())]);
            }),
            7 | 8 if !self.world.pods.is_empty() => {
                let at = self.dice.below(self.world.pods.len());
                self.world.alter(at, |pod| turn(pod, false));
            }
            _ if !self.world.pods.is_empty() => drop(self.world.pods.remove(self.dice.below(self.world.pods.len()))),
            _ => {}
        }
    }

    fn redeploy(&mut self, change: impl FnOnce(&mut Deployment)) {
        if self.world.our_deployment().is_none() {
            return;
        }
        let Some(Live { it, owned }) = self.world.deployment.clone() else { return };
        let mut it = (*it).clone();
        change(&mut it);
        self.world.set_deployment(Live { it: Arc::new(it), owned });
    }

    /// Somebody else's object comes under a free name, or goes.
    fn takes_a_name(&mut self) {
        let serial = self.world.serial;
        match self.dice.below(6) {
            0 if self.world.service.is_none() || self.dice.chance(40) => self.world.service = Some(stranger(serial)),
            1 if self.world.budget.is_none() || self.dice.chance(40) => self.world.budget = Some(stranger(serial)),
            2 if self.world.deployment.is_none() || self.dice.chance(20) => self.world.deployment = Some(stranger(serial)),
            _ => self.strangers_go(),
        }
    }

    /// Whatever stands under our names and is not ours goes away.
    pub fn strangers_go(&mut self) {
        let owner = self.world.owner().to_owned();
        let ours = |meta: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta| super::world::is_ours(meta, &owner);
        self.world.service = self.world.service.take().filter(|live| ours(&live.it.metadata));
        self.world.budget = self.world.budget.take().filter(|live| ours(&live.it.metadata));
        self.world.deployment = self.world.deployment.take().filter(|live| ours(&live.it.metadata));
    }

    /// The object gets a deletionTimestamp, as a foreground deletion gives it.
    pub fn deletes(&mut self) {
        let Some(old) = self.world.object.clone() else { return };
        let mut new = (*old).clone();
        new.metadata.deletion_timestamp = Some(Time(self.world.now));
        new.metadata.resource_version = Some(self.world.serial.to_string());
        self.world.object = Some(Arc::new(new));
    }
}
