//! Where each field of a spec stands in each version: one table a kind. From it come the conversion, the owners of fields,
//! the paths in refusals, and the rules of the carrier.
//!
//! What the older version cannot say travels in its `spec.v1`, the carrier, where it differs from the stored version's
//! default. The conversion is total, never refuses, and emits no undeclared field. The way to the stored version writes
//! every default itself, since the API server defaults nothing that it has converted; so those defaults are frozen.

mod owned;

use super::cel::forbids_unless;
use kube::core::Rule;
use serde_json::{Map, Value, json};

/// The version that is stored.
pub const STORED: &str = "v1";
/// The other one.
pub const OLDER: &str = "v1alpha1";
/// The field of the older version that carries what it cannot say.
const CARRIER: &str = STORED;

/// Why a carrier may not say a default.
pub const LEAVE_OUT: &str = "leave out what equals v1's default: v1alpha1 carries only what differs from it";

/// A field of the stored version, and where the older one says it. Paths are below `spec`.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    stored: &'static str,
    older: Option<&'static str>,
}

/// A field that the older version knows, perhaps by another name.
pub const fn named(stored: &'static str, older: &'static str) -> Field {
    Field { stored, older: Some(older) }
}

/// A field that the older version only carries.
pub const fn carried(stored: &'static str) -> Field {
    Field { stored, older: None }
}

impl Field {
    /// Its path in the stored version.
    pub fn path(&self) -> &'static str {
        self.stored
    }

    fn stored(&self) -> Vec<&'static str> {
        self.stored.split('.').collect()
    }

    fn older(&self) -> Vec<&'static str> {
        self.older.map_or_else(|| std::iter::once(CARRIER).chain(self.stored.split('.')).collect(), |name| vec![name])
    }
}

/// Every field of a kind's spec: one of several parts is as many rows as its parts have different places.
#[derive(Debug)]
pub struct Fields {
    /// The rows.
    pub rows: &'static [Field],
    /// The stored version's defaults, as a spec.
    pub defaults: fn() -> Value,
}

impl Fields {
    /// The spec in `version`, out of the spec in the other one; `None` where the version is unknown.
    pub fn convert(&self, spec: &Value, version: &str) -> Option<Value> {
        match version {
            STORED => Some(self.to_stored(spec)),
            OLDER => Some(self.to_older(spec)),
            _ => None,
        }
    }

    fn to_stored(&self, spec: &Value) -> Value {
        let defaults = (self.defaults)();
        let mut new = json!({});
        for row in self.rows {
            if let Some(value) = present(spec, &row.older()).or_else(|| present(&defaults, &row.stored())) {
                put(&mut new, &row.stored(), value.clone());
            }
        }
        new
    }

    fn to_older(&self, spec: &Value) -> Value {
        let defaults = (self.defaults)();
        let mut new = json!({});
        for row in self.rows {
            let (value, default) = (present(spec, &row.stored()), present(&defaults, &row.stored()));
            let said = if row.older.is_some() { value.or(default) } else { value.filter(|value| Some(*value) != default) };
            if let Some(said) = said {
                put(&mut new, &row.older(), said.clone());
            }
        }
        new
    }

    /// A field of the stored version, as `version` calls it.
    pub fn field_in(&self, version: &str, field: &str) -> String {
        let Some(rest) = field.strip_prefix("spec.").filter(|_| version == OLDER) else { return field.to_owned() };
        let renamed = |row: &Field| {
            let inner = rest.strip_prefix(row.stored).filter(|inner| inner.is_empty() || inner.starts_with(['.', '[']));
            let whole = row.stored.strip_prefix(rest).is_some_and(|inner| inner.starts_with('.'));
            Some(format!("spec.{}{}", row.older?, inner.or(whole.then_some(""))?))
        };
        self.rows.iter().find_map(renamed).unwrap_or_else(|| format!("spec.{CARRIER}.{rest}"))
    }

    /// What equals a default that is one word is left out, so that an object reads back as it was written.
    pub fn left_out(&self) -> Vec<Rule> {
        let defaults = (self.defaults)();
        let carried = self.rows.iter().filter(|row| row.older.is_none());
        let words = carried.filter_map(|row| Some((row, present(&defaults, &row.stored())?))).filter(|(_, default)| !default.is_object());
        words.map(|(row, default)| differs(row.stored, default)).collect()
    }
}

/// Where `field` is carried, it differs from `default`.
fn differs(field: &str, default: &Value) -> Rule {
    let plain = default.as_str().map_or(default.to_string(), |text| format!("'{text}'"));
    let value = if default.is_string() { format!("string(self.{field})") } else { format!("self.{field}") };
    forbids_unless(format!("!has(self.{field}) || {value} != {plain}"), LEAVE_OUT).field_path(format!(".{field}"))
}

/// The carrier stays as it is: a client that does not know it must not be able to lose it.
pub fn unchanged(group: &str) -> Rule {
    forbids_unless(
        format!("has(self.{CARRIER}) == has(oldSelf.{CARRIER}) && (!has(self.{CARRIER}) || self.{CARRIER} == oldSelf.{CARRIER})"),
        format!("{OLDER} carries the fields of {STORED} unchanged; change them through {group}/{STORED}"),
    )
    .field_path(format!(".{CARRIER}"))
}

fn present<'a>(spec: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(spec, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// Sets what stands at `path`, making the objects on the way.
fn put(object: &mut Value, path: &[&str], value: Value) {
    let (Some((name, inner)), Value::Object(fields)) = (path.split_first(), &mut *object) else {
        *object = value;
        return;
    };
    put(fields.entry(*name).or_insert_with(|| Value::Object(Map::new())), inner, value);
}
