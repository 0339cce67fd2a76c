//! What every answer leads to, and what a person may say besides.

use crate::support::run::Run;
use crate::support::world::World;
use crate::support::writes::stranger;
use crate::support::{BAD_IMAGE, IMAGE};
use crate::{begun_in, children_of, edit, looked, settled, settled_in, spec, status, until_rest};
use pointsman::kinds::annotations::{ANSWER, PAUSED, PROTECTED, REFRESH};
use pointsman::kinds::children::Slot;
use pointsman::kinds::intervention::Intervention;
use pointsman::kinds::memcached::Memcached;
use pointsman::kinds::order::{Order, Trial};
use pointsman::kinds::reason::{Risk, Verb};
use pointsman::kinds::{Observation, decide, yielded};
use std::sync::Arc;

/// Sets an annotation of the object, or takes it off.
pub fn mark(run: &mut Run, key: &str, value: &str) {
    let object = Arc::make_mut(run.world.object.as_mut().expect("the object"));
    let annotations = object.metadata.annotations.get_or_insert_default();
    if value.is_empty() {
        annotations.remove(key);
    } else {
        annotations.insert(key.to_owned(), value.to_owned());
    }
}

fn question(run: &Run) -> Intervention {
    status(run).intervention.unwrap_or_else(|| panic!("no question is open: {}", run.told()))
}

/// Gives an answer that is offered.
fn answer(run: &mut Run, verb: Verb) {
    let question = question(run);
    assert!(question.offers(verb), "{verb:?} is not offered: {:?}", question.answers);
    mark(run, ANSWER, &format!("{}-{}", verb.word(), question.id));
}

fn state(run: &Run) -> String {
    status(run).state.unwrap_or_default()
}

fn image(run: &Run) -> String {
    crate::support::world::image_of(run.world.our_deployment().expect("a Deployment"))
}

