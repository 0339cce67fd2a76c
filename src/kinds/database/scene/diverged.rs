//! Volumes that hold what was written and the primary lacks: an old primary's, or a replica's that came further.

use super::{Scene, behind};
use std::collections::BTreeMap;

/// How much of a server's words is remembered.
const WORDS: usize = 256;

/// What their servers have said, by the uids of their claims. It is remembered when a pod goes, until its volume is gone, or serves.
pub fn volumes(scene: &Scene<'_>) -> BTreeMap<String, String> {
    let shortened = |words: String| words.chars().take(WORDS).collect();
    let said = scene.members.diverged(None).filter_map(|(ordinal, words)| Some((scene.standing_claim(ordinal)?.clone(), shortened(words))));
    let remembered = scene.more.diverged.iter().filter(|(claim, _)| behind::is_silent(scene, claim));
    remembered.map(|(claim, words)| (claim.clone(), words.clone())).chain(said).collect()
}

/// Does a volume hold what the primary lacks, or know of a later primary? A dump of this one would not hold it all.
pub fn is_any(scene: &Scene<'_>) -> bool {
    behind::is_known(scene) || !volumes(scene).is_empty()
}
