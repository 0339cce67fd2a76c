//! What the webhook says of each kind of write, as a user reads it.

use crate::answers::{fought, mark, rolled_back, taken};
use crate::support::run::Run;
use crate::support::{BAD_IMAGE, IMAGE, Object, from_json};
use crate::{edit, golden, settled, spec, until_rest};
use pointsman::kinds::annotations::{ANSWER, PAUSED, PROTECTED, REFRESH};
use pointsman::kinds::judge::judge;
use pointsman::kinds::memcached::Memcached;
use pointsman::kinds::memcached::v1::MemcachedStatus;
use pointsman::kinds::review::Review;
use pointsman::kinds::verdict::Verdict;
use pointsman::kinds::{Settings, Violation};
use serde_json::json;

fn object_of(run: &Run) -> Object {
    (**run.world.object.as_ref().expect("the object")).clone()
}

fn changed(old: &Object, change: impl FnOnce(&mut Object)) -> Object {
    let mut new = old.clone();
    change(&mut new);
    new
}

fn marked(old: &Object, key: &str, value: &str) -> Object {
    changed(old, |new| drop(new.metadata.annotations.get_or_insert_default().insert(key.to_owned(), value.to_owned())))
}

/// The same object with the answer `verb` to its open question.
fn answered(old: &Object, verb: &str) -> Object {
    let question = old.status.as_ref().and_then(|status| status.intervention.as_ref()).expect("a question");
    marked(old, ANSWER, &format!("{verb}-{}", question.id))
}

/// Objects in the states that the judgements start from.
struct Cast {
    ready: Object,
    asking: Object,
    back: Object,
    paused: Object,
    taken: Object,
    fought: Object,
    outdated: Object,
}

fn cast() -> Cast {
    let ready = object_of(&settled(spec(3)));
    let mut asking = settled(spec(2));
    edit(&mut asking, |object| object.spec.image = Some(BAD_IMAGE.to_owned()));
    until_rest(&mut asking);
    let mut back = settled(spec(2));
    rolled_back(&mut back);
    let mut paused = settled(spec(2));
    mark(&mut paused, PAUSED, "true");
    until_rest(&mut paused);
    let mut outdated = ready.clone();
    outdated.status.as_mut().and_then(|status| status.applied.as_mut()).expect("what was applied").renderer -= 1;
    Cast {
        asking: object_of(&asking),
        back: object_of(&back),
        paused: object_of(&paused),
        taken: object_of(&taken("shop")),
        fought: object_of(&fought("shop")),
        outdated,
        ready,
    }
}

