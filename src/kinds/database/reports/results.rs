//! What a finished Job has found out, read from its last line.

mod pieces;

use super::last_words::{Fault, result};
use pieces::{answered, availability, digits, folder, number, server, setting, value};
use std::collections::BTreeMap;

/// What `NAME-init` has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    /// The system identifier of the data.
    pub systemid: String,
    /// The server's version, as `server_version_num`.
    pub version: u32,
}

/// What an image is and knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The server's version, as `server_version_num`.
    pub version: u32,
    /// Each setting that was asked about; nothing where the image does not know it.
    pub settings: BTreeMap<String, Option<Setting>>,
    /// Each extension that was asked about.
    pub extensions: BTreeMap<String, Availability>,
    /// What it says of values that it does not take.
    pub wrong: Option<String>,
}

/// What `pg_settings` says of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// When it is read.
    pub context: Context,
    /// What its values are.
    pub kind: ValueKind,
    /// Its unit, or nothing.
    pub unit: String,
    /// The least value, or nothing.
    pub least: String,
    /// The greatest value, or nothing.
    pub greatest: String,
}

/// When a setting is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// Never: it is built in.
    Internal,
    /// When the server starts.
    Postmaster,
    /// When the server is told to reload.
    Sighup,
    /// The same, and a superuser may set it in a session.
    Superuser,
    /// When a session begins.
    Backend,
    /// The same, and everybody may set it in a session.
    User,
}

impl Context {
    /// Does a reload not do? What cannot be set at all is refused by the start.
    pub fn needs_restart(self) -> bool {
        matches!(self, Context::Internal | Context::Postmaster)
    }
}

/// What the values of a setting are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// On or off.
    Bool,
    /// One of a list of words.
    Enum,
    /// A whole number.
    Integer,
    /// A number.
    Real,
    /// Any text.
    Text,
}

/// Does an image have an extension?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It has.
    Available,
    /// It has, and the library must be loaded when the server starts.
    Preloaded,
    /// It has not.
    Absent,
}

/// A dump that was written, or restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// Its folder on the volume.
    pub folder: String,
    /// The size of `database.dump`.
    pub bytes: u64,
    /// Its digest, in 64 digits.
    pub sha256: String,
    /// The version of the server that it was taken from.
    pub version: u32,
    /// The system identifier of that server's data.
    pub systemid: String,
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The mark of the settings that it has read; nothing where it knows of none.
    pub generation: Option<i64>,
    /// Is it the primary?
    pub primary: bool,
    /// Its version, as `server_version_num`.
    pub version: u32,
    /// How far it is; nothing where it has received nothing yet.
    pub position: Option<u64>,
    /// How many settings wait for a restart.
    pub pending: u32,
    /// The system identifier of its data.
    pub systemid: String,
}

/// The result of `NAME-init`.
///
/// # Errors
/// The refusal, or what is wrong with the line.
pub fn init(message: &str) -> Result<Init, Fault> {
    let pairs = result(message)?;
    let read = || Some(Init { systemid: digits(value(&pairs, "systemid")?)?, version: number(value(&pairs, "version")?)? });
    read().ok_or_else(|| Fault::unreadable("no result of an initialisation", message))
}

/// The result of `NAME-probe`, which was asked about these, in this order.
///
/// # Errors
/// The refusal, or what is wrong with the line.
pub fn probe<'a>(
    message: &str,
    settings: impl IntoIterator<Item = &'a String>,
    extensions: impl IntoIterator<Item = &'a String>,
) -> Result<Probe, Fault> {
    // In the image's own words, so that nothing can come after it.
    let (message, wrong) = message.split_once(" wrong=").map_or((message, None), |(answer, wrong)| (answer, Some(wrong)));
    let pairs = result(message)?;
    let read = || {
        let known = |said: &str| if said == "?" { Some(None) } else { setting(said).map(Some) };
        let said = value(&pairs, "settings")?.split(';').filter(|said| !said.is_empty()).map(known).collect::<Option<Vec<_>>>()?;
        let found = value(&pairs, "extensions")?.chars().map(availability).collect::<Option<Vec<_>>>()?;
        let version = number(value(&pairs, "version")?)?;
        let wrong = wrong.map(|words| words.trim().to_owned());
        Some(Probe { version, settings: answered(settings, said)?, extensions: answered(extensions, found)?, wrong })
    };
    read().ok_or_else(|| Fault::unreadable("no result of a probe that was asked this", message))
}

/// The result of a dump or a restore.
///
/// # Errors
/// The refusal, or what is wrong with the line.
pub fn dump(message: &str) -> Result<Dump, Fault> {
    let pairs = result(message)?;
    let read = || {
        let sha256 = value(&pairs, "sha256")?;
        Some(Dump {
            folder: folder(value(&pairs, "folder")?)?,
            bytes: number(value(&pairs, "bytes")?)?,
            sha256: Some(sha256.to_owned()).filter(|text| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))?,
            version: number(value(&pairs, "version")?)?,
            systemid: digits(value(&pairs, "systemid")?)?,
        })
    };
    read().ok_or_else(|| Fault::unreadable("no result of a dump", message))
}

