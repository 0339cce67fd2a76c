//! What must not be lost: secrets, volumes, and what the garbage collector must know nothing of.

use super::fake::{Fake, Write, forgotten, refusal};
use super::vault::Vault;
use super::{DEPLOYMENT, EVENT, SERVICE, STATUS, cached, only, run, run_of};
use k8s_openapi::api::core::v1::Secret;
use pointsman::controller::perform::{Owner, Performed, perform};
use pointsman::kinds::children::Slot;
use pointsman::kinds::memcached::{Memcached, v1};
use pointsman::kinds::order::{ChildKind, ChildRef, Fate, Order};
use serde_json::{Value, from_value, json};
use std::sync::Arc;
use std::time::Duration;

const VAULT: &str = "PATCH /apis/test.example.com/v1/namespaces/shop/vaults/safe";
const SECRETS: &str = "POST /api/v1/namespaces/shop/secrets";
const MOMENT: Duration = Duration::from_secs(5);

fn vault(doomed: Option<&str>) -> Value {
    json!({
        "apiVersion": "test.example.com/v1", "kind": "VaultObject",
        "metadata": { "name": "safe", "namespace": "shop", "uid": "v-1", "resourceVersion": "42", "generation": 1 },
        "spec": { "doomed": doomed },
    })
}

/// An object that is labelled as a child of the object of uid `owner`, controlled by `controllers`.
fn labelled(name: &str, uid: &str, owner: &str, controllers: &Value) -> Value {
    let labels = json!({ "app.kubernetes.io/managed-by": "pointsman", "pointsman.dev/owner-uid": owner });
    json!({ "metadata": { "name": name, "namespace": "shop", "uid": uid, "resourceVersion": "7", "labels": labels, "ownerReferences": controllers } })
}

fn somebody() -> Value {
    json!([{ "apiVersion": "v1", "kind": "Web", "name": "shop-web", "uid": "w-1", "controller": true }])
}

fn secret() -> Value {
    let mut secret = labelled("safe-app", "s-1", "v-1", &json!([]));
    secret["data"] = json!({ "password": "aHVudGVyMg==" });
    secret
}

