//! A kind as small as a kind can be, with what the first one has not: a finalizer, readings, children by label, a precious one.

use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::CustomResourceExt;
use kube::{CustomResource, Resource, ResourceExt};
use pointsman::kinds::apply::{creation, removal};
use pointsman::kinds::carrier::Fields;
use pointsman::kinds::children::{ChildVisitor, Lookup, Slot};
use pointsman::kinds::guarded::Guarded;
use pointsman::kinds::order::Order;
use pointsman::kinds::reading::{ReadKind, Reading, Source};
use pointsman::kinds::reason::Reason;
use pointsman::kinds::rendered::{MANAGED_BY, Rendered};
use pointsman::kinds::status::{Declared, Kept, NoMore, Status};
use pointsman::kinds::{Kind, Known, Observation, Served, Violation, finalizer, memcached};
use pointsman::machine::diagram::ChangeRow;
use pointsman::machine::prove::{Law, Provable, Recurs};
use pointsman::machine::{Machine, Outcome, Role, Step, Word};
use pointsman::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The kind.
#[derive(Clone, Copy, Debug)]
pub struct Vault;

#[derive(CustomResource, JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(group = "test.example.com", version = "v1", kind = "VaultObject", plural = "vaults", namespaced, status = "VaultStatus")]
pub struct VaultSpec {
    /// The uid of a claim that is to be removed.
    pub doomed: Option<String>,
}

pub type VaultStatus = Status<VaultSpec>;

impl From<&VaultObject> for VaultSpec {
    fn from(object: &VaultObject) -> Self {
        object.spec.clone()
    }
}

impl Kept for VaultSpec {
    type Machine = Vault;
    type More = NoMore;
}

words! {
    /// Where it can be.
    Phase {
        /// All is done where it stands.
        Waiting,
        /// It is being deleted.
        Going,
    }
}

words! {
    /// What can be true.
    Event {
        /// It is being deleted.
        Ending,
        /// A person wants it left alone.
        Paused,
        /// There is no Secret.
        Keyless,
        /// The claim is the one that is to be removed.
        Doomed,
        /// There are ConfigMaps of it.
        Cluttered,
    }
}

words! {
    /// What is done.
    Effect {
        /// Make the Secret.
        Make,
        /// Put the finalizer on.
        Guard,
        /// Remove the claim.
        Destroy,
        /// Remove the ConfigMaps.
        Sweep,
    }
}

impl Machine for Vault {
    type Phase = Phase;
    type Event = Event;
    type Effect = Effect;
    const START: Phase = Phase::Waiting;
    const DELETION: Event = Event::Ending;
    const RENEWAL: Event = Event::Ending;
    const PAUSE: Event = Event::Paused;
    const RESUMPTION: Event = Event::Paused;

    fn offer(phase: Phase, event: Event, effects: &mut Vec<Effect>) -> Outcome<Phase> {
        match (phase, event) {
            (Phase::Waiting, Event::Ending) => return Outcome::Transition(Phase::Going),
            (Phase::Waiting, Event::Keyless) => effects.extend([Effect::Make, Effect::Guard]),
            (Phase::Waiting, Event::Doomed) => effects.push(Effect::Destroy),
            (Phase::Waiting, Event::Cluttered) => effects.push(Effect::Sweep),
            (Phase::Waiting, Event::Paused) | (Phase::Going, _) => return Outcome::Super,
        }
        Outcome::Handled
    }
    fn exits(_: Phase) -> &'static [Phase] {
        &[Phase::Going]
    }
    fn role(phase: Phase) -> Role<Event> {
        if phase == Phase::Waiting { Role::Rests } else { Role::Ends }
    }
    fn scopes(_: Phase) -> Vec<String> {
        Vec::new()
    }
    fn is_edit(_: Event) -> bool {
        false
    }
    fn is_answer(_: Event) -> bool {
        false
    }
    fn closes_question(_: Event) -> bool {
        false
    }
    fn licences(effect: Effect) -> &'static [Event] {
        if effect == Effect::Destroy { &[Event::Doomed] } else { &[] }
    }
}

impl Provable for Vault {
    const LAWS: &'static [Law<Event>] = &[];
    fn grounds(_: Phase) -> &'static [&'static [Event]] {
        &[]
    }
    fn remains(_: Event, _: &Step<Self>) -> bool {
        true
    }
    fn recurs(_: Event) -> Recurs<Event> {
        Recurs::Freely
    }
}

/// The children as they are seen.
#[derive(Clone, Debug)]
pub struct Children {
    pub secret: Slot<Secret>,
    pub claim: Slot<PersistentVolumeClaim>,
    pub class: Reading<StorageClass>,
    pub clutter: Vec<Arc<ConfigMap>>,
}

