//! What was lost: no spec brings it back, so an edit waits, and is told so at the prompt.

use super::cluster::Trouble;
use super::foresight::told;
use super::life::{Life, path};
use jiff::SignedDuration;
use pointsman::kinds::database::Phase;
use pointsman::kinds::order::ChildKind;
use pointsman::machine::Word as _;
use serde_json::{Value, json};

const WANTED: &str = r#"{"parameters":{"work_mem":"8MB"}}"#;

fn wanted() -> Value {
    serde_json::from_str(WANTED).expect("fields")
}

fn without_passwords() -> Life {
    let mut life = Life::of(&json!({}));
    life.cluster.remove(ChildKind::Secret, "db-app");
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life
}

fn without_its_volume() -> Life {
    let mut life = Life::of(&json!({}));
    life.cluster.remove(ChildKind::PersistentVolumeClaim, "data-db-0");
    life.cluster.remove(ChildKind::Pod, "db-0");
    assert_eq!(life.after(), path(&[Phase::HumanIntervention]));
    life
}

#[test]
fn a_question_about_a_loss_is_not_asked_anew_for_another_spec() {
    for loses in [without_passwords, without_its_volume] {
        let mut life = loses();
        let before = life.status();
        let reason = before["reason"].as_str().expect("a reason").to_owned();
        let plan = told(&life, &wanted());
        assert!(plan.contains(&format!("held while {reason} asks, since no spec brings back what was lost")), "{plan}");
        assert_eq!(life.edit(&wanted()), Vec::<String>::new(), "{reason}");
        let after = life.status();
        assert_eq!(after["intervention"], before["intervention"], "{reason}");
        assert_eq!(after["history"], before["history"], "{reason}");
        assert_eq!(after["waitingFor"][0]["what"], "an answer", "{reason}");
        assert!(!after["message"].as_str().expect("a message").contains("spec"), "{after}");
        assert_eq!(life.condition("UpToDate"), ("False".to_owned(), "Held".to_owned()), "{reason}");
        assert_eq!(life.cluster.done, Vec::<String>::new(), "{reason}");
    }
}

#[test]
fn an_answer_to_a_loss_takes_the_spec_that_waited_with_it() {
    let mut life = without_passwords();
    life.edit(&wanted());
    let way = life.answer("reset-passwords");
    assert_eq!((way.last(), life.condition("UpToDate").0), (path(&[Phase::Ready]).last(), "True".to_owned()), "{way:?}");
    assert_eq!(life.status()["applied"]["spec"]["parameters"]["work_mem"], "8MB");
}

#[test]
fn once_it_is_back_the_spec_that_waited_closes_the_question() {
    let mut life = Life::of(&json!({}));
    let secret = life.cluster.get(ChildKind::Secret, "db-app").expect("a Secret").clone();
    life.cluster.remove(ChildKind::Secret, "db-app");
    life.after();
    life.edit(&wanted());
    life.cluster.things.insert((ChildKind::Secret, "db-app".to_owned()), secret);
    let way = life.after();
    assert_eq!(way.last(), path(&[Phase::Ready]).last(), "{way:?}: {}", life.status());
    assert_eq!(life.status()["applied"]["spec"]["parameters"]["work_mem"], "8MB");
}

#[test]
fn a_last_dump_that_lacks_its_password_can_be_given_a_new_one() {
    let mut life = Life::of(&json!({}));
    life.cluster.says.insert("dump.sh".to_owned(), (false, "NO_ANSWER: it knows another password".to_owned()));
    let verbs = |life: &Life| {
        let answers = life.status()["intervention"]["answers"].as_array().expect("answers").clone();
        answers.iter().map(|answer| answer["verb"].as_str().expect("a verb").to_owned()).collect::<Vec<_>>()
    };
    let mut other = Life::of(&json!({}));
    other.cluster.says.clone_from(&life.cluster.says);
    other.delete();
    assert_eq!(verbs(&other), ["retry", "keep-volumes", "skip-snapshot"], "no password is lost there");
    life.cluster.remove(ChildKind::Secret, "db-internal");
    life.delete();
    assert_eq!(verbs(&life), ["retry", "keep-volumes", "reset-passwords", "skip-snapshot"]);
    let evidence = life.status()["intervention"]["evidence"][0].clone();
    assert_eq!((&evidence["kind"], &evidence["name"]), (&json!("Secret"), &json!("db-internal")), "{evidence}");
    life.cluster.says.clear();
    let way = life.answer("reset-passwords");
    assert_eq!(way, path(&[Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing]), "{:?}", life.cluster.done);
    assert!(life.cluster.done.iter().any(|done| done.contains("Secret db-internal")), "{:?}", life.cluster.done);
}