#[test]
fn judgements_read_as_in_the_golden_files() {
    let Cast { ready, asking, back, paused, taken, fought, outdated } = cast();
    let going = changed(&ready, |new| new.metadata.deletion_timestamp = from_json(json!("2026-01-01T00:00:00Z")));
    let resumed = |old: &Object| changed(old, |new| drop(new.metadata.annotations.get_or_insert_default().remove(PAUSED)));
    let held = changed(&paused, |new| new.spec.max_connections = 2048);
    let renderer = Settings::of::<Memcached>().renderer.to_string();
    let status = |old: &Object, change: &dyn Fn(&mut MemcachedStatus)| changed(old, |new| change(new.status.as_mut().expect("a status")));
    let short = status(&paused, &|status| status.ready_replicas = Some(1));
    let midway = status(&paused, &|status| status.applied.as_mut().expect("what was applied").spec.0.max_connections = 2048);
    let midway = changed(&midway, |new| new.spec.max_connections = 2048);
    let none = status(&ready, &|status| status.ready_replicas = Some(0));
    let cases = vec![
        ("unsupported-port", &ready, changed(&ready, |new| new.spec.port = 11311)),
        ("busy-while-deleting", &going, changed(&going, |new| new.spec.replicas = 1)),
        ("restart", &ready, changed(&ready, |new| new.spec.max_connections = 2048)),
        ("scale-down", &ready, changed(&ready, |new| new.spec.replicas = 1)),
        ("restart-and-scale-down", &ready, changed(&ready, |new| (new.spec.max_connections, new.spec.replicas) = (2048, 1))),
        ("scale-up", &ready, changed(&ready, |new| new.spec.replicas = 4)),
        ("stop", &ready, changed(&ready, |new| new.spec.replicas = 0)),
        ("pause", &ready, marked(&ready, PAUSED, "true")),
        ("annotation-misspelt", &ready, marked(&ready, "pointsman.dev/pause", "true")),
        ("pause-misspelt", &ready, marked(&ready, PAUSED, "yes")),
        ("protect-misspelt", &ready, marked(&ready, PROTECTED, "True")),
        ("held-while-paused", &paused, held.clone()),
        ("resumed-tried", &paused, resumed(&paused)),
        ("resumed-with-fewer-pods", &short, resumed(&short)),
        ("resumed-amid-a-roll-out", &midway, resumed(&midway)),
        ("refresh-of-nothing-while-paused", &paused, marked(&paused, REFRESH, &renderer)),
        ("restart-of-what-does-not-run", &none, changed(&none, |new| new.spec.max_connections = 2048)),
        ("resumed-with-what-was-held", &held, resumed(&held)),
        ("refresh", &outdated, marked(&outdated, REFRESH, &renderer)),
        ("refresh-of-nothing", &ready, marked(&ready, REFRESH, &renderer)),
        ("refresh-to-another", &ready, marked(&ready, REFRESH, "99")),
        ("answer-without-question", &ready, marked(&ready, ANSWER, "retry-aaaaa")),
        ("wrong-answer", &asking, marked(&asking, ANSWER, "rollback-aaaaa")),
        ("verb-that-is-not-offered", &asking, answered(&asking, "adopt")),
        ("retry-tried", &asking, answered(&asking, "retry")),
        ("rollback", &asking, answered(&asking, "rollback")),
        ("answer-with-a-new-spec", &asking, changed(&answered(&asking, "rollback"), |new| new.spec.memory = "128Mi".into())),
        ("answer-with-a-pause", &asking, marked(&answered(&asking, "rollback"), PAUSED, "true")),
        ("adopt", &taken, answered(&taken, "adopt")),
        ("yield-tried", &fought, answered(&fought, "yield")),
        ("held-count", &asking, changed(&asking, |new| new.spec.replicas = 1)),
        ("mended", &asking, changed(&asking, |new| new.spec.image = Some(IMAGE.to_owned()))),
        ("count-while-rolled-back-tried", &back, changed(&back, |new| new.spec.replicas = 3)),
        ("restart-while-rolled-back", &back, changed(&back, |new| new.spec.max_connections = 2048)),
        ("rolled-back-for-good-tried", &back, changed(&back, |new| new.spec.image = Some(IMAGE.to_owned()))),
        ("invalid", &ready, changed(&ready, |new| (new.spec.memory, new.spec.max_connections) = ("1Ki".into(), 1))),
    ];
    for (name, old, new) in cases {
        let verdict = judge(&Review::<Memcached> {
            old: Some(old),
            new: &new,
            settings: &Settings::of::<Memcached>(),
            ground: None,
            dry_run: name.ends_with("-tried"),
            watched: true,
        });
        let said = |fault: &Violation| format!("{}: {}", fault.field, fault.text);
        let (word, lines) = match verdict {
            Verdict::Allow(warnings) => ("allowed", warnings),
            Verdict::Deny(faults) => ("denied", faults.iter().map(said).collect()),
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
    let verdict =
        judge(&Review::<Memcached> { old: Some(&asking), new: &mended, settings: &settings, ground: None, dry_run: true, watched: true });
    assert_eq!(verdict, Verdict::Allow(vec!["mc/cache: HumanIntervention -> Ready".to_owned()]));
}
