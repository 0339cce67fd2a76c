//! Where each field stands in each version.

use super::v1::DatabaseSpec;
use crate::kinds::carrier::{Fields, carried, named};

/// Every field of v1: v1alpha1 is flat, and spells the size its own way.
pub const FIELDS: Fields = Fields {
    rows: &[
        named("databaseName", "name"),
        named("port", "port"),
        named("storage.size", "storage-size"),
        named("image", "image"),
        named("replicas", "replicas"),
        carried("storage.storageClassName"),
        carried("parameters"),
        carried("extensions"),
        carried("backup"),
        carried("restoreFrom"),
        carried("deletionPolicy"),
        carried("service"),
        carried("resources"),
        carried("podTemplate"),
    ],
    // What is required has no default, and is left out.
    defaults: || serde_json::to_value(DatabaseSpec::default()).unwrap_or_default(),
};

#[cfg(test)]
mod tests {
    use super::FIELDS;
    use crate::kinds::carrier::OLDER;
    use serde_json::{Value, json};

    fn owned(through_v1alpha1: &Value) -> Value {
        FIELDS.owned(&json!({ "f:spec": through_v1alpha1 }), OLDER).expect("a known version")["f:spec"].clone()
    }

    /// What an API server (1.34.4) wrote for one manifest, applied server-side through each version.
    #[test]
    fn fields_are_owned_as_if_they_had_been_applied_through_v1() {
        let extensions = json!({ "k:{\"name\":\"hstore\"}": { ".": {}, "f:name": {} } });
        let backup = json!({ "f:storage": { "f:size": {} } });
        let through_v1alpha1 = json!({ "f:name": {}, "f:port": {}, "f:storage-size": {}, "f:v1": {
            "f:backup": backup, "f:extensions": extensions, "f:storage": { "f:storageClassName": {} } } });
        let through_v1 = json!({ "f:backup": backup, "f:databaseName": {}, "f:extensions": extensions, "f:port": {},
            "f:storage": { "f:size": {}, "f:storageClassName": {} } });
        assert_eq!(owned(&through_v1alpha1), through_v1);
    }

    /// Likewise, for an object that was created: its creator owns the branches too.
    #[test]
    fn who_created_the_spec_owns_its_branches() {
        let backup = json!({ ".": {}, "f:storage": { ".": {}, "f:size": {} } });
        let carrier = json!({ ".": {}, "f:backup": backup, "f:storage": { ".": {}, "f:storageClassName": {} } });
        let through_v1alpha1 = json!({ ".": {}, "f:name": {}, "f:port": {}, "f:replicas": {}, "f:storage-size": {}, "f:v1": carrier });
        let through_v1 = json!({ ".": {}, "f:backup": backup, "f:databaseName": {}, "f:port": {}, "f:replicas": {},
            "f:storage": { ".": {}, "f:size": {}, "f:storageClassName": {} } });
        assert_eq!(owned(&through_v1alpha1), through_v1);
    }

    #[test]
    fn a_field_is_called_as_its_version_calls_it() {
        let called = [
            ("spec.storage.size", "spec.storage-size"),
            ("spec.storage.storageClassName", "spec.v1.storage.storageClassName"),
            ("spec.storage", "spec.storage-size"),
            ("spec.databaseName", "spec.name"),
            ("spec.parameters[work_mem]", "spec.v1.parameters[work_mem]"),
            ("spec.extensions[1].name", "spec.v1.extensions[1].name"),
            ("spec", "spec"),
            ("metadata.name", "metadata.name"),
        ];
        for (stored, older) in called {
            assert_eq!(FIELDS.field_in(OLDER, stored), older);
        }
    }
}
