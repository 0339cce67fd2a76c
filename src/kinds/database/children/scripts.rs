//! The scripts that run in the pods and Jobs, in a ConfigMap that is named by their digest and never changes: a server
//! that restarts by itself runs what it ran before, whatever operator is installed meanwhile.

use super::kept;
use super::names;
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::digest;
use crate::kinds::rendered::Rendered;
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

/// The ConfigMap.
pub fn config_map(object: &Object) -> Rendered {
    let data: BTreeMap<&str, &str> = FILES.iter().copied().collect();
    kept::<ConfigMap>(object, &name(object), "server", json!({ "immutable": true, "data": data }))
}

/// Their digest, computed once: every pod template names it.
static DIGEST: LazyLock<String> = LazyLock::new(|| digest::of(&FILES));

/// Its name.
pub fn name(object: &Object) -> String {
    names::scripts(&object.name_any(), &DIGEST)
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
}
