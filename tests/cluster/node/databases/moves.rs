//! Changes under load that take every server away in turn, the primary among them: no acknowledged commit is lost, and there is
//! always somebody to read from.

use super::load::Load;
use super::{Base, SOON};
use crate::harness::{Space, bash, bed, eventually_or, shared};
use serde_json::{Value, json};

/// Builds an image of PostgreSQL, gives it to the node, and tells its name, which has its minor version.
#[track_caller]
fn image(variant: &str) -> String {
    bed(&format!("images {variant}"));
    let archive = bed(&format!("image-archive {variant}"));
    bed(&format!("image-load {archive}"));
    let manifest: Value = serde_json::from_str(&bash(&format!("tar -xOf {} manifest.json", archive.trim())).ok()).unwrap();
    manifest[0]["RepoTags"][0].as_str().unwrap().to_owned()
}

/// Another minor version, and the one before again.
pub fn minor_images() {
    let _turn = shared();
    let (older, newer) = (image("postgres-15-main"), image("postgres-15-security"));
    assert_ne!(older, newer, "there is one minor version to be had, and no other to change to");
    let space = Space::restricted("minors");
    let base = Base::ready(&space, "db", &json!({ "replicas": 3, "image": older }));
    let load = Load::on(&base);
    for image in [&newer, &older] {
        base.becomes(&json!({ "image": image }).to_string());
        let minor = image.rsplit_once(':').unwrap().1;
        for ordinal in 0..3 {
            let version = base.sql(&base.server(ordinal), "SHOW server_version").ok();
            assert!(version.starts_with(minor), "{image}: server {ordinal} is {version}");
        }
        load.goes_on(20);
    }
    let seen = load.ends();
    println!("from {older} to {newer} and back, three servers: {seen}");
    seen.is_read_from_replicas();
}

#[track_caller]
fn tell(space: &Space, topology: &Value) {
    space.kubectl(&["patch", "configmap/db-topology", "--type=merge", "--patch", &json!({ "data": topology }).to_string()]).ok();
}

#[track_caller]
fn primary(space: &Space) -> String {
    space.object("configmap/db-topology")["data"]["primary"].as_str().unwrap_or_default().to_owned()
}

/// The last server of three becomes the primary, as by a promotion: while the object is paused, a person says so.
#[track_caller]
fn promoted_by_hand(base: &Base<'_>) {
    let space = base.space;
    base.thing.annotate("pointsman.dev/paused=true");
    base.thing.reaches("Paused", SOON);
    tell(space, &json!({ "primary": "", "fenced": "0" }));
    space.kubectl(&["delete", "pod/db-0"]).ok();
    let gave_up = || {
        let status = space.object("pod/db-0")["status"]["containerStatuses"][0].to_string();
        status.contains("FENCED: no primary is named")
    };
    eventually_or(SOON, gave_up, || space.object("pod/db-0")["status"].to_string());
    tell(space, &json!({ "primary": "2", "fenced": "", "epoch": "2" }));
    base.thing.annotate("pointsman.dev/paused-");
}

#[test]
fn the_primary_moves_before_its_server_goes() {
    let _turn = shared();
    let space = Space::restricted("switchover");
    let base = Base::ready(&space, "db", &json!({ "replicas": 3 }));
    promoted_by_hand(&base);
    let moved = || base.thing.is_ready_as_asked() && base.sql("db", "SELECT pg_is_in_recovery()").out.trim() == "f";
    eventually_or(SOON, moved, || format!("{:?}\n{:#}", base.thing.history(), base.thing.status()));
    let load = Load::on(&base);
    base.becomes(r#"{"replicas":2}"#);
    assert_eq!(primary(&space), "0");
    load.goes_on(20);
    let seen = load.ends();
    println!("a server less, which was the primary: {seen}");
    seen.is_read_from_replicas();
    assert!(space.object("pod/db-2").is_null());
}
