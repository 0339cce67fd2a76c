//! Who owns which field, in the names of the stored version. Pure.
//!
//! After a version has left the definition, the first write of an object with an entry of that version loses all of its
//! managedFields. An entry says its version, and a manager that wrote through both has two: they become one.

use super::Kind;
use crate::kinds::field_set::unite;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, Time};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The entries, each in the stored version; an entry of a version that this release does not know stays as it is.
pub fn restated(kind: &Kind, entries: Vec<ManagedFieldsEntry>) -> Vec<ManagedFieldsEntry> {
    let mut all: Vec<ManagedFieldsEntry> = Vec::new();
    for entry in entries {
        let Some(entry) = entry_restated(kind, entry) else { continue };
        match all.iter_mut().find(|other| is_same(other, &entry)) {
            Some(other) => join(other, entry),
            None => all.push(entry),
        }
    }
    all
}

/// The managers that wrote through another version than the stored one.
pub fn elsewhere(kind: &Kind, entries: &[ManagedFieldsEntry]) -> BTreeSet<String> {
    let elsewhere = entries.iter().filter(|entry| older(kind, entry).is_some());
    elsewhere.map(|entry| entry.manager.clone().unwrap_or_default()).collect()
}

/// The version of an entry, where it is one of the kind's that is not the stored one.
fn older<'a>(kind: &Kind, entry: &'a ManagedFieldsEntry) -> Option<&'a str> {
    let (group, version) = entry.api_version.as_deref()?.split_once('/')?;
    let known = group == kind.resource.group && (kind.owned)(&Value::Null, version).is_some();
    (known && version != kind.resource.version).then_some(version)
}

/// Nothing where the stored version knows no field of it: the API server keeps no empty entry either.
fn entry_restated(kind: &Kind, mut entry: ManagedFieldsEntry) -> Option<ManagedFieldsEntry> {
    let Some(fields) = older(kind, &entry).zip(entry.fields_v1.as_ref()).and_then(|(version, fields)| (kind.owned)(&fields.0, version))
    else {
        return Some(entry);
    };
    if fields.as_object().is_none_or(Map::is_empty) {
        return None;
    }
    entry.api_version = Some(kind.resource.api_version.clone());
    entry.fields_v1 = Some(FieldsV1(fields));
    Some(entry)
}

fn is_same(one: &ManagedFieldsEntry, other: &ManagedFieldsEntry) -> bool {
    let of =
        |entry: &ManagedFieldsEntry| (entry.manager.clone(), entry.operation.clone(), entry.subresource.clone(), entry.api_version.clone());
    of(one) == of(other)
}

fn join(one: &mut ManagedFieldsEntry, other: ManagedFieldsEntry) {
    let moment = |time: &Option<Time>| time.as_ref().map(|time| time.0);
    if moment(&other.time) > moment(&one.time) {
        one.time = other.time;
    }
    if let Some(FieldsV1(other)) = other.fields_v1 {
        match &mut one.fields_v1 {
            Some(FieldsV1(one)) => unite(one, other),
            none => *none = Some(FieldsV1(other)),
        }
    }
}
