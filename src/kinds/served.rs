//! What the API server and the webhooks know of a kind, and what is printed about it.

use super::carrier::Fields;
use super::children::{ChildVisitor, Lookup};
use super::guarded::Guarded;
use super::reading::Source;
use super::reason::Reason;
use super::status::Declared;
use super::{Kind, Known};
use crate::machine::diagram::ChangeRow;
use crate::machine::prove::Provable;
use jiff::SignedDuration;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{CustomResourceDefinition, JSONSchemaProps};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A kind as the outside meets it.
pub trait Served: Kind + Provable {
    /// The kind's name in paths, flags and files.
    const PATH: &'static str;
    /// The short name of the resource.
    const SHORT: &'static str;
    /// Where each field of the spec stands in each version.
    const FIELDS: &'static Fields;
    /// The image where neither a spec nor a setting names one.
    const DEFAULT_IMAGE: &'static str;
    /// The version of the rendering.
    const RENDERER: i64;
    /// How long each working state may take without progress.
    const DEADLINES: &'static [(Self::Phase, SignedDuration)];
    /// What keeps an object that is being deleted until the operator takes it off.
    const FINALIZER: Option<&'static str> = None;
    /// Does it put a label on pods, by which a Service finds them?
    const LABELS_PODS: bool = false;
    /// What looks need besides the object and its children.
    const READINGS: &'static [Source<Self::Object>] = &[];
    /// States that nobody wished for, although no question is open yet: entering one is told as a warning.
    const TROUBLED: &'static [Self::Phase];
    /// The condition that says whether it serves.
    const AVAILABLE: Declared;
    /// Conditions that no other kind has: a change of one is an Event, and a metric tells it.
    const CONDITIONS: &'static [Declared] = &[];
    /// Reasons of conditions that this kind never gives, although others do.
    const UNUSED: &'static [&'static str] = &[];
    /// Why an object of this kind may stop and ask, in the order in which the docs print it.
    const REASONS: &'static [Reason];

    /// Fields of the spec that take more than the right to write the object.
    const GUARDED: &'static [Guarded];

    /// The definition with both versions, its conversion stanza aside.
    fn definition() -> CustomResourceDefinition;
    /// The spec in `version`, out of the spec in the other one; `None` where the version is unknown.
    fn convert(spec: &Value, version: &str) -> Option<Value> {
        Self::FIELDS.convert(spec, version)
    }
    /// The fields that a manager owns through `version`, as the stored version names them; `None` where the version is unknown.
    fn owned(fields: &Value, version: &str) -> Option<Value> {
        Self::FIELDS.owned(fields, version)
    }
    /// A field of the stored version, as `version` calls it.
    fn field_in(version: &str, field: &str) -> String {
        Self::FIELDS.field_in(version, field)
    }
    /// When a question closes by itself, beside what is the same for any kind.
    fn also_closes(_reason: Reason) -> Vec<&'static str> {
        Vec::new()
    }
    /// One row for each field of the spec.
    fn changes_table() -> &'static [ChangeRow<Self>];
    /// The fact that an object was never ready, for previews.
    fn first_time() -> Self::Event;
    /// The fact that ends work on this plan well, where it is not the working phase's own goal.
    fn success(plan: &Self::Plan) -> Option<Self::Event>;
    /// What a change does to pods, data or address; nothing where it does nothing to them.
    fn consequence(object: &Self::Object, known: &Known<Self>, plan: &Self::Plan, edits: &BTreeSet<Self::Event>) -> Option<String>;
    /// Facts that a change brings about on its way, as far as the object tells: they belong to the way that is foreseen.
    fn brought_about(_object: &Self::Object, _known: &Known<Self>, _plan: &Self::Plan) -> BTreeSet<Self::Event> {
        BTreeSet::new()
    }
    /// The fact that a resumption finds where the spec is as it was ordered, as far as the object tells: what is left to be done.
    fn left(object: &Self::Object, known: &Known<Self>) -> Option<Self::Event>;
    /// Marks an object whose stored spec could not be read, so that its plan is a violation that says why.
    fn unreadable(object: &mut Self::Object, why: String);
    /// The name of the ConfigMap that all objects of a namespace share, where they do.
    fn shared() -> Option<&'static str> {
        None
    }
    /// The types of its children.
    fn child_types(visitor: &mut impl ChildVisitor);
    /// Its children, as `lookup` finds them.
    fn children(lookup: &impl Lookup, object: &Self::Object) -> Self::Children;
    /// The names of the objects that may want a child of this name: they are looked at when somebody takes or frees it.
    fn wanted_by(child: &str) -> Vec<String> {
        vec![child.to_owned()]
    }
    /// The object with another number of replicas, as its scale subresource would leave it.
    fn scaled(object: &Self::Object, replicas: i32) -> Self::Object;
    /// The labels that find its pods: those that are counted.
    fn selector(object: &Self::Object) -> BTreeMap<String, String>;
    /// The labels that find every pod of it, those of its Jobs too.
    fn pod_labels(object: &Self::Object) -> BTreeMap<String, String> {
        Self::selector(object)
    }
}

/// Declares `metadata.name` in every version's schema, so that a rule may point at it.
pub fn with_a_name(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    let string = JSONSchemaProps { type_: Some("string".to_owned()), ..JSONSchemaProps::default() };
    let properties = Some(BTreeMap::from([("name".to_owned(), string)]));
    let metadata = JSONSchemaProps { type_: Some("object".to_owned()), properties, ..JSONSchemaProps::default() };
    for version in &mut definition.spec.versions {
        let schema = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut());
        if let Some(properties) = schema.and_then(|schema| schema.properties.as_mut()) {
            properties.insert("metadata".to_owned(), metadata.clone());
        }
    }
    definition
}
