//! May this write pass? One `AdmissionReview` in, one out.

use super::limits::{self, Fault, REVIEW_BYTES};
use super::unreadable::unreadable;
use super::{Find, Survey, pieces, refusal};
use crate::kinds::annotations::answer;
use crate::kinds::judge::{judge, unwatched};
use crate::kinds::prose::beginning;
use crate::kinds::read::{read, sound};
use crate::kinds::review::Review;
use crate::kinds::verdict::Verdict;
use crate::kinds::{Served, Settings, Violation};
use crate::telemetry::{self, Webhook};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use k8s_openapi::api::authentication::v1::UserInfo;
use kube::Resource;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;

/// All that judging one kind's writes needs.
pub struct Gate<K: Served> {
    /// The operator's settings for the kind.
    pub settings: Settings,
    /// Its objects.
    pub find: Find<K>,
    /// What a change of one of them is judged by.
    pub survey: Survey<K>,
    /// The namespaces that are looked after; none: all.
    pub watched: Arc<[String]>,
    /// Its calls, counted.
    pub webhook: Webhook,
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
    user_info: Option<UserInfo>,
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
pub async fn validate<K: Served>(State(gate): State<Arc<Gate<K>>>, request: Request) -> Response {
    gate.webhook.answers(async { reviewed(&gate, request).await.into_response() }).await
}

async fn reviewed<K: Served>(gate: &Gate<K>, request: Request) -> Result<Response, Fault> {
    let body = limits::read(request, REVIEW_BYTES).await?;
    let asked = limits::asked(&body.bytes, "admission.k8s.io/v1", "AdmissionReview")?;
    answered(gate, &asked).await.map(|review| super::json(&review))
}

async fn answered<K: Served>(gate: &Gate<K>, asked: &Asked<'_>) -> Result<Value, Fault> {
    let (pair, scaling) = match subject(gate, asked).await? {
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
    let ground = pair.old.as_ref().and_then(|old| (gate.survey)(old));
    let (settings, dry_run) = (&gate.settings, asked.dry_run.unwrap_or_default());
    let watched = gate.watches(pair.new.meta().namespace.as_ref());
    let review = Review { old: pair.old.as_ref(), new: &pair.new, settings, ground, dry_run, watched };
    let verdict = judge::<K>(&review);
    let answer = told::<K>(asked, &pair, &verdict);
    let word = verdict.word();
    let mut review = match verdict {
        Verdict::Allow(warnings) => refusal::allow(&asked.uid, &warnings),
        Verdict::Deny(mut violations) => {
            // A Scale has the stored version's `spec.replicas`, whichever version it came through.
            if !scaling {
                name_fields::<K>(asked, &mut violations);
            }
            refused::<K>(asked, pair.new.meta().name.as_deref().unwrap_or_default(), &violations)
        }
    };
    if let Some(answer) = answer {
        // The API server writes it into its audit log, beside who gave the answer.
        review["response"]["auditAnnotations"] = json!({ "answer": answer, "verdict": word });
    }
    Ok(review)
}

async fn subject<K: Served>(gate: &Gate<K>, asked: &Asked<'_>) -> Result<Subject<K>, Fault> {
    let object = asked.object.ok_or_else(|| Fault::malformed("the request holds no object"));
    if [asked.object, asked.old_object].into_iter().flatten().any(|object| pieces::are_too_many(object.get())) {
        let violation = Violation::invalid("spec", format!("this object is not readable: {}", pieces::TOO_MANY));
        return Ok(Subject::Unreadable(vec![violation]));
    }
    let Type { group, version, kind } = &asked.kind;
    let own = (group.as_str(), kind.as_str()) == (&K::Object::group(&()), &K::Object::kind(&())) && *version == K::Object::version(&());
    let scale = (group.as_str(), version.as_str(), kind.as_str()) == ("autoscaling", "v1", "Scale");
    match (asked.operation.as_str(), asked.sub_resource.as_deref().unwrap_or_default()) {
        ("CREATE", "") if own => Ok(written(None, object?)),
        ("UPDATE", "") if own => Ok(written(asked.old_object, object?)),
        ("UPDATE", "scale") if scale => Ok(scaled(gate, asked, object?).await),
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
        Err(fault) => match old.and_then(|old| untouched::<K>(old, new)) {
            Some(pair) => Subject::Write(Box::new(pair)),
            None => Subject::Unreadable(unreadable::<K>(new, &fault)),
        },
    }
}

/// Both objects, where a spec that cannot be read stays as it is: what a write does not change is not its fault, and the
/// question about that spec is to be answered.
fn untouched<K: Served>(old: &RawValue, new: &RawValue) -> Option<Pair<K>> {
    let [old, new] = [old, new].map(|object| serde_json::from_str::<Value>(object.get()).ok());
    let (old, new) = (old?, new?);
    if old.get("spec") != new.get("spec") {
        return None;
    }
    Some(Pair { old: Some(read::<K>(&old).ok()?), new: read::<K>(&new).ok()? })
}

/// An object; text is taken apart only where it does not decode as a whole.
fn decoded<K: Served>(object: &RawValue) -> Result<K::Object, serde_json::Error> {
    serde_json::from_str(object.get()).or_else(|_| sound::<K>(&serde_json::from_str(object.get())?))
}

/// A Scale carries no spec, so the object is looked up. One that is not known yet may be scaled: the
/// schema's bounds hold anyway, and the controller parses again.
async fn scaled<K: Served>(gate: &Gate<K>, asked: &Asked<'_>, object: &RawValue) -> Subject<K> {
    let scale: Scale = match serde_json::from_str(object.get()) {
        Ok(scale) => scale,
        Err(fault) => {
            return Subject::UnreadableScale(Violation::invalid("spec.replicas", format!("this Scale is not readable: {fault}")));
        }
    };
    let place = (asked.namespace.clone().unwrap_or_default(), asked.name.clone().unwrap_or_default());
    let Some(old) = (gate.find)(place.0, place.1).await else { return Subject::Unknown };
    Subject::Scaling(Box::new(Pair { new: K::scaled(&old, scale.spec.replicas), old: Some((*old).clone()) }))
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

/// Who wrote what, and what was said: an answer to a question is a person's decision and is kept. Returns it.
fn told<K: Served>(asked: &Asked<'_>, pair: &Pair<K>, verdict: &Verdict) -> Option<String> {
    let user = asked.user_info.as_ref().and_then(|user| user.username.as_deref()).unwrap_or_default();
    let namespace = asked.namespace.as_deref().unwrap_or_default();
    let name = pair.new.meta().name.as_deref().unwrap_or_default();
    let tried = asked.dry_run.unwrap_or_default();
    let given = answer(&pair.new).filter(|given| !tried && pair.old.as_ref().and_then(answer) != Some(given));
    if let Some(given) = given {
        let (answer, why) = (beginning(given, 64), verdict.why());
        tracing::info!(kind = K::PATH, namespace, name, user, answer, verdict = verdict.word(), why, "answer judged");
        Some(answer)
    } else {
        let (operation, word) = (asked.operation.as_str(), verdict.word());
        tracing::debug!(kind = K::PATH, namespace, name, user, operation, verdict = word, why = verdict.why(), "write judged");
        None
    }
}
