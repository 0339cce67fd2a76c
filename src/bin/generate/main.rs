//! Prints everything that follows from the code: definitions, webhooks, manifests, diagrams, pages.
//!
//! `generate` writes the files; `generate --check` compares them and names each that differs. A new
//! page is one function and one line in [`files`].

mod docs;
mod monitoring;

use pointsman::kinds::{Served, Visitor, visit};
use pointsman::packages::{self, Files, manifests};
use std::path::Path;
use std::process::ExitCode;

/// Pages that people write, in which a part is printed.
const PAGES: [&str; 2] = ["README.md", "docs/security.md"];
const BASE: &str = "deploy/kustomize/base";
const COMPONENT: &str = "deploy/kustomize/components/prometheus";
const CHART: &str = "deploy/helm/pointsman";

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |page: &str| std::fs::read_to_string(root.join(page)).inspect_err(|error| eprintln!("generate: {page}: {error}"));
    let [Ok(readme), Ok(security)] = PAGES.map(read) else { return ExitCode::FAILURE };
    let files = files(&readme, &security);
    if check { compare(root, &files) } else { write(root, &files) }
}

/// The pages are as they stand: only what stands between their marks is printed.
fn files(readme: &str, security: &str) -> Files {
    struct Printer(Files, String);
    impl Visitor for Printer {
        fn kind<K: Served>(&mut self) {
            let path = K::PATH;
            self.0.insert(manifests::definition_file::<K>(), manifests::yaml(&manifests::definition::<K>()));
            self.0.extend(docs::lifecycle::<K>().map(|(name, picture)| (format!("diagrams/{path}/{name}.mmd"), picture)));
            self.0.insert(format!("diagrams/{path}/changes.mmd"), docs::changes::<K>());
            self.0.insert(format!("diagrams/{path}/table.md"), docs::table::<K>());
            self.0.insert(format!("docs/states/{path}.md"), docs::states::<K>());
            self.1 = docs::with_lifecycle::<K>(&self.1);
        }
    }
    let mut printer = Printer(Files::new(), readme.to_owned());
    visit(&mut printer);
    let Printer(mut files, readme) = printer;
    let [readme_file, security_file] = PAGES.map(str::to_owned);
    files.insert(readme_file, readme);
    files.insert(security_file, docs::with_rules(security));
    files.insert("docs/settings.md".to_owned(), docs::settings());
    files.insert("docs/metrics.md".to_owned(), monitoring::metrics());
    files.insert("docs/alerts.md".to_owned(), monitoring::alerts());
    files.insert("webhooks/service.yaml".to_owned(), manifests::yaml(&manifests::service()));
    files.insert("webhooks/validating.yaml".to_owned(), manifests::yaml(&manifests::webhooks()));
    files.insert("deploy/install.yaml".to_owned(), packages::install());
    for (folder, package) in [(BASE, packages::base()), (COMPONENT, packages::component()), (CHART, packages::chart())] {
        files.extend(package.into_iter().map(|(path, content)| (format!("{folder}/{path}"), content)));
    }
    files
}

fn write(root: &Path, files: &Files) -> ExitCode {
    for (path, content) in files {
        let path = root.join(path);
        let folder = path.parent().unwrap_or(root);
        if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, content)) {
            eprintln!("generate: {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    println!("generate: {} files written", files.len());
    ExitCode::SUCCESS
}

/// Folders in which everything is printed.
const PRINTED: [&str; 7] = ["crds", "webhooks", "diagrams", "docs/states", BASE, COMPONENT, CHART];

/// Files in those folders that the code prints no more.
fn left_over(root: &Path, files: &Files) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), PRINTED.map(|folder| root.join(folder)).to_vec());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let path = entry.strip_prefix(root).unwrap_or(&entry).to_string_lossy().into_owned();
            if entry.is_dir() {
                folders.push(entry);
            } else if !files.contains_key(&path) {
                found.push(path);
            }
        }
    }
    found
}

fn compare(root: &Path, files: &Files) -> ExitCode {
    let left_over = left_over(root, files);
    for path in &left_over {
        eprintln!("generate: {path} is printed no more; remove it");
    }
    let differs = |(path, content): &(&String, &String)| std::fs::read_to_string(root.join(path)).ok().as_ref() != Some(content);
    let stale: Vec<&String> = files.iter().filter(differs).map(|(path, _)| path).collect();
    for path in &stale {
        eprintln!("generate: {path} is not what the code prints; run: cargo run --bin generate");
    }
    println!("generate: {} files checked, {} differ", files.len(), stale.len());
    if stale.is_empty() && left_over.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
