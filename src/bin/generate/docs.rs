//! Diagrams and the page of each kind's states, printed from the table that runs.

use pointsman::config::settings_table;
use pointsman::kinds::Served;
use pointsman::kinds::annotations::ANSWER;
use pointsman::kinds::claims::declared;
use pointsman::kinds::reason::{Reason, Risk, Verb};
use pointsman::kinds::status::{Because, Declared};
use pointsman::machine::{Machine, Role, Word, diagram, work};
use pointsman::packages::RULES;
use pointsman::packages::manifests::PRINTED;

/// The pictures of the lifecycle: the name of each, and a state diagram.
pub fn lifecycle<K: Served>() -> impl Iterator<Item = (&'static str, String)> {
    K::VIEWS.iter().map(|view| (view.name, diagram::lifecycle::<K>(view)))
}

/// The README with the lifecycle of the kind, the first picture of it, between its marks, where it has them.
pub fn with_lifecycle<K: Served>(readme: &str) -> String {
    const END: &str = "<!-- lifecycle ends -->";
    let mark = format!("<!-- lifecycle of {} -->\n", K::PATH);
    let parts = readme.split_once(&mark).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (Some((before, after)), Some((_, first))) = (parts, lifecycle::<K>().next()) else { return readme.to_owned() };
    format!("{before}{mark}{}\n{END}{after}", mermaid(&first))
}

/// The page on security with the rules that hold the operator itself between its marks.
pub fn with_rules(page: &str) -> String {
    const MARKS: [&str; 2] = ["<!-- rules of the operator -->\n", "<!-- rules of the operator end -->"];
    let parts = page.split_once(MARKS[0]).and_then(|(before, rest)| Some((before, rest.split_once(MARKS[1])?.1)));
    let Some((before, after)) = parts else { return page.to_owned() };
    let rows: Vec<String> = RULES.iter().map(|rule| format!("| `{}` | {} |", rule.policy, rule.words)).collect();
    format!("{before}{}\n| Policy | What has to hold |\n|---|---|\n{}\n\n{}{after}", MARKS[0], rows.join("\n"), MARKS[1])
}

/// The page of the operator's settings.
pub fn settings() -> String {
    let page = [
        format!("<!-- {PRINTED} -->"),
        "# Settings".to_owned(),
        "Each has a flag and an environment variable; the flag wins. `pointsman --help` prints the same.".to_owned(),
        settings_table(),
    ];
    page.join("\n\n")
}

/// The configuration changes as a flowchart, from the state in which everything is as wanted.
pub fn changes<K: Served>() -> String {
    diagram::changes::<K>(settled::<K>(), K::changes_table())
}

/// The table phase x event.
pub fn table<K: Served>() -> String {
    format!("<!-- {PRINTED} -->\n\n{}", diagram::table::<K>())
}

/// Where work that ends well leads.
fn settled<K: Served>() -> K::Phase {
    work::<K>().map_or(K::START, |(phase, goal)| K::step(phase, &[goal].into()).next())
}

/// The page of a kind.
pub fn states<K: Served>() -> String {
    let kind = K::definition().spec.names.kind;
    let mut page = vec![
        format!("<!-- {PRINTED} -->"),
        format!("# The states of {kind}"),
        "## The lifecycle".to_owned(),
        "An arrow from a box is taken by every state in it. `[*]` is where an object starts and ends. The operator passes through a choice and never stores it.".to_owned(),
        pictures::<K>(),
        "## What each state means".to_owned(),
        state_rows::<K>(),
        "## What an edit does".to_owned(),
        mermaid(&changes::<K>()),
        change_rows::<K>(),
        "## Facts, the most urgent first".to_owned(),
        "The first fact in this list that the state answers decides.".to_owned(),
        rows::<K::Event>("fact"),
        "## What is done".to_owned(),
        rows::<K::Effect>("effect"),
        "## Every state on every fact".to_owned(),
        "`-> State` enters it, `[..]` is what is ordered, `held` waits for a later state, empty means nothing here.".to_owned(),
        diagram::table::<K>(),
    ];
    page.extend(conditions::<K>());
    page.extend([
        "## Questions".to_owned(),
        format!(
            "A stopped operator asks. `kubectl describe` shows the question, its evidence and the commands that answer it; the annotation `{ANSWER}` carries the answer as `<verb>-<id>`. Another spec, its replica count aside, closes every question{}.",
            if K::REASONS.iter().all(|reason| reason.about().heeds_spec()) { "" } else { " but those about something that was lost" }
        ),
    ]);
    page.extend(K::REASONS.iter().map(|reason| question::<K>(*reason)));
    page.join("\n\n") + "\n"
}

