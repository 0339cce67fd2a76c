//! Requests that are no reviews: each ends in a sentence and a fitting status code.

use crate::desk::{CONVERT, ask, conversion, ready, review, router, scale, with, write};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use pointsman::admission::health;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tower::ServiceExt;

const VALIDATE: &str = "/validate/memcached/secret";
const MIB: usize = 1024 * 1024;

async fn post(path: &str, body: impl Into<Vec<u8>>) -> (StatusCode, String) {
    ask(router(Vec::new(), &[]), "POST", path, "application/json; charset=utf-8", body.into()).await
}

fn asked(mut review: Value, field: &str, value: Value) -> String {
    review["request"][field] = value;
    review.to_string()
}

#[tokio::test]
async fn a_body_that_is_no_review_is_answered_with_a_sentence() {
    let whole = write("CREATE", "v1", &Value::Null, &ready("cache", 1)).to_string();
    let deep = "[".repeat(10_000);
    let cases = [
        (VALIDATE, String::new(), "the body is no AdmissionReview: EOF while parsing a value at line 1 column 0\n"),
        (VALIDATE, "apiVersion: v1".to_owned(), "the body is no AdmissionReview: expected value at line 1 column 1\n"),
        (VALIDATE, whole[..whole.len() - 40].to_owned(), "the body is no AdmissionReview: EOF while parsing "),
        (VALIDATE, "{}".to_owned(), "this path takes AdmissionReview of admission.k8s.io/v1, not \"\" of \"\"\n"),
        (VALIDATE, deep.clone(), "the body is no AdmissionReview: invalid type: sequence, expected a string at line 1 column 1\n"),
        (
            VALIDATE,
            conversion("v1", &[]).to_string(),
            "this path takes AdmissionReview of admission.k8s.io/v1, not \"ConversionReview\" of \"apiextensions.k8s.io/v1\"\n",
        ),
        (
            VALIDATE,
            whole.replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1"),
            "this path takes AdmissionReview of admission.k8s.io/v1, not \"AdmissionReview\" of \"admission.k8s.io/v1beta1\"\n",
        ),
        (
            VALIDATE,
            json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview" }).to_string(),
            "the AdmissionReview holds no request\n",
        ),
        (CONVERT, String::new(), "the body is no ConversionReview: EOF while parsing a value at line 1 column 0\n"),
        (CONVERT, deep, "the body is no ConversionReview: invalid type: sequence, expected a string at line 1 column 1\n"),
        (
            CONVERT,
            whole,
            "this path takes ConversionReview of apiextensions.k8s.io/v1, not \"AdmissionReview\" of \"admission.k8s.io/v1\"\n",
        ),
        (
            CONVERT,
            json!({ "apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "ConversionReview" }).to_string(),
            "this path takes ConversionReview of apiextensions.k8s.io/v1, not \"ConversionReview\" of \"apiextensions.k8s.io/v1beta1\"\n",
        ),
        (
            CONVERT,
            json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview" }).to_string(),
            "the ConversionReview holds no request\n",
        ),
    ];
    for (path, body, says) in cases {
        let (status, text) = post(path, body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{text}");
        assert!(text.starts_with(says) && text.ends_with('\n'), "{text}");
    }
    let (status, text) = post(VALIDATE, [0xff, 0xfe, b'{']).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{text}");
}

#[tokio::test]
async fn a_request_that_the_path_does_not_judge_is_answered_with_a_sentence() {
    const SAYS: &str = "this path judges CREATE and UPDATE of Memcached in cache.example.com/v1, and UPDATE of its scale; not ";
    let kind = |group: &str, version: &str, kind: &str| json!({ "group": group, "version": version, "kind": kind });
    let whole = || write("UPDATE", "v1", &ready("cache", 1), &ready("cache", 2));
    let cases = [
        (asked(whole(), "operation", json!("DELETE")), "DELETE of Memcached in cache.example.com/v1, subresource \"\"\n"),
        (asked(whole(), "operation", json!("")), " of Memcached in cache.example.com/v1, subresource \"\"\n"),
        (asked(whole(), "subResource", json!("status")), "UPDATE of Memcached in cache.example.com/v1, subresource \"status\"\n"),
        (
            asked(whole(), "kind", kind("cache.example.com", "v1alpha1", "Memcached")),
            "UPDATE of Memcached in cache.example.com/v1alpha1, subresource \"\"\n",
        ),
        (asked(whole(), "kind", kind("", "v1", "Pod")), "UPDATE of Pod in /v1, subresource \"\"\n"),
        (asked(scale("cache", None), "operation", json!("CREATE")), "CREATE of Scale in autoscaling/v1, subresource \"scale\"\n"),
        (asked(scale("cache", None), "subResource", json!(null)), "UPDATE of Scale in autoscaling/v1, subresource \"\"\n"),
    ];
    for (body, says) in cases {
        assert_eq!(post(VALIDATE, body).await, (StatusCode::BAD_REQUEST, format!("{SAYS}{says}")));
    }
    let (status, text) = post(VALIDATE, asked(whole(), "object", json!(null))).await;
    assert_eq!((status, text.as_str()), (StatusCode::BAD_REQUEST, "the request holds no object\n"));
}

#[tokio::test]
async fn large_bodies_are_refused_and_those_within_bounds_are_read() {
    let spaces = |length: usize| vec![b' '; length];
    assert_eq!(post(VALIDATE, spaces(10 * MIB)).await, (StatusCode::PAYLOAD_TOO_LARGE, "the body is over 8 MiB\n".to_owned()));
    assert_eq!(post(CONVERT, spaces(17 * MIB)).await, (StatusCode::PAYLOAD_TOO_LARGE, "the body is over 16 MiB\n".to_owned()));
    assert_eq!(post(CONVERT, spaces(10 * MIB)).await.0, StatusCode::BAD_REQUEST);
    let mut object = ready("cache", 1);
    object["metadata"]["annotations"] = json!({ "example.com/large": "x".repeat(3 * MIB) });
    let answer = review(router(Vec::new(), &[]), VALIDATE, &write("UPDATE", "v1", &object, &object)).await;
    assert_eq!(answer["allowed"], true);
    let answer = review(router(Vec::new(), &[]), CONVERT, &conversion("cache.example.com/v1alpha1", &[object.clone(), object])).await;
    assert_eq!(answer["result"]["status"], "Success");
}

#[tokio::test]
async fn depth_ends_in_a_sentence_and_not_in_the_stack() {
    for depth in [200, 10_000, 500_000] {
        let nest = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let body = |review: &Value| review.to_string().replace("\"DEEP\"", &nest);
        let mut object = ready("cache", 1);
        object["spec"]["memory"] = json!("DEEP");
        let (status, text) = post(VALIDATE, body(&write("CREATE", "v1", &Value::Null, &object))).await;
        let says = if depth > 200 { "too many lists" } else { "recursion limit exceeded" };
        assert!(status == StatusCode::OK && text.contains("\"allowed\":false") && text.contains(says), "{text}");
        let (status, text) = post(CONVERT, body(&conversion("cache.example.com/v1alpha1", &[object]))).await;
        assert!(status == StatusCode::OK && text.contains("\"Failed\"") && text.contains(says), "{text}");
        // Where nothing of ours is, depth is the API server's business.
        let mut object = ready("cache", 1);
        object["metadata"]["managedFields"] = json!("DEEP");
        let (status, text) = post(CONVERT, body(&conversion("cache.example.com/v1alpha1", &[object]))).await;
        assert!(status == StatusCode::OK && text.contains("Success") && text.contains(&nest), "{status}");
        // Depth in the place of a word of the review itself.
        let (status, text) = post(VALIDATE, body(&json!({ "apiVersion": "DEEP" }))).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{text}");
    }
}

/// A list of lists takes fifty times its text, and more, once it is taken apart.
#[tokio::test]
async fn what_is_large_in_memory_alone_is_not_taken_apart() {
    let pieces = format!("[{}]", vec!["[0]"; 10_000].join(","));
    let mut object = ready("cache", 1);
    object["spec"]["memory"] = json!("PIECES");
    let body = |review: &Value| review.to_string().replace("\"PIECES\"", &pieces);
    let (status, text) = post(VALIDATE, body(&write("CREATE", "v1", &Value::Null, &object))).await;
    assert!(status == StatusCode::OK && text.contains("\"allowed\":false") && text.contains("it has too many lists"), "{text}");
    let (status, text) = post(CONVERT, body(&conversion("cache.example.com/v1alpha1", &[object]))).await;
    assert!(status == StatusCode::OK && text.contains("\"Failed\"") && text.contains("too many lists"), "{text}");
    // Many fields that nobody knows cost no more than their number.
    let junk = (0..20_000).map(|field| format!("\"f{field}\":0,")).collect::<Vec<_>>().concat();
    let mut object = ready("cache", 1);
    object["spec"]["memory"] = json!(7);
    let whole = write("CREATE", "v1", &Value::Null, &object).to_string();
    let (status, text) = post(VALIDATE, whole.replace("\"spec\":{", &format!("\"spec\":{{{junk}"))).await;
    assert!(status == StatusCode::OK && text.contains("spec.memory"), "{text}");
}

#[tokio::test]
async fn other_methods_paths_and_types_are_told_apart() {
    let cases = [
        ("GET", VALIDATE, "application/json", 405, "this path does not answer GET\n"),
        ("DELETE", CONVERT, "application/json", 405, "this path does not answer DELETE\n"),
        ("POST", "/validate/other", "application/json", 404, "nothing is served at /validate/other\n"),
        ("POST", "/validate/other/secret", "application/json", 404, "nothing is served at /validate/other/secret\n"),
        ("POST", "/validate/memcached", "application/json", 404, "nothing is served at /validate/memcached\n"),
        ("GET", "/", "", 404, "nothing is served at /\n"),
        ("GET", "/healthz", "", 404, "nothing is served at /healthz\n"),
        ("POST", VALIDATE, "text/plain", 415, "a review is application/json, not \"text/plain\"\n"),
        ("POST", CONVERT, "application/yaml", 415, "a review is application/json, not \"application/yaml\"\n"),
    ];
    for (method, path, kind, code, says) in cases {
        let (status, text) = ask(router(Vec::new(), &[]), method, path, kind, b"{}".to_vec()).await;
        assert_eq!((status.as_u16(), text.as_str()), (code, says), "{method} {path}");
    }
}

#[tokio::test]
async fn the_kubelet_is_told_of_health_and_nobody_else_asks_there() {
    let health = || health(Arc::new(|| vec!["the bundle was not read yet".to_owned()]));
    let cases = [
        ("GET", "/healthz", 200, "ok\n"),
        ("GET", "/readyz", 503, "not ready: the bundle was not read yet\n"),
        ("POST", "/healthz", 405, "this path does not answer POST\n"),
        ("POST", VALIDATE, 404, "nothing is served at /validate/memcached/secret\n"),
    ];
    for (method, path, code, says) in cases {
        let (status, text) = ask(health(), method, path, "", Vec::new()).await;
        assert_eq!((status.as_u16(), text.as_str()), (code, says), "{method} {path}");
    }
}

#[tokio::test]
async fn of_who_does_not_know_the_path_nothing_is_read() {
    let endless = Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let request = Request::post("/validate/memcached/guessed").header("content-type", "application/json").body(endless).expect("a request");
    let answer = timeout(Duration::from_secs(2), router(Vec::new(), &[]).oneshot(request)).await.expect("it waits for no body");
    assert_eq!(answer.expect("a router always answers").status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_bug_is_answered_and_not_quoted() {
    let (status, text) = post(VALIDATE, scale("panic", Some(1)).to_string()).await;
    assert_eq!((status.as_u16(), text.as_str()), (500, "this request met a bug in the operator; its log names the line\n"));
}

/// Clients that announce a small body, send `said` bytes of it, and then nothing more.
async fn slow(address: SocketAddr, said: usize) -> Vec<TcpStream> {
    let head = format!("POST {VALIDATE} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", MIB / 4);
    let mut clients = Vec::new();
    for _ in 0..100 {
        let mut client = TcpStream::connect(address).await.expect("it is taken");
        client.write_all(format!("{head}{}", " ".repeat(said)).as_bytes()).await.expect("it is sent");
        clients.push(client);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    clients
}

#[tokio::test]
async fn however_many_bodies_come_slowly_no_usual_review_waits() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(axum::serve(listener, router(Vec::new(), &[])).into_future());
    let judged = async |padding: usize| {
        let object = with(ready("cache", 1), "/metadata/annotations", json!({ "example.com/long": "x".repeat(padding) }));
        let asked = write("CREATE", "v1", &Value::Null, &object);
        let answer = timeout(Duration::from_secs(1), review(router(Vec::new(), &[]), VALIDATE, &asked)).await;
        assert_eq!(answer.expect("it waits for those who are slow")["allowed"], true);
    };
    let silent = slow(address, 1).await;
    judged(0).await;
    judged(100 * 1024).await;
    // Those that sent a part hold all of the room.
    let begun = slow(address, 64 * 1024).await;
    judged(20 * 1024).await;
    drop((silent, begun));
}

#[tokio::test]
async fn large_bodies_that_come_slowly_keep_no_review_waiting_and_give_up_soon() {
    let slow = || {
        let body = Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::convert::Infallible>>());
        let request = Request::post(VALIDATE).header("content-type", "application/json");
        tokio::spawn(router(Vec::new(), &[]).oneshot(request.body(body).expect("a request")))
    };
    let slow: Vec<_> = (0..2).map(|_| slow()).collect();
    tokio::task::yield_now().await;
    let answer = review(router(Vec::new(), &[]), VALIDATE, &write("CREATE", "v1", &Value::Null, &ready("cache", 1))).await;
    assert_eq!(answer["allowed"], true);
    assert!(slow.iter().all(|one| !one.is_finished()), "they hold their room still");
    for one in slow {
        let answer = one.await.expect("no panic").expect("a router always answers");
        assert_eq!(answer.status(), StatusCode::REQUEST_TIMEOUT);
    }
}
