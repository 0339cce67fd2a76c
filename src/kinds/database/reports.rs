//! What servers and Jobs say of how they ended: the other half of what `scripts/README.md` promises.

pub mod last_words;
pub mod results;