/// Each picture, with its name above it where there are more than one.
fn pictures<K: Served>() -> String {
    let titled = |(name, picture): (&str, String)| match K::VIEWS {
        [_] => mermaid(&picture),
        _ => format!("### View: {name}\n\n{}", mermaid(&picture)),
    };
    lifecycle::<K>().map(titled).collect::<Vec<_>>().join("\n\n")
}

fn mermaid(text: &str) -> String {
    format!("```mermaid\n{text}```")
}

fn state_rows<K: Served>() -> String {
    let deadline =
        |phase: K::Phase| K::DEADLINES.iter().find(|(of, _)| *of == phase).map_or(String::new(), |(_, limit)| format!("{limit:#}"));
    let row = |phase: &K::Phase| format!("| `{}` | {} | {} | {} |", phase.text(), phase.meaning(), role::<K>(*phase), deadline(*phase));
    let rows: Vec<String> = K::Phase::ALL.iter().map(row).collect();
    format!("| state | true of the cluster | it | asks after, without progress |\n|---|---|---|---|\n{}", rows.join("\n"))
}

fn role<K: Machine>(phase: K::Phase) -> &'static str {
    match K::role(phase) {
        Role::Junction => "is passed through, never stored",
        Role::Rests => "rests",
        Role::Works { .. } => "works",
        Role::Asks => "asks a person",
        Role::Ends => "ends",
    }
}

fn change_rows<K: Served>() -> String {
    let row = |row: &diagram::ChangeRow<K>| match row.raises {
        Ok(event) => format!("| `{}` | {} | {} |", row.field, event.text(), K::step(settled::<K>(), &[event].into()).next().text()),
        Err(why) => format!("| `{}` | **unsupported** | {why} |", row.field),
    };
    let rows: Vec<String> = K::changes_table().iter().map(row).collect();
    format!("| field | raises | leads to |\n|---|---|---|\n{}", rows.join("\n"))
}

fn rows<W: Word>(title: &str) -> String {
    let rows: Vec<String> = W::ALL.iter().map(|word| format!("| `{}` | {} |", word.text(), word.meaning())).collect();
    format!("| {title} | meaning |\n|---|---|\n{}", rows.join("\n"))
}

fn conditions<K: Served>() -> Vec<String> {
    let mut part = vec![
        "## Conditions".to_owned(),
        "A condition gives no other reasons than these. *the state* and *the question* stand for their names.".to_owned(),
        condition_rows::<K>(),
    ];
    if !K::CONDITIONS.is_empty() {
        let own: Vec<String> = K::CONDITIONS.iter().map(|declared| format!("`{}`", declared.name)).collect();
        part.push(format!("Each change of {} is an Event; `pointsman_condition` tells it.", own.join(", ")));
    }
    part
}

fn condition_rows<K: Served>() -> String {
    let because = |because| match because {
        Because::Word(word) => format!("`{word}`"),
        Because::State => "*the state*".to_owned(),
        Because::Question => "*the question*".to_owned(),
    };
    let reasons = |declared: &Declared, holds| declared.reasons::<K>(holds).map(because).collect::<Vec<_>>().join(", ");
    let row = |declared: &Declared| {
        format!("| `{}` | {} | {} | {} |", declared.name, declared.meaning, reasons(declared, true), reasons(declared, false))
    };
    let rows: Vec<String> = declared::<K>().iter().map(row).collect();
    format!("| condition | true of the object | reasons where it is | reasons where it is not |\n|---|---|---|---|\n{}", rows.join("\n"))
}

fn answer(verb: Verb) -> String {
    let risk = if verb.risk() == Risk::None { "none".to_owned() } else { format!("{:?} at most", verb.risk()) };
    format!("- `{}` {}. Risk: {risk}. Offered {}.", verb.word(), verb.effect(), verb.offered())
}

fn question<K: Served>(reason: Reason) -> String {
    let answers: Vec<String> = reason.answers().iter().map(|verb| answer(*verb)).collect();
    format!(
        "### {}\n\n{}. Closes by itself {}.\n\nNot done: {}.\n\n{}",
        reason.word(),
        reason.meaning(),
        [vec![reason.about().closes()], K::also_closes(reason)].concat().join("; or "),
        reason.not_done(),
        answers.join("\n")
    )
}
