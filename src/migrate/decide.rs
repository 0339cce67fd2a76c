//! What was found, what came of it, and what comes next. Pure.

use super::Name;
use std::collections::BTreeSet;

/// A definition as it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// How often its spec was changed.
    pub generation: i64,
    /// Its versions in their order.
    pub versions: Vec<Version>,
    /// The versions that objects may be stored in.
    pub stored: Vec<String>,
}

/// A version of a definition.
#[derive(Clone, Debug)]
pub struct Version {
    /// Its name.
    pub name: String,
    /// May clients use it?
    pub served: bool,
    /// Is it the one that is written?
    pub storage: bool,
}

/// What came of going through all objects.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// How many were written anew.
    pub written: usize,
    /// How many needed nothing.
    pub unchanged: usize,
    /// How many were deleted meanwhile.
    pub gone: usize,
    /// Those that cannot be written, and why.
    pub refused: Vec<(Name, String)>,
}

/// An object that was written through another version while the run was on.
#[derive(Clone, Debug)]
pub struct Late {
    /// The object.
    pub name: Name,
    /// Who wrote.
    pub managers: BTreeSet<String>,
}

/// What is left to do with the versions that nothing is stored in any more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Next<'a> {
    /// Clients may still use these: they stop being served, each at its place in the list.
    Unserve(Vec<(usize, &'a str)>),
    /// Nobody can use these: they leave the definition.
    Remove(Vec<(usize, &'a str)>),
    /// None is left.
    Nothing,
}

/// The next step on the way of an older version out of the definition.
pub fn next(found: &Found) -> Next<'_> {
    let others = |served: bool| {
        let others = found.versions.iter().enumerate().filter(|(_, version)| !version.storage && version.served == served);
        others.map(|(at, version)| (at, version.name.as_str())).collect::<Vec<_>>()
    };
    match (others(true), others(false)) {
        (served, _) if !served.is_empty() => Next::Unserve(served),
        (_, unserved) if !unserved.is_empty() => Next::Remove(unserved),
        _ => Next::Nothing,
    }
}
