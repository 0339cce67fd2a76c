//! The passwords of the databases of a run: whoever makes one writes them down, so that they are looked for at the end in
//! all that was said meanwhile.

use super::certificates::text;
use super::{Space, audit, run_folder};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

/// All that is secret in the two Secrets of a database, as it is and as it is encoded there.
#[track_caller]
pub fn of(space: &Space, name: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    for secret in ["app", "internal"].map(|secret| space.object(&format!("secret/{name}-{secret}"))) {
        let data = secret["data"].as_object().unwrap_or_else(|| panic!("{name} has no such Secret")).clone();
        let is_secret = |key: &str| ["password", "verifier", "uri"].iter().any(|part| key.contains(part));
        for encoded in data.iter().filter(|(key, _)| is_secret(key)).map(|(_, value)| value.as_str().unwrap()) {
            secrets.extend([text(encoded), encoded.to_owned()]);
        }
    }
    assert!(secrets.len() >= 12 && secrets.iter().all(|secret| secret.len() >= 16), "{} secrets", secrets.len());
    secrets
}

/// Writes them down.
#[track_caller]
pub fn remember(secrets: &[String]) {
    let lines = secrets.join("\n") + "\n";
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(run_folder().join("passwords")).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

/// All that were written down in this run.
#[track_caller]
pub fn remembered() -> Vec<String> {
    let text = std::fs::read_to_string(run_folder().join("passwords")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The lines of a text that hold one of them.
pub fn telling<'a>(text: &'a str, secrets: &[String]) -> Vec<&'a str> {
    text.lines().filter(|line| secrets.iter().any(|secret| line.contains(secret.as_str()))).collect()
}

/// What the operator sent, but Secrets, whose bodies nobody keeps.
pub fn sent(entry: &audit::Entry) -> Option<String> {
    let body = entry.body();
    (body.is_object() || body.is_array()).then(|| body.to_string())
}