impl Kind for Vault {
    type Object = VaultObject;
    type Spec = VaultSpec;
    type Plan = ();
    type Children = Children;
    type Ground = bool;
    type Look<'a> = &'a Observation<Self>;

    fn parse(_: &VaultSpec, _: &str) -> Result<(), Vec<Violation>> {
        Ok(())
    }
    fn changes(_: &Known<Self>, (): &()) -> Result<BTreeSet<Event>, Vec<Violation>> {
        Ok(BTreeSet::new())
    }
    fn ground(children: &Children) -> bool {
        children.class.found().is_some_and(|class| class.allow_volume_expansion == Some(true))
    }
    fn look(seen: &Observation<Self>) -> &Observation<Self> {
        seen
    }
    fn events(seen: &&Observation<Self>) -> BTreeSet<Event> {
        let Children { secret, claim, clutter, .. } = &seen.children;
        let doomed = claim.ours().is_some_and(|claim| seen.object.spec.doomed.is_some() && claim.uid() == seen.object.spec.doomed);
        let facts = [
            (Event::Ending, seen.object.meta().deletion_timestamp.is_some()),
            (Event::Keyless, matches!(secret, Slot::Free)),
            (Event::Doomed, doomed),
            (Event::Cluttered, !clutter.is_empty()),
        ];
        facts.into_iter().filter_map(|(event, holds)| holds.then_some(event)).collect()
    }
    fn adoption(_: &&Observation<Self>) -> Vec<Order> {
        Vec::new()
    }
    fn orders(effect: Effect, seen: &&Observation<Self>) -> Vec<Order> {
        let Children { claim, clutter, .. } = &seen.children;
        match effect {
            Effect::Guard => finalizer::hold::<Self>(&seen.object).into_iter().collect(),
            Effect::Make => {
                let password = seen.entropy.bytes::<4>("password").map(u32::from_be_bytes).expect("a look has entropy").to_string();
                let labels = [(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned())].into();
                let body = json!({ "stringData": { "password": password } });
                vec![creation(Rendered::kept::<Secret>(&seen.object, &app(&seen.object), &labels, body))]
            }
            Effect::Destroy => claim.ours().and_then(removal).into_iter().collect(),
            Effect::Sweep => clutter.iter().filter_map(|surplus| removal(surplus.as_ref())).collect(),
        }
    }
    fn status(seen: &&Observation<Self>, step: &Step<Self>) -> VaultStatus {
        Status { state: Some(step.next().text()), ..seen.status() }
    }
}

fn app(object: &VaultObject) -> String {
    format!("{}-app", object.name_any())
}

impl Served for Vault {
    const GUARDED: &'static [Guarded] = &[];
    const PATH: &'static str = "vault";
    const SHORT: &'static str = "va";
    const FIELDS: &'static Fields = &memcached::convert::FIELDS;
    const DEFAULT_IMAGE: &'static str = "vault:1";
    const RENDERER: i64 = 1;
    const DEADLINES: &'static [(Phase, jiff::SignedDuration)] = &[];
    const FINALIZER: Option<&'static str> = Some("test.example.com/guard");
    const READINGS: &'static [Source<VaultObject>] =
        &[Source::named(ReadKind::Secret, |object| vec![app(object)]).written(), Source::all(ReadKind::StorageClass)];
    const TROUBLED: &'static [Phase] = &[];
    const AVAILABLE: Declared = memcached::Memcached::AVAILABLE;
    const REASONS: &'static [Reason] = &[];

    fn definition() -> CustomResourceDefinition {
        VaultObject::crd()
    }
    fn changes_table() -> &'static [ChangeRow<Self>] {
        &[]
    }
    fn first_time() -> Event {
        Event::Keyless
    }
    fn success((): &()) -> Option<Event> {
        None
    }
    fn left(_: &VaultObject, _: &Known<Self>) -> Option<Event> {
        None
    }

    fn consequence(_: &VaultObject, _: &Known<Self>, (): &(), _: &BTreeSet<Event>) -> Option<String> {
        None
    }
    fn unreadable(_: &mut VaultObject, _: String) {}
    fn child_types(visitor: &mut impl ChildVisitor) {
        visitor.precious::<PersistentVolumeClaim>();
        visitor.child::<ConfigMap>();
    }
    fn children(lookup: &impl Lookup, object: &VaultObject) -> Children {
        let (secret, claim) = (lookup.slot(&app(object)), lookup.slot(&object.name_any()));
        Children { secret, claim, class: lookup.read("standard"), clutter: lookup.all() }
    }
    fn scaled(object: &VaultObject, _: i32) -> VaultObject {
        object.clone()
    }
    fn selector(object: &VaultObject) -> BTreeMap<String, String> {
        [("app.kubernetes.io/instance".to_owned(), object.name_any())].into()
    }
}
