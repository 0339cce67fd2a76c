//! The status that every kind shares: the operator's claim, its memory, and its words for people.

pub use super::conditions::{Because, CONDITIONS, Claim, Declared, conditions, of_types, turned};
use super::intervention::{Intervention, SUBJECTS, Subject};
pub use super::remembered::{Applied, Move, SpecAt};
use crate::machine::{Machine, Word, schema};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// How many moves `status.history` keeps.
pub const HISTORY: usize = 10;

/// So many repairs in an hour are a fight with another writer.
pub const DRIFTS: usize = 4;

/// What the operator saw, what it does, and what it waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, bound = "S: Kept")]
#[schemars(bound = "S: Kept", extend("x-kubernetes-validations" = [state_stays()]))]
pub struct Status<S: Kept> {
    /// Where the object is, looked at afresh every time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "state_schema::<S>")]
    pub state: Option<String>,
    /// When that state was entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    pub state_time: Option<Time>,
    /// Why, as one word for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 64))]
    pub reason: Option<String>,
    /// What is so, and what to type, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 120))]
    pub message: Option<String>,
    /// The generation of the spec that this status speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub observed_generation: Option<i64>,
    /// Ready pods of wanted pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 32))]
    pub ready_text: Option<String>,
    /// Pods that exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i32")]
    pub replicas: Option<i32>,
    /// Pods that are ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i32")]
    pub ready_replicas: Option<i32>,
    /// The pods' label selector, for autoscalers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 512))]
    pub selector: Option<String>,
    /// The image of the pods that are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 512))]
    pub image: Option<String>,
    /// The operator's default image as it was when the spec first named none; kept until the spec names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 512))]
    pub default_image: Option<String>,
    /// Where clients connect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub endpoints: Vec<Endpoint>,
    /// What the operator waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub waiting_for: Vec<WaitingFor>,
    /// When the operator gives up waiting and asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time")]
    pub deadline_time: Option<Time>,
    /// When children were found changed by others, and repaired: the last times, since the last question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = DRIFTS))]
    pub drift_times: Vec<Time>,
    /// The most pods of the target that were ready at once since the state was entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i32")]
    pub progress: Option<i32>,
    /// What was ordered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Applied<S>")]
    pub applied: Option<Applied<S>>,
    /// What was ready last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "SpecAt<S>")]
    pub last_good: Option<SpecAt<S>>,
    /// What was rolled back: as long as the spec asks for it, what was ready last serves instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "SpecAt<S>")]
    pub refused: Option<SpecAt<S>>,
    /// Objects of others that a person has let the operator take over, until they are taken over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = SUBJECTS))]
    pub adopted: Vec<Subject>,
    /// Fields of children that a person has left to another writer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = SUBJECTS))]
    pub yielded: Vec<Subject>,
    /// How many questions were ever asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub questions: Option<i64>,
    /// The open question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Intervention")]
    pub intervention: Option<Intervention>,
    /// The last moves, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = HISTORY))]
    pub history: Vec<Move>,
    /// The same for programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = CONDITIONS), transform = super::prose::strip, extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// What only this kind says.
    #[serde(flatten)]
    pub more: S::More,
}

/// A part of the status that differs from kind to kind.
pub trait Part: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {}
impl<P: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static> Part for P {}

/// A spec as the status keeps it, and the lifecycle that its object goes through.
pub trait Kept: Part {
    /// The lifecycle.
    type Machine: Machine;
    /// Fields of the status that only this kind has, beside those of every kind.
    type More: Part + Default;
}

/// For a kind whose status says no more than any other's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoMore {}

/// Where clients connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoint {
    /// What it is for.
    #[schemars(length(max = 64))]
    pub name: String,
    /// `host:port`, resolvable in the cluster.
    #[schemars(length(max = 512))]
    pub address: String,
}

/// Something that the operator waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingFor {
    /// The kind of the object that is waited for.
    #[schemars(length(max = 64))]
    pub kind: String,
    /// Its name.
    #[schemars(length(max = 256))]
    pub name: String,
    /// What it has to do.
    #[schemars(length(max = 512))]
    pub what: String,
}

impl<S: Kept> Default for Status<S> {
    fn default() -> Self {
        Status {
            state: None,
            state_time: None,
            reason: None,
            message: None,
            observed_generation: None,
            ready_text: None,
            replicas: None,
            ready_replicas: None,
            selector: None,
            image: None,
            default_image: None,
            endpoints: Vec::new(),
            waiting_for: Vec::new(),
            deadline_time: None,
            drift_times: Vec::new(),
            progress: None,
            applied: None,
            last_good: None,
            refused: None,
            adopted: Vec::new(),
            yielded: Vec::new(),
            questions: None,
            intervention: None,
            history: Vec::new(),
            conditions: Vec::new(),
            more: S::More::default(),
        }
    }
}

impl<S: Kept> Status<S> {
    /// The stored state; an unknown word reads as the start.
    pub fn phase(&self) -> <S::Machine as Machine>::Phase {
        self.state.as_deref().and_then(Word::from_text).unwrap_or(<S::Machine as Machine>::START)
    }

    /// Adds a move, forgetting the oldest beyond [`HISTORY`].
    pub fn remember(&mut self, new: Move) {
        self.history.push(new);
        let surplus = self.history.len().saturating_sub(HISTORY);
        self.history.drain(..surplus);
    }
}

fn state_schema<S: Kept>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "maxLength": 64,
        "description": "Where the object is, looked at afresh every time.",
        "x-kubernetes-validations": [{
            "rule": schema::rule::<S::Machine>(),
            "optionalOldSelf": true,
            "reason": "FieldValueForbidden",
            // Here the API server hands over the old state itself, whatever `optionalOldSelf` says; for it `dyn` is either.
            "messageExpression": "'undeclared move: %s -> %s'.format([dyn(oldSelf), self])",
            "message": "undeclared move",
        }],
    })
}

fn state_stays() -> serde_json::Value {
    serde_json::json!({
        "rule": "!has(oldSelf.state) || has(self.state)",
        "reason": "FieldValueForbidden",
        "fieldPath": ".state",
        "message": "the state may not be removed",
    })
}
