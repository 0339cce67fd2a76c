//! The condition about security fixes: whether the version that runs has those that are known.

use super::say::with_image;
use crate::kinds::database::Database;
use crate::kinds::database::object::more::DatabaseStatus;
use crate::kinds::database::plan::{fixes, version};
use crate::kinds::database::scene::learning::answer;
use crate::kinds::look::Look;
use crate::kinds::status::{Because, Claim, Declared};

/// The condition about security fixes.
pub const DECLARED: Declared = Declared {
    name: "SecurityFixed",
    meaning: "the version of PostgreSQL has every security fix that this release of the operator knows to matter here",
    holds: &[Because::Word("VersionUnknown"), Because::Word("NoneIsMissing")],
    fails: &[Because::Word("VulnerableVersion")],
};

/// What is claimed of the version that the image has told.
pub fn claim(look: &Look<'_, Database>, status: &DatabaseStatus) -> Claim {
    let (holds, reason, message) = fixed(look, status);
    Claim { name: DECLARED.name, holds, reason: reason.to_owned(), message }
}

fn fixed(look: &Look<'_, Database>, status: &DatabaseStatus) -> (bool, &'static str, String) {
    let Some((target, probed)) = look.target.as_ref().and_then(|target| Some((target, answer(&status.more, target)?))) else {
        return (true, "VersionUnknown", "the image has not told its version yet".to_owned());
    };
    let mut missing = fixes::lacking(probed.version);
    let runs = version::spelled(probed.version);
    let Some(fix) = missing.next() else {
        return (true, "NoneIsMissing", format!("{runs} has every security fix that is known to this release of the operator"));
    };
    let more = match missing.count() {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    let next = match fixes::whole(probed.version).map(version::spelled) {
        None => "no minor version of it gets fixes any more: dump it, and restore it with a newer major version".to_owned(),
        Some(whole) => match version::tagged(&target.template.image, &whole) {
            None => format!("name an image of {whole} or later in spec.image"),
            Some(image) => format!("{whole} has all of them, and restarts the servers: {}", with_image(look, &image)),
        },
    };
    (false, "VulnerableVersion", format!("{runs} lacks the fix of {} ({}){more}; {next}", fix.cve, fix.lets))
}
