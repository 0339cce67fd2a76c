//! What stands in the settings of a client that calls the webhooks, and what is to stand there.

use super::paths::Paths;
use crate::kinds::paths;
use serde_json::{Value, json};
use tokio::time::Instant;

/// What the clients are to have.
pub(super) struct Wanted<'a> {
    /// The bundle, in base64.
    pub(super) bundle: String,
    pub(super) paths: &'a Paths,
    pub(super) now: Instant,
}

impl Wanted<'_> {
    /// Fields of the settings of one client.
    pub(super) fn of(&self, client: &Value) -> Value {
        let (base, config) = (paths::called_by(client["name"].as_str()), &client["clientConfig"]);
        let mut fields = json!({ "caBundle": self.bundle });
        if let Some(path) = self.paths.current(&base, self.now) {
            match config["url"].as_str().map(|url| url.split_once(&base)) {
                Some(Some((host, _))) => fields["url"] = json!(format!("{host}{path}")),
                // Of an address that leads elsewhere nobody knows what is called there.
                Some(None) => {}
                None => fields["service"] = json!({ "path": path }),
            }
        }
        fields
    }
}

/// The path that a client calls.
pub(super) fn path(client: &Value) -> String {
    let (config, base) = (&client["clientConfig"], paths::called_by(client["name"].as_str()));
    let path = config["service"]["path"].as_str();
    let of_url = || config["url"].as_str().and_then(|url| url.find(&base).and_then(|at| url.get(at..)));
    path.or_else(of_url).unwrap_or("/").to_owned()
}

/// Does it end in what only the operator writes?
pub(super) fn has_secret(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(base, _)| paths::all().iter().any(|known| known == base))
}

/// Does each of these fields stand there?
pub(super) fn lies_in(fields: &Value, there: &Value) -> bool {
    fields.as_object().map_or_else(|| fields == there, |fields| fields.iter().all(|(key, field)| lies_in(field, &there[key])))
}
