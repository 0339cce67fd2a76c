//! What must hold of every machine, whatever the cluster does.

#[path = "soundness/database.rs"]
mod database;
#[path = "soundness/pictures.rs"]
mod pictures;

use pointsman::kinds::database::Database;
use pointsman::kinds::memcached::{Event, Memcached, Phase};
use pointsman::kinds::{Served, Visitor, preview, visit};
use pointsman::machine::explore::{arrows, deleting, soundness};
use pointsman::machine::prove::{Provable, every_ring, every_set};
use pointsman::machine::{Machine, Role, Word, schema};
use std::collections::BTreeSet;

/// Says something about every machine; the sentences that come back are faults.
trait Claim {
    fn faults<M: Provable>() -> Vec<String>;
}

fn holds_for_every_machine<C: Claim>() {
    fn of<C: Claim, M: Provable>(name: &str) -> Vec<String> {
        C::faults::<M>().into_iter().map(|fault| format!("{name}: {fault}")).collect()
    }
    let faults = [of::<C, Memcached>("Memcached"), of::<C, Database>("Database")].concat();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_machine_is_sound() {
    struct Sound;
    impl Claim for Sound {
        fn faults<M: Provable>() -> Vec<String> {
            soundness::<M>()
        }
    }
    holds_for_every_machine::<Sound>();
}

#[test]
fn every_possible_set_of_facts_leads_to_rest_and_deletion_wins_over_it() {
    struct Proved;
    impl Claim for Proved {
        fn faults<M: Provable>() -> Vec<String> {
            let (start, proof) = (std::time::Instant::now(), every_set::<M>());
            let (facts, phases) = (M::Event::ALL.len(), M::Phase::ALL.len());
            println!(
                "{facts} facts x {phases} phases: {} decisions, {} questions to the laws, {:?}",
                proof.decisions,
                proof.questions,
                start.elapsed()
            );
            let mut faults = proof.faults;
            // A law that nothing satisfies would let anything be proved.
            if proof.decisions < 3 * phases {
                faults.push(format!("only {} decisions are possible: the proof proves little", proof.decisions));
            }
            faults
        }
    }
    holds_for_every_machine::<Proved>();
}

#[test]
fn nothing_is_done_again_and_again_without_a_person_being_asked() {
    struct Bounded;
    impl Claim for Bounded {
        fn faults<M: Provable>() -> Vec<String> {
            every_ring::<M>()
        }
    }
    holds_for_every_machine::<Bounded>();
}

#[test]
fn asking_the_laws_finds_what_listing_every_set_finds() {
    let mut decided = BTreeSet::new();
    for set in 0u32..1 << Event::ALL.len() {
        let is_true = |event: Event| set >> (event as u32) & 1 == 1;
        if Memcached::possible(&is_true) {
            let facts = Event::ALL.iter().copied().filter(|event| is_true(*event)).collect();
            decided.extend(Phase::ALL.iter().filter_map(|&phase| Some((phase, Memcached::step(phase, &facts).cause()?))));
        }
    }
    assert_eq!(every_set::<Memcached>().decisions, decided.len());
}

#[test]
fn deletion_always_wins() {
    struct Wins;
    impl Claim for Wins {
        fn faults<M: Provable>() -> Vec<String> {
            let mut faults = Vec::new();
            for &phase in M::Phase::ALL.iter().filter(|phase| !deleting::<M>(**phase)) {
                // The first fact that the phase answers decides: what wins over each other fact wins over every set of them.
                for &other in M::Event::ALL {
                    let step = M::step(phase, &BTreeSet::from([M::DELETION, other]));
                    if step.cause() != Some(M::DELETION) {
                        faults.push(format!("{phase:?}: {other:?} wins over deletion"));
                    }
                }
                let step = M::step(phase, &M::Event::ALL.iter().copied().collect());
                if step.cause() != Some(M::DELETION) || !deleting::<M>(step.next()) {
                    faults.push(format!("{phase:?}: with everything true, {:?} decides", step.cause()));
                }
            }
            faults
        }
    }
    holds_for_every_machine::<Wins>();
}

#[test]
fn every_move_that_a_look_can_store_is_declared_to_the_api_server() {
    struct Legal;
    impl Claim for Legal {
        fn faults<M: Provable>() -> Vec<String> {
            let junction = |phase: M::Phase| M::role(phase) == Role::Junction;
            let (stored, first, taken) = (schema::stored_moves::<M>(), schema::first_moves::<M>(), arrows::<M>());
            let mut faults = Vec::new();
            for &start in M::Phase::ALL.iter().filter(|phase| !junction(**phase) || **phase == M::START) {
                let (mut seen, mut todo) = (BTreeSet::new(), vec![start]);
                while let Some(at) = todo.pop() {
                    for next in taken.iter().filter(|arrow| arrow.moved && arrow.from == at).map(|arrow| arrow.next) {
                        let legal = if junction(start) { first.contains(&next) } else { next == start || stored[&start].contains(&next) };
                        if !junction(next) && !legal {
                            faults.push(format!("{start:?} -> {next:?} can be stored, but the rule refuses it"));
                        }
                        if junction(next) && seen.insert(next) {
                            todo.push(next);
                        }
                    }
                }
            }
            faults
        }
    }
    holds_for_every_machine::<Legal>();
}

#[test]
fn no_junction_is_in_the_stored_rule() {
    struct Stored;
    impl Claim for Stored {
        fn faults<M: Provable>() -> Vec<String> {
            let rule = schema::rule::<M>();
            let junctions = M::Phase::ALL.iter().filter(|phase| M::role(**phase) == Role::Junction);
            junctions.filter(|phase| rule.contains(&phase.text())).map(|phase| format!("{phase:?} stands in the rule")).collect()
        }
    }
    holds_for_every_machine::<Stored>();
}

#[test]
fn every_word_explains_itself_in_a_sentence() {
    struct Said;
    impl Claim for Said {
        fn faults<M: Provable>() -> Vec<String> {
            fn of<W: Word>() -> Vec<String> {
                let sentence = |text: &str| text.starts_with(char::is_uppercase) && text.ends_with('.') && text.split(' ').count() >= 3;
                let mut seen = BTreeSet::new();
                W::ALL
                    .iter()
                    .filter(|word| !sentence(word.meaning()) || !seen.insert(word.meaning()))
                    .map(|word| format!("{word:?}: {:?}", word.meaning()))
                    .collect()
            }
            [of::<M::Phase>(), of::<M::Event>(), of::<M::Effect>()].concat()
        }
    }
    holds_for_every_machine::<Said>();
}

#[test]
fn a_working_state_has_its_own_deadline_setting() {
    struct Set(Vec<String>);
    impl Visitor for Set {
        fn kind<K: Served>(&mut self) {
            let works = |phase: &K::Phase| matches!(K::role(*phase), Role::Works { .. });
            let set: Vec<K::Phase> = K::DEADLINES.iter().map(|(phase, _)| *phase).collect();
            let wrong = K::Phase::ALL.iter().filter(|phase| works(phase) != set.contains(phase));
            self.0.extend(wrong.map(|phase| format!("{}: {phase:?} works or has a deadline, not both", K::PATH)));
        }
    }
    let mut faults = Set(Vec::new());
    visit(&mut faults);
    assert!(faults.0.is_empty(), "{:#?}", faults.0);
}

#[test]
fn previews_name_the_way_without_junctions() {
    use Event::{FirstRollout, ReplicasChanged, SpecRenewed, TemplateChanged};
    use Phase::{Creating, Degraded, HumanIntervention, Pending, Ready, Scaling, Stopped, Updating};
    let cases: [(Phase, &[Event], &[Phase]); 9] = [
        (Ready, &[TemplateChanged], &[Ready, Updating, Ready]),
        (Ready, &[ReplicasChanged], &[Ready, Scaling, Ready]),
        (Ready, &[ReplicasChanged, TemplateChanged], &[Ready, Updating, Ready]),
        (Stopped, &[ReplicasChanged], &[Stopped, Scaling, Ready]),
        (Degraded, &[TemplateChanged], &[Degraded, Updating, Ready]),
        (Pending, &[FirstRollout], &[Creating, Ready]),
        (HumanIntervention, &[SpecRenewed, TemplateChanged], &[HumanIntervention, Updating, Ready]),
        (HumanIntervention, &[SpecRenewed, TemplateChanged, FirstRollout], &[HumanIntervention, Creating, Ready]),
        (HumanIntervention, &[ReplicasChanged], &[HumanIntervention]),
    ];
    for (from, facts, path) in cases {
        assert_eq!(preview::<Memcached>(from, &facts.iter().copied().collect(), None), path, "{from:?} on {facts:?}");
    }
    let stopped = preview::<Memcached>(Ready, &BTreeSet::from([ReplicasChanged]), Some(Event::AllStopped));
    assert_eq!(stopped, [Ready, Scaling, Stopped], "a scale to zero ends in Stopped");
}
