//! Texts that users see, held by files: a change of one is a change of its file.

use super::repository;
use std::collections::BTreeSet;

/// How a text differs from `tests/golden/NAME`; with `UPDATE_GOLDEN=1` it is written there instead.
pub fn difference(name: &str, text: &str) -> Option<String> {
    let path = repository().join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    (golden != text).then(|| format!("{name} says:\n{golden}\nbut seen was:\n{text}"))
}

/// What a golden file says.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(repository().join("tests/golden").join(name)).unwrap()
}

/// The golden files of a folder: one that no test compares is a text that nobody gets any more.
pub fn names(folder: &str) -> BTreeSet<String> {
    let files = std::fs::read_dir(repository().join("tests/golden").join(folder)).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}
