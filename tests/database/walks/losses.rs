//! What was lost: no spec brings it back, so an edit waits, and is told so at the prompt.

use super::cluster::Trouble;
use super::foresight::told;
use super::life::{Life, path};
use pointsman::kinds::database::Phase;
use pointsman::kinds::order::ChildKind;
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
