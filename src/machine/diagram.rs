//! Arrows as Mermaid diagrams and as a phase x event table.

use super::explore::{Arrow, arrows};
use super::{Answer, Machine, Role, Word};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// A picture of a part of the lifecycle, small enough to be read.
#[derive(Clone, Copy, Debug)]
pub struct View<P: 'static> {
    /// What it is called, as a file and as a title.
    pub name: &'static str,
    /// The phases in it; every arrow between two of them is drawn.
    pub phases: &'static [P],
}

/// The view as a state diagram; scopes are composite states.
///
/// An arrow that every phase of a scope takes is drawn once, from the scope: computed, not declared.
/// A scope is what of it lies in the view.
pub fn lifecycle<M: Machine>(view: &View<M::Phase>) -> String {
    let drawn = |arrow: &Arrow<M>| arrow.moved && view.phases.contains(&arrow.from) && view.phases.contains(&arrow.next);
    let shown: Vec<Arrow<M>> = arrows::<M>().into_iter().filter(drawn).collect();
    let mut text = vec!["stateDiagram-v2".to_owned()];
    text.extend(nested_states(&shown));
    if view.phases.contains(&M::START) {
        text.push(format!("  [*] --> {:?}", M::START));
    }
    for ((from, next), causes) in lifted(&shown, view.phases) {
        text.push(format!("  {from} --> {next:?}: {}", causes.join(" / ")));
    }
    let ends = view.phases.iter().filter(|phase| M::role(**phase) == Role::Ends);
    text.extend(ends.map(|phase| format!("  {phase:?} --> [*]")));
    text.push(String::new());
    text.join("\n")
}

type Lines<M> = BTreeMap<(String, <M as Machine>::Phase), Vec<String>>;

/// An arrow is drawn from the widest scope all of whose phases take it; where there is none, from the widest of which all
/// that is drawn does, or from the narrowest around these.
fn lifted<M: Machine>(shown: &[Arrow<M>], phases: &[M::Phase]) -> Lines<M> {
    let all = arrows::<M>();
    let mut lines: Lines<M> = BTreeMap::new();
    for arrow in shown {
        let same = |other: &&Arrow<M>| other.event == arrow.event && other.next == arrow.next && other.effects == arrow.effects;
        let takes = |phase: &M::Phase| all.iter().any(|other| other.from == *phase && other.moved && same(&other));
        let inside = |scope: &String, of: &[M::Phase]| {
            of.iter().copied().filter(|phase| M::scopes(*phase).contains(scope)).collect::<Vec<M::Phase>>()
        };
        let several = |scope: &&String| inside(scope, phases).len() > 1;
        let lifts = |scope: &&String, of: &[M::Phase]| several(scope) && inside(scope, of).iter().all(takes);
        let scopes = M::scopes(arrow.from);
        let all_take = scopes.iter().find(|scope| lifts(scope, M::Phase::ALL));
        let drawn_take = scopes.iter().find(|scope| lifts(scope, phases));
        let around = drawn_take.and_then(|wide| scopes.iter().rev().find(|scope| inside(scope, phases) == inside(wide, phases)));
        let from = all_take.or(around);
        let causes = lines.entry((from.cloned().unwrap_or_else(|| format!("{:?}", arrow.from)), arrow.next)).or_default();
        let cause = format!("{:?}", arrow.event);
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    lines
}

fn nested_states<M: Machine>(shown: &[Arrow<M>]) -> Vec<String> {
    let in_picture = |phase: &&M::Phase| shown.iter().any(|arrow| arrow.from == **phase || arrow.next == **phase);
    let mut places: Vec<(Vec<String>, M::Phase)> =
        M::Phase::ALL.iter().filter(in_picture).map(|&phase| (M::scopes(phase), phase)).collect();
    places.sort();
    let (mut text, mut open): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let indent = |depth: usize| "  ".repeat(depth + 1);
    for (scopes, phase) in places {
        while !scopes.starts_with(&open) {
            open.pop();
            text.push(format!("{}}}", indent(open.len())));
        }
        for scope in &scopes[open.len()..] {
            text.push(format!("{}state {scope} {{", indent(open.len())));
            open.push(scope.clone());
        }
        text.push(format!("{}{}", indent(open.len()), state::<M>(phase)));
    }
    while open.pop().is_some() {
        text.push(format!("{}}}", indent(open.len())));
    }
    text
}

/// A state in the form that every version of Mermaid draws with its name.
///
/// Mermaid reads on into the next line after a line such as `state Ready`, and draws a `<<choice>>` without its name.
fn state<M: Machine>(phase: M::Phase) -> String {
    match M::role(phase) {
        Role::Junction => format!("state \"{phase:?} (choice)\" as {phase:?}"),
        Role::Rests | Role::Works { .. } | Role::Asks | Role::Ends => format!("{phase:?}"),
    }
}

/// What one field's edit leads to.
#[derive(Clone, Debug)]
pub struct ChangeRow<M: Machine> {
    /// The path of the field, as in `spec.replicas`.
    pub field: &'static str,
    /// The event that its edit raises, or the text with which it is refused.
    pub raises: Result<M::Event, &'static str>,
}

/// The configuration changes as a flowchart, since state diagrams know no dashed arrow.
pub fn changes<M: Machine>(from: M::Phase, rows: &[ChangeRow<M>]) -> String {
    let mut text = vec!["flowchart LR".to_owned(), format!("  {from:?}([{from:?}])")];
    let mut nodes = BTreeSet::new();
    for ChangeRow { field, raises } in rows {
        match raises {
            Ok(event) => {
                if let Answer::Go(next, _) = M::answer(from, *event) {
                    if nodes.insert(next) {
                        text.push(format!("  {next:?}([{next:?}])"));
                    }
                    text.push(format!("  {from:?} -- \"{field}: {event:?}\" --> {next:?}"));
                }
            }
            Err(why) => {
                let id: String = field.chars().filter(char::is_ascii_alphanumeric).collect();
                text.push(format!("  {from:?} -. \"{field}\" .-> {id}[\"Unsupported: {why}\"]"));
            }
        }
    }
    text.push(String::new());
    text.join("\n")
}

/// Every phase x every event, as a Markdown table: one row an event, one column a phase.
pub fn table<M: Machine>() -> String {
    let row = |first: String, cell: &dyn Fn(M::Phase) -> String| {
        let cells = M::Phase::ALL.iter().map(|phase| cell(*phase));
        format!("| {} |\n", iter::once(first).chain(cells).collect::<Vec<_>>().join(" | "))
    };
    let head = row("event".to_owned(), &|phase| format!("{phase:?}"));
    let line = format!("|{}\n", "---|".repeat(M::Phase::ALL.len() + 1));
    let rows = M::Event::ALL.iter().map(|&event| row(format!("{event:?}"), &|phase| cell::<M>(phase, event)));
    iter::once(head).chain([line]).chain(rows).collect()
}

fn cell<M: Machine>(phase: M::Phase, event: M::Event) -> String {
    let named = |effects: Vec<M::Effect>| effects.iter().map(|effect| format!("{effect:?}")).collect::<Vec<_>>().join(", ");
    match M::answer(phase, event) {
        Answer::Go(next, effects) if effects.is_empty() => format!("-> {next:?}"),
        Answer::Go(next, effects) => format!("-> {next:?} [{}]", named(effects)),
        Answer::Act(effects) => format!("stays [{}]", named(effects)),
        Answer::Hold => "held".to_owned(),
        Answer::Pass => String::new(),
    }
}
