//! Faults planted in the kind's own table: each patch of `tests/faults/` names the test that must
//! fail, and the sentence with which it fails.
//!
//! A patch is applied to a copy of the pure folders, which are a crate of their own there: nothing
//! of the edges is compiled again, but for what is pure of the controller: the election, and what a watch keeps. Its manifest is
//! the real one, so it takes the dependencies as they are compiled already.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One planted fault.
struct Fault {
    name: String,
    patch: PathBuf,
    test: String,
    says: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn target() -> PathBuf {
    let own = || Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder").to_owned();
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(own, PathBuf::from)
}

fn faults() -> Vec<Fault> {
    let entries = fs::read_dir(root().join("tests/faults")).expect("the folder of faults");
    let mut patches: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.extension().is_some_and(|kind| kind == "patch")).collect();
    patches.sort();
    let fault = |patch: PathBuf| {
        let text = fs::read_to_string(&patch).expect("a patch is text");
        let line = |key: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(key))
                .unwrap_or_else(|| panic!("{} has no line {key}", patch.display()))
                .trim()
                .to_owned()
        };
        Fault { name: patch.file_stem().expect("a name").to_string_lossy().into_owned(), test: line("Test:"), says: line("Says:"), patch }
    };
    patches.into_iter().map(fault).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder is made");
    for entry in fs::read_dir(from).expect("a folder is read").map(|entry| entry.expect("an entry")) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::write(&target, fs::read(&path).expect("a file is read")).expect("a file is written");
        }
    }
}

/// The pure folders and the tests that prove them, as a crate in `place`.
fn plant(place: &Path) {
    let _ = fs::remove_dir_all(place.join("src"));
    let _ = fs::remove_dir_all(place.join("tests"));
    for folder in ["src/machine", "src/kinds", "tests/support", "tests/soundness", "tests/memcached", "tests/database", "tests/election"] {
        copy(&root().join(folder), &place.join(folder));
    }
    for test in ["soundness", "simulation", "election"] {
        let file = format!("tests/{test}.rs");
        fs::copy(root().join(&file), place.join(&file)).expect("a test is copied");
    }
    copy(&root().join("tests/golden"), &place.join("tests/golden"));
    // Another package's name: what is compiled here must not pass for the project's own.
    let renamed = |file: &str| {
        let text = fs::read_to_string(root().join(file)).expect("a file of the package");
        // The programs stay where they are.
        let mut is_program = false;
        let kept = |line: &&str| {
            is_program = line.starts_with("[[bin]]") || is_program && !line.is_empty();
            !is_program && !line.starts_with("default-run")
        };
        let lines = text.lines().filter(kept).map(|line| match line {
            "name = \"pointsman\"" => "name = \"planted\"",
            "[lib]" => "[lib]\nname = \"pointsman\"",
            other => other,
        });
        fs::write(place.join(file), lines.collect::<Vec<_>>().join("\n")).expect("a file of the package is written");
    };
    renamed("Cargo.lock");
    renamed("Cargo.toml");
    fs::create_dir_all(place.join("src/controller/lease")).expect("a folder is made");
    for file in ["kept", "lease/claim", "lease/election"].map(|file| format!("src/controller/{file}.rs")) {
        fs::copy(root().join(&file), place.join(&file)).expect("a pure part of the controller is copied");
    }
    let controller = "/// What of it is pure.\npub mod controller {\n    pub mod kept;\n    /// The election.\n    pub mod lease {\n        pub mod claim;\n        pub mod election;\n    }\n}\n";
    let library = format!("//! What is pure, alone.\n{controller}pub mod kinds;\npub mod machine;\n");
    fs::write(place.join("src/lib.rs"), library).expect("the library is written");
}

/// What cargo is told by whoever runs the tests, and not by itself.
const KEPT: [&str; 4] = ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "CARGO_NET_OFFLINE"];

fn run(place: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.current_dir(place).args(arguments).env("CARGO_TARGET_DIR", target()).env("GIT_CEILING_DIRECTORIES", target());
    // What cargo tells a test of its own package would make dependencies compile again.
    let cargos = |name: &str| name.starts_with("CARGO") && !KEPT.contains(&name);
    let own = |name: &str| matches!(name, "RUST_BACKTRACE" | "POINTSMAN_LONG" | "UPDATE_GOLDEN" | "LD_LIBRARY_PATH");
    for (name, _) in std::env::vars().filter(|(name, _)| cargos(name) || own(name)) {
        command.env_remove(name);
    }
    command.output().unwrap_or_else(|fault| panic!("{program}: {fault}"))
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn missed(fault: &Fault, place: &Path) -> Option<String> {
    plant(place);
    let applied = run(place, "git", &["apply", &fault.patch.to_string_lossy()]);
    if !applied.status.success() {
        return Some(format!("{} does not apply: {}", fault.name, said(&applied)));
    }
    let output = run(place, env!("CARGO"), &["test", "--offline", "--quiet", "--test", &fault.test]);
    let said = said(&output);
    println!("{}: {}", fault.name, if output.status.success() { "not caught" } else { &fault.says });
    if said.contains("could not compile") {
        return Some(format!("{} does not compile: {said}", fault.name));
    }
    (output.status.success() || !said.contains(&fault.says))
        .then(|| format!("{} is not caught by {} with {:?}; it says: {said}", fault.name, fault.test, fault.says))
}

#[test]
fn every_planted_fault_is_caught_with_a_sentence() {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("planted");
    fs::create_dir_all(&place).expect("a place for the copies");
    let faults = faults();
    assert!(faults.len() >= 9, "only {} faults are planted", faults.len());
    let start = std::time::Instant::now();
    let missed: Vec<String> = faults.iter().filter_map(|fault| missed(fault, &place)).collect();
    println!("{} faults planted, {} missed, in {:?}", faults.len(), missed.len(), start.elapsed());
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// What no longer fits would be found out by `make test-long` alone.
#[test]
fn each_fault_fits_the_code_as_it_stands() {
    for fault in faults() {
        let fits = run(&root(), "git", &["apply", "--check", &fault.patch.to_string_lossy()]);
        assert!(fits.status.success(), "{}: {}", fault.name, said(&fits));
    }
}
