//! A folder of golden files: the texts that one part of the program says.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Each text is that of its file in `tests/golden/FOLDER`, and no other file is there; `UPDATE_GOLDEN=1` writes them.
#[track_caller]
pub fn compare<'a>(folder: &str, texts: impl IntoIterator<Item = (&'a str, &'a str)>) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(folder);
    let mut compared = BTreeSet::new();
    for (name, text) in texts {
        let file = format!("{name}.txt");
        let path = folder.join(&file);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(&path, text).expect("a golden file");
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default(), "{name}");
        compared.insert(file);
    }
    let files = std::fs::read_dir(&folder).expect("golden files");
    let files = files.map(|file| file.expect("a file").file_name().into_string().expect("a name"));
    assert_eq!(files.collect::<BTreeSet<_>>(), compared);
}
