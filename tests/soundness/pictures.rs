//! What is drawn of a machine can be read, and leaves nothing out.

use super::{Claim, holds_for_every_machine};
use pointsman::machine::diagram::{lifecycle, table};
use pointsman::machine::prove::Provable;
use pointsman::machine::{Role, Word};

/// More lines than these in one picture are a tangle.
const MOST_EDGES: usize = 40;

#[test]
fn every_picture_can_be_read() {
    struct Readable;
    impl Claim for Readable {
        fn faults<M: Provable>() -> Vec<String> {
            let pictures = M::VIEWS.iter().map(|view| (view.name, lifecycle::<M>(view)));
            let edges = pictures.map(|(name, text)| (name, text.lines().filter(|line| line.contains("-->")).count()));
            let counted: Vec<(&str, usize)> = edges.collect();
            println!("{counted:?}");
            counted.iter().filter(|(_, edges)| *edges > MOST_EDGES).map(|(name, edges)| format!("{name} has {edges} edges")).collect()
        }
    }
    holds_for_every_machine::<Readable>();
}

#[test]
fn every_phase_is_drawn_and_every_fact_is_a_row_of_the_table() {
    struct Drawn;
    impl Claim for Drawn {
        fn faults<M: Provable>() -> Vec<String> {
            let pictures: Vec<String> = M::VIEWS.iter().map(lifecycle::<M>).collect();
            let line = |phase: M::Phase| match M::role(phase) {
                Role::Junction => format!("state \"{phase:?} (choice)\" as {phase:?}"),
                Role::Rests | Role::Works { .. } | Role::Asks | Role::Ends => format!("{phase:?}"),
            };
            let drawn = |phase: M::Phase| pictures.iter().any(|text| text.lines().any(|other| other.trim() == line(phase)));
            let phases = M::Phase::ALL.iter().filter(|phase| !drawn(**phase));
            let (text, count) = (table::<M>(), M::Phase::ALL.len() + 1);
            let row = |event: &M::Event| text.lines().find(|line| line.starts_with(&format!("| {event:?} |")));
            let whole = |event: &M::Event| row(event).is_some_and(|line| line.matches(" |").count() == count);
            let events = M::Event::ALL.iter().filter(|event| !whole(event));
            let faults = phases.map(|phase| format!("{phase:?} is in no picture"));
            faults.chain(events.map(|event| format!("{event:?} has no whole row"))).collect()
        }
    }
    holds_for_every_machine::<Drawn>();
}
