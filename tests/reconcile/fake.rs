//! An API server of a few lines: lists what it was given, answers writes as it was told, and
//! remembers every one.

use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::sync::watch::Sender;

/// One write that arrived.
#[derive(Clone, Debug)]
pub struct Write {
    pub method: Method,
    pub path: String,
    pub query: String,
    pub body: Value,
}

type Answers = dyn Fn(&Write, usize) -> Option<(u16, Value)> + Send + Sync;

/// What the API server holds, and how it answers.
#[derive(Clone)]
pub struct Fake {
    /// What a list of `plural` (of `plural!` for strangers, of `plural?` for one by its name, of `plural@` for those of an owner)
    /// returns.
    lists: Arc<Mutex<BTreeMap<String, Vec<Value>>>>,
    writes: Arc<Mutex<Vec<Write>>>,
    /// The paths of everything that was read, and not watched.
    reads: Arc<Mutex<Vec<String>>>,
    answers: Arc<Answers>,
    /// What the watches of `plural` have still to say.
    news: Arc<Sender<BTreeMap<String, VecDeque<Value>>>>,
}

impl Write {
    fn call(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn is_trial(&self) -> bool {
        self.query.contains("dryRun=All")
    }
}

impl Fake {
    /// `answers` is asked first, with the number of like writes before; by default a write succeeds.
    pub fn new(lists: &[(&str, Value)], answers: impl Fn(&Write, usize) -> Option<(u16, Value)> + Send + Sync + 'static) -> Self {
        let mut held: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (list, item) in lists {
            held.entry((*list).to_owned()).or_default().push(item.clone());
        }
        Fake {
            lists: Arc::new(Mutex::new(held)),
            writes: Arc::default(),
            reads: Arc::default(),
            answers: Arc::new(answers),
            news: Arc::new(Sender::default()),
        }
    }

    pub fn client(&self) -> Client {
        let fake = self.clone();
        Client::new(tower::service_fn(move |request| fake.clone().serve(request)), "default")
    }

    /// Every write so far, as `METHOD path`.
    pub fn calls(&self) -> Vec<String> {
        self.writes().iter().map(Write::call).collect()
    }

    /// Every write that was only tried, so that nothing came of it.
    pub fn trials(&self) -> Vec<String> {
        let all = self.writes.lock().unwrap();
        all.iter().filter(|write| write.is_trial()).map(Write::call).collect()
    }

    pub fn writes(&self) -> Vec<Write> {
        let all = self.writes.lock().unwrap();
        all.iter().filter(|write| !write.is_trial()).cloned().collect()
    }

    /// How often this was read.
    pub fn read(&self, path: &str) -> usize {
        self.reads.lock().unwrap().iter().filter(|read| *read == path).count()
    }

    /// From now on a list of `plural` works.
    pub fn allow(&self, plural: &str) {
        self.lists.lock().unwrap().remove(&format!("{plural} fails"));
    }

    /// A watch of `plural` says that an object was `MODIFIED` or `DELETED`.
    pub fn tell(&self, plural: &str, change: &str, object: &Value) {
        let event = json!({ "type": change, "object": object });
        self.news.send_modify(|news| news.entry(plural.to_owned()).or_default().push_back(event));
    }

    /// The next of what the watches of `plural` say.
    async fn news(&self, plural: &str) -> Value {
        let mut news = self.news.subscribe();
        loop {
            let mut next = None;
            self.news.send_if_modified(|news| {
                next = news.get_mut(plural).and_then(VecDeque::pop_front);
                false
            });
            match next {
                Some(event) => return event,
                // The sender is in `self`.
                None => news.changed().await.unwrap(),
            }
        }
    }

