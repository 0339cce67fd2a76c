//! A Database in a mesh of each other habit.

use crate::control_plane::databases::meshes::lives;
use crate::harness::mesh::Habit;

#[test]
fn it_lives_where_the_mesh_comes_last() {
    lives("mesh-last", Habit::Last);
}

#[test]
fn it_lives_where_the_mesh_is_a_sidecar_of_kubernetes_own() {
    lives("mesh-native", Habit::Native);
}
