//! One process and the Lease, call by call.

use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use pointsman::config::Config;
use pointsman::controller::lease::{Candidate, Leadership, Term};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep};

/// An API server that holds one Lease.
#[derive(Clone)]
struct Server {
    lease: Arc<Mutex<Value>>,
    /// When each write arrived, what it wrote, and whether its sender led at that moment.
    writes: Arc<Mutex<Vec<(Instant, Value, bool)>>>,
    /// It takes in requests and does not answer.
    hangs: Arc<Mutex<bool>>,
    leadership: Leadership,
}

impl Server {
    fn new(holder: Option<&str>, leadership: Leadership) -> Self {
        let lease =
            json!({ "metadata": { "name": "pointsman", "uid": "u-1", "resourceVersion": "1" }, "spec": { "holderIdentity": holder } });
        Server { lease: Arc::new(Mutex::new(lease)), writes: Arc::default(), hangs: Arc::default(), leadership }
    }

    fn client(&self) -> Client {
        let server = self.clone();
        Client::new(tower::service_fn(move |request| server.clone().serve(request)), "default")
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
        let watches = !path.ends_with("/pointsman");
        if watches || *self.hangs.lock().unwrap() {
            std::future::pending::<()>().await;
        }
        let (code, answer) = self.answer(&method, sent);
        Ok(Response::builder().status(code).body(Body::from(answer.to_string().into_bytes())).unwrap())
    }

    fn answer(&self, method: &Method, mut sent: Value) -> (u16, Value) {
        let mut lease = self.lease.lock().unwrap();
        if method == Method::GET {
            return (200, lease.clone());
        }
        let version = lease["metadata"]["resourceVersion"].clone();
        if sent["metadata"]["resourceVersion"] != version {
            return (409, json!({ "status": "Failure", "message": "it changed", "reason": "Conflict", "code": 409 }));
        }
        let newer = version.as_str().unwrap().parse::<u64>().unwrap() + 1;
        sent["metadata"]["resourceVersion"] = json!(newer.to_string());
        *lease = sent.clone();
        (200, sent)
    }
}

fn started(holder: Option<&str>) -> (Server, Candidate, Leadership) {
    let term = watch::Sender::new(Term::Outside);
    let leadership = Leadership::of(&term);
    let server = Server::new(holder, leadership.clone());
    let config = Config::parse(["pointsman".into()]).unwrap();
    let candidate = Candidate::new(server.client(), &config, term);
    (server, candidate, leadership)
}

#[tokio::test(start_paused = true)]
async fn a_leader_acts_until_ten_seconds_after_it_sent_its_last_renewal_that_was_answered() {
    let (server, candidate, leadership) = started(None);
    let running = tokio::spawn(candidate.run(std::future::ready(()), std::future::pending()));
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
    let (server, candidate, leadership) = started(None);
    let (resign, resigned) = oneshot::channel::<()>();
    let running = tokio::spawn(candidate.run(std::future::ready(()), async move { drop(resigned.await) }));
    leadership.begun().await;
    sleep(Duration::from_secs(5)).await;
    drop(resign);
    running.await.unwrap().expect("it was asked to");
    let (_, lease, led) = server.writes().pop().unwrap();
    assert_eq!((&lease["spec"]["holderIdentity"], led), (&Value::Null, false), "{lease}");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_another_holds_is_taken_when_it_stood_unchanged_for_its_length() {
    let (server, candidate, leadership) = started(Some("somebody"));
    let began = Instant::now();
    let running = tokio::spawn(candidate.run(std::future::ready(()), std::future::pending()));
    leadership.begun().await;
    assert_eq!(began.elapsed().as_secs(), 15);
    assert_eq!(server.writes().len(), 1);
    // Taken away by hand, it is not fought for.
    server.lease.lock().unwrap()["spec"]["holderIdentity"] = json!("another");
    server.lease.lock().unwrap()["metadata"]["resourceVersion"] = json!("99");
    let lost = running.await.unwrap().expect_err("it is taken").to_string();
    assert!(lost.contains("names another as its holder") && !leadership.leads(), "{lost}");
}