/// The result of the Job that asks all servers: each ordinal's, nothing where it is silent.
///
/// # Errors
/// The refusal, or what is wrong with the line.
pub fn generation(message: &str) -> Result<BTreeMap<u32, Option<Server>>, Fault> {
    let pairs = result(message)?;
    let answer = |(ordinal, said): &(&str, &str)| Some((number(ordinal)?, if *said == "silent" { None } else { Some(server(said)?) }));
    pairs.iter().map(answer).collect::<Option<_>>().ok_or_else(|| Fault::unreadable("no answers of servers", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn is_unreadable<T: std::fmt::Debug>(result: Result<T, Fault>, line: &str) {
        let fault = result.expect_err(line);
        assert!(matches!(fault, Fault::Unreadable { .. }), "{line}: {fault}");
    }

    #[test]
    fn init_tells_the_system_and_the_version() {
        let expected = Init { systemid: "7300000000000000001".to_owned(), version: 170_011 };
        assert_eq!(init("OK systemid=7300000000000000001 version=170011\n"), Ok(expected));
        for line in
            ["OK systemid=1", "OK version=170011", "OK systemid= version=1", "OK systemid=-1 version=1", "OK systemid=1 version=17.2"]
        {
            is_unreadable(init(line), line);
        }
        assert_eq!(init("NAME: no").expect_err("a refusal").to_string(), "NAME: no");
    }

    #[test]
    fn a_probe_answers_in_the_order_asked() {
        let (settings, extensions) = (names(&["max_connections", "a.b", "work_mem"]), names(&["pg_cron", "pg_trgm", "x"]));
        let line = "OK version=170011 settings=poi,,1,262143;?;usi,kB,64,2147483647 extensions=pa-";
        let probe_of = |line: &str| probe(line, &settings, &extensions);
        let found = probe_of(line).expect("a result");
        assert_eq!(found.version, 170_011);
        assert_eq!(found.settings["a.b"], None);
        let memory = found.settings["work_mem"].as_ref().expect("it is known");
        assert_eq!((memory.context, memory.kind, memory.unit.as_str()), (Context::User, ValueKind::Integer, "kB"));
        assert!(found.settings["max_connections"].as_ref().is_some_and(|setting| setting.context.needs_restart()));
        assert_eq!(found.extensions["pg_cron"], Availability::Preloaded);
        assert_eq!(found.extensions["x"], Availability::Absent);
        assert_eq!(found.wrong, None);
        let refused = probe_of(&format!("{line} wrong=invalid value for parameter \"work_mem\": \"8 x=1\"\n")).expect("a result");
        assert_eq!(refused.wrong.as_deref(), Some("invalid value for parameter \"work_mem\": \"8 x=1\""));
        for wrong in [
            "OK version=170011 settings=poi,,1,2 extensions=pa-",
            "OK version=170011 settings=?;?;? extensions=pa",
            "OK version=170011 settings=?;?;xxi,,, extensions=pa-",
            "OK version=170011 settings=?;?;usx,,, extensions=pa-",
            "OK version=170011 settings=?;?;us extensions=pa-",
            "OK version=170011 settings=?;?;u extensions=pa-",
            "OK version=170011 settings=?;?;usi,, extensions=pa-",
            "OK version=170011 settings=?;?;? extensions=pa!",
            "OK version=170011",
        ] {
            is_unreadable(probe_of(wrong), wrong);
        }
        let nothing = probe("OK version=150018 settings= extensions=", &[], &[]).expect("a result");
        assert!(nothing.settings.is_empty() && nothing.extensions.is_empty());
    }

    #[test]
    fn a_dump_is_named_weighed_and_digested() {
        let digest = "0a".repeat(32);
        let line = |folder: &str, digest: &str| format!("OK folder={folder} bytes=12 sha256={digest} version=170011 systemid=73");
        let found = dump(&line("snapshot-20260102T030405Z", &digest)).expect("a result");
        assert_eq!((found.folder.as_str(), found.bytes, found.version), ("snapshot-20260102T030405Z", 12, 170_011));
        for folder in ["", "snapshot-", "backup-../..", "other-20260102T030405Z", "20260102T030405Z"] {
            is_unreadable(dump(&line(folder, &digest)), folder);
        }
        is_unreadable(dump(&line("backup-2026", "0a")), "a short digest");
    }

    #[test]
    fn each_server_speaks_for_itself_or_is_silent() {
        let line = "OK 0=g7,primary,170011,0/3000148,0,73 1=silent 2=,replica,170011,1/A,2,73 3=g7,replica,170011,0,73";
        let found = generation(line).expect("answers");
        let primary = found[&0].as_ref().expect("it answers");
        assert_eq!((primary.generation, primary.primary, primary.position), (Some(7), true, Some(0x0300_0148)));
        assert_eq!(found[&1], None);
        let replica = found[&2].as_ref().expect("it answers");
        assert_eq!((replica.generation, replica.primary, replica.position, replica.pending), (None, false, Some(0x1_0000_000A), 2));
        assert_eq!(found[&3].as_ref().expect("it answers").position, None);
        for wrong in [
            "OK x=silent",
            "OK 0=loud",
            "OK 0=7,primary,1,0/0,0,1",
            "OK 0=g7,boss,1,0/0,0,1",
            "OK 0=g7,primary,1,0,0,1,1",
            "OK 0=g7,primary,1,/,0,1",
            "OK 0=g7,primary,1,+1/0,0,1",
            "OK 0=g7,primary,1,0/100000000,0,1",
            "OK -1=silent",
        ] {
            is_unreadable(generation(wrong), wrong);
        }
    }
}
