//! A cluster that migrates objects by itself, as it is asked to and told of, and what it leaves to do.

use super::api_server::{STATUS, count, definition, fault, migrated_as, one};
use pointsman::migrate::migration::{Outcome, State, outcome, state};
use serde_json::{Value, json};

const DEFINITION: &str = "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/caches.example.com";
const SERVED: &str = "GET /apis/storagemigration.k8s.io/v1";
const CREATE: &str = "POST /apis/storagemigration.k8s.io/v1/storageversionmigrations";

type Answer = Option<(u16, Value)>;

fn of(verb: &str) -> String {
    format!("{verb} /apis/storagemigration.k8s.io/v1/storageversionmigrations/pointsman-caches.example.com")
}

/// Conditions as `Running!` for one that is met and `Running` for one that is not.
fn migration(conditions: &[&str], resource_version: &str) -> Value {
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|text| {
            let status = if text.ends_with('!') { "True" } else { "False" };
            json!({ "type": text.trim_end_matches('!'), "status": status, "message": format!("{text} is why") })
        })
        .collect();
    json!({ "apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration",
        "metadata": { "name": "pointsman-caches.example.com", "uid": "u-1", "resourceVersion": resource_version },
        "spec": { "resource": { "group": "example.com", "resource": "caches" } }, "status": { "conditions": conditions } })
}

