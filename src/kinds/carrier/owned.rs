//! What a manager owns, changed from the older version's names to the stored one's: total, and nothing that the stored
//! version knows is lost.
//!
//! A set of fields is a tree as the API server keeps it: `f:NAME` is a field, `.` the branch itself, and a branch
//! without entries is owned as a whole. Only below `spec` do the versions name fields differently.

use super::{Field, Fields, OLDER, STORED};
use serde_json::{Map, Value};

const SPEC: &str = "f:spec";
const ITSELF: &str = ".";

impl Fields {
    /// The fields that a manager owns through `version`, as the stored version names them; `None` where the version is unknown.
    pub fn owned(&self, fields: &Value, version: &str) -> Option<Value> {
        match version {
            STORED => Some(fields.clone()),
            OLDER => Some(self.owned_in_stored(fields)),
            _ => None,
        }
    }

    fn owned_in_stored(&self, fields: &Value) -> Value {
        let mut fields = fields.clone();
        if let Some(all) = fields.as_object_mut()
            && let Some(Value::Object(spec)) = all.get(SPEC)
        {
            match self.spec_in_stored(spec) {
                Some(spec) => all.insert(SPEC.to_owned(), spec),
                None => all.remove(SPEC),
            };
        }
        fields
    }

    /// Nothing where the stored version knows no field of it.
    fn spec_in_stored(&self, spec: &Map<String, Value>) -> Option<Value> {
        let itself = spec.is_empty() || spec.contains_key(ITSELF);
        let mut new = Map::new();
        for row in self.rows {
            if let Some(owned) = owned_at(spec, row) {
                own(&mut new, &row.stored(), owned, itself);
            }
        }
        if itself && !new.is_empty() {
            new.insert(ITSELF.to_owned(), Value::Object(Map::new()));
        }
        (itself || !new.is_empty()).then_some(Value::Object(new))
    }
}

/// What is owned of a field. The carrier is nothing in the stored version but the fields in it.
fn owned_at<'a>(spec: &'a Map<String, Value>, row: &Field) -> Option<&'a Value> {
    let path = row.older();
    let (first, inner) = path.split_first()?;
    inner.iter().try_fold(spec.get(&named(first))?, |owned, name| owned.get(named(name)))
}

/// Adds a field; who owns the spec itself owns the branches on the way too.
fn own(branch: &mut Map<String, Value>, path: &[&str], owned: &Value, itself: bool) {
    let Some((name, inner)) = path.split_first() else { return };
    if inner.is_empty() {
        branch.insert(named(name), owned.clone());
        return;
    }
    let empty = || if itself { Map::from_iter([(ITSELF.to_owned(), Value::Object(Map::new()))]) } else { Map::new() };
    if let Value::Object(next) = branch.entry(named(name)).or_insert_with(|| Value::Object(empty())) {
        own(next, inner, owned, itself);
    }
}

fn named(field: &str) -> String {
    format!("f:{field}")
}
