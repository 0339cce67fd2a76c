//! The time as the API server has it, which writes most of the times that decisions compare: this machine's own clock may be wrong.

use crate::telemetry;
use http::header::DATE;
use http::{HeaderMap, Response};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many seconds this machine's clock was ahead of the API server's by the last answers. One that was long on its way tells too
/// much, and one API server of several may be wrong itself.
static LAST: Mutex<VecDeque<i64>> = Mutex::new(VecDeque::new());
/// How many answers count.
const ANSWERS: usize = 16;
/// Dates are of whole seconds, and answers take a moment: so little tells nothing of a clock.
const SLIGHT: i64 = 4;

/// The time as the API server has it.
pub fn now() -> Timestamp {
    let ours = Timestamp::now();
    ours.checked_sub(SignedDuration::from_secs(middle(&last()))).unwrap_or(ours)
}

/// Hears from an answer what time it is there.
pub fn heard<B>(answer: Response<B>) -> Response<B> {
    if let Some(told) = ahead(answer.headers(), Timestamp::now()) {
        let mut last = last();
        let before = middle(&last);
        remember(&mut last, told);
        let ahead = middle(&last);
        telemetry::clock(ahead);
        if (before == 0) != (ahead == 0) {
            tracing::warn!(ahead, "this machine's clock and the API server's differ by so many seconds; the API server's counts");
        }
    }
    answer
}

/// How far `ours` is ahead of the date of an answer, in seconds.
fn ahead(headers: &HeaderMap, ours: Timestamp) -> Option<i64> {
    let theirs = DateTimeParser::new().parse_timestamp(headers.get(DATE)?.to_str().ok()?).ok()?;
    Some(ours.as_second() - theirs.as_second())
}

fn last() -> MutexGuard<'static, VecDeque<i64>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(last: &mut VecDeque<i64>, told: i64) {
    last.push_back(told);
    if last.len() > ANSWERS {
        last.pop_front();
    }
}

/// What most of the last answers tell: as many tell more as tell less.
fn middle(last: &VecDeque<i64>) -> i64 {
    let mut told: Vec<i64> = last.iter().copied().collect();
    told.sort_unstable();
    let middle = told.len().checked_sub(1).and_then(|last| told.get(last / 2)).copied();
    middle.filter(|ahead| ahead.abs() > SLIGHT).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_clock_that_is_wrong_is_known_by_the_date_of_an_answer() {
        let ours: Timestamp = "2026-11-27T19:02:01Z".parse().expect("a time");
        let heard = |date: &'static str| ahead(&HeaderMap::from_iter([(DATE, HeaderValue::from_static(date))]), ours);
        assert_eq!(heard("Fri, 27 Nov 2026 19:02:01 GMT"), Some(0));
        assert_eq!(heard("Fri, 27 Nov 2026 18:56:01 GMT"), Some(360));
        assert_eq!(heard("Fri, 27 Nov 2026 19:08:01 GMT"), Some(-360));
        assert_eq!((heard("yesterday"), ahead(&HeaderMap::new(), ours)), (None, None));
    }

    #[test]
    fn a_few_answers_that_differ_tell_nothing_of_a_clock() {
        let mut last = VecDeque::new();
        let mut hears = |told| {
            remember(&mut last, told);
            middle(&last)
        };
        assert_eq!([0, 30, 1].map(&mut hears), [0; 3], "one was long on its way");
        // Of a clock that is ahead by three seconds and a half.
        assert_eq!([4, 3, 4, 4].map(&mut hears), [0; 4]);
        // One of three API servers is ten minutes ahead.
        let ahead: Vec<i64> = (0..60).map(|answer| hears(if answer % 3 == 0 { -600 } else { 0 })).collect();
        assert_eq!(ahead, [0; 60]);
        let ahead: Vec<i64> = (0..20).map(|_| hears(60)).collect();
        assert_eq!((ahead[0], ahead[19]), (0, 60), "it is believed once most answers tell it");
        let ahead: Vec<i64> = (0..20).map(|_| hears(-60)).collect();
        assert_eq!((ahead[0], ahead[19]), (60, -60), "it was set back");
    }
}
