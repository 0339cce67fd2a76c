//! What a script says when it ends: `OK KEY=VALUE...`, or `WORD: sentence`.
//!
//! The line comes from a container, so it may be anything: nothing here panics, and what is not understood is handed on as
//! evidence.

use crate::kinds::prose::beginning;

/// As long as a termination message may be.
const LENGTH: usize = 4096;
/// A quoted line is cut here.
const CHARACTERS: usize = 200;

macro_rules! known {
    ($($word:ident = $text:literal, $meaning:literal;)*) => {
        /// The first word of what a script says when it refuses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Word { $(#[doc = $meaning] $word),* }

        impl Word {
            /// Every word.
            pub const ALL: &'static [Word] = &[$(Word::$word),*];

            /// As a script writes it.
            pub fn text(self) -> &'static str {
                match self { $(Word::$word => $text),* }
            }
        }
    };
}

known! {
    VolumeInUse = "VOLUME_IN_USE", "Another server holds the volume's lock.";
    Version = "VERSION", "The data is of another major version.";
    ForeignClaim = "FOREIGN_CLAIM", "The volume was another claim's.";
    ForeignData = "FOREIGN_DATA", "The data is of another system, or has no marker.";
    StaleConfig = "STALE_CONFIG", "The volume has seen a later epoch.";
    Topology = "TOPOLOGY", "A key of the topology makes no sense.";
    Config = "CONFIG", "A setting that the server refuses.";
    PrimaryVolumeEmpty = "PRIMARY_VOLUME_EMPTY", "The database exists, and the primary's volume is empty.";
    OtherPrimary = "OTHER_PRIMARY", "A peer is a primary.";
    NewerTimeline = "NEWER_TIMELINE", "A peer is further.";
    PeerUnknown = "PEER_UNKNOWN", "A peer answers, and will not say what it is.";
    Contradiction = "CONTRADICTION", "The volume and the topology exclude each other.";
    Fenced = "FENCED", "No primary is named, and this server was it.";
    Unclean = "UNCLEAN", "No primary is named, this server was it, and it did not end cleanly.";
    Ahead = "AHEAD", "A replica holds what the primary lacks.";
    Diverged = "DIVERGED", "An old primary holds what the primary lacks.";
    NoSpace = "NO_SPACE", "The volume is full.";
    Name = "NAME", "A name that PostgreSQL would cut, or that is its own.";
    NoAnswer = "NO_ANSWER", "Nobody answers, or the password is wrong.";
    NotPrimary = "NOT_PRIMARY", "A replica answers.";
    NoDatabase = "NO_DATABASE", "There is nothing to dump.";
    OtherDatabases = "OTHER_DATABASES", "A last dump would leave other databases out.";
    WrittenTo = "WRITTEN_TO", "Somebody writes while a last dump is made.";
    Busy = "BUSY", "Another dump is being written.";
    Damaged = "DAMAGED", "A dump does not read back as it was written.";
    NoBackup = "NO_BACKUP", "There is no such dump.";
    DatabaseExists = "DATABASE_EXISTS", "A database is there that no restore began.";
    Restored = "RESTORED", "Another dump was brought back before.";
    NotPostgresql = "NOT_POSTGRESQL", "The image has no PostgreSQL.";
    TooLong = "TOO_LONG", "The answer does not fit.";
    Stopped = "STOPPED", "A signal came while it prepared.";
    Failed = "FAILED", "Anything else, in the program's own words.";
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The script refused.
    #[error("{}: {sentence}", word.text())]
    Refused {
        /// Its first word.
        word: Word,
        /// What it says further.
        sentence: String,
    },
    /// What stands there is no line of a script: the end of a log, or nothing.
    #[error("{what}: {line:?}")]
    Unreadable {
        /// What is wrong with it.
        what: &'static str,
        /// Its beginning.
        line: String,
    },
}

impl Fault {
    /// A line that is not what was expected.
    pub fn unreadable(what: &'static str, line: &str) -> Self {
        Fault::Unreadable { what, line: beginning(line, CHARACTERS) }
    }
}

