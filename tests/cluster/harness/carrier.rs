//! Walks through v1alpha1 that keep what it cannot say, for any kind.

use super::{Answer, Space, anew};
use serde_json::{Value, json};

/// One way through v1alpha1: its name, the count that it asks for, where it asks for one, and what a user types, given the
/// object's name and its export.
pub type Way = (&'static str, Option<i64>, fn(&Space, &str, &Value) -> Answer);

/// A kind, as kubectl and a manifest call it in both versions.
#[derive(Clone, Copy, Debug)]
pub struct Versions {
    /// `mc`.
    pub short: &'static str,
    /// `memcacheds.v1alpha1.cache.example.com`.
    pub old: &'static str,
    /// `cache.example.com`.
    pub group: &'static str,
    /// `Memcached`.
    pub kind: &'static str,
}

/// Caches.
pub const MEMCACHED: Versions =
    Versions { short: "mc", old: "memcacheds.v1alpha1.cache.example.com", group: "cache.example.com", kind: "Memcached" };
/// Databases.
pub const DATABASE: Versions =
    Versions { short: "db", old: "databases.v1alpha1.stable.imaginedata.com", group: "stable.imaginedata.com", kind: "Database" };

/// A spec with every field of these.
pub fn merged(fixtures: &[(&str, Value)]) -> Value {
    let mut all = json!({});
    for (_, fixture) in fixtures {
        json_patch::merge(&mut all, fixture);
    }
    all
}

impl Versions {
    /// A manifest; a spec that is null is left out.
    pub fn manifest(&self, version: &str, name: &str, spec: &Value) -> Value {
        let mut object = json!({ "apiVersion": format!("{}/{version}", self.group), "kind": self.kind, "metadata": { "name": name } });
        if !spec.is_null() {
            object["spec"] = spec.clone();
        }
        object
    }

    /// An object, as kubectl finds it in a version.
    pub fn resource(&self, version: &str, name: &str) -> String {
        format!("{}/{name}", if version == "v1" { self.short } else { self.old })
    }

    /// The spec as v1 shows it.
    #[track_caller]
    pub fn spec(&self, space: &Space, name: &str) -> Value {
        space.object(&format!("{}/{name}", self.short))["spec"].clone()
    }

    /// The object as v1alpha1 shows it, without what a new write may not name.
    #[track_caller]
    pub fn export(&self, space: &Space, name: &str) -> Value {
        let mut export = anew(space.object(&format!("{}/{name}", self.old)));
        export.as_object_mut().unwrap().remove("status");
        export
    }

    /// Takes every way with an object, and sees that nothing but the count is another.
    #[track_caller]
    pub fn walked(&self, space: &Space, name: &str, ways: &[Way]) {
        for (way, count, walk) in ways {
            let mut expected = self.spec(space, name);
            let mut answer = walk(space, name, &self.export(space, name));
            // kubectl replaces what it has just read; the operator may have written its status in between.
            for _ in 0..5 {
                if answer.err.contains("the object has been modified") {
                    answer = walk(space, name, &self.export(space, name));
                }
            }
            assert_eq!(answer.code, 0, "{name}, {way}: {}", answer.text());
            if let Some(count) = count {
                expected["replicas"] = json!(count);
            }
            assert_eq!(self.spec(space, name), expected, "{name}, {way}");
        }
    }

    /// Deletes an object and creates it anew out of its export as v1alpha1: both versions show what they showed.
    #[track_caller]
    pub fn survives_its_export(&self, space: &Space, name: &str) {
        let (before, old) = (self.spec(space, name), self.export(space, name));
        space.kubectl(&["delete", &format!("{}/{name}", self.short), "--timeout=60s"]).ok();
        space.kubectl_with(&["create", "--filename", "-"], &old.to_string()).ok();
        assert_eq!(self.spec(space, name), before, "{name} as v1 after its export through v1alpha1");
        assert_eq!(self.export(space, name)["spec"], old["spec"], "{name} as v1alpha1");
    }
}