#[test]
fn a_last_dump_that_never_begins_says_where_to_look() {
    let mut life = Life::of(&json!({}));
    life.cluster.troubles.insert(Trouble::Quota);
    assert_eq!(life.delete(), path(&[Phase::SnapshottingBeforeDelete]));
    life.cluster.now += jiff::SignedDuration::from_mins(61);
    assert_eq!(life.after(), path(&[Phase::RemovalBlocked]));
    let question = life.status()["intervention"].clone();
    let words = "no pod of it could be made; to see why: kubectl describe job/db-snapshot -n shop";
    assert_eq!(question["evidence"][0]["words"], words, "{question}");
    assert_eq!(question["message"], format!("there is no last dump: Job db-snapshot says: {words}"));
    life.cluster.troubles.clear();
    assert_eq!(life.after(), path(&[Phase::SnapshottingBeforeDelete, Phase::Removing, Phase::Releasing]), "it closes by itself");
}

#[test]
fn nobody_is_served_by_what_was_not_brought_back() {
    let mut life = Life::unborn(&json!({ "restoreFrom": { "claimName": "old-backups" } }));
    life.cluster.says.insert("restore.sh".to_owned(), (false, "NO_BACKUP: there is no dump\n".to_owned()));
    life.settle();
    assert_eq!(life.status()["reason"], "RestoreFailed");
    assert_eq!(life.condition("Available").0, "False");
    let words = life.status()["intervention"]["evidence"][0]["words"].clone();
    assert_eq!(words, "NO_BACKUP: there is no dump", "no line ends in a quotation");
    life.cluster.says.clear();
    life.answer("retry");
    assert_eq!(life.condition("Available").0, "True");
}

/// What stands between two watches is seen by none of them: before anybody is asked, the API server is.
#[test]
fn what_only_no_watch_shows_is_not_lost() {
    let mut life = Life::of(&json!({ "replicas": 2 }));
    life.cluster.unseen.insert((ChildKind::PersistentVolumeClaim, "data-db-0".to_owned()));
    life.after();
    assert!(life.status()["intervention"].is_null(), "{:?}: {:#}", life.path, life.status()["intervention"]);
    life.cluster.unseen.clear();
    life.settle();
    assert_eq!(life.state(), Phase::Ready.text(), "{:?}", life.path);
}

#[test]
fn a_question_about_a_loss_closes_once_it_is_none() {
    for (kind, name, reason) in
        [(ChildKind::PersistentVolumeClaim, "data-db-0", "PrimaryVolumeLost"), (ChildKind::Secret, "db-app", "CredentialsLost")]
    {
        let mut life = Life::of(&json!({ "replicas": 2 }));
        let thing = life.cluster.things.remove(&(kind, name.to_owned())).expect("a thing");
        life.after();
        assert_eq!(life.status()["reason"], reason, "{:?}", life.path);
        life.cluster.things.insert((kind, name.to_owned()), thing);
        life.after();
        assert_eq!(life.state(), Phase::Ready.text(), "{:?}", life.path);
        assert!(life.status()["intervention"].is_null());
    }
}

#[test]
fn what_holds_a_pod_is_told_where_its_removal_is_stuck() {
    let mut life = Life::of(&json!({ "deletionPolicy": "Delete" }));
    life.cluster.troubles.insert(Trouble::SilentNode);
    let pod = life.cluster.things.get_mut(&(ChildKind::Pod, "db-0".to_owned())).expect("a pod");
    pod["metadata"]["finalizers"] = json!(["example.com/backup"]);
    life.delete();
    life.cluster.now += SignedDuration::from_mins(30);
    life.settle();
    let question = life.status()["intervention"].clone();
    assert_eq!(question["reason"], "RemovalStuck", "{question:#}");
    assert!(question["evidence"].to_string().contains("example.com/backup"), "{question:#}");
    // By the name under it, another last dump would ask a server that is left.
    assert!(life.cluster.get(ChildKind::Service, "db-pods").is_some() && life.cluster.get(ChildKind::Service, "db").is_none());
}

/// Times of the operator and of others are of different clocks, so nothing is known by which is later.
#[test]
fn new_passwords_and_settings_arrive_whatever_the_operators_clock_says() {
    for hours in [-24, 0, 24] {
        let mut life = Life::of(&json!({ "replicas": 2 }));
        life.cluster.ahead = SignedDuration::from_hours(hours);
        life.cluster.remove(ChildKind::Secret, "db-app");
        life.after();
        let before = life.cluster.get(ChildKind::Pod, "db-0").expect("a pod")["metadata"]["uid"].clone();
        assert_eq!(life.answer("reset-passwords"), path(&[Phase::Restarting, Phase::Initializing, Phase::Ready]), "{hours}");
        assert_ne!(life.cluster.get(ChildKind::Pod, "db-0").expect("a pod")["metadata"]["uid"], before, "it has learnt them: {hours}");
        let way = life.edit(&json!({ "replicas": 2, "parameters": { "work_mem": "8MB" } }));
        assert_eq!(way, path(&[Phase::Probing, Phase::Restarting, Phase::Ready]));
        let asked = |done: &String| done.starts_with("create Job db-read");
        assert!(life.cluster.done.iter().any(asked), "every server is asked: {hours}: {:?}", life.cluster.done);
    }
}
