//! The minors of Kubernetes that are supported are those that the test bed has a module of, wherever they are named.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path)).expect("a file of the repository")
}

/// The minors, oldest first, each with the release that its module names.
fn modules() -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join("tests/cluster/programs")).expect("the programs of the test bed");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let minors = names.filter_map(|name| name.strip_prefix("kubernetes-").map(str::to_owned));
    let mut modules: Vec<(String, String)> = minors
        .map(|minor| {
            let module = read(format!("tests/cluster/programs/kubernetes-{minor}/go.mod"));
            let line = module.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "));
            let release = line.and_then(|line| line.split(' ').next()).expect("the module names Kubernetes").to_owned();
            (minor, release)
        })
        .collect();
    modules.sort_by_key(|(minor, _)| minor.split('.').map(|part| part.parse::<u32>().expect("a number")).collect::<Vec<_>>());
    modules
}

#[test]
fn each_module_is_of_the_minor_that_its_folder_names() {
    let modules = modules();
    assert!(modules.len() >= 4, "{modules:?}: those that upstream supports, and one older");
    for (minor, release) in modules {
        assert!(release.starts_with(&format!("v{minor}.")), "{minor}: {release}");
    }
}

#[test]
fn the_docs_and_the_chart_name_the_supported_minors() {
    let modules = modules();
    let (oldest, newest) = (&modules[0].0, &modules[modules.len() - 1].0);
    for page in ["README.md", "docs/installing.md"] {
        assert!(read(page).contains(&format!("Kubernetes {oldest} to {newest}")), "{page}");
    }
    assert!(read("deploy/helm/pointsman/Chart.yaml").contains(&format!("kubeVersion: \">={oldest}.0-0\"")));
}

/// The files below a folder, by their paths within it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(below).collect()
}

#[test]
fn a_text_of_an_older_kubernetes_is_another_one_than_that_of_the_newest() {
    let golden = root().join("tests/golden");
    let (oldest, newest) = (&modules()[0].0, &modules().pop().expect("there are some").0);
    let number = |minor: &str| minor.trim_start_matches("1.").parse::<u32>().expect("a minor");
    let mut seen = 0;
    for path in files(&golden) {
        let within = path.strip_prefix(&golden).expect("below").to_string_lossy().into_owned();
        let Some((minor, name)) = within.strip_prefix("until-").and_then(|rest| rest.split_once('/')) else { continue };
        assert!((number(oldest)..number(newest)).contains(&number(minor)), "{within}: no Kubernetes has this text");
        let today = fs::read_to_string(golden.join(name)).unwrap_or_else(|_| panic!("{within}: nobody gets this text any more"));
        assert_ne!(fs::read_to_string(&path).expect("a text"), today, "{within}");
        seen += 1;
    }
    assert!(seen > 0, "there are some");
}

/// The rows of the README's table: Kubernetes, kubectl cut to its minor, and tier.
fn tried() -> BTreeSet<[String; 3]> {
    let readme = fs::read_to_string(root().join("README.md")).expect("a README");
    let (_, table) = readme.split_once("<!-- versions tried -->").expect("the table");
    let (table, _) = table.split_once("<!-- versions tried ends -->").expect("its end");
    let minor = |version: &str| version.trim_start_matches('v').splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let rows = table.lines().filter(|line| line.starts_with("| v"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells[3].parse::<u32>().is_ok_and(|tests| tests > 20), "{line}: so few tests are no tier");
        [cells[0].to_owned(), minor(cells[1]), cells[2].to_owned()]
    };
    rows.map(row).collect()
}

#[test]
fn every_supported_release_was_tried_and_the_newest_on_a_node() {
    let (tried, modules) = (tried(), modules());
    let is_tried = |release: &str, tier: &str| tried.iter().any(|[on, _, of]| on == release && of == tier);
    for (_, release) in &modules {
        assert!(is_tried(release, "control-plane"), "{release} was not tried: {tried:?}");
    }
    assert!(is_tried(&modules.last().expect("there are some").1, "node"), "{tried:?}");
    // With kubectl of the next minor, as users have who have not upgraded their clusters yet.
    for [(_, older), (newer, _)] in modules.array_windows() {
        assert!(tried.contains(&[older.clone(), newer.clone(), "control-plane".to_owned()]), "{older} was not tried with kubectl {newer}");
    }
}
