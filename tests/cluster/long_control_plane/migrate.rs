//! The storage of a thousand objects, most of them without pods: what is written is the objects.

#[test]
fn a_thousand_objects_are_migrated_and_v1alpha1_is_removed() {
    crate::control_plane::migrate::migrated(1000, 0, &[]);
}
