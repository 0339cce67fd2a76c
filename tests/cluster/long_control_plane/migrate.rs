//! The storage of a thousand objects, most of them without pods: what is written is the objects.

use crate::control_plane::migrate::migrated;
use crate::control_plane::migrate_by_cluster::migrates_by_itself;

#[test]
fn a_thousand_objects_are_migrated_and_v1alpha1_is_removed() {
    migrated(1000, 0, &[]);
}

#[test]
fn sixty_objects_are_rewritten_where_the_cluster_could_migrate_them() {
    // Elsewhere there is one way alone, and `control_plane::migrate` goes it.
    if migrates_by_itself() {
        migrated(60, 1, &["--rewrite-only"]);
    }
}