#[tokio::test(start_paused = true)]
async fn a_child_by_label_is_ours_and_one_that_somebody_controls_is_not_whatever_its_labels_say() {
    let fake = Fake::new(&[("memcacheds", cached()), ("services", labelled("cache", "s-1", "u-1", &json!([])))], |_, _| None);
    run(&fake, MOMENT).await;
    let write = fake.writes().into_iter().find(|write| write.path.ends_with("/services/cache")).expect("a write");
    assert!(write.query.contains("force=true") && write.body["metadata"]["uid"] == "s-1", "{write:?}");

    for (list, owner, controllers, words) in [
        ("services", "u-1", somebody(), "it is controlled by Web shop-web"),
        ("services!", "u-1", somebody(), "it is controlled by Web shop-web"),
        ("services", "u-0", json!([]), "it is labelled as a child of the object of uid u-0"),
    ] {
        let fake = Fake::new(&[("memcacheds", cached()), (list, labelled("cache", "s-1", owner, &controllers))], |_, _| None);
        run(&fake, MOMENT).await;
        assert_eq!(fake.calls(), [STATUS, EVENT]);
        assert_eq!(fake.writes()[0].body["status"]["intervention"]["evidence"][0]["words"], words);
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_by_label_that_lost_our_own_label_is_still_ours() {
    let mut service = labelled("cache", "s-1", "u-1", &json!([]));
    service["metadata"]["labels"].as_object_mut().unwrap().remove("app.kubernetes.io/managed-by");
    let fake = Fake::new(&[("memcacheds", cached()), ("services!", service)], |_, _| None);
    run(&fake, MOMENT).await;
    assert!(only(&fake.calls(), DEPLOYMENT) > 0 && only(&fake.calls(), SERVICE) > 0, "{:?}", fake.calls());
}

#[tokio::test(start_paused = true)]
async fn an_event_of_a_child_by_label_reaches_its_owner() {
    let fake = Fake::new(&[("vaults", vault(None)), ("secrets", secret())], |_, _| None);
    let news = async {
        tokio::time::sleep(Duration::from_mins(1)).await;
        for (name, controllers) in [("old", json!([])), ("theirs", somebody())] {
            fake.tell("configmaps", "MODIFIED", &labelled(name, name, "v-1", &controllers));
        }
    };
    tokio::join!(run_of::<Vault>(&fake, Duration::from_secs(90)), news);
    let removed: Vec<String> = fake.calls().into_iter().filter(|call| call.starts_with("DELETE")).collect();
    assert!(!removed.is_empty() && removed.iter().all(|call| call.ends_with("/configmaps/old")), "{:?}", fake.calls());
}

#[tokio::test(start_paused = true)]
async fn the_finalizer_goes_first_over_the_version_that_was_recorded_and_a_secret_is_made() {
    let fake = Fake::new(&[("vaults", vault(None))], |_, _| None);
    run_of::<Vault>(&fake, MOMENT).await;
    assert_eq!(fake.calls(), [&format!("{VAULT}/status") as &str, VAULT, SECRETS]);
    let writes = fake.writes();
    let tests = [("/metadata/resourceVersion", "1000"), ("/metadata/uid", "v-1")];
    let tests = tests.map(|(path, value)| json!({ "op": "test", "path": path, "value": value }));
    let add = json!({ "op": "add", "path": "/metadata/finalizers", "value": ["test.example.com/guard"] });
    assert_eq!(writes[1].body, json!([tests[0], tests[1], add]));
    assert!(writes[2].body["stringData"]["password"].as_str().is_some_and(|password| !password.is_empty()));
    assert_eq!(writes[2].body["metadata"]["labels"]["pointsman.dev/owner-uid"], "v-1");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_made_without_the_finalizer_that_guards_it() {
    for code in [403, 409, 422] {
        let refuses = move |write: &Write, _| (write.path.ends_with("/vaults/safe")).then(|| refusal(code, "no"));
        let fake = Fake::new(&[("vaults", vault(None))], refuses);
        run_of::<Vault>(&fake, Duration::from_mins(2)).await;
        assert!(only(&fake.trials(), VAULT) > 1, "it is tried again: {:?}", fake.trials());
        assert_eq!((only(&fake.calls(), VAULT), only(&fake.calls(), SECRETS)), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn the_finalizer_waits_where_it_would_empty_the_managed_fields() {
    let mut owned = vault(None);
    owned["metadata"]["managedFields"] = json!([{ "manager": "somebody" }]);
    let fake = Fake::new(&[("vaults", owned)], |write, _| forgotten(write));
    run_of::<Vault>(&fake, Duration::from_mins(2)).await;
    assert!(only(&fake.trials(), VAULT) > 1, "it is tried again: {:?}", fake.trials());
    assert_eq!((only(&fake.calls(), VAULT), only(&fake.calls(), SECRETS)), (0, 0));
    // Where somebody has emptied them before, nothing is lost.
    let fake = Fake::new(&[("vaults", vault(None))], |write, _| forgotten(write));
    run_of::<Vault>(&fake, MOMENT).await;
    assert_eq!((only(&fake.calls(), VAULT), only(&fake.calls(), SECRETS)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_failed_reading_decides_nothing() {
    for unread in ["secrets", "storageclasses"] {
        let fake = Fake::new(&[("vaults", vault(None)), (format!("{unread} fails").as_str(), Value::Null)], |_, _| None);
        run_of::<Vault>(&fake, Duration::from_mins(2)).await;
        assert_eq!(fake.calls(), [""; 0], "nobody knows whether there are {unread}");
        fake.allow(unread);
        run_of::<Vault>(&fake, MOMENT).await;
        assert_eq!(only(&fake.calls(), SECRETS), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn secrets_are_read_when_something_happens_and_seldom_else() {
    const HOUR: Duration = Duration::from_hours(1);
    let minutes = |minutes| tokio::time::sleep(Duration::from_mins(minutes));
    let resting = Fake::new(&[("vaults", vault(None)), ("secrets", secret())], |_, _| None);
    let read = || resting.read("/api/v1/namespaces/shop/secrets/safe-app");
    let classes = || resting.read("/apis/storage.k8s.io/v1/storageclasses");
    let events = async {
        minutes(10).await;
        assert_eq!((read(), classes()), (1, 1), "nothing happens");
        // A child tells something several times within half a minute.
        for _ in 0..4 {
            resting.tell("configmaps", "MODIFIED", &labelled("theirs", "theirs", "v-1", &somebody()));
            tokio::time::sleep(Duration::from_secs(6)).await;
        }
        assert_eq!(read(), 2);
        minutes(1).await;
        assert_eq!(read(), 3, "what happened after the first of them counts too");
        // What a person says of the object is answered by what stands now.
        let mut said = vault(None);
        (said["metadata"]["resourceVersion"], said["metadata"]["annotations"]) = (json!("2000"), json!({ "example.com/looked": "once" }));
        resting.tell("vaults", "MODIFIED", &said);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(read(), 4);
    };
    tokio::join!(run_of::<Vault>(&resting, HOUR), events);
    assert!((6..=8).contains(&read()), "two or three times in an hour at rest: {}", read());
    assert_eq!(classes(), 1, "they are watched");

    // A Secret that is made is read again by the next look.
    let made = Fake::new(&[("vaults", vault(None))], |_, _| None);
    run_of::<Vault>(&made, Duration::from_secs(20)).await;
    assert!(made.read("/api/v1/namespaces/shop/secrets/safe-app") > 1 && only(&made.calls(), SECRETS) >= 1);
}

#[tokio::test(start_paused = true)]
async fn a_right_that_is_missing_is_told_on_the_object_and_told_again_while_it_is() {
    for (minutes, told) in [(9, 1), (15, 2)] {
        let fake = Fake::new(&[("vaults", vault(None)), ("storageclasses forbidden", Value::Null)], |_, _| None);
        run_of::<Vault>(&fake, Duration::from_mins(minutes)).await;
        assert_eq!(fake.calls(), vec![EVENT; told], "nothing else is done");
        let event = &fake.writes()[0].body;
        assert_eq!(
            (&event["reason"], &event["type"], &event["regarding"]["name"]),
            (&json!("RightMissing"), &json!("Warning"), &json!("safe"))
        );
        assert_eq!(
            event["note"],
            "nothing is done, since the operator lacks a right here; give it back to its ServiceAccount: \
             storageclasses.storage.k8s.io is forbidden: User \"pointsman\" cannot list them"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_removed_for_good_is_decided_on_a_live_read_of_the_very_object() {
    let claim = |uid| labelled("safe", uid, "v-1", &json!([]));
    for (live, removed) in [("c-1", true), ("c-2", false)] {
        let lists = [
            ("vaults", vault(Some("c-1"))),
            ("secrets", secret()),
            ("persistentvolumeclaims", claim("c-1")),
            ("persistentvolumeclaims@", claim(live)),
        ];
        let fake = Fake::new(&lists, |_, _| None);
        run_of::<Vault>(&fake, MOMENT).await;
        let deletion = fake.writes().into_iter().find(|write| write.path.ends_with("/persistentvolumeclaims/safe"));
        assert_eq!(deletion.is_some(), removed, "the API server has {live}");
        if let Some(deletion) = deletion {
            assert_eq!(deletion.body["preconditions"], json!({ "uid": "c-1", "resourceVersion": "7" }));
        }
    }
}

/// Makes a child where `there` stands already.
async fn made(kind: ChildKind, list: &str, there: Value) -> (Fake, Performed) {
    let taken = |write: &Write, _| {
        let (code, mut status) = refusal(409, "already exists");
        status["reason"] = json!("AlreadyExists");
        (write.method == http::Method::POST).then_some((code, status))
    };
    let fake = Fake::new(&[(list, there)], taken);
    let object: v1::Memcached = from_value(cached()).expect("an object");
    let order = Order::Create { child: ChildRef { kind, name: "safe-app".to_owned() }, object: json!({}) };
    let performed = perform(&fake.client(), &Owner::of::<Memcached>(&object, None), &[order]).await;
    (fake, performed)
}

#[tokio::test(start_paused = true)]
async fn what_is_made_never_overwrites() {
    for (kind, list) in [(ChildKind::Secret, "secrets"), (ChildKind::Job, "jobs?")] {
        let (fake, performed) = made(kind, list, labelled("safe-app", "s-1", "u-1", &json!([]))).await;
        assert!(performed.outdated && performed.refusal.is_none(), "{performed:?}");
        assert_eq!(fake.calls().len(), 1, "{:?}", fake.calls());
        for (owner, controllers) in [("u-1", somebody()), ("u-0", json!([]))] {
            let (fake, performed) = made(kind, list, labelled("safe-app", "s-1", owner, &controllers)).await;
            assert_eq!(performed.refusal.map(|refusal| refusal.fate), Some(Fate::Taken));
            assert_eq!(fake.calls().len(), 1, "{:?}", fake.calls());
        }
    }
}

#[test]
fn what_a_secret_holds_is_not_shown() {
    let secret: Secret = from_value(secret()).expect("a secret");
    let shown = format!("{:?}", Slot::Ours(Arc::new(secret)));
    assert_eq!(shown, "Ours(Some(\"s-1\"), not shown)");
}