/// A cluster that serves the API, with an earlier migration or none, that goes through these conditions.
fn cluster(earlier: bool, conditions: &'static [&'static [&'static str]]) -> impl Fn(&str, usize) -> Answer {
    let at = |number: usize| (200, migration(conditions[number.min(conditions.len() - 1)], &(number + 10).to_string()));
    move |call, before| match call {
        SERVED => Some((
            200,
            json!({ "kind": "APIResourceList", "groupVersion": "storagemigration.k8s.io/v1", "resources": [
                { "name": "storageversionmigrations", "singularName": "", "namespaced": false, "kind": "StorageVersionMigration", "verbs": [] }] }),
        )),
        CREATE => Some((201, migration(&[], "9"))),
        call if call == of("GET") && before == 0 && !earlier => Some(fault(404, "not found")),
        call if call == of("GET") => Some(at(before - usize::from(!earlier))),
        call if call == of("DELETE") => Some((200, json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" }))),
        _ => None,
    }
}

/// Both, the first where it has an answer.
fn first(
    one: impl Fn(&str, usize) -> Answer + Send + Sync + 'static,
    other: impl Fn(&str, usize) -> Answer + Send + Sync + 'static,
) -> impl Fn(&str, usize) -> Answer + Send + Sync + 'static {
    move |call, before| one(call, before).or_else(|| other(call, before))
}

/// The cluster shortens what the definition says, after it was read for the first time; as it was put back, so it stays.
fn shortened(call: &str, before: usize) -> Answer {
    (call == DEFINITION && before == 1).then(|| (200, definition(&["v2"])))
}

/// It shortens that once more, after it was put back: its controller did not know yet that it has.
fn shortened_twice(call: &str, before: usize) -> Answer {
    (call == DEFINITION && before > 0).then(|| (200, definition(&["v2"])))
}

const SUCCEEDS: &[&[&str]] = &[&["Running!"], &["Running!", "Succeeded!"], &["Running", "Succeeded!"]];
const FAILS: &[&[&str]] = &[&["Running!"], &["Running!", "Failed!"], &["Running", "Failed!"]];

fn put_back() -> Value {
    json!([
        { "op": "test", "path": "/status/storedVersions", "value": ["v2"] },
        { "op": "replace", "path": "/status/storedVersions", "value": ["v1", "v2"] },
    ])
}

/// The place of the first such call.
#[track_caller]
fn place(calls: &[(String, Value)], wanted: &str) -> usize {
    calls.iter().position(|(call, _)| call == wanted).unwrap_or_else(|| panic!("no {wanted}: {calls:?}"))
}

#[tokio::test(start_paused = true)]
async fn the_cluster_migrates_and_each_object_is_checked_afterwards() {
    let (said, calls) = migrated_as(false, first(shortened, cluster(false, SUCCEEDS))).await;
    assert!(said.as_ref().is_ok_and(|said| said.contains("status.storedVersions: v1, v2 -> v2\n")), "{said:?}");
    let created = &calls[place(&calls, CREATE)].1;
    assert_eq!(created["metadata"]["name"], "pointsman-caches.example.com");
    assert_eq!(created["metadata"]["labels"], json!({ "app.kubernetes.io/managed-by": "pointsman" }));
    assert_eq!(created["spec"], json!({ "resource": { "group": "example.com", "resource": "caches" } }));
    // What the definition says is put back, then objects are gone through, and the migration goes last.
    let put = place(&calls, &one("PUT"));
    assert!(place(&calls, CREATE) < place(&calls, STATUS) && place(&calls, STATUS) < put, "{calls:?}");
    assert_eq!(calls[place(&calls, STATUS)].1, put_back());
    let [.., (status, sent), (deleted, only)] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((status.as_str(), &sent[1]["value"], &sent[2]["value"]), (STATUS, &json!(["v1", "v2"]), &json!(["v2"])));
    assert_eq!((deleted, &only["preconditions"]), (&of("DELETE"), &json!({ "uid": "u-1", "resourceVersion": "12" })));
    assert_eq!((count(&calls, STATUS), count(&calls, "PUT"), count(&calls, CREATE)), (2, 2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_failed_migration_does_not_shorten_what_the_definition_says() {
    let denied = |call: &str, _: usize| (call == one("PUT")).then(|| fault(403, "admission webhook denied the request: no"));
    let (said, calls) = migrated_as(false, first(denied, first(shortened, cluster(false, FAILS)))).await;
    let said = said.expect_err("an object cannot be written");
    assert!(said.contains("mc/one in namespace shop: admission webhook denied"), "{said}");
    assert!(said.contains("status.storedVersions of the definition stays v1, v2 "), "{said}");
    let patches: Vec<&Value> = calls.iter().filter(|(call, _)| call == STATUS).map(|(_, sent)| sent).collect();
    assert_eq!(patches, [&put_back()]);
    // It stays: the next run asks for no other one.
    assert_eq!((count(&calls, "PUT"), count(&calls, &of("DELETE"))), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn what_is_shortened_once_more_is_put_back_once_more() {
    let (said, calls) = migrated_as(false, first(shortened_twice, cluster(false, SUCCEEDS))).await;
    assert!(said.as_ref().is_ok_and(|said| said.contains("status.storedVersions: v1, v2 -> v2\n")), "{said:?}");
    let patches: Vec<&Value> = calls.iter().filter(|(call, _)| call == STATUS).map(|(_, sent)| sent).collect();
    let [once, again, last] = patches[..] else { panic!("{patches:?}") };
    assert_eq!((once, again, &last[1]["value"]), (&put_back(), &put_back(), &json!(["v1", "v2"])));

    let denied = |call: &str, _: usize| (call == one("PUT")).then(|| fault(403, "admission webhook denied the request: no"));
    let (said, calls) = migrated_as(false, first(denied, first(shortened_twice, cluster(false, FAILS)))).await;
    assert!(said.is_err());
    assert_eq!(count(&calls, STATUS), 2, "the definition says more than is true");
}

#[tokio::test(start_paused = true)]
async fn what_failed_is_written_from_here() {
    let (said, calls) = migrated_as(false, cluster(false, FAILS)).await;
    assert!(said.is_ok_and(|said| said.contains("2 written anew")));
    // Here the cluster did not shorten anything.
    assert_eq!((count(&calls, STATUS), count(&calls, &of("DELETE"))), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn the_migration_of_an_earlier_run_is_followed() {
    let (said, calls) = migrated_as(false, cluster(true, SUCCEEDS)).await;
    assert!(said.is_ok());
    assert_eq!((count(&calls, CREATE), count(&calls, &of("DELETE")), count(&calls, "PUT")), (0, 1, 2));
}

#[tokio::test(start_paused = true)]
async fn what_an_earlier_migration_shortened_is_not_believed() {
    const ENDS: [&[&[&str]]; 2] = [&[&["Running", "Failed!"]], &[&["Running", "Succeeded!"]]];
    for ended in ENDS {
        let shortened = |call: &str, _: usize| (call == DEFINITION).then(|| (200, definition(&["v2"])));
        let (said, calls) = migrated_as(false, first(shortened, cluster(true, ended))).await;
        assert!(said.is_ok());
        assert_eq!(count(&calls, CREATE), 0);
        let wider = &calls[place(&calls, STATUS)].1;
        assert_eq!(wider[1]["value"], json!(["v2", "v1"]));
        assert!(place(&calls, STATUS) < place(&calls, &of("DELETE")));
    }
}

#[tokio::test(start_paused = true)]
async fn another_run_that_creates_it_first_is_followed() {
    let exists = |call: &str, _: usize| (call == CREATE).then(|| fault(409, "already exists"));
    let (said, calls) = migrated_as(false, first(exists, cluster(false, SUCCEEDS))).await;
    assert!(said.is_ok());
    assert_eq!((count(&calls, CREATE), count(&calls, &of("DELETE"))), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn the_cluster_is_not_asked_where_nothing_older_may_be_stored() {
    let only = |call: &str, _: usize| (call == DEFINITION).then(|| (200, definition(&["v2"])));
    let (said, calls) = migrated_as(false, first(only, cluster(false, SUCCEEDS))).await;
    assert!(said.is_ok());
    assert_eq!((count(&calls, CREATE), count(&calls, STATUS), count(&calls, "PUT")), (0, 0, 2));
}

#[tokio::test(start_paused = true)]
async fn whoever_only_rewrites_has_no_migration_beside_them() {
    let (said, calls) = migrated_as(true, cluster(false, SUCCEEDS)).await;
    assert!(said.is_ok());
    assert_eq!((count(&calls, CREATE), count(&calls, &of("DELETE")), count(&calls, "PUT")), (0, 0, 2));
    let (said, calls) = migrated_as(true, cluster(true, &[&["Running!"]])).await;
    assert!(said.is_ok());
    assert_eq!((count(&calls, &of("GET")), count(&calls, &of("DELETE")), count(&calls, "PUT")), (1, 1, 2));
}

#[tokio::test(start_paused = true)]
async fn what_nobody_goes_on_with_is_deleted_and_the_objects_are_written_from_here() {
    const QUIET: [(&[&[&str]], usize); 2] = [(&[&[]], 31), (&[&["Running!"]], 152)];
    for (conditions, reads) in QUIET {
        let (said, calls) = migrated_as(false, cluster(false, conditions)).await;
        assert!(said.is_ok_and(|said| said.contains("2 written anew")));
        assert_eq!((count(&calls, &of("GET")), count(&calls, &of("DELETE"))), (reads, 1), "{conditions:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_while_it_is_deleted_is_noticed() {
    // It is given up, and just then it fails: the definition is read and put right once more.
    let changed = |call: &str, before: usize| match before {
        0 if call == of("DELETE") => Some(fault(409, "the object has been modified")),
        _ if call == of("GET") && before > 31 => Some((200, migration(&["Running", "Failed!"], "99"))),
        2 if call == DEFINITION => Some((200, definition(&["v2"]))),
        _ => None,
    };
    let (said, calls) = migrated_as(false, first(changed, cluster(false, &[&[]]))).await;
    assert!(said.is_ok());
    assert_eq!((count(&calls, &of("DELETE")), count(&calls, STATUS)), (2, 2));
    assert_eq!(calls[place(&calls, STATUS)].1, put_back());
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_cannot_be_asked_keeps_nobody_from_migrating() {
    for asked in [SERVED.to_owned(), of("GET"), CREATE.to_owned()] {
        let forbidden = move |call: &str, _: usize| (call == asked).then(|| fault(403, "forbidden"));
        let (said, calls) = migrated_as(false, first(forbidden, cluster(false, SUCCEEDS))).await;
        assert!(said.is_ok_and(|said| said.contains("2 written anew")));
        assert_eq!(count(&calls, &of("DELETE")), 0);
    }
    let kept = |call: &str, _: usize| (call == of("DELETE")).then(|| fault(403, "forbidden"));
    assert!(migrated_as(false, first(kept, cluster(false, SUCCEEDS))).await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_migration_of_something_else_is_left_alone() {
    let other = |call: &str, _: usize| {
        let mut other = migration(&[], "1");
        other["spec"]["resource"]["resource"] = json!("widgets");
        (call == of("GET")).then_some((200, other))
    };
    let (said, calls) = migrated_as(false, first(other, cluster(true, SUCCEEDS))).await;
    assert!(said.is_ok());
    assert_eq!((count(&calls, CREATE), count(&calls, &of("DELETE")), count(&calls, "PUT")), (0, 0, 2));
}

#[tokio::test(start_paused = true)]
async fn a_migration_that_somebody_deleted_is_not_waited_for() {
    let deleted = |call: &str, before: usize| (call == of("GET") && before > 2).then(|| fault(404, "not found"));
    let (said, calls) = migrated_as(false, first(deleted, cluster(false, &[&["Running!"]]))).await;
    assert!(said.is_ok_and(|said| said.contains("2 written anew")));
    assert_eq!(count(&calls, &of("DELETE")), 0);
}

#[tokio::test(start_paused = true)]
async fn nobody_goes_on_with_a_definition_that_cannot_be_put_right() {
    let fixed = |call: &str, _: usize| (call == STATUS).then(|| fault(500, "etcdserver: request timed out"));
    let (said, calls) = migrated_as(false, first(fixed, first(shortened, cluster(false, FAILS)))).await;
    assert!(said.is_err_and(|said| said.contains("is not checked yet and cannot be put back: etcdserver")));
    // It tells the next run of it.
    assert_eq!((count(&calls, "PUT"), count(&calls, &of("DELETE"))), (0, 0));
}

#[test]
fn conditions_mean_what_the_controller_means_by_them() {
    let read = |conditions: &[&str]| state(&migration(conditions, "1"));
    let failed = Outcome::Failed("Failed! is why".to_owned());
    assert_eq!(state(&json!({})), State::Pending);
    assert_eq!(read(&["Running"]), State::Pending);
    assert_eq!(read(&["Running!"]), State::Running("Running! is why".to_owned()));
    assert_eq!(read(&["Running!", "Succeeded!"]), State::Ending(Outcome::Succeeded));
    assert_eq!(read(&["Running", "Succeeded!"]), State::Ended(Outcome::Succeeded));
    assert_eq!(read(&["Running!", "Failed!"]), State::Ending(failed.clone()));
    assert_eq!(read(&["Failed!"]), State::Ended(failed));
    assert_eq!(read(&["Running!", "Succeeded", "Failed"]), State::Running("Running! is why".to_owned()));
}

#[test]
fn more_objects_are_waited_for_longer() {
    let running = State::Running(String::new());
    assert_eq!(outcome(&running, 299, 0, false), None);
    assert_eq!(outcome(&running, 300, 0, false), Some(Outcome::Quiet(300, String::new())));
    assert_eq!(outcome(&running, 2_299, 100_000, false), None);
    assert!(outcome(&running, 2_300, 100_000, false).is_some());
    assert_eq!(outcome(&running, 0, 0, true), Some(Outcome::Unwanted));
    // One that has ended is waited for by everybody: its controller may be at the definition.
    let ending = State::Ending(Outcome::Succeeded);
    assert_eq!((outcome(&ending, 19, 0, true), outcome(&ending, 20, 0, true)), (None, Some(Outcome::Succeeded)));
}