/// A roll-out that failed, and went back to what was ready last.
pub fn rolled_back(run: &mut Run) {
    edit(run, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
    until_rest(run);
    answer(run, Verb::Rollback);
    until_rest(run);
}

/// An object whose Service's and Deployment's names are somebody else's.
pub fn taken(namespace: &str) -> Run {
    let mut run = begun_in(namespace, spec(2));
    (run.world.service, run.world.deployment) = (Some(stranger(1)), Some(stranger(2)));
    until_rest(&mut run);
    run
}

/// An object over whose count somebody else fights.
pub fn fought(namespace: &str) -> Run {
    let mut run = settled_in(namespace, spec(2));
    for _ in 0..5 {
        count_by_hand(&mut run, 7);
        until_rest(&mut run);
    }
    run
}

fn count_by_hand(run: &mut Run, count: i32) {
    let mut live = run.world.deployment.clone().expect("a Deployment");
    let mut it = (*live.it).clone();
    it.spec.get_or_insert_default().replicas = Some(count);
    live.it = Arc::new(it);
    run.world.set_deployment(live);
}

#[test]
fn a_rollback_goes_back_and_stays_there() {
    let mut run = settled(spec(2));
    rolled_back(&mut run);
    let after = status(&run);
    assert_eq!((state(&run).as_str(), image(&run).as_str()), ("RolledBack", IMAGE));
    let condition = |name: &str| after.conditions.iter().find(|one| one.type_ == name).map(|one| (one.status.clone(), one.reason.clone()));
    assert_eq!(condition("Ready"), Some(("False".to_owned(), "RolledBack".to_owned())));
    assert_eq!(condition("Available").map(|(holds, _)| holds).as_deref(), Some("True"));
    assert_eq!(condition("UpToDate"), Some(("False".to_owned(), "RolledBack".to_owned())));
    assert_eq!(run.world.object.as_ref().and_then(|object| object.spec.image.clone()).as_deref(), Some(BAD_IMAGE), "the spec is untouched");
    assert!(!question_is_open(&run));
}

fn question_is_open(run: &Run) -> bool {
    status(run).intervention.is_some()
}

#[test]
fn a_count_leads_out_of_no_rollback() {
    let mut run = settled(spec(2));
    rolled_back(&mut run);
    for count in [4, 0, 3] {
        edit(&mut run, |object| object.spec.replicas = count);
        until_rest(&mut run);
        assert_eq!((state(&run).as_str(), image(&run).as_str()), ("RolledBack", IMAGE), "{count}");
        assert_eq!(status(&run).ready_text, Some(format!("{count}/{count}")));
    }
    let ways: Vec<(String, String)> = status(&run).history.into_iter().map(|told| (told.from, told.to)).collect();
    assert!(ways.contains(&("RolledBack".to_owned(), "RollingBack".to_owned())), "{ways:?}");
}

#[test]
fn another_spec_leads_out_of_a_rollback() {
    for (spec_image, way) in [(IMAGE, "RolledBack -> Ready"), ("docker.io/library/memcached:1.5", "RolledBack -> Updating")] {
        let mut run = settled(spec(2));
        rolled_back(&mut run);
        edit(&mut run, |object| object.spec.image = Some(spec_image.to_owned()));
        until_rest(&mut run);
        assert_eq!((state(&run).as_str(), image(&run).as_str()), ("Ready", spec_image));
        assert!(status(&run).refused.is_none());
        let ways: Vec<String> = status(&run).history.into_iter().map(|told| format!("{} -> {}", told.from, told.to)).collect();
        assert!(ways.contains(&way.to_owned()), "{ways:?}");
    }
}

#[test]
fn what_was_rolled_back_may_be_tried_again_after_another_spec() {
    let mut run = settled(spec(2));
    rolled_back(&mut run);
    edit(&mut run, |object| object.spec.image = Some(IMAGE.to_owned()));
    until_rest(&mut run);
    edit(&mut run, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
    assert_eq!(looked(&run).status.state.as_deref(), Some("Updating"));
}

#[test]
fn a_rollback_is_offered_only_where_there_is_something_to_go_back_to() {
    let mut first = begun_in("shop", spec(1));
    edit(&mut first, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
    until_rest(&mut first);
    assert_eq!(question(&first).legal().split('-').next(), Some("retry"), "nothing was ever ready");
    assert!(!question(&first).offers(Verb::Rollback));
    let mut scaled = settled(spec(2));
    scaled.world.quota = true;
    edit(&mut scaled, |object| object.spec.replicas = 5);
    until_rest(&mut scaled);
    assert!(!question(&scaled).offers(Verb::Rollback), "the template is the one that was ready");
}

#[test]
fn adopting_takes_over_the_very_objects_that_were_named() {
    let mut run = taken("shop");
    let asked = question(&run);
    assert_eq!(asked.reason.word(), "ChildConflict");
    let named: Vec<_> = asked.subjects.iter().map(|subject| (subject.kind.as_str(), subject.uid.as_deref().unwrap_or_default())).collect();
    assert_eq!(named, [("Service", "stranger-1"), ("Deployment", "stranger-2")]);
    let adopt = asked.answers.iter().find(|offer| offer.verb == "adopt").expect("adopt is offered");
    assert_eq!(adopt.risk, Risk::DataLoss, "the pods of a Deployment are made anew");
    assert_eq!(adopt.effect, "overwrites now, and deletes later with this object: cache (Service, Deployment)");
    answer(&mut run, Verb::Adopt);
    // Meanwhile somebody has put another object there.
    run.world.service = Some(stranger(4));
    until_rest(&mut run);
    let again = question(&run);
    assert_eq!(again.subjects.len(), 1, "{:?}", again.subjects);
    assert_eq!(again.subjects[0].uid.as_deref(), Some("stranger-4"));
    answer(&mut run, Verb::Adopt);
    until_rest(&mut run);
    assert_eq!(state(&run), "Ready");
    assert!(status(&run).adopted.is_empty(), "what was taken over is ours, and needs no leave any more");
}

#[test]
fn what_cannot_be_adopted_is_not_offered_and_says_why() {
    let run = taken("shop");
    let mut children = children_of(&run);
    children.deployment = Slot::Foreign { uid: "stranger-3".to_owned(), owner: None, left: false };
    let mut object = (**run.world.object.as_ref().expect("the object")).clone();
    object.status = None;
    let mut seen = Observation::<Memcached>::new(object, children, run.settings.clone(), None, run.world.now);
    let first = decide(seen.clone());
    assert_eq!(first.trial.len(), 2, "each is tried before anything is offered");
    seen.adoption = World::attempt(&first.trial);
    assert!(matches!(seen.adoption, Trial::Failed(_)));
    let asked = decide(seen).status.intervention.expect("a question");
    assert!(!asked.offers(Verb::Adopt));
    assert!(asked.evidence.iter().any(|said| said.words == "it cannot be adopted: field is immutable"), "{:?}", asked.evidence);
}

#[test]
fn a_fight_becomes_a_question_and_is_counted_anew_after_it() {
    let mut run = fought("shop");
    let asked = question(&run);
    assert_eq!((asked.reason.word().as_str(), asked.evidence[0].words.as_str()), ("DriftFought", "/spec/replicas is 7, not 2"));
    answer(&mut run, Verb::Retry);
    until_rest(&mut run);
    assert_eq!(state(&run), "Ready");
    count_by_hand(&mut run, 7);
    until_rest(&mut run);
    assert_eq!(state(&run), "Ready", "one change is no fight");
}

#[test]
fn what_is_yielded_is_left_to_the_other_writer_until_the_spec_asks_for_another_value() {
    let mut run = fought("shop");
    answer(&mut run, Verb::Yield);
    until_rest(&mut run);
    assert_eq!((state(&run).as_str(), status(&run).ready_text.as_deref()), ("Ready", Some("7/7")));
    count_by_hand(&mut run, 5);
    until_rest(&mut run);
    assert_eq!((state(&run).as_str(), status(&run).ready_text.as_deref()), ("Ready", Some("5/5")));
    edit(&mut run, |object| object.spec.max_connections = 2048);
    until_rest(&mut run);
    assert_eq!((state(&run).as_str(), status(&run).ready_text.as_deref()), ("Ready", Some("5/5")), "another field is another wish");
    edit(&mut run, |object| object.spec.replicas = 3);
    until_rest(&mut run);
    assert_eq!((state(&run).as_str(), status(&run).ready_text.as_deref()), ("Ready", Some("3/3")));
    assert_eq!(status(&run).yielded, Vec::new(), "another wish has ended it");
    edit(&mut run, |object| object.spec.replicas = 2);
    until_rest(&mut run);
    assert_eq!((state(&run).as_str(), status(&run).ready_text.as_deref()), ("Ready", Some("2/2")), "and it does not come back");
}

#[test]
fn what_is_yielded_everywhere_is_fought_over_on_no_object() {
    let mut run = settled(spec(2));
    run.settings.yielded = vec![yielded::everywhere("Deployment:/spec/replicas").expect("a field")];
    for count in [7, 5, 7, 5, 7, 5, 7] {
        count_by_hand(&mut run, count);
        until_rest(&mut run);
        let ready = status(&run).ready_text.clone();
        assert_eq!((state(&run).as_str(), ready), ("Ready", Some(format!("{count}/{count}"))));
        let current = status(&run).conditions.iter().find(|one| one.type_ == "UpToDate").map(|one| one.reason.clone());
        assert_eq!((current.as_deref(), &status(&run).yielded), (Some("Yielded"), &Vec::new()));
    }
    // Every other field is ours as before.
    edit(&mut run, |object| object.spec.max_connections = 2048);
    until_rest(&mut run);
    let deployment = run.world.deployment.as_ref().expect("a Deployment").it.clone();
    assert!(format!("{:?}", deployment.spec).contains("2048"));
}

#[test]
fn a_question_about_a_field_closes_once_it_is_yielded_everywhere() {
    let mut run = fought("shop");
    assert_eq!(question(&run).reason.word(), "DriftFought");
    run.settings.yielded = vec![yielded::everywhere("Deployment:/spec/paused").expect("a field")];
    until_rest(&mut run);
    assert_eq!(question(&run).reason.word(), "DriftFought", "it is about another field");
    run.settings.yielded = vec![yielded::everywhere("Deployment:/spec/replicas").expect("a field")];
    until_rest(&mut run);
    assert_eq!((state(&run).as_str(), status(&run).ready_text.as_deref()), ("Ready", Some("7/7")));
}

#[test]
fn what_the_operator_finds_its_children_by_is_yielded_to_nobody() {
    let mut run = settled(spec(2));
    for _ in 0..5 {
        let mut live = run.world.deployment.clone().expect("a Deployment");
        let mut it = (*live.it).clone();
        it.metadata.owner_references.iter_mut().flatten().for_each(|owner| owner.block_owner_deletion = Some(false));
        live.it = Arc::new(it);
        run.world.set_deployment(live);
        until_rest(&mut run);
    }
    let asked = question(&run);
    assert_eq!(asked.reason.word(), "DriftFought");
    assert!(!asked.offers(Verb::Yield) && asked.offers(Verb::Retry), "{:?}", asked.answers);
}

#[test]
fn who_is_paused_is_looked_at_and_left_alone() {
    let mut run = settled(spec(2));
    mark(&mut run, PAUSED, "true");
    until_rest(&mut run);
    let condition = |run: &Run, name: &str| status(run).conditions.iter().find(|one| one.type_ == name).map(|one| one.status.clone());
    assert_eq!((state(&run).as_str(), condition(&run, "Paused").as_deref()), ("Paused", Some("True")));
    assert_eq!(condition(&run, "Ready").as_deref(), Some("True"), "nothing is left to be done");
    let current = |run: &Run| status(run).conditions.iter().find(|one| one.type_ == "UpToDate").map(|one| one.reason.clone());
    run.world.service = None;
    until_rest(&mut run);
    assert_eq!(current(&run).as_deref(), Some("NotMade"), "there is no Service");
    edit(&mut run, |object| object.spec.max_connections = 2048);
    let decision = looked(&run);
    assert_eq!(decision.orders, Vec::<Order>::new());
    until_rest(&mut run);
    assert_eq!((state(&run).as_str(), condition(&run, "Ready").as_deref()), ("Paused", Some("False")));
    assert_eq!(current(&run).as_deref(), Some("Held"), "an edit waits");
    mark(&mut run, PAUSED, "");
    until_rest(&mut run);
    assert_eq!((state(&run).as_str(), condition(&run, "Paused").as_deref()), ("Ready", Some("False")));
}

#[test]
fn a_pause_closes_a_question_and_it_is_asked_afresh() {
    let mut run = settled(spec(2));
    edit(&mut run, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
    until_rest(&mut run);
    let before = question(&run);
    mark(&mut run, PAUSED, "true");
    until_rest(&mut run);
    assert!(!question_is_open(&run));
    mark(&mut run, PAUSED, "");
    until_rest(&mut run);
    let after = question(&run);
    assert_eq!((after.reason, after.number), (before.reason, before.number + 1));
}

#[test]
fn an_older_rendering_stands_until_somebody_wants_it_anew() {
    let mut run = settled(spec(2));
    run.settings.renderer += 1;
    until_rest(&mut run);
    let says = |run: &Run| status(run).conditions.into_iter().find(|one| one.type_ == "UpToDate").expect("the condition");
    assert_eq!(says(&run).reason, "NewerRendering");
    let command = format!("kubectl annotate mc/cache -n shop {REFRESH}={} --overwrite", run.settings.renderer);
    assert!(says(&run).message.ends_with(&command), "{}", says(&run).message);
    mark(&mut run, REFRESH, "1");
    assert!(looked(&run).orders.is_empty(), "that is not this operator's rendering");
    let present = run.settings.renderer.to_string();
    mark(&mut run, REFRESH, &present);
    assert_eq!(looked(&run).status.state.as_deref(), Some("Updating"));
    until_rest(&mut run);
    assert_eq!((state(&run).as_str(), says(&run).reason.as_str()), ("Ready", "UpToDate"));
}

#[test]
fn protection_is_a_condition() {
    let mut run = settled(spec(1));
    let protected = |run: &Run| status(run).conditions.into_iter().find(|one| one.type_ == "Protected").map(|one| one.status);
    assert_eq!(protected(&run).as_deref(), Some("False"));
    mark(&mut run, PROTECTED, "true");
    until_rest(&mut run);
    assert_eq!(protected(&run).as_deref(), Some("True"));
}

#[test]
fn every_message_fits_and_ends_in_what_to_type() {
    for namespace in ["shop".to_owned(), "n".repeat(63)] {
        let (mut paused, mut stuck) = (settled_in(&namespace, spec(1)), settled_in(&namespace, spec(2)));
        mark(&mut paused, PAUSED, "true");
        edit(&mut stuck, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
        let mut back = settled_in(&namespace, spec(2));
        rolled_back(&mut back);
        let (mut stopped, mut invalid) = (settled_in(&namespace, spec(1)), settled_in(&namespace, spec(1)));
        edit(&mut stopped, |object| object.spec.replicas = 0);
        edit(&mut invalid, |object| object.spec.max_connections = 1);
        let cases = [
            (paused, PAUSED),
            (back, "kubectl edit mc/"),
            (stuck, "=retry-"),
            (stopped, "--replicas=1"),
            (invalid, "=retry-"),
            (taken(&namespace), "=adopt-"),
            (fought(&namespace), " or yield-"),
        ];
        for (mut run, typed) in cases {
            until_rest(&mut run);
            let status = status(&run);
            let mut message = status.message.expect("a message");
            assert!(message.chars().count() <= 120, "{message}");
            // Two long names and a command do not fit: the condition has it whole, with its namespace.
            if message.ends_with("see condition Ready") {
                message = status.conditions.iter().find(|one| one.type_ == "Ready").expect("a condition").message.clone();
                assert!(message.contains(&format!(" -n {namespace}")), "{message}");
            }
            let end = message.rfind(typed).unwrap_or_else(|| panic!("{typed} is not in: {message}"));
            assert!(message.len() - end < 80 + namespace.len(), "{message}");
        }
    }
}
