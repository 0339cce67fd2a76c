//! What the webhook says of each kind of write, as a user reads it.

use crate::support::{BAD_IMAGE, IMAGE, Object, from_json};
use crate::{edit, golden, settled, spec, until_rest};
use pointsman::kinds::Settings;
use pointsman::kinds::intervention::ANSWER;
use pointsman::kinds::judge::{Review, Verdict, judge};
use pointsman::kinds::memcached::Memcached;
use serde_json::json;

#[test]
fn judgements_read_as_in_the_golden_files() {
    let ready = (**settled(spec(3)).world.object.as_ref().expect("the object")).clone();
    let mut asking = settled(spec(2));
    edit(&mut asking, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
    until_rest(&mut asking);
    let asking = (**asking.world.object.as_ref().expect("the object")).clone();
    let changed = |old: &Object, change: &dyn Fn(&mut Object)| {
        let mut new = old.clone();
        change(&mut new);
        new
    };
    let answered = |old: &Object, answer: &str| {
        changed(old, &|new| drop(new.metadata.annotations.get_or_insert_default().insert(ANSWER.to_owned(), answer.to_owned())))
    };
    let going = changed(&ready, &|new| new.metadata.deletion_timestamp = from_json(json!("2026-01-01T00:00:00Z")));
    let paused = changed(&ready, &|new| {
        drop(new.metadata.annotations.get_or_insert_default().insert("pointsman.dev/paused".to_owned(), "true".to_owned()));
    });
    let legal = asking.status.as_ref().and_then(|status| status.intervention.as_ref()).expect("a question").legal();
    let cases = vec![
        ("unsupported-port", &ready, changed(&ready, &|new| new.spec.port = 11311)),
        ("busy-while-deleting", &going, changed(&going, &|new| new.spec.replicas = 1)),
        ("restart", &ready, changed(&ready, &|new| new.spec.max_connections = 2048)),
        ("scale-down", &ready, changed(&ready, &|new| new.spec.replicas = 1)),
        ("restart-and-scale-down", &ready, changed(&ready, &|new| (new.spec.max_connections, new.spec.replicas) = (2048, 1))),
        ("scale-up", &ready, changed(&ready, &|new| new.spec.replicas = 4)),
        ("stop", &ready, changed(&ready, &|new| new.spec.replicas = 0)),
        ("no-effect-yet", &ready, paused),
        ("answer-without-question", &ready, answered(&ready, "retry-aaaaa")),
        ("wrong-answer", &asking, answered(&asking, "rollback-aaaaa")),
        ("answer-tried", &asking, answered(&asking, &legal)),
        ("held-count", &asking, changed(&asking, &|new| new.spec.replicas = 1)),
        ("mended", &asking, changed(&asking, &|new| new.spec.image = Some(IMAGE.to_owned()))),
        ("invalid", &ready, changed(&ready, &|new| (new.spec.memory, new.spec.max_connections) = ("1Ki".into(), 1))),
    ];
    for (name, old, new) in cases {
        let verdict = judge(&Review::<Memcached> {
            old: Some(old),
            new: &new,
            settings: &Settings::of::<Memcached>(),
            dry_run: name.ends_with("-tried"),
            watched: true,
        });
        let (word, lines) = match verdict {
            Verdict::Allow(warnings) => ("allowed", warnings),
            Verdict::Deny(faults) => ("denied", faults.iter().map(|fault| format!("{}: {}", fault.field, fault.text)).collect()),
        };
        let text = std::iter::once(word.to_owned()).chain(lines).map(|line| line + "\n").collect::<String>();
        golden(&format!("judge/{name}.txt"), &text);
    }
}

#[test]
fn a_spec_that_is_valid_again_is_not_held() {
    let mut run = settled(spec(2));
    edit(&mut run, |object| object.spec.max_connections = 1);
    until_rest(&mut run);
    let asking = (**run.world.object.as_ref().expect("the object")).clone();
    assert_eq!(asking.status.as_ref().and_then(|status| status.reason.as_deref()), Some("SpecInvalid"));
    let mut mended = asking.clone();
    mended.spec.max_connections = 1024;
    let settings = Settings::of::<Memcached>();
    let verdict = judge(&Review::<Memcached> { old: Some(&asking), new: &mended, settings: &settings, dry_run: true, watched: true });
    assert_eq!(verdict, Verdict::Allow(vec!["mc/cache: HumanIntervention -> Ready".to_owned()]));
}
