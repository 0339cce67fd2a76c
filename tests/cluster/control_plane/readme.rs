//! The README's transcript, run line by line: what it shows is what a user gets.

use super::attempts::normalised;
use crate::harness::{Answer, Space, bash, repository, shared};
use regex_lite::Regex;

const BEGINS: &str = "<!-- transcript -->\n```console\n";
const ENDS: &str = "```\n<!-- transcript ends -->";

/// Runs a line as a user types it, in a namespace of the test's own.
fn typed(space: &Space, line: &str) -> Answer {
    bash(&format!("cd '{}'; kubectl() {{ command kubectl --namespace {} \"$@\"; }}; {line}", repository().display(), space.name))
}

/// Without ages and pods' names: they differ from run to run.
fn ageless(text: &str, space: &Space) -> String {
    let age = Regex::new(r"\b(\d+m)?\d+s\b").unwrap();
    let pod = Regex::new(r"\bcache-[0-9a-z]{6,10}-[0-9a-z]{5}\b").unwrap();
    let text = age.replace_all(&normalised(text, space), "AGE").into_owned();
    pod.replace_all(&text, "POD").into_owned()
}

#[test]
fn the_readme_shows_what_a_user_sees() {
    let _turn = shared();
    let space = Space::new("readme");
    let path = repository().join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let start = readme.find(BEGINS).expect("the README has a transcript") + BEGINS.len();
    let end = start + readme[start..].find(ENDS).expect("the transcript ends");
    let shown = &readme[start..end];
    let commands: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(commands.len() > 8, "the transcript is too short to tell anything: {commands:?}");
    let type_it = |command: &&str| {
        let answer = typed(&space, command);
        let refused = command.contains("\"port\":") || command.contains("--replicas=1000");
        assert_eq!(answer.code, i32::from(refused), "{command}: {}", answer.text());
        format!("$ {command}\n{}", answer.text())
    };
    let said: Vec<String> = commands.iter().map(type_it).collect();
    let said = said.concat();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let said = said.replace(&space.name, "default");
        std::fs::write(&path, format!("{}{said}{}", &readme[..start], &readme[end..])).unwrap();
        return;
    }
    // Columns are as wide as what stands in them.
    let columns = |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    let shown =
        shown.replace("namespace \"default\"", "namespace \"NAMESPACE\"").replace("from default namespace", "from NAMESPACE namespace");
    assert_eq!(columns(&ageless(&said, &space)), columns(&ageless(&shown, &space)));
}
