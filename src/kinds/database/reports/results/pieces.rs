//! Pieces of a result's line. Each is `None` where it is not what a script writes.

use super::{Availability, Context, Server, Setting, ValueKind};
use std::collections::BTreeMap;

pub(super) fn value<'a>(pairs: &[(&'a str, &'a str)], key: &str) -> Option<&'a str> {
    pairs.iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
}

/// Each name with its answer, if there are as many.
pub(super) fn answered<'a, T>(names: impl IntoIterator<Item = &'a String>, answers: Vec<T>) -> Option<BTreeMap<String, T>> {
    let names: Vec<&String> = names.into_iter().collect();
    (names.len() == answers.len()).then(|| names.into_iter().cloned().zip(answers).collect())
}

/// `CCT,UNIT,MIN,MAX`.
pub(super) fn setting(said: &str) -> Option<Setting> {
    let [head, unit, least, greatest] = said.split(',').collect::<Vec<_>>().try_into().ok()?;
    let (context, kind) = head.split_at_checked(2)?;
    let context = match context {
        "in" => Context::Internal,
        "po" => Context::Postmaster,
        "si" => Context::Sighup,
        "su" => Context::Superuser,
        "ba" => Context::Backend,
        "us" => Context::User,
        _ => return None,
    };
    let kind = match kind {
        "b" => ValueKind::Bool,
        "e" => ValueKind::Enum,
        "i" => ValueKind::Integer,
        "r" => ValueKind::Real,
        "s" => ValueKind::Text,
        _ => return None,
    };
    let [unit, least, greatest] = [unit, least, greatest].map(str::to_owned);
    Some(Setting { context, kind, unit, least, greatest })
}

pub(super) fn availability(said: char) -> Option<Availability> {
    match said {
        'a' => Some(Availability::Available),
        'p' => Some(Availability::Preloaded),
        '-' => Some(Availability::Absent),
        _ => None,
    }
}

/// `GENERATION,ROLE,VERSION,LSN,PENDING,SYSTEMID`; a server that knows no position leaves it out.
pub(super) fn server(said: &str) -> Option<Server> {
    let parts: Vec<&str> = said.split(',').collect();
    let (head, position, tail) = match parts[..] {
        [mark, role, version, position, pending, systemid] => ([mark, role, version], Some(position), [pending, systemid]),
        [mark, role, version, pending, systemid] => ([mark, role, version], None, [pending, systemid]),
        _ => return None,
    };
    let ([mark, role, version], [pending, systemid]) = (head, tail);
    Some(Server {
        generation: if mark.is_empty() { None } else { Some(number(mark.strip_prefix('g')?)?) },
        primary: match role {
            "primary" => true,
            "replica" => false,
            _ => return None,
        },
        version: number(version)?,
        position: match position {
            Some(position) => Some(lsn(position)?),
            None => None,
        },
        pending: number(pending)?,
        systemid: digits(systemid)?,
    })
}

/// `backup-TIME` or `snapshot-TIME`: nothing that could lead elsewhere on the volume.
pub(super) fn folder(said: &str) -> Option<String> {
    let time = said.strip_prefix("backup-").or_else(|| said.strip_prefix("snapshot-"))?;
    let legal = !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit() || b"TZ".contains(&byte));
    legal.then(|| said.to_owned())
}

/// A position in the log of writes: `16/B374D848`.
fn lsn(said: &str) -> Option<u64> {
    let half = |text: &str| u32::from_str_radix(text, 16).ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let (high, low) = said.split_once('/')?;
    Some(u64::from(half(high)?) << 32 | u64::from(half(low)?))
}

/// Digits alone: a sign is none.
pub(super) fn number<T: std::str::FromStr>(said: &str) -> Option<T> {
    digits(said)?.parse().ok()
}

pub(super) fn digits(said: &str) -> Option<String> {
    Some(said.to_owned()).filter(|said| !said.is_empty() && said.bytes().all(|byte| byte.is_ascii_digit()))
}
