//! One process and the Lease, call by call.

use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use pointsman::config::Config;
use pointsman::controller::lease::election::Lost;
use pointsman::controller::lease::{Candidate, Leadership, Term};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// An API server that holds one Lease.
#[derive(Clone)]
struct Server {
    lease: Arc<watch::Sender<Value>>,
    /// Is there the Secret that tells that somebody acted?
    keys: bool,
    /// When each write arrived, what it wrote, and whether its sender led at that moment.
    writes: Arc<Mutex<Vec<(Instant, Value, bool)>>>,
    /// It takes in requests and does not answer.
    hangs: Arc<Mutex<bool>>,
    leadership: Leadership,
}

impl Server {
    fn new(holder: Option<&str>, keys: bool, leadership: Leadership) -> Self {
        let lease =
            json!({ "metadata": { "name": "pointsman", "uid": "u-1", "resourceVersion": "1" }, "spec": { "holderIdentity": holder } });
        Server { lease: Arc::new(watch::Sender::new(lease)), keys, writes: Arc::default(), hangs: Arc::default(), leadership }
    }

    fn client(&self) -> Client {
        let server = self.clone();
        Client::new(tower::service_fn(move |request| server.clone().serve(request)), "default")
    }

    /// Somebody else writes into the Lease.
    fn meddle(&self, version: &str, spec: Value) {
        self.lease.send_modify(|lease| {
            lease["spec"] = spec;
            lease["metadata"]["resourceVersion"] = json!(version);
        });
    }

    fn writes(&self) -> Vec<(Instant, Value, bool)> {
        self.writes.lock().unwrap().clone()
    }

    async fn serve(self, request: Request<Body>) -> Result<Response<Body>, std::convert::Infallible> {
        let (method, path, query) =
            (request.method().clone(), request.uri().path().to_owned(), request.uri().query().unwrap_or_default().to_owned());
        let body = request.into_body().collect_bytes().await.unwrap();
        let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
        if method != Method::GET {
            assert!(query.contains("fieldManager=pointsman-lease"), "{query}");
            self.writes.lock().unwrap().push((Instant::now(), sent.clone(), self.leadership.leads()));
        }
        if *self.hangs.lock().unwrap() {
            std::future::pending::<()>().await;
        }
        if query.contains("watch=true") {
            // Its sender is in `self`.
            let mut lease = self.lease.subscribe();
            let known = |lease: &Value| format!("resourceVersion={}", lease["metadata"]["resourceVersion"].as_str().unwrap());
            let news = |lease: &Value| query.split('&').all(|part| part != known(lease));
            let lease = lease.wait_for(news).await.unwrap().clone();
            return Ok(response(200, &json!({ "type": "MODIFIED", "object": lease })));
        }
        let (code, answer) = self.answer(&method, &path, sent);
        Ok(response(code, &answer))
    }

    fn answer(&self, method: &Method, path: &str, mut sent: Value) -> (u16, Value) {
        let lease = self.lease.borrow().clone();
        if method == Method::GET && path.ends_with("/pointsman") {
            return (200, lease);
        }
        if method == Method::GET {
            let keys = json!({ "metadata": { "name": "pointsman-certificates" } });
            let items = if path.ends_with("/leases") { vec![lease.clone()] } else { Vec::from_iter(self.keys.then_some(keys)) };
            return (200, json!({ "metadata": { "resourceVersion": lease["metadata"]["resourceVersion"] }, "items": items }));
        }
        let version = lease["metadata"]["resourceVersion"].clone();
        if sent["metadata"]["resourceVersion"] != version {
            return (409, json!({ "status": "Failure", "message": "it changed", "reason": "Conflict", "code": 409 }));
        }
        let newer = version.as_str().unwrap().parse::<u64>().unwrap() + 1;
        sent["metadata"]["resourceVersion"] = json!(newer.to_string());
        self.lease.send_replace(sent.clone());
        (200, sent)
    }
}

fn response(code: u16, body: &Value) -> Response<Body> {
    Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap()
}

/// A candidate that finds a Lease of this holder, in a cluster in which somebody acted before, or nobody did.
fn started(holder: Option<&str>, keys: bool) -> (Server, Candidate, Leadership) {
    let term = watch::Sender::new(Term::Outside);
    let leadership = Leadership::of(&term);
    let server = Server::new(holder, keys, leadership.clone());
    let config = Config::parse(["pointsman".into()]).unwrap();
    let candidate = Candidate::new(server.client(), &config, term, leadership.clone());
    (server, candidate, leadership)
}

fn one_term(mut candidate: Candidate, resign: impl Future<Output = ()> + Send + 'static) -> JoinHandle<Result<(), Lost>> {
    tokio::spawn(async move { candidate.term(std::future::ready(()), resign).await })
}

