//! What leaves a process that may not act.

use http::{Method, Request};
use kube::client::Body;
use pointsman::controller::lease::fence::FenceLayer;
use pointsman::controller::lease::{Leadership, Term};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tower::{Layer, ServiceExt};

/// An API server that takes its time and counts what was asked and what was answered.
#[derive(Clone, Default)]
struct Slow(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<Mutex<String>>);

impl Slow {
    async fn ask(&self, term: &watch::Sender<Term>, method: Method, takes: u64) -> Result<(), String> {
        let Slow(asked, answered, uri) = self.clone();
        let server = tower::service_fn(move |request: Request<Body>| {
            asked.fetch_add(1, Ordering::SeqCst);
            *uri.lock().unwrap() = request.uri().to_string();
            let answered = answered.clone();
            async move {
                sleep(Duration::from_secs(takes)).await;
                answered.fetch_add(1, Ordering::SeqCst);
                Ok::<_, std::convert::Infallible>(())
            }
        });
        let request = Request::builder().method(method).uri("/api/v1/pods?force=true").body(Body::empty()).expect("a request");
        let fence = FenceLayer { leadership: Leadership::of(term), between: Duration::from_secs(5) }.layer(server);
        fence.oneshot(request).await.map_err(|fault| fault.to_string())
    }

    fn counts(&self) -> (usize, usize) {
        (self.0.load(Ordering::SeqCst), self.1.load(Ordering::SeqCst))
    }
}

#[tokio::test(start_paused = true)]
async fn only_reads_pass_outside_the_term() {
    let ended = Instant::now();
    for term in [Term::Outside, Term::Until(ended)] {
        let (server, term) = (Slow::default(), watch::Sender::new(term));
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let fault = server.ask(&term, method.clone(), 0).await.expect_err("not sent");
            assert_eq!(fault, format!("{method} /api/v1/pods was not sent: this process does not lead"));
        }
        assert_eq!(server.counts(), (0, 0));
        server.ask(&term, Method::GET, 1).await.expect("a read passes");
    }
}

#[tokio::test(start_paused = true)]
async fn writes_pass_inside_the_term() {
    for term in [Term::Unlimited, Term::Until(Instant::now() + Duration::from_secs(5))] {
        let server = Slow::default();
        server.ask(&watch::Sender::new(term), Method::PATCH, 1).await.expect("passes");
        assert_eq!(server.counts(), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn the_api_server_has_as_long_for_a_write_as_nobody_else_may_lead() {
    let in_seconds = |seconds| Term::Until(Instant::now() + Duration::from_secs(seconds));
    let plain = "/api/v1/pods?force=true";
    for (term, method, uri) in [
        (in_seconds(10), Method::PATCH, format!("{plain}&timeout=14000ms")),
        (in_seconds(1), Method::DELETE, format!("{plain}&timeout=5000ms")),
        (in_seconds(10), Method::GET, plain.to_owned()),
        (in_seconds(100), Method::PATCH, format!("{plain}&timeout=60000ms")),
        (Term::Unlimited, Method::PATCH, plain.to_owned()),
    ] {
        let server = Slow::default();
        server.ask(&watch::Sender::new(term), method, 0).await.expect("passes");
        assert_eq!(*server.2.lock().unwrap(), uri);
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_hangs_over_the_end_of_the_term_is_given_up() {
    let (server, began) = (Slow::default(), Instant::now());
    let term = watch::Sender::new(Term::Until(began + Duration::from_secs(10)));
    let fault = server.ask(&term, Method::PATCH, 60).await.expect_err("given up");
    assert!(fault.contains("was given up: this process does not lead any more"), "{fault}");
    assert_eq!((began.elapsed(), server.counts()), (Duration::from_secs(10), (1, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_term_that_is_renewed_or_given_back_meanwhile_counts_as_it_is_then() {
    for renewed in [true, false] {
        let began = Instant::now();
        let until = |seconds| Term::Until(began + Duration::from_secs(seconds));
        let (server, term) = (Slow::default(), watch::Sender::new(until(10)));
        let change = async {
            sleep(Duration::from_secs(5)).await;
            term.send_replace(if renewed { until(60) } else { Term::Outside });
        };
        let answer = tokio::join!(server.ask(&term, Method::PATCH, 20), change).0;
        assert_eq!((answer.is_ok(), began.elapsed().as_secs()), if renewed { (true, 20) } else { (false, 5) }, "{answer:?}");
    }
}
