//! The scripts that run in the pods and Jobs, in a ConfigMap that is named by their digest and never changes: a server
//! that restarts by itself runs what it ran before, whatever operator is installed meanwhile. They are the same for every
//! Database, and stand once in a namespace.

use super::COMPONENT;
use crate::kinds::children::{Slot, content_digest};
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::digest;
use crate::kinds::rendered::{MANAGED_BY, Rendered};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::LazyLock;

macro_rules! embedded {
    ($($file:literal)*) => {
        /// Every script, by its file's name.
        const FILES: &[(&str, &str)] = &[$(($file, include_str!(concat!("../scripts/", $file)))),*];
    };
}

embedded! {
    "dump.sh" "dump.sql" "every-role.sql" "extensions.sql" "generation.sh" "init.sh" "init.sql" "job.sh" "others.sql" "primary.sh"
    "private.sh" "probe.sh" "ready.sh" "replica.sh" "restore.sh" "restore.sql" "restored.sql" "roles.awk" "roles.sql" "server.sh" "silence.sql"
    "start.sh" "stop.sh" "unfinished.sql" "volume.sh" "words.sh" "written.sql"
}

/// The ConfigMap of a namespace.
pub fn config_map(namespace: &str) -> Rendered {
    let labels = [("app.kubernetes.io/name", "pointsman"), ("app.kubernetes.io/part-of", "pointsman"), (COMPONENT, "scripts"), MANAGED_BY];
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let data: BTreeMap<&str, &str> = FILES.iter().copied().collect();
    Rendered::shared::<ConfigMap, Object>(namespace, name(), &labels, json!({ "immutable": true, "data": data }))
}

/// Its name: every pod template says it.
pub fn name() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| format!("pointsman-database-scripts-{}", digest::of(&FILES)));
    &NAME
}

/// What stands under their name. A map with other content is foreign: its scripts would run with access to passwords.
pub fn seen(slot: Slot<ConfigMap>) -> Slot<ConfigMap> {
    match slot.ours().filter(|map| !are_in(map)) {
        Some(map) => Slot::Foreign { uid: map.uid().unwrap_or_default(), owner: None, left: false },
        None => slot,
    }
}

fn are_in(map: &ConfigMap) -> bool {
    static DIGEST: LazyLock<String> = LazyLock::new(|| digest::of_files(FILES.iter().copied().collect::<BTreeMap<_, _>>()));
    map.immutable == Some(true) && content_digest(map).as_ref() == Some(&DIGEST)
}

#[cfg(test)]
mod tests {
    use super::FILES;
    use std::collections::BTreeSet;

    #[test]
    fn every_script_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kinds/database/scripts");
        let files = std::fs::read_dir(folder).expect("the scripts").map(|file| file.expect("a file").file_name().into_string());
        let files: BTreeSet<String> = files.map(|name| name.expect("a name")).filter(|name| name != "README.md").collect();
        assert_eq!(FILES.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(), files);
        // A ConfigMap takes a mebibyte.
        assert!(FILES.iter().map(|(_, text)| text.len()).sum::<usize>() < 500_000);
    }

    /// A readiness probe runs beside the start of its server, and both source the same functions: a file that these write is the
    /// script's own, or of a private server, which no probe starts.
    #[test]
    fn a_probe_and_a_start_write_no_file_in_common() {
        let (_, ready) = FILES.iter().find(|(name, _)| *name == "ready.sh").expect("the probe");
        let (_, parts) = ready.split_once("for part in ").expect("what it sources");
        let parts = parts.split_once(';').expect("a loop").0.split(' ').map(|part| format!("{part}.sh"));
        let text: String = parts.map(|part| FILES.iter().find(|(name, _)| *name == part).expect("a part").1).collect();
        let written: BTreeSet<_> = text.split(">\"$RUN/").skip(1).map(|rest| rest.split('"').next().expect("a name")).collect();
        assert_eq!(written, BTreeSet::from(["private.log", "private_hba.conf"]));
    }
}