#[tokio::test(start_paused = true)]
async fn who_lost_the_lease_competes_again_as_another_and_gives_it_back_in_the_end() {
    let (server, candidate, leadership) = started(None, false);
    let (resign, resigned) = oneshot::channel::<()>();
    let running = tokio::spawn(candidate.run(std::future::ready(()), async move { drop(resigned.await) }));
    let holder = |server: &Server| server.writes().last().unwrap().1["spec"]["holderIdentity"].clone();
    leadership.begun().await;
    let first = holder(&server);
    *server.hangs.lock().unwrap() = true;
    leadership.ended().await;
    *server.hangs.lock().unwrap() = false;
    let ended = Instant::now();
    leadership.begun().await;
    // Nobody knows that it was its own: it waits for as long as anybody would.
    assert!((5..=18).contains(&ended.elapsed().as_secs()), "{:?}", ended.elapsed());
    assert!(holder(&server).is_string() && holder(&server) != first, "{first}");
    drop(resign);
    running.await.unwrap();
    assert_eq!((holder(&server), leadership.leads()), (Value::Null, false));
}

#[tokio::test(start_paused = true)]
async fn a_leader_acts_until_ten_seconds_after_it_sent_its_last_renewal_that_was_answered() {
    let (server, candidate, leadership) = started(None, false);
    let running = one_term(candidate, std::future::pending());
    leadership.begun().await;
    sleep(Duration::from_secs(61)).await;
    assert!(leadership.leads());
    let renewal = server.writes().last().unwrap().0;
    *server.hangs.lock().unwrap() = true;
    leadership.ended().await;
    assert_eq!((renewal.elapsed(), leadership.leads()), (Duration::from_secs(10), false));
    let lost = running.await.unwrap().expect_err("the term is over").to_string();
    assert!(lost.contains("the Lease pointsman was not renewed for 10s"), "{lost}");
    let renewals = server.writes().iter().filter(|(at, ..)| *at <= renewal).count();
    assert!((30..=32).contains(&renewals), "{renewals} renewals in a minute");
}

#[tokio::test(start_paused = true)]
async fn told_to_stop_a_leader_does_not_lead_any_more_before_it_gives_the_lease_back() {
    let (server, candidate, leadership) = started(None, false);
    let (resign, resigned) = oneshot::channel::<()>();
    let running = one_term(candidate, async move { drop(resigned.await) });
    leadership.begun().await;
    sleep(Duration::from_secs(5)).await;
    drop(resign);
    running.await.unwrap().expect("it was asked to");
    let (_, lease, led) = server.writes().pop().unwrap();
    assert_eq!((&lease["spec"]["holderIdentity"], led), (&Value::Null, false), "{lease}");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_another_holds_is_taken_when_it_stood_unchanged_for_its_length() {
    let (server, candidate, leadership) = started(Some("somebody"), true);
    let began = Instant::now();
    let running = one_term(candidate, std::future::pending());
    leadership.begun().await;
    assert_eq!(began.elapsed().as_secs(), 15);
    assert_eq!(server.writes().len(), 1);
    // Taken away by hand, it is not fought for.
    server.meddle("99", json!({ "holderIdentity": "another" }));
    let lost = running.await.unwrap().expect_err("it is taken").to_string();
    assert!(lost.contains("names another as its holder") && !leadership.leads(), "{lost}");
}

#[tokio::test(start_paused = true)]
async fn a_leader_hears_at_once_that_its_lease_was_emptied() {
    let (server, candidate, leadership) = started(None, false);
    let running = one_term(candidate, std::future::pending());
    leadership.begun().await;
    sleep(Duration::from_millis(4_500)).await;
    let (emptied, writes) = (Instant::now(), server.writes().len());
    server.meddle("99", Value::Null);
    leadership.ended().await;
    assert!(emptied.elapsed() < Duration::from_millis(100), "{:?}", emptied.elapsed());
    assert_eq!(server.writes().len(), writes, "it is not fought for");
    let lost = running.await.unwrap().expect_err("it is taken").to_string();
    assert!(lost.contains("names nobody as its holder"), "{lost}");
}

#[tokio::test(start_paused = true)]
async fn where_somebody_acted_before_an_empty_lease_is_taken_at_once_and_acted_upon_after_a_whole_term() {
    let (server, candidate, leadership) = started(None, true);
    let began = Instant::now();
    drop(one_term(candidate, std::future::pending()));
    leadership.begun().await;
    assert!((15..=17).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    let writes = server.writes();
    assert!(writes[0].0.duration_since(began) < Duration::from_millis(100), "{writes:?}");
    assert!((8..=10).contains(&writes.len()), "{} writes while it waits", writes.len());
}
