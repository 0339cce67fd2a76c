//! What is stored, as etcd itself holds it.

use super::bash;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many objects are read at once.
const PAGE: usize = 200;

/// One stored object.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The version that its bytes are of.
    pub version: String,
    /// How often it was written.
    pub writes: u64,
}

/// The Memcacheds of a namespace by name.
#[track_caller]
pub fn memcacheds(namespace: &str) -> BTreeMap<String, Stored> {
    stored("cache.example.com/memcacheds", namespace)
}

/// The objects of a resource in a namespace by name, read through etcd's own gateway.
#[track_caller]
pub fn stored(resource: &str, namespace: &str) -> BTreeMap<String, Stored> {
    let prefix = format!("/registry/{resource}/{namespace}/");
    let end = format!("/registry/{resource}/{namespace}0");
    let (mut stored, mut from) = (BTreeMap::new(), prefix.clone());
    loop {
        let asked = json!({ "key": BASE64_STANDARD.encode(&from), "range_end": BASE64_STANDARD.encode(&end), "limit": PAGE });
        let answer = bash(&format!("curl --silent --show-error --fail $POINTSMAN_ETCD/v3/kv/range --data '{asked}'")).ok();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let page = answer["kvs"].as_array().cloned().unwrap_or_default();
        for held in &page {
            let key = text(&held["key"]);
            let object: Value = serde_json::from_str(&text(&held["value"])).unwrap();
            let version = object["apiVersion"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            // A number of 64 bits is a string in JSON.
            let writes = held["version"].as_str().unwrap().parse().unwrap();
            stored.insert(key[prefix.len()..].to_owned(), Stored { version, writes });
            from = format!("{key}\0");
        }
        if page.len() < PAGE {
            return stored;
        }
    }
}

/// How many of them are stored in `version`.
pub fn count(stored: &BTreeMap<String, Stored>, version: &str) -> usize {
    stored.values().filter(|stored| stored.version == version).count()
}

fn text(value: &Value) -> String {
    String::from_utf8(BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap()
}
