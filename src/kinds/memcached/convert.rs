//! Where each field stands in each version.

use super::v1::MemcachedSpec;
use crate::kinds::carrier::{Fields, carried, named};

/// Every field of v1: v1alpha1 knows the count alone.
pub const FIELDS: Fields = Fields {
    rows: &[
        named("replicas", "size"),
        carried("image"),
        carried("memory"),
        carried("maxItemSize"),
        carried("maxConnections"),
        carried("port"),
        carried("resources"),
        carried("podTemplate"),
    ],
    defaults: || serde_json::to_value(MemcachedSpec::default()).unwrap_or_default(),
};

#[cfg(test)]
mod tests {
    use crate::kinds::Served;
    use crate::kinds::memcached::Memcached;
    use serde_json::{Value, json};

    fn owned(through_v1alpha1: &Value) -> Value {
        Memcached::owned(through_v1alpha1, "v1alpha1").expect("a known version")
    }

    /// What an API server (1.34.4) wrote for one manifest, applied server-side through each version.
    #[test]
    fn fields_are_owned_as_if_they_had_been_applied_through_v1() {
        let template = json!({ "f:metadata": { "f:labels": { "f:example.com/a": {} } }, "f:spec": {
            "f:imagePullSecrets": { "k:{\"name\":\"pull\"}": { ".": {}, "f:name": {} } },
            "f:nodeSelector": { "f:type": {} }, "f:tolerations": {},
            "f:topologySpreadConstraints": { "k:{\"topologyKey\":\"kubernetes.io/hostname\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}": {
                ".": {}, "f:maxSkew": {}, "f:topologyKey": {}, "f:whenUnsatisfiable": {} } } } });
        let resources = json!({ "f:requests": { "f:cpu": {} } });
        let through_v1alpha1 = json!({ "f:metadata": { "f:labels": { "f:a": {} } }, "f:spec": { "f:size": {}, "f:v1": {
            "f:image": {}, "f:memory": {}, "f:podTemplate": template, "f:resources": resources } } });
        let through_v1 = json!({ "f:metadata": { "f:labels": { "f:a": {} } }, "f:spec": { "f:image": {}, "f:memory": {},
            "f:podTemplate": template, "f:replicas": {}, "f:resources": resources } });
        assert_eq!(owned(&through_v1alpha1), through_v1);
    }

    /// Likewise, for an object that was created: the branch itself is owned too.
    #[test]
    fn who_owns_the_spec_itself_still_does() {
        let carrier = json!({ ".": {}, "f:podTemplate": { ".": {}, "f:spec": { ".": {}, "f:nodeSelector": { ".": {}, "f:type": {} } } } });
        let created = json!({ "f:spec": { ".": {}, "f:v1": carrier } });
        assert_eq!(owned(&created), json!({ "f:spec": { ".": {}, "f:podTemplate": carrier["f:podTemplate"] } }));
        for itself in [json!({}), json!({ ".": {} }), json!({ ".": {}, "f:v1": {} }), json!({ ".": {}, "f:colour": {} })] {
            assert_eq!(owned(&json!({ "f:spec": itself })), json!({ "f:spec": {} }), "{itself}");
        }
    }

    #[test]
    fn every_field_of_v1_is_owned_by_its_name_in_v1alpha1() {
        let fields = serde_json::to_value(Memcached::definition()).expect("a definition");
        let versions = fields["spec"]["versions"].as_array().expect("versions");
        let v1 = versions.iter().find(|version| version["name"] == "v1").expect("v1");
        let properties = v1["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].as_object().expect("fields");
        assert!(properties.len() > 5, "{properties:?}");
        for field in properties.keys() {
            let path = Memcached::field_in("v1alpha1", &format!("spec.{field}"));
            let said = path.rsplit('.').fold(json!({}), |inner, name| json!({ format!("f:{name}"): inner }));
            assert_eq!(owned(&said), json!({ "f:spec": { format!("f:{field}"): {} } }), "{path}");
        }
    }

    #[test]
    fn what_v1_does_not_know_is_owned_by_nobody_and_all_else_stays() {
        assert_eq!(
            owned(&json!({ "f:spec": { "f:colour": {}, "f:v1": { ".": {} } }, "f:status": { "f:state": {} } })),
            json!({
            "f:status": { "f:state": {} } })
        );
        for odd in [json!(null), json!([]), json!("text"), json!({}), json!({ "f:spec": 5 }), json!({ "f:metadata": { "f:size": {} } })] {
            assert_eq!(owned(&odd), odd);
        }
        assert_eq!(owned(&json!({ "f:spec": { "f:size": {}, "f:v1": 5 } })), json!({ "f:spec": { "f:replicas": {} } }));
    }
}
