//! An installation over an older one, where the conversion is asked through the Service, as everywhere: a pod that
//! lists its objects first has to convert them.

#[test]
fn an_operator_that_starts_reads_what_it_has_to_convert() {
    crate::control_plane::older::upgraded();
}
