//! The controller against an API server that is told what to answer: which calls, in which order.

mod backoff;
mod cache;
mod fake;
mod fence;
mod guarded;
mod lease;
mod lines;
mod panics;
mod scrape;
mod unused;
mod vault;

use fake::{Fake, Write, forgotten, illegal, refusal};
use pointsman::config::Config;
use pointsman::controller::Controller;
use pointsman::controller::lease::{Leadership, Term};
use pointsman::kinds::Served;
use pointsman::kinds::memcached::Memcached;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch::Sender;

const STATUS: &str = "PATCH /apis/cache.example.com/v1/namespaces/shop/memcacheds/cache/status";
const EVENT: &str = "POST /apis/events.k8s.io/v1/namespaces/shop/events";
const SERVICE: &str = "PATCH /api/v1/namespaces/shop/services/cache";
const DEPLOYMENT: &str = "PATCH /apis/apps/v1/namespaces/shop/deployments/cache";
const BUDGET: &str = "PATCH /apis/policy/v1/namespaces/shop/poddisruptionbudgets/cache";

/// An object as a user made it.
fn cached() -> Value {
    json!({
        "apiVersion": "cache.example.com/v1", "kind": "Memcached",
        "metadata": { "name": "cache", "namespace": "shop", "uid": "u-1", "resourceVersion": "42", "generation": 1 },
        "spec": { "replicas": 3 },
    })
}

/// The same, and its first pods are late.
fn late() -> Value {
    let mut cache = cached();
    let spec = json!({ "replicas": 3, "image": "docker.io/library/memcached:1.6" });
    cache["status"] = json!({
        "state": "Creating", "deadlineTime": "2020-01-01T00:00:00Z", "progress": 0,
        "applied": { "generation": 1, "renderer": 1, "spec": spec },
    });
    cache
}

/// Runs the controller for `time`, which passes in no time.
async fn run(fake: &Fake, time: Duration) {
    run_of::<Memcached>(fake, time).await;
}

/// The same for another kind.
async fn run_of<K: Served>(fake: &Fake, time: Duration) {
    let settled = Config::parse(["pointsman".into()]).unwrap();
    let config = Config { concurrency: 4, api_qps: 0.0, api_burst: 0, ..settled };
    let term = Sender::new(Term::Unlimited);
    let leadership = Leadership::of(&term);
    let (controller, watches) = Controller::<K>::new(fake.client(), &config, leadership.clone());
    tokio::select! {
        () = controller.run(leadership, tokio::time::sleep(time)) => {}
        never = watches.run() => match never {},
    }
}

fn only(calls: &[String], call: &str) -> usize {
    calls.iter().filter(|other| *other == call).count()
}

#[tokio::test(start_paused = true)]
async fn the_intent_is_recorded_over_the_version_that_was_seen_and_then_performed() {
    let fake = Fake::new(&[("memcacheds", cached())], |_, _| None);
    run(&fake, Duration::from_secs(5)).await;
    let (calls, writes) = (fake.calls(), fake.writes());
    assert_eq!(calls[0], STATUS);
    let mut after = calls[1..].to_vec();
    after.sort();
    assert_eq!(after, [SERVICE, DEPLOYMENT, BUDGET, EVENT]);
    let status = &writes[0].body;
    assert_eq!(status["metadata"], json!({ "name": "cache", "namespace": "shop", "uid": "u-1", "resourceVersion": "42" }));
    assert_eq!(status["status"]["state"], "Creating");
    assert!(writes[0].query.contains("fieldManager=pointsman-status") && writes[0].query.contains("force=true"));
    for child in writes.iter().filter(|write| write.path.ends_with("/cache")) {
        assert!(child.query.contains("fieldManager=pointsman&fieldValidation=Strict"), "{}", child.query);
        assert!(!child.query.contains("force"), "the first apply is never forced");
        assert!(child.body["metadata"]["uid"].is_null());
    }
    let event = writes.iter().find(|write| write.path.ends_with("/events")).unwrap();
    assert_eq!(
        event.body["regarding"],
        json!({ "apiVersion": "cache.example.com/v1", "kind": "Memcached", "name": "cache", "namespace": "shop", "uid": "u-1" })
    );
    assert_eq!(
        (&event.body["reason"], &event.body["action"], &event.body["type"]),
        (&json!("FirstRollout"), &json!("Creating"), &json!("Normal"))
    );
    assert_eq!(event.body["note"], "Pending -> Creating: creating 3 pods");
}

