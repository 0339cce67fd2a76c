//! Schedules of backups, read as a CronJob's controller reads them: five fields, in a time zone.

use crate::kinds::Violation;
use croner::Cron;
use croner::parser::{CronParser, Seconds};
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

const SCHEDULE: &str = "spec.backup.schedule";
const TIME_ZONE: &str = "spec.backup.timeZone";
/// The time zone where the spec names none.
const UTC: &str = "UTC";

/// A field of a schedule: its name, its bounds, and words that stand for the numbers from the least on.
const FIELDS: [(&str, (u32, u32), &[&str]); 5] = [
    ("minute", (0, 59), &[]),
    ("hour", (0, 23), &[]),
    ("day of the month", (1, 31), &[]),
    ("month", (1, 12), &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    ("day of the week", (0, 6), &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

/// When backups are made.
#[derive(Clone, Debug)]
pub struct Schedule {
    line: String,
    zone: String,
    cron: Cron,
    clock: TimeZone,
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        (&self.line, &self.zone) == (&other.line, &other.zone)
    }
}

impl Schedule {
    /// The schedule as it was written, for a CronJob.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The time zone, for a CronJob.
    pub fn zone(&self) -> &str {
        &self.zone
    }

    /// The first time after `now`.
    pub fn next(&self, now: Timestamp) -> Option<Timestamp> {
        self.cron.find_next_occurrence(&now.to_zoned(self.clock.clone()), false).ok().map(|next| next.timestamp())
    }
}

/// The schedule that these say; nothing where there is none, or where it is at fault.
pub fn parse(line: Option<&str>, zone: Option<&str>, faults: &mut Vec<Violation>) -> Option<Schedule> {
    let clock = clock(zone.unwrap_or(UTC)).map_err(|text| faults.push(Violation::invalid(TIME_ZONE, text))).ok();
    let line = line?;
    let cron = cron(line).map_err(|text| faults.push(Violation::invalid(SCHEDULE, text))).ok();
    Some(Schedule { line: line.to_owned(), zone: zone.unwrap_or(UTC).to_owned(), cron: cron?, clock: clock? })
}

/// The time zone of this name, out of the database that comes with the program: every replica reads the same one.
fn clock(name: &str) -> Result<TimeZone, String> {
    let none = || format!("{name:?} is no time zone; write a name of the IANA database, as Europe/Berlin or UTC");
    let zone = TimeZoneDatabase::bundled().get(name).map_err(|_| none())?;
    // The controller of CronJobs tells capitals from small letters.
    match zone.iana_name() {
        Some(known) if known != name => Err(format!("{name:?} is no time zone; it is spelled {known}")),
        Some(_) => Ok(zone),
        None => Err(none()),
    }
}

fn cron(line: &str) -> Result<Cron, String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    if words.len() != FIELDS.len() {
        let names = FIELDS.map(|(name, ..)| name).join(", ");
        return Err(format!("{line:?} is not five fields; write {names}, as \"30 2 * * *\""));
    }
    for (word, (name, bounds, names)) in words.iter().zip(FIELDS) {
        if let Some(part) = word.split(',').find(|part| !is_part(part, bounds, names)) {
            let (least, most) = bounds;
            return Err(format!(
                "{part:?} is no {name}; write *, a number from {least} to {most}, a range as {least}-{most}, or steps as */2, with commas between several"
            ));
        }
    }
    let said: Vec<String> = words.iter().zip(FIELDS).map(|(word, (_, (_, most), _))| spelled_out(word, most)).collect();
    let parser = CronParser::builder().seconds(Seconds::Disallowed).build();
    let cron = parser.parse(&said.join(" ")).map_err(|fault| format!("{line:?} cannot be read: {fault}"))?;
    let never = || format!("{line:?} names a day that no year has, so there would never be a backup; write another day");
    cron.find_next_occurrence(&Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC), false).map_err(|_| never())?;
    Ok(cron)
}

/// The field as the reader takes it, meaning what the controller of CronJobs means by it: `5/20` goes on to the end, and
/// a list with `*` in it is no restriction, which counts where both days are given.
fn spelled_out(word: &str, most: u32) -> String {
    let is_all = |part: &str| matches!(part, "*" | "?" | "*/1" | "?/1");
    if word.split(',').any(is_all) {
        return "*".to_owned();
    }
    let part = |part: &str| match part.replace('?', "*").split_once('/') {
        Some((from, step)) if from != "*" && !from.contains('-') => format!("{from}-{most}/{step}"),
        Some(_) | None => part.replace('?', "*"),
    };
    word.split(',').map(part).collect::<Vec<_>>().join(",")
}

/// Is it one part of a field: `*`, a number, a range, or one of these with a step?
fn is_part(part: &str, (least, most): (u32, u32), names: &[&str]) -> bool {
    let number = |text: &str| {
        let word = names.iter().zip(least..).find(|(name, _)| text.eq_ignore_ascii_case(name)).map(|(_, number)| number);
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        word.or_else(|| text.parse().ok().filter(|_| digits)).filter(|number| (least..=most).contains(number))
    };
    let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
    let legal_range = match range.split_once('-') {
        None if matches!(range, "*" | "?") => true,
        None => number(range).is_some(),
        Some((from, to)) => number(from).zip(number(to)).is_some_and(|(from, to)| from <= to),
    };
    let digits =
        |step: &str| step.bytes().all(|byte| byte.is_ascii_digit()) && step.parse::<u32>().is_ok_and(|step| (1..=most).contains(&step));
    legal_range && step.is_none_or(digits)
}
