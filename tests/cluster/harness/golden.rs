//! Texts that users see, held by files: a change of one is a change of its file.
//!
//! `tests/golden/NAME` is the text on the newest Kubernetes. Where an older one has other words, these are in
//! `tests/golden/until-1.MINOR/NAME`, for that minor and those before it.

use super::{api, repository};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// How a text differs from the golden one on this Kubernetes; with `UPDATE_GOLDEN=1` it is written instead, for an older one
/// beside the others.
pub fn difference(name: &str, text: &str) -> Option<String> {
    let mut path = of_this_kubernetes(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() && std::fs::read_to_string(&path).ok().as_deref() != Some(text) {
        if !newest() {
            path = repository().join(format!("tests/golden/until-1.{}/{name}", api::minor()));
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    (golden != text).then(|| format!("{} says:\n{golden}\nbut seen was:\n{text}", path.display()))
}

/// Is no module of a later minor here?
fn newest() -> bool {
    let programs = repository().join("tests/cluster/programs");
    let names = std::fs::read_dir(programs).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let minors = names.filter_map(|name| name.strip_prefix("kubernetes-1.").and_then(|minor| minor.parse::<u32>().ok()));
    minors.max() == Some(api::minor())
}

/// What a golden file says.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(of_this_kubernetes(name)).unwrap()
}

/// The file of the first minor, this one or a later one, that has words of its own; the newest Kubernetes' where none has.
fn of_this_kubernetes(name: &str) -> PathBuf {
    let golden = repository().join("tests/golden");
    let folders = std::fs::read_dir(&golden).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let minor = |folder: String| folder.strip_prefix("until-1.").and_then(|minor| minor.parse::<u32>().ok());
    let later: BTreeSet<u32> = folders.filter_map(minor).filter(|minor| *minor >= api::minor()).collect();
    let own = later.into_iter().map(|minor| golden.join(format!("until-1.{minor}")).join(name)).find(|path| path.exists());
    own.unwrap_or_else(|| golden.join(name))
}

/// The golden files of a folder: one that no test compares is a text that nobody gets any more.
pub fn names(folder: &str) -> BTreeSet<String> {
    let files = std::fs::read_dir(repository().join("tests/golden").join(folder)).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}
