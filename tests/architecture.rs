//! The layering and the house rules, read from the source; each check is shown to fail on a bad snippet.

use std::fs;
use std::path::Path;

/// A source file: its path below `src/`, and its text without comments.
struct Source {
    path: String,
    text: String,
}

/// One rule: a sentence for each line that breaks it.
type Check = fn(&Source) -> Vec<String>;

fn source(path: &str, text: &str) -> Source {
    let code = text.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line.split(" // ").next().unwrap_or(line) });
    Source { path: path.to_owned(), text: code.collect::<Vec<_>>().join("\n") }
}

fn sources() -> Vec<Source> {
    fn below(folder: &Path, root: &Path, found: &mut Vec<Source>) {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                below(&path, root, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let name = path.strip_prefix(root).expect("below src").to_string_lossy().into_owned();
                found.push(source(&name, &fs::read_to_string(&path).expect("a source file")));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    below(&root, &root, &mut found);
    assert!(found.len() > 20, "only {} source files were found", found.len());
    found
}

/// A check must find fault with the bad snippet, none with the good one, and none with the source.
fn holds(check: Check, bad: (&str, &str), good: (&str, &str)) {
    assert!(!check(&source(bad.0, bad.1)).is_empty(), "the check does not see what is wrong in {bad:?}");
    assert_eq!(check(&source(good.0, good.1)), Vec::<String>::new(), "the check finds fault with {good:?}");
    let faults: Vec<String> = sources().iter().flat_map(check).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

fn lines_with(source: &Source, words: &[&str]) -> Vec<String> {
    let numbered = source.text.lines().enumerate();
    let hit = |line: &str| words.iter().any(|word| has_word(line, word));
    numbered.filter(|(_, line)| hit(line)).map(|(number, line)| format!("{}:{}: {}", source.path, number + 1, line.trim())).collect()
}

/// Does `word` stand in `line`, not as a part of a longer one?
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

/// The folder, or the file where it stands at the top.
fn layer(path: &str) -> &str {
    path.split(['/', '.']).next().unwrap_or_default()
}

#[test]
fn nothing_points_up_and_the_edges_never_meet() {
    fn check(source: &Source) -> Vec<String> {
        let forbidden: &[&str] = match layer(&source.path) {
            "machine" => {
                &["crate::kinds", "crate::admission", "crate::controller", "crate::config", "crate::telemetry", "super::super::kinds"]
            }
            "kinds" => &["crate::admission", "crate::controller", "crate::config", "crate::telemetry", "crate::packages"],
            "packages" => &["crate::admission", "crate::controller", "crate::telemetry"],
            "admission" => &["crate::controller", "crate::uninstall", "crate::migrate"],
            "controller" => &["crate::admission", "crate::uninstall", "crate::migrate"],
            "uninstall" => &["crate::admission", "crate::controller", "crate::migrate"],
            "migrate" => &["crate::admission", "crate::controller", "crate::uninstall"],
            _ => &[],
        };
        lines_with(source, forbidden)
    }
    holds(check, ("machine/mod.rs", "use crate::kinds::Kind;"), ("kinds/mod.rs", "use crate::machine::Step;"));
    holds(check, ("controller/record.rs", "use crate::admission::tls;"), ("admission/mod.rs", "use crate::kinds::judge;"));
    holds(check, ("migrate/look.rs", "use crate::uninstall::Part;"), ("migrate/look.rs", "use crate::kinds::Served;"));
    holds(check, ("packages/objects.rs", "use crate::controller::Controller;"), ("uninstall/look.rs", "use crate::packages::objects;"));
}

#[test]
fn below_the_edges_nothing_waits() {
    fn check(source: &Source) -> Vec<String> {
        if matches!(layer(&source.path), "machine" | "kinds" | "packages") {
            lines_with(source, &["async", ".await", "tokio"])
        } else {
            Vec::new()
        }
    }
    holds(check, ("kinds/status.rs", "async fn look() {}"), ("controller/perform.rs", "async fn look() {}"));
}

#[test]
fn the_clock_is_read_in_few_files() {
    fn check(source: &Source) -> Vec<String> {
        let may = [
            "controller/clock.rs",
            "controller/observe.rs",
            "controller/lease.rs",
            "controller/lease/instant.rs",
            "controller/certificates.rs",
            "telemetry/record.rs",
        ];
        if may.contains(&source.path.as_str()) {
            Vec::new()
        } else {
            let text: Vec<&str> = source.text.lines().take_while(|line| *line != "#[cfg(test)]").collect();
            let source = Source { path: source.path.clone(), text: text.join("\n") };
            lines_with(&source, &["Timestamp::now", "SystemTime::now", "Instant::now", "Utc::now", "Zoned::now"])
        }
    }
    holds(check, ("kinds/status.rs", "let now = Timestamp::now();"), ("controller/observe.rs", "let now = Timestamp::now();"));
}

#[test]
fn chance_is_read_in_one_file() {
    fn check(source: &Source) -> Vec<String> {
        if source.path == "controller/observe.rs" { Vec::new() } else { lines_with(source, &["SystemRandom"]) }
    }
    let line = "SystemRandom::new().fill(&mut seed);";
    holds(check, ("kinds/decide.rs", line), ("controller/observe.rs", line));
}

#[test]
fn the_client_stays_in_the_controller() {
    fn check(source: &Source) -> Vec<String> {
        let may = matches!(layer(&source.path), "controller" | "uninstall" | "migrate") || source.path == "main.rs";
        if may {
            Vec::new()
        } else {
            lines_with(source, &["kube::Client", "kube::Api", "kube::api", "kube::client", "Api::all", "Api::namespaced"])
        }
    }
    holds(check, ("admission/mod.rs", "fn judge(client: kube::Client) {}"), ("controller/perform.rs", "use kube::Api;"));
}

#[test]
fn statig_stays_behind_the_machine() {
    fn check(source: &Source) -> Vec<String> {
        let may = source.path == "machine/mod.rs" || source.path.ends_with("/lifecycle.rs");
        if may { Vec::new() } else { lines_with(source, &["statig"]) }
    }
    holds(check, ("kinds/mod.rs", "use statig::Outcome;"), ("kinds/memcached/lifecycle.rs", "use statig::Outcome;"));
}

#[test]
fn a_kind_is_named_in_its_folder_and_in_the_one_list() {
    fn check(source: &Source) -> Vec<String> {
        let kinds = ["memcached", "database"];
        let own = kinds.iter().any(|kind| source.path.starts_with(&format!("kinds/{kind}/")));
        let listed = |line: &str| source.path == "kinds/mod.rs" && (line.contains("pub mod ") || line.contains("visitor.kind::<"));
        let named = |line: &str| kinds.iter().any(|kind| line.to_lowercase().contains(kind));
        let lines = source.text.lines().filter(|line| !own && named(line) && !listed(line));
        lines.map(|line| format!("{}: {}", source.path, line.trim())).collect()
    }
    holds(check, ("controller/mod.rs", "watch::<Memcached>();"), ("kinds/mod.rs", "    visitor.kind::<memcached::Memcached>();"));
}

#[test]
fn no_file_is_over_250_lines() {
    fn check(source: &Source) -> Vec<String> {
        // A file's unit tests count for themselves.
        let lines = source.text.lines().take_while(|line| *line != "#[cfg(test)]").count();
        if lines > 250 { vec![format!("{} has {lines} lines", source.path)] } else { Vec::new() }
    }
    holds(check, ("kinds/long.rs", &"let a = 1;\n".repeat(251)), ("kinds/short.rs", &"let a = 1;\n".repeat(250)));
}

#[test]
fn no_function_is_over_40_lines() {
    fn check(source: &Source) -> Vec<String> {
        let lines: Vec<&str> = source.text.lines().collect();
        let starts =
            lines.iter().enumerate().filter(|(_, line)| has_word(line, "fn") && !line.contains("fn(") && line.trim_end().ends_with('{'));
        let length = |start: usize| {
            let mut depth = 0_usize;
            for (number, line) in lines[start..].iter().enumerate() {
                depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
                if depth == 0 {
                    return number + 1;
                }
            }
            lines.len() - start
        };
        starts
            .filter(|(start, _)| length(*start) > 40)
            .map(|(start, line)| format!("{}: {} has {} lines", source.path, line.trim(), length(start)))
            .collect()
    }
    let long = format!("fn long() {{\n{}}}", "    let a = 1;\n".repeat(39));
    let short = format!("fn short() {{\n{}}}", "    let a = 1;\n".repeat(38));
    holds(check, ("kinds/long.rs", &long), ("kinds/short.rs", &short));
}

#[test]
fn clippy_denies_client_and_clock_below_the_edges() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    for layer in ["src/machine/mod.rs", "src/kinds/mod.rs", "src/packages/mod.rs"] {
        assert!(
            read(layer).contains("#![deny(clippy::disallowed_methods, clippy::disallowed_types)]"),
            "{layer} lets clippy pass over client and clock"
        );
    }
    for path in ["jiff::Timestamp::now", "std::time::SystemTime::now", "kube::Client", "kube::Api"] {
        assert!(read(".clippy.toml").contains(path), ".clippy.toml does not name {path}");
    }
}
