//! Volumes that hold what was written and the primary lacks: an old primary's, or a replica's that came further.

use super::{Scene, behind};
use std::collections::BTreeMap;

/// How much of a server's words is remembered.
const WORDS: usize = 256;

/// What their servers have said, by the uids of their claims. It is remembered when a pod goes, until its volume is gone, or serves.
pub fn volumes(scene: &Scene<'_>) -> BTreeMap<String, String> {
    let said = scene.members.diverged(None).map(|(ordinal, words)| (ordinal, words.chars().take(WORDS).collect()));
    behind::remembered(scene, &scene.more.diverged, said)
}

/// Does a volume hold what the primary lacks, or know of a later primary? A dump of this one would not hold it all.
pub fn is_any(scene: &Scene<'_>) -> bool {
    behind::is_known(scene) || !volumes(scene).is_empty()
}