#[tokio::test(start_paused = true)]
async fn an_outdated_decision_is_void_and_the_next_look_decides() {
    let fake = Fake::new(&[("memcacheds", cached())], |write, before| {
        (write.path.ends_with("/status") && before == 0).then(|| refusal(409, "the object has been modified"))
    });
    run(&fake, Duration::from_secs(5)).await;
    let calls = fake.calls();
    assert_eq!(calls[..2], [STATUS, STATUS], "nothing is ordered or told after a conflict: {calls:?}");
    assert_eq!(only(&calls, SERVICE), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_reaches_the_next_look_in_the_words_of_the_api_server() {
    let fake =
        Fake::new(&[("memcacheds", late())], |write, _| write.path.ends_with("/services/cache").then(|| refusal(403, "exceeded quota: q")));
    run(&fake, Duration::from_secs(30)).await;
    let (calls, writes) = (fake.calls(), fake.writes());
    assert!(only(&calls, DEPLOYMENT) > 0, "a refused Service keeps nobody from the Deployment");
    let last = writes.iter().rev().find(|write| write.path.ends_with("/status")).unwrap();
    assert_eq!(last.body["status"]["state"], "HumanIntervention");
    assert_eq!(
        last.body["status"]["intervention"]["evidence"],
        json!([{ "kind": "Service", "name": "cache", "words": "exceeded quota: q" }])
    );
    let told = writes.iter().rev().find(|write| write.path.ends_with("/events")).unwrap();
    assert_eq!(told.body["type"], "Warning");
}

#[tokio::test(start_paused = true)]
async fn a_patch_that_came_too_late_is_no_refusal_and_one_that_is_illegal_is() {
    let service = json!({ "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": "cache", "namespace": "shop", "uid": "s-1", "resourceVersion": "7",
            "labels": { "app.kubernetes.io/managed-by": "pointsman" },
            "ownerReferences": [{ "apiVersion": "cache.example.com/v1", "kind": "Memcached", "name": "cache", "uid": "u-1", "controller": true }] },
        "spec": { "ports": [{ "name": "memcached", "port": 11212, "protocol": "TCP" }] } });
    for (causes, state) in [(json!([]), "Creating"), (json!([{ "field": "spec.ports[0]", "message": "not so" }]), "HumanIntervention")] {
        let fake = Fake::new(&[("memcacheds", late()), ("services", service.clone())], move |write, _| {
            let answer = || {
                let (code, mut status) = refusal(422, "the ports are not so");
                status["details"] = json!({ "causes": causes });
                (code, status)
            };
            write.path.ends_with("/services/cache").then(answer)
        });
        run(&fake, Duration::from_secs(30)).await;
        let writes = fake.writes();
        let patch = writes.iter().find(|write| write.path.ends_with("/services/cache")).unwrap();
        assert_eq!(patch.body[0]["op"], "test", "{}", patch.body);
        let last = writes.iter().rev().find(|write| write.path.ends_with("/status")).unwrap();
        assert_eq!(last.body["status"]["state"], state);
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_last_is_written_ever_more_seldom() {
    let fake = Fake::new(&[("memcacheds", cached())], |write, _| write.path.ends_with("/services/cache").then(|| refusal(403, "no")));
    run(&fake, Duration::from_mins(2)).await;
    let tries = only(&fake.calls(), SERVICE);
    assert!((5..=12).contains(&tries), "{tries} tries in two minutes");
}

#[tokio::test(start_paused = true)]
async fn a_strangers_object_is_never_written() {
    let stranger = json!({ "metadata": { "name": "cache", "namespace": "shop", "uid": "s-1", "resourceVersion": "7",
        "ownerReferences": [{ "apiVersion": "v1", "kind": "Web", "name": "shop-web", "uid": "w-1", "controller": true }] } });
    let labelled = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "cache", "namespace": "shop", "uid": "s-2", "resourceVersion": "7" } });
    let belongs = "; it belongs to another: use another name";
    for (list, object, owner, next) in [
        ("services!", stranger, "it is controlled by Web shop-web", belongs),
        ("services", labelled, "nobody controls it", "; delete it, or "),
    ] {
        let fake = Fake::new(&[("memcacheds", cached()), (list, object)], |_, _| None);
        run(&fake, Duration::from_mins(1)).await;
        assert_eq!(fake.calls(), [STATUS, EVENT]);
        assert_eq!(fake.trials(), [SERVICE, SERVICE], "the API server is asked whether it could be adopted");
        let status = &fake.writes()[0].body["status"];
        assert_eq!(status["intervention"]["reason"], "ChildConflict");
        assert!(status["message"].as_str().is_some_and(|message| message.contains(next)), "{}", status["message"]);
        assert_eq!(status["endpoints"], Value::Null, "clients would find what is somebody else's");
        assert_eq!(status["intervention"]["evidence"], json!([{ "kind": "Service", "name": "cache", "words": owner }]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stranger_that_appears_while_we_create_is_given_back() {
    let fake = Fake::new(&[("memcacheds", cached())], |write: &Write, before| {
        let service = write.path.ends_with("/services/cache") && before == 0;
        service.then(|| {
            let written = json!([{ "manager": "kubectl", "operation": "Update" }, { "manager": "pointsman", "operation": "Apply" }]);
            (200, json!({ "metadata": { "name": "cache", "namespace": "shop", "uid": "s-1", "resourceVersion": "9", "managedFields": written } }))
        })
    });
    run(&fake, Duration::from_millis(400)).await;
    let writes = fake.writes();
    let given: Vec<&Write> = writes.iter().filter(|write| write.path.ends_with("/services/cache")).collect();
    assert_eq!(given.len(), 2);
    assert!(given[1].query.contains("force=true"));
    assert_eq!(
        given[1].body,
        json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "cache", "namespace": "shop", "uid": "s-1" } })
    );
}

#[tokio::test(start_paused = true)]
async fn a_child_that_a_late_cache_does_not_show_is_no_strangers() {
    let owner =
        |uid: &str| json!([{ "apiVersion": "cache.example.com/v1", "kind": "Memcached", "name": "cache", "uid": uid, "controller": true }]);
    for (uid, writes) in [("u-1", false), ("u-0", true)] {
        let service = json!({ "metadata": { "name": "cache", "namespace": "shop", "uid": "s-1", "resourceVersion": "7", "ownerReferences": owner(uid) } });
        let fake = Fake::new(&[("memcacheds", late()), ("services?", service)], |_, _| None);
        run(&fake, Duration::from_secs(5)).await;
        let calls = fake.calls();
        assert_eq!(only(&calls, SERVICE) > 0, writes, "controlled by {uid}: {calls:?}");
        assert!(only(&calls, DEPLOYMENT) > 0, "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_of_a_deleted_namesake_is_waited_out_before_it_is_a_conflict() {
    let orphan = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "cache", "namespace": "shop", "uid": "s-1", "resourceVersion": "7",
        "ownerReferences": [{ "apiVersion": "cache.example.com/v1", "kind": "Memcached", "name": "cache", "uid": "u-0", "controller": true }] } });
    let fake = Fake::new(&[("memcacheds", cached()), ("services", orphan)], |_, _| None);
    run(&fake, Duration::from_secs(44)).await;
    assert_eq!(fake.calls(), [""; 0], "the garbage collector gets its time");
    run(&fake, Duration::from_mins(1)).await;
    assert_eq!(fake.calls(), [STATUS, EVENT], "and where it does not come, a person is asked");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_is_asked_about_and_stops_nobody_else() {
    let mut broken = cached();
    (broken["metadata"]["name"], broken["metadata"]["uid"]) = (json!("broken"), json!("u-2"));
    broken["spec"]["replicas"] = json!("three");
    let fake = Fake::new(&[("memcacheds", broken), ("memcacheds", cached())], |_, _| None);
    run(&fake, Duration::from_secs(5)).await;
    assert_eq!(only(&fake.calls(), DEPLOYMENT), 1);
    let about: Vec<Write> = fake.writes().into_iter().filter(|write| write.path.contains("/broken")).collect();
    let [asked] = about.as_slice() else { panic!("{about:?}") };
    let question = &asked.body["status"]["intervention"];
    assert_eq!(question["reason"], "SpecInvalid");
    assert!(question["evidence"][0]["words"].as_str().is_some_and(|words| words.starts_with("spec: the stored one cannot be read: ")));
}

#[tokio::test(start_paused = true)]
async fn nobody_steps_before_everything_was_listed_once() {
    let fake = Fake::new(&[("memcacheds", cached()), ("pods fails", Value::Null)], |_, _| None);
    let later = fake.clone();
    let check = async {
        tokio::time::sleep(Duration::from_mins(5)).await;
        assert_eq!(later.calls(), [""; 0]);
        later.allow("pods");
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(later.calls()[0], STATUS);
    };
    tokio::join!(run(&fake, Duration::from_secs(400)), check);
}

#[tokio::test(start_paused = true)]
async fn a_status_that_is_refused_is_told_and_tried_ever_more_seldom_and_nothing_is_ordered() {
    let fake = Fake::new(&[("memcacheds", cached())], |write, _| write.path.ends_with("/status").then(|| illegal("undeclared move")));
    run(&fake, Duration::from_mins(2)).await;
    let calls = fake.calls();
    // Twice each time: an apply, and the whole of it, which is tried first.
    assert!((5..=12).contains(&only(&calls, STATUS)), "{calls:?}");
    assert_eq!(only(&fake.trials(), STATUS), only(&calls, STATUS));
    assert_eq!((only(&calls, EVENT), only(&calls, STATUS) + 1), (1, calls.len()), "it is told once");
}

#[tokio::test(start_paused = true)]
async fn a_status_that_an_apply_cannot_take_back_is_replaced_and_conditions_of_others_stay() {
    let theirs = json!({ "type": "Theirs", "status": "True", "reason": "So", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" });
    let mut touched = cached();
    touched["status"] = json!({ "conditions": [theirs] });
    let fake = Fake::new(&[("memcacheds", touched)], |write, _| {
        (write.path.ends_with("/status") && write.body.is_object()).then(|| illegal("status.intervention.about: Required value"))
    });
    run(&fake, Duration::from_secs(1)).await;
    assert_eq!((&fake.calls()[..2], only(&fake.calls(), SERVICE)), (&[STATUS, STATUS].map(str::to_owned)[..], 1));
    let whole = &fake.writes()[1].body;
    assert_eq!(whole[0], json!({ "op": "test", "path": "/metadata/uid", "value": "u-1" }));
    assert_eq!(whole[1], json!({ "op": "test", "path": "/metadata/resourceVersion", "value": "42" }));
    assert_eq!((&whole[2]["path"], &whole[2]["value"]["state"]), (&json!("/status"), &json!("Creating")));
    let conditions = whole[2]["value"]["conditions"].as_array().expect("conditions");
    assert!(conditions.len() > 1 && conditions.contains(&theirs), "{conditions:?}");
}

#[tokio::test(start_paused = true)]
async fn a_status_is_not_replaced_where_that_would_empty_the_managed_fields() {
    let refused = || illegal("status.intervention.about: Required value");
    let mut owned = cached();
    owned["metadata"]["managedFields"] = json!([{ "manager": "somebody" }]);
    let fake = Fake::new(&[("memcacheds", owned)], move |write, _| {
        let applied = write.path.ends_with("/status") && write.body.is_object();
        forgotten(write).or_else(|| applied.then(refused))
    });
    run(&fake, Duration::from_mins(2)).await;
    assert!(only(&fake.trials(), STATUS) > 1, "it is tried again: {:?}", fake.trials());
    assert!(fake.writes().iter().all(|write| write.body.is_object()), "{:?}", fake.calls());
}
