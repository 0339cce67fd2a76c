//! What must hold of every kind's machine, whatever the cluster does.

use pointsman::kinds::memcached::{Event, Memcached, Phase};
use pointsman::kinds::{Served, Visitor, preview, visit};
use pointsman::machine::explore::{arrows, deleting, soundness};
use pointsman::machine::prove::every_set;
use pointsman::machine::{Role, Word, schema};
use std::collections::BTreeSet;

/// Says something about every kind; the sentences that come back are faults.
trait Claim {
    fn faults<K: Served>() -> Vec<String>;
}

fn holds_for_every_kind<C: Claim>() {
    struct Judge<C>(Vec<String>, usize, std::marker::PhantomData<C>);
    impl<C: Claim> Visitor for Judge<C> {
        fn kind<K: Served>(&mut self) {
            self.1 += 1;
            self.0.extend(C::faults::<K>().into_iter().map(|fault| format!("{}: {fault}", K::PATH)));
        }
    }
    let mut judge = Judge::<C>(Vec::new(), 0, std::marker::PhantomData);
    visit(&mut judge);
    assert!(judge.1 > 0, "no kind was visited");
    assert!(judge.0.is_empty(), "{:#?}", judge.0);
}

#[test]
fn every_machine_is_sound() {
    struct Sound;
    impl Claim for Sound {
        fn faults<K: Served>() -> Vec<String> {
            soundness::<K>()
        }
    }
    holds_for_every_kind::<Sound>();
}

#[test]
fn every_possible_set_of_facts_leads_to_rest_and_deletion_wins_over_it() {
    struct Proved;
    impl Claim for Proved {
        fn faults<K: Served>() -> Vec<String> {
            let proof = every_set::<K>();
            println!(
                "{}: {} possible sets of {} facts x {} phases, {} steps",
                K::PATH,
                proof.sets,
                K::Event::ALL.len(),
                K::Phase::ALL.len(),
                proof.steps
            );
            let mut faults = proof.faults;
            if proof.sets < 1000 {
                faults.push(format!("only {} sets are possible: the proof proves little", proof.sets));
            }
            faults
        }
    }
    holds_for_every_kind::<Proved>();
}

#[test]
fn deletion_always_wins() {
    struct Wins;
    impl Claim for Wins {
        fn faults<K: Served>() -> Vec<String> {
            let mut faults = Vec::new();
            for &phase in K::Phase::ALL.iter().filter(|phase| !deleting::<K>(**phase)) {
                for mask in 0u64..1 << K::Event::ALL.len() {
                    let facts = || K::Event::ALL.iter().enumerate().filter(move |(bit, _)| mask >> bit & 1 == 1).map(|(_, event)| *event);
                    if !facts().any(|event| event == K::DELETION) {
                        continue;
                    }
                    let step = K::step(phase, &facts().collect());
                    if step.cause() != Some(K::DELETION) || !deleting::<K>(step.next()) {
                        faults.push(format!("{phase:?}: {:?} wins over deletion", step.cause()));
                    }
                }
            }
            faults.dedup();
            faults
        }
    }
    holds_for_every_kind::<Wins>();
}

#[test]
fn every_move_that_a_look_can_store_is_declared_to_the_api_server() {
    struct Legal;
    impl Claim for Legal {
        fn faults<K: Served>() -> Vec<String> {
            let junction = |phase: K::Phase| K::role(phase) == Role::Junction;
            let (stored, first, taken) = (schema::stored_moves::<K>(), schema::first_moves::<K>(), arrows::<K>());
            let mut faults = Vec::new();
            for &start in K::Phase::ALL.iter().filter(|phase| !junction(**phase) || **phase == K::START) {
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
    holds_for_every_kind::<Legal>();
}

#[test]
fn no_junction_is_in_the_stored_rule() {
    struct Stored;
    impl Claim for Stored {
        fn faults<K: Served>() -> Vec<String> {
            let rule = schema::rule::<K>();
            let junctions = K::Phase::ALL.iter().filter(|phase| K::role(**phase) == Role::Junction);
            junctions.filter(|phase| rule.contains(&phase.text())).map(|phase| format!("{phase:?} stands in the rule")).collect()
        }
    }
    holds_for_every_kind::<Stored>();
}

#[test]
fn every_word_explains_itself_in_a_sentence() {
    struct Said;
    impl Claim for Said {
        fn faults<K: Served>() -> Vec<String> {
            fn of<W: Word>() -> Vec<String> {
                let sentence = |text: &str| text.starts_with(char::is_uppercase) && text.ends_with('.') && text.split(' ').count() >= 3;
                let mut seen = BTreeSet::new();
                W::ALL
                    .iter()
                    .filter(|word| !sentence(word.meaning()) || !seen.insert(word.meaning()))
                    .map(|word| format!("{word:?}: {:?}", word.meaning()))
                    .collect()
            }
            [of::<K::Phase>(), of::<K::Event>(), of::<K::Effect>()].concat()
        }
    }
    holds_for_every_kind::<Said>();
}

#[test]
fn a_working_state_has_its_own_deadline_setting() {
    struct Set;
    impl Claim for Set {
        fn faults<K: Served>() -> Vec<String> {
            let works = |phase: &K::Phase| matches!(K::role(*phase), Role::Works { .. });
            let set: Vec<K::Phase> = K::DEADLINES.iter().map(|(phase, _)| *phase).collect();
            K::Phase::ALL
                .iter()
                .filter(|phase| works(phase) != set.contains(phase))
                .map(|phase| format!("{phase:?} works or has a deadline, not both"))
                .collect()
        }
    }
    holds_for_every_kind::<Set>();
}

#[test]
fn previews_name_the_way_without_junctions() {
    use Event::{NeverReady, ReplicasChanged, SpecRenewed, TemplateChanged};
    use Phase::{Creating, Degraded, HumanIntervention, Pending, Ready, Scaling, Stopped, Updating};
    let cases: [(Phase, &[Event], &[Phase]); 9] = [
        (Ready, &[TemplateChanged], &[Ready, Updating, Ready]),
        (Ready, &[ReplicasChanged], &[Ready, Scaling, Ready]),
        (Ready, &[ReplicasChanged, TemplateChanged], &[Ready, Updating, Ready]),
        (Stopped, &[ReplicasChanged], &[Stopped, Scaling, Ready]),
        (Degraded, &[TemplateChanged], &[Degraded, Updating, Ready]),
        (Pending, &[NeverReady], &[Creating, Ready]),
        (HumanIntervention, &[SpecRenewed, TemplateChanged], &[HumanIntervention, Updating, Ready]),
        (HumanIntervention, &[SpecRenewed, TemplateChanged, NeverReady], &[HumanIntervention, Creating, Ready]),
        (HumanIntervention, &[ReplicasChanged], &[HumanIntervention]),
    ];
    for (from, facts, path) in cases {
        assert_eq!(preview::<Memcached>(from, &facts.iter().copied().collect(), None), path, "{from:?} on {facts:?}");
    }
    let stopped = preview::<Memcached>(Ready, &BTreeSet::from([ReplicasChanged]), Some(Event::AllStopped));
    assert_eq!(stopped, [Ready, Scaling, Stopped], "a scale to zero ends in Stopped");
}
