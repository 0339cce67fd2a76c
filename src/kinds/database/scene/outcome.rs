//! What the last line of a Job means for the object.

use super::learning::{self, Verdict};
use super::standing::was_made;
use super::work;
use crate::kinds::database::Database;
use crate::kinds::database::children::names::Work;
use crate::kinds::database::lifecycle::words::Phase;
use crate::kinds::database::object::dumps::Taken;
use crate::kinds::database::object::more::{Initialized, Probed};
use crate::kinds::database::reports::last_words::{Fault, Word};
use crate::kinds::database::reports::results;
use crate::kinds::look::Look;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;

/// What came of a Job.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// An image has told what it is, and can do what is asked for.
    Probed(Probed),
    /// The data came back.
    Restored(Taken),
    /// Role, database and extensions are there: in this system.
    Initialized(Initialized, String),
    /// The last dump was taken, and read back.
    Taken(Taken),
    /// There was nothing to dump: the making of the database came to nothing.
    Nothing,
}

/// What a Job that ended has said.
///
/// # Errors
/// In words, why that is not what was asked for.
pub fn of(look: &Look<'_, Database>, work: Work, line: &str) -> Result<Outcome, String> {
    let words = |fault: Fault| fault.to_string();
    let taken = |line: &str| {
        let dump = results::dump(line).map_err(words)?;
        let bytes = i64::try_from(dump.bytes).unwrap_or(i64::MAX);
        // Another clock tells when it ended: one that is ahead must not make it last longer than it does.
        let time = work::completed_at(look, work).unwrap_or(Time(look.seen.now)).min(Time(look.seen.now));
        Ok(Taken { claim: None, uid: None, folder: dump.folder, bytes, sha256: dump.sha256, time })
    };
    let nothing = || "nothing was asked".to_owned();
    match work {
        Work::Probe => {
            let plan = work::plan(look, Phase::Probing).ok_or_else(nothing)?;
            let probe = results::probe(line, plan.parameters.keys(), &plan.extensions).map_err(words)?;
            match learning::verdict(plan, &probe) {
                Verdict::Able(probed) => Ok(Outcome::Probed(probed)),
                Verdict::Unable(why) => Err(why),
            }
        }
        Work::Init => {
            let plan = look.target.as_ref().ok_or_else(nothing)?;
            let init = results::init(line).map_err(words)?;
            let made = Initialized { version: init.version, extensions: plan.extensions.iter().cloned().collect() };
            Ok(Outcome::Initialized(made, init.systemid))
        }
        Work::Restore => taken(line).map(Outcome::Restored),
        Work::Snapshot if is_without_database(line) && !was_made(look) => Ok(Outcome::Nothing),
        Work::Snapshot => {
            taken(line).map(|taken| Outcome::Taken(Taken { uid: work::dumps_claim(look).and_then(ResourceExt::uid), ..taken }))
        }
        Work::Generation => Err(nothing()),
    }
}

/// Has the Job of the last dump found no database, where none is recorded?
pub fn is_without_data(look: &Look<'_, Database>) -> bool {
    work::end(look, Work::Snapshot).and_then(|end| end.words).is_some_and(|line| is_without_database(&line)) && !was_made(look)
}

/// Says the primary itself that there is no database?
fn is_without_database(line: &str) -> bool {
    matches!(results::dump(line), Err(Fault::Refused { word: Word::NoDatabase, .. }))
}