    async fn serve(self, request: Request<Body>) -> Result<Response<Body>, std::convert::Infallible> {
        let (parts, body) = request.into_parts();
        let (path, query) = (parts.uri.path().to_owned(), parts.uri.query().unwrap_or_default().to_owned());
        if parts.method == Method::GET {
            if query.contains("watch=true") {
                return Ok(response(200, &self.news(&listed(&path, &query)).await));
            }
            self.reads.lock().unwrap().push(path.clone());
            return Ok(self.list(&path, &query));
        }
        let body = serde_json::from_slice(&body.collect_bytes().await.unwrap()).unwrap_or_default();
        let write = Write { method: parts.method, path, query, body };
        let before = {
            let mut writes = self.writes.lock().unwrap();
            writes.push(write.clone());
            writes.iter().filter(|other| other.path == write.path && other.method == write.method).count() - 1
        };
        let (code, answer) = (self.answers)(&write, before).unwrap_or_else(|| stored(&write));
        Ok(response(code, &answer))
    }

    fn list(&self, path: &str, query: &str) -> Response<Body> {
        let lists = self.lists.lock().unwrap();
        let is = |how: &str| path.rsplit('/').take(2).any(|end| lists.contains_key(&format!("{end} {how}")));
        if is("fails") {
            return response(500, &json!({ "kind": "Status", "code": 500, "message": "not yet", "reason": "InternalError" }));
        }
        if is("forbidden") {
            let (code, status) = refusal(403, "storageclasses.storage.k8s.io is forbidden: User \"pointsman\" cannot list them");
            return response(code, &status);
        }
        let mut parts = path.rsplit('/');
        if let (Some(name), Some(one)) = (parts.next(), parts.next().and_then(|plural| lists.get(plural)))
            && let Some(object) = one.iter().find(|object| object["metadata"]["name"] == name)
        {
            return response(200, object);
        }
        // Below its namespace one object has its plural and its name.
        if path.split_once("/namespaces/").is_some_and(|(_, rest)| rest.split('/').count() == 3) {
            return response(404, &json!({ "kind": "Status", "code": 404, "message": "not found", "reason": "NotFound" }));
        }
        let mut items = lists.get(&listed(path, query)).cloned().unwrap_or_default();
        let selects = |field| query.split('&').any(|part| part.starts_with(field) && !part.ends_with('='));
        if !selects("labelSelector") && !selects("fieldSelector") {
            let plural = path.rsplit('/').next().unwrap_or_default();
            items.extend(lists.get(&format!("{plural}!")).cloned().unwrap_or_default());
        }
        response(200, &json!({ "apiVersion": "v1", "kind": "List", "metadata": { "resourceVersion": "100" }, "items": items }))
    }
}

/// The plural that a list or a watch is about; with a mark where it is about strangers, or about one.
fn listed(path: &str, query: &str) -> String {
    let plural = path.rsplit('/').next().unwrap_or_default();
    let mark = if query.contains("%21%3D") { "!" } else { "" };
    let mark = if query.contains("owner-uid") { "@" } else { mark };
    format!("{plural}{}", if query.contains("fieldSelector") { "?" } else { mark })
}

/// The answer of an API server to which nothing is wrong.
fn stored(write: &Write) -> (u16, Value) {
    // A patch of JSON says nothing of the object that it makes.
    let mut object = if write.body.is_object() { write.body.clone() } else { json!({}) };
    object["metadata"]["resourceVersion"] = json!("1000");
    object["metadata"]["managedFields"] = json!([{ "manager": "somebody" }]);
    let created = write.method == Method::POST || write.query.contains("fieldManager=pointsman&") && object["metadata"]["uid"].is_null();
    (if created { 201 } else { 200 }, object)
}

fn response(code: u16, body: &Value) -> Response<Body> {
    Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap()
}

/// What the API server makes of a json-patch of an object with an entry of a version that nobody converts.
pub fn forgotten(write: &Write) -> Option<(u16, Value)> {
    write.body.is_array().then(|| (200, json!({ "metadata": { "resourceVersion": "1000" } })))
}

/// A refusal of a value that is not legal: it names the field.
pub fn illegal(message: &str) -> (u16, Value) {
    let (code, mut status) = refusal(422, message);
    status["details"] = json!({ "causes": [{ "reason": "FieldValueInvalid", "message": message, "field": "status" }] });
    (code, status)
}

/// A refusal as the API server words it.
pub fn refusal(code: u16, message: &str) -> (u16, Value) {
    (code, json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message, "reason": "Forbidden" }))
}
