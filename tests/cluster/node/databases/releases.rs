//! A database beside which releases of the operator come and go: none of them restarts its servers.

use super::{Base, Standing};
use crate::harness::Space;
use serde_json::json;

/// It was made by the release that was there first.
pub struct Beside<'a> {
    base: Base<'a>,
    before: Standing,
}

impl<'a> Beside<'a> {
    /// A database of two servers.
    #[track_caller]
    pub fn new(space: &'a Space) -> Self {
        let base = Base::ready(space, "db", &json!({ "replicas": 2 }));
        let before = base.standing();
        Beside { base, before }
    }

    /// Whoever acts now looks after it, says this of what it would make otherwise, and leaves its servers as they are.
    #[track_caller]
    pub fn stands(&self, way: &str, rendering: &str) {
        let policy = if way == "there" { "Retain" } else { "Delete" };
        self.base.becomes(&json!({ "deletionPolicy": policy }).to_string());
        assert_eq!(self.base.thing.condition("UpToDate")["reason"], rendering, "{way}: {:#}", self.base.thing.status());
        assert_eq!(self.base.standing(), self.before, "{way}: a server was restarted");
    }
}
