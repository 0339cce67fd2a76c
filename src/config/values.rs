//! What a setting's text means, or why it means nothing.

use super::default_settings;
use crate::kinds::image;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use jiff::SignedDuration;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Where a pod finds the namespace that it runs in.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// What may be counted: no cluster wants more.
pub const COUNT: RangeInclusive<i64> = 1..=65_535;

/// What may come in a second.
pub const RATE: RangeInclusive<f64> = 0.1..=100_000.0;

/// The longest deadline: beyond it nobody waits for an answer.
const LONGEST: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The longest time for which reviews are still answered: a pod has 30 s to end, and the end itself takes up to 12 of them.
pub const LONGEST_DELAY: Duration = Duration::from_secs(15);

/// How much is logged, from nothing to everything.
pub const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The longest time of the lease: nobody waits longer for a leader that is gone.
const LONGEST_LEASE: Duration = Duration::from_mins(10);

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs: one JSON object a line.
    Json,
}

impl ValueEnum for LogFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[LogFormat::Text, LogFormat::Json]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        }))
    }
}

/// Who makes the operator's certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The operator: an authority of its own, and what that signs.
    Own,
    /// cert-manager, which writes them to the same Secret.
    CertManager,
}

impl ValueEnum for Source {
    fn value_variants<'a>() -> &'a [Self] {
        &[Source::Own, Source::CertManager]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Source::Own => "own",
            Source::CertManager => "cert-manager",
        }))
    }
}

/// How long one state of one kind may take.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    pub(super) kind: &'static str,
    pub(super) state: String,
    pub(super) limit: SignedDuration,
}

impl Deadline {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(name, limit)| Some((name.split_once('.')?, limit)));
        let ((kind, state), limit) = parts.ok_or_else(|| format!("write KIND.STATE=DURATION, not {text}"))?;
        let kinds = default_settings();
        let known = kinds.get_key_value(kind);
        let (kind, settings) = known.ok_or_else(|| format!("{kind} is no kind; the kinds are {}", list(kinds.keys())))?;
        if !settings.deadlines.contains_key(state) {
            return Err(format!("{state} is none of them; the states with a deadline are {}", list(settings.deadlines.keys())));
        }
        let limit: SignedDuration = limit.parse().map_err(|_| format!("write a duration like 5m or 90s, not {limit}"))?;
        if !(SignedDuration::from_secs(1)..=LONGEST).contains(&limit) {
            return Err(format!("a deadline is from 1s to 30 days, not {limit:#}"));
        }
        Ok(Deadline { kind, state: state.to_owned(), limit })
    }
}

/// Is each deadline named once? Of two, nobody could tell which one was meant.
pub(super) fn each_deadline_once(deadlines: &[Deadline]) -> Result<(), String> {
    let mut named = HashMap::new();
    for Deadline { kind, state, limit } in deadlines {
        if let Some(before) = named.insert((kind, state), limit) {
            return Err(format!("--deadline {kind}.{state} is named twice, as {before:#} and as {limit:#}"));
        }
    }
    Ok(())
}

/// One of the times of the lease.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = duration(text).filter(|time| *time <= LONGEST_LEASE);
    let time = time.ok_or_else(|| format!("write a duration like 15s or 500ms, up to 10m, not {text}"))?;
    if time >= Duration::from_millis(100) { Ok(time) } else { Err(format!("a time of the lease is from 100ms to 10m, not {text}")) }
}

/// A duration that may be none.
pub(super) fn delay(text: &str) -> Result<Duration, String> {
    let delay = duration(text).filter(|delay| *delay <= LONGEST_DELAY);
    delay.ok_or_else(|| format!("write a duration like 5s or 500ms, up to {LONGEST_DELAY:?} since a pod has 30s to end, not {text}"))
}

fn duration(text: &str) -> Option<Duration> {
    text.parse().ok().and_then(|time: SignedDuration| time.try_into().ok())
}

/// Do the times of the lease fit each other? A leader needs two tries at least, and has to have ended before another begins.
pub(super) fn lease_times(duration: Duration, renew_deadline: Duration, retry: Duration) -> Result<(), String> {
    if duration.subsec_nanos() != 0 {
        return Err(format!("--lease-duration is stored in whole seconds, not {duration:?}"));
    }
    if retry * 2 > renew_deadline {
        return Err(format!(
            "--lease-retry {retry:?} is more than half of --lease-renew-deadline {renew_deadline:?}: one lost answer would end the lease"
        ));
    }
    if renew_deadline + retry > duration {
        return Err(format!(
            "--lease-renew-deadline {renew_deadline:?} and --lease-retry {retry:?} are together longer than --lease-duration {duration:?}: two could act at once"
        ));
    }
    Ok(())
}

/// The namespace that the operator runs in.
pub(super) fn own_namespace() -> String {
    let environment = std::env::var("POD_NAMESPACE").ok();
    let mounted = || std::fs::read_to_string(Path::new(SERVICE_ACCOUNT)).ok();
    let found = environment.or_else(mounted).map(|name| name.trim().to_owned());
    found.filter(|name| !name.is_empty()).unwrap_or_else(|| "pointsman-system".to_owned())
}

pub(super) fn namespace(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let label = (1..=63).contains(&text.len()) && text.chars().all(legal) && !text.starts_with('-') && !text.ends_with('-');
    label.then(|| text.to_owned()).ok_or_else(|| format!("{text:?} cannot be the name of a namespace"))
}

pub(super) fn image(text: &str) -> Result<String, String> {
    image::is_reference(text).then(|| text.to_owned()).ok_or_else(|| format!("{text:?} is {}", image::text("example.com/name:1")))
}

pub(super) fn registry(text: &str) -> Result<String, String> {
    let prefix = image::is_reference(&at_registry("name", text));
    prefix.then(|| text.to_owned()).ok_or_else(|| format!("{text:?} cannot be a registry, or a registry and a path"))
}

pub(super) fn rate(text: &str) -> Result<f32, String> {
    let rate = text.parse().ok().filter(|rate: &f32| RATE.contains(&f64::from(*rate)));
    rate.ok_or_else(|| format!("a rate is a number from {} to {} per second", RATE.start(), RATE.end()))
}

pub(super) fn log_level(text: &str) -> Result<String, String> {
    // A bare word that is no level would be a module's name, and all else would be silent.
    let bare = text.split(',').find(|part| !part.contains(['=', '[']) && part.parse::<LevelFilter>().is_err());
    match bare {
        Some(word) => Err(format!("{word:?} is no level; write {}, or MODULE=LEVEL", LEVELS.join(", "))),
        None => EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|fault| fault.to_string()),
    }
}

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("{text:?} is no address and port, as [::]:9443 or 127.0.0.1:9443"))
}

/// `image` with its registry, where it names one, replaced by `registry`.
pub(super) fn at_registry(image: &str, registry: &str) -> String {
    let names_registry = |part: &str| part.contains(['.', ':']) || part == "localhost";
    let path = image.split_once('/').filter(|(first, _)| names_registry(first)).map_or(image, |(_, path)| path);
    format!("{}/{path}", registry.trim_end_matches('/'))
}

fn list(names: impl Iterator<Item = impl AsRef<str>>) -> String {
    names.map(|name| name.as_ref().to_owned()).collect::<Vec<_>>().join(", ")
}