/// Ordinals of the servers that hold all that a fenced one wrote, as it says; nobody where it does not.
pub fn complete(sentence: &str) -> impl Iterator<Item = u32> {
    let ordinals = sentence.rsplit_once("; complete=").map(|(_, ordinals)| ordinals).unwrap_or_default();
    ordinals.split(',').filter_map(|ordinal| ordinal.parse().ok())
}

/// What stands behind the last semicolon of a refusal, as pairs of key and value.
pub fn pairs_at_end(sentence: &str) -> Option<Vec<(&str, &str)>> {
    pairs(sentence.rsplit_once("; ")?.1)
}

fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    text.split_ascii_whitespace().map(|pair| pair.split_once('=')).collect()
}

/// The refusal that a termination message is, if it is one.
pub fn refusal(message: &str) -> Option<(Word, String)> {
    let (first, sentence) = line(message)?.split_once(": ")?;
    let word = Word::ALL.iter().find(|word| word.text() == first)?;
    Some((*word, sentence.to_owned()))
}

/// What stands behind `OK `, as pairs of key and value.
///
/// # Errors
/// The refusal, or that it is neither.
pub fn result(message: &str) -> Result<Vec<(&str, &str)>, Fault> {
    if let Some((word, sentence)) = refusal(message) {
        return Err(Fault::Refused { word, sentence });
    }
    let line = line(message).ok_or_else(|| Fault::unreadable("no line of a script", message))?;
    let text = line.strip_prefix("OK ").ok_or_else(|| Fault::unreadable("neither a result nor a refusal", line))?;
    pairs(text).ok_or_else(|| Fault::unreadable("a result with a word that is no pair", line))
}

/// One line of printable ASCII, as every script writes it.
fn line(message: &str) -> Option<&str> {
    let line = message.trim_end_matches('\n');
    let printable = line.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    Some(line).filter(|line| printable && !line.is_empty() && line.len() <= LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_of_the_scripts_is_known() {
        let table = include_str!("../scripts/README.md").lines().skip_while(|line| !line.starts_with("| Word |")).skip(2);
        let rows = table.take_while(|line| line.starts_with('|')).filter_map(|row| row.split('|').nth(1));
        let written: BTreeSet<&str> = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        assert_eq!(Word::ALL.iter().map(|word| word.text()).collect::<BTreeSet<_>>(), written);
    }

    #[test]
    fn a_refusal_is_told_from_a_log() {
        let fenced = "FENCED: no primary is named at epoch 2; this server was it, and waits; complete=1,2\n";
        assert_eq!(refusal(fenced).map(|(word, sentence)| (word, complete(&sentence).collect())), Some((Word::Fenced, vec![1, 2])));
        for nobody in ["", "it waits", "it waits; complete=", "it waits; complete=-1,x"] {
            assert_eq!(complete(nobody).next(), None, "{nobody}");
        }
        assert_eq!(refusal("FAILED: initdb: error: no").map(|(_, sentence)| sentence), Some("initdb: error: no".to_owned()));
        for log in ["", "OK systemid=1 version=2", "2026-01-02 FATAL:  could not open", "FENCED", "FENCED:", "Fenced: x", "FENCED: a\nb"] {
            assert_eq!(refusal(log), None, "{log:?}");
        }
    }

    #[test]
    fn a_result_is_pairs_and_nothing_else() {
        assert_eq!(result("OK a=1 b=2=3\n"), Ok(vec![("a", "1"), ("b", "2=3")]));
        let refused = result("BUSY: another dump is still being written").expect_err("a refusal");
        assert_eq!(refused.to_string(), "BUSY: another dump is still being written");
        let long = format!("OK a={}", "x".repeat(LENGTH));
        for line in ["", "OK", "OK\t", "ok a=1", "OK a", "OK größe=1", "OK a=1\nOK b=2", "\u{0}", &long] {
            let fault = result(line).expect_err(line);
            assert!(matches!(fault, Fault::Unreadable { .. }) && fault.to_string().len() < 3 * CHARACTERS, "{fault}");
        }
    }
}
