//! May this write pass? One `AdmissionReview` in, one out.

use super::limits::{self, Fault, REVIEW_BYTES, read};
use super::{Find, refusal};
use crate::kinds::judge::{Review, Verdict, judge, unwatched};
use crate::kinds::read::sound;
use crate::kinds::{Served, Settings, Violation, answer};
use crate::telemetry;
use axum::extract::{Request, State};
use axum::response::Response;
use kube::Resource;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::Arc;

/// All that judging one kind's writes needs.
pub struct Gate<K: Served> {
    /// The operator's settings for the kind.
    pub settings: Settings,
    /// Its objects.
    pub find: Find<K>,
    /// The namespaces that are looked after; none: all.
    pub watched: Arc<[String]>,
}

impl<K: Served> Gate<K> {
    fn watches(&self, namespace: Option<&String>) -> bool {
        self.watched.is_empty() || namespace.is_some_and(|name| self.watched.contains(name))
    }
}

/// What is read of a request; objects stay text until their kind is known.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    uid: String,
    kind: Type,
    request_kind: Option<Type>,
    sub_resource: Option<String>,
    name: Option<String>,
    namespace: Option<String>,
    operation: String,
    user_info: Option<User>,
    dry_run: Option<bool>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    old_object: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Type {
    #[serde(default)]
    group: String,
    version: String,
    kind: String,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

/// The part of an `autoscaling/v1` Scale that is judged; zero is written as nothing.
#[derive(Deserialize, Default)]
struct Scale {
    #[serde(default)]
    spec: ScaleSpec,
}

#[derive(Deserialize, Default)]
struct ScaleSpec {
    #[serde(default)]
    replicas: i32,
}

/// The object before, where there was one, and after the write.
struct Pair<K: Served> {
    old: Option<K::Object>,
    new: K::Object,
}

/// What a request is about, or its answer where it needs no judgement.
enum Subject<K: Served> {
    Write(Box<Pair<K>>),
    Scaling(Box<Pair<K>>),
    Unreadable(Vec<Violation>),
    UnreadableScale(Violation),
    Unknown,
}

/// `POST /validate/<kind>`.
pub async fn validate<K: Served>(State(gate): State<Arc<Gate<K>>>, request: Request) -> Result<Response, Fault> {
    let body = read(request, REVIEW_BYTES).await?;
    let asked = limits::asked(&body.bytes, "admission.k8s.io/v1", "AdmissionReview")?;
    answered(&gate, &asked).map(|review| super::json(&review))
}

fn answered<K: Served>(gate: &Gate<K>, asked: &Asked<'_>) -> Result<Value, Fault> {
    let (pair, scaling) = match subject(gate, asked)? {
        Subject::Write(pair) => (pair, false),
        Subject::Scaling(pair) => (pair, true),
        Subject::Unreadable(mut violations) => {
            name_fields::<K>(asked, &mut violations);
            return Ok(refused::<K>(asked, "", &violations));
        }
        Subject::UnreadableScale(violation) => return Ok(refused::<K>(asked, "", &[violation])),
        Subject::Unknown => {
            let warning = (!gate.watches(asked.namespace.as_ref())).then(|| unwatched::<K>(asked.name.as_deref().unwrap_or_default()));
            return Ok(refusal::allow(&asked.uid, warning.as_slice()));
        }
    };
    let review = Review {
        old: pair.old.as_ref(),
        new: &pair.new,
        settings: &gate.settings,
        dry_run: asked.dry_run.unwrap_or_default(),
        watched: gate.watches(pair.new.meta().namespace.as_ref()),
    };
    let verdict = judge::<K>(&review);
    told::<K>(asked, &pair, &verdict);
    Ok(match verdict {
        Verdict::Allow(warnings) => refusal::allow(&asked.uid, &warnings),
        Verdict::Deny(mut violations) => {
            // A Scale has the stored version's `spec.replicas`, whichever version it came through.
            if !scaling {
                name_fields::<K>(asked, &mut violations);
            }
            refused::<K>(asked, pair.new.meta().name.as_deref().unwrap_or_default(), &violations)
        }
    })
}

fn subject<K: Served>(gate: &Gate<K>, asked: &Asked<'_>) -> Result<Subject<K>, Fault> {
    let object = asked.object.ok_or_else(|| Fault::malformed("the request holds no object"));
    let Type { group, version, kind } = &asked.kind;
    let own = (group.as_str(), kind.as_str()) == (&K::Object::group(&()), &K::Object::kind(&())) && *version == K::Object::version(&());
    let scale = (group.as_str(), version.as_str(), kind.as_str()) == ("autoscaling", "v1", "Scale");
    match (asked.operation.as_str(), asked.sub_resource.as_deref().unwrap_or_default()) {
        ("CREATE", "") if own => Ok(written(None, object?)),
        ("UPDATE", "") if own => Ok(written(asked.old_object, object?)),
        ("UPDATE", "scale") if scale => Ok(scaled(gate, asked, object?)),
        (operation, sub_resource) => Err(Fault::malformed(format!(
            "this path judges CREATE and UPDATE of {} in {}, and UPDATE of its scale; not {operation} of {kind} in {group}/{version}, subresource {sub_resource:?}",
            K::Object::kind(&()),
            K::Object::api_version(&()),
        ))),
    }
}

/// An old object that does not decode was stored before today's types: the write that mends it is
/// judged as if it made a new one.
fn written<K: Served>(old: Option<&RawValue>, new: &RawValue) -> Subject<K> {
    match decoded::<K>(new) {
        Ok(new) => Subject::Write(Box::new(Pair { old: old.and_then(|old| decoded::<K>(old).ok()), new })),
        Err(fault) => Subject::Unreadable(unreadable::<K>(new, &fault)),
    }
}

/// An object; text is taken apart only where it does not decode as a whole.
fn decoded<K: Served>(object: &RawValue) -> Result<K::Object, serde_json::Error> {
    serde_json::from_str(object.get()).or_else(|_| sound::<K>(&serde_json::from_str(object.get())?))
}

/// A Scale carries no spec, so the object is looked up. One that is not known yet may be scaled: the
/// schema's bounds hold anyway, and the controller parses again.
fn scaled<K: Served>(gate: &Gate<K>, asked: &Asked<'_>, object: &RawValue) -> Subject<K> {
    let scale: Scale = match serde_json::from_str(object.get()) {
        Ok(scale) => scale,
        Err(fault) => {
            return Subject::UnreadableScale(Violation::invalid("spec.replicas", format!("this Scale is not readable: {fault}")));
        }
    };
    let place = (asked.namespace.as_deref().unwrap_or_default(), asked.name.as_deref().unwrap_or_default());
    let Some(old) = (gate.find)(place.0, place.1) else { return Subject::Unknown };
    Subject::Scaling(Box::new(Pair { new: K::scaled(&old, scale.spec.replicas), old: Some((*old).clone()) }))
}

/// Every field of the spec that does not decode by itself; where none is found, the first fault.
fn unreadable<K: Served>(object: &RawValue, first: &serde_json::Error) -> Vec<Violation> {
    // Positions in what we put together mean nothing to the writer.
    let text = |fault: &serde_json::Error| fault.to_string().split(" at line ").next().unwrap_or_default().to_owned();
    let whole = vec![Violation::invalid("spec", format!("this object is not readable: {}", text(first)))];
    let Ok(Value::Object(mut fields)) = serde_json::from_str(object.get()) else { return whole };
    let Some(Value::Object(spec)) = fields.remove("spec") else { return whole };
    fields.remove("status");
    let mut fault = |spec: Map<String, Value>| {
        fields.insert("spec".to_owned(), Value::Object(spec));
        let fault = serde_json::from_value::<K::Object>(Value::Object(fields.clone())).err()?;
        // That another field is missing is not this one's fault.
        Some(text(&fault)).filter(|text| !text.starts_with("missing field"))
    };
    if fault(Map::new()).is_some() {
        return whole;
    }
    let alone = |(field, value): (String, Value)| {
        Some(Violation::invalid(&format!("spec.{field}"), fault(Map::from_iter([(field.clone(), value)]))?))
    };
    let found: Vec<Violation> = spec.into_iter().filter_map(alone).collect();
    if found.is_empty() { whole } else { found }
}

/// Names the fields as they are called in the version that the writer used.
fn name_fields<K: Served>(asked: &Asked<'_>, violations: &mut [Violation]) {
    let version = &asked.request_kind.as_ref().unwrap_or(&asked.kind).version;
    for violation in violations {
        violation.field = K::field_in(version, &violation.field);
    }
}

fn refused<K: Served>(asked: &Asked<'_>, name: &str, violations: &[Violation]) -> Value {
    for violation in violations {
        let sort = violation.text.split_once(':').map(|(sort, _)| sort).filter(|sort| ["unsupported", "busy"].contains(sort));
        telemetry::refusal(&K::Object::kind(&()), sort.unwrap_or("invalid"));
    }
    let name = asked.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(name);
    refusal::deny::<K>(&asked.uid, name, violations)
}

/// Who wrote what, and what was said: an answer to a question is a person's decision and is kept.
fn told<K: Served>(asked: &Asked<'_>, pair: &Pair<K>, verdict: &Verdict) {
    let user = asked.user_info.as_ref().map(|user| user.username.as_str()).unwrap_or_default();
    let namespace = asked.namespace.as_deref().unwrap_or_default();
    let name = pair.new.meta().name.as_deref().unwrap_or_default();
    let tried = asked.dry_run.unwrap_or_default();
    let given = answer(&pair.new).filter(|given| !tried && pair.old.as_ref().and_then(answer) != Some(given));
    let operation = asked.operation.as_str();
    if let Some(given) = given {
        tracing::info!(
            kind = K::PATH,
            namespace,
            name,
            ?user,
            answer = given.chars().take(64).collect::<String>(),
            ?verdict,
            "answer given"
        );
    } else {
        tracing::debug!(kind = K::PATH, namespace, name, ?user, operation, ?verdict, "write judged");
    }
}
