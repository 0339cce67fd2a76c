//! The time as the API server has it, which writes most of the times that decisions compare: this machine's own clock may be wrong.

use super::lease::instant;
use crate::telemetry;
use http::header::DATE;
use http::{HeaderMap, Response};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use std::collections::VecDeque;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// What the last answers have told.
static LAST: Mutex<Answers> = Mutex::new(Answers { last: VecDeque::new(), believed: None });
/// How many answers count.
const ANSWERS: usize = 16;
/// So many of them, at first, say what to believe.
const FIRST: usize = 3;
/// So many of all have to agree on something else, before it is believed: of two API servers one may be wrong, and a time that goes
/// there and back with every other answer is worse than either.
const AGREE: usize = 14;
/// Dates are of whole seconds, and answers take a moment: so little tells nothing of a clock.
const SLIGHT: i64 = 4;

/// How many seconds this machine's clock was ahead of the API server's by the last answers. One that was long on its way tells too
/// much, and one API server of several may be wrong itself.
struct Answers {
    last: VecDeque<i64>,
    believed: Option<i64>,
}

/// The time that this machine's clock said at first, and what has passed since: whoever sets that clock changes nothing.
fn ours() -> Timestamp {
    static FIRST: LazyLock<(Timestamp, Instant)> = LazyLock::new(|| (Timestamp::now(), instant::now()));
    let (said, at) = *FIRST;
    let since = SignedDuration::try_from(instant::now().saturating_duration_since(at)).unwrap_or(SignedDuration::MAX);
    said.checked_add(since).unwrap_or(said)
}

/// The time as the API server has it.
pub fn now() -> Timestamp {
    let ours = ours();
    ours.checked_sub(SignedDuration::from_secs(last().ahead())).unwrap_or(ours)
}

/// Hears from an answer what time it is there.
pub fn heard<B>(answer: Response<B>) -> Response<B> {
    if let Some(told) = ahead(answer.headers(), ours()) {
        let mut last = last();
        let before = last.ahead();
        last.hear(told);
        let ahead = last.ahead();
        telemetry::clock(ahead);
        if (before == 0) != (ahead == 0) {
            tracing::warn!(ahead, "this machine's clock and the API server's differ by so many seconds; the API server's counts");
        }
    }
    answer
}

fn last() -> MutexGuard<'static, Answers> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Answers {
    fn hear(&mut self, told: i64) {
        self.last.push_back(told);
        if self.last.len() > ANSWERS {
            self.last.pop_front();
        }
        let Some(middle) = self.middle() else { return };
        let agree = |with: i64| self.last.iter().filter(|told| told.abs_diff(with) <= SLIGHT.unsigned_abs()).count();
        let nobody_says_so = self.believed.is_none_or(|believed| agree(believed) == 0);
        if agree(middle) >= AGREE || nobody_says_so && self.last.len() >= FIRST {
            self.believed = Some(middle);
        }
    }

    /// As many tell more as tell less.
    fn middle(&self) -> Option<i64> {
        let mut told: Vec<i64> = self.last.iter().copied().collect();
        told.sort_unstable();
        told.get(told.len().checked_sub(1)? / 2).copied()
    }

    fn ahead(&self) -> i64 {
        self.believed.filter(|ahead| ahead.abs() > SLIGHT).unwrap_or_default()
    }
}

/// How far `ours` is ahead of the date of an answer, in seconds.
fn ahead(headers: &HeaderMap, ours: Timestamp) -> Option<i64> {
    let theirs = DateTimeParser::new().parse_timestamp(headers.get(DATE)?.to_str().ok()?).ok()?;
    Some(ours.as_second() - theirs.as_second())
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

    fn hears(answers: &mut Answers, told: i64) -> i64 {
        answers.hear(told);
        answers.ahead()
    }

    #[test]
    fn a_few_answers_that_differ_tell_nothing_of_a_clock() {
        let mut answers = Answers { last: VecDeque::new(), believed: None };
        let mut hears = |told| hears(&mut answers, told);
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

    /// Which of two is wrong nobody can tell: what was believed stays, as long as both are heard.
    #[test]
    fn of_two_api_servers_that_differ_one_is_believed_throughout() {
        for wrong in [600, -600] {
            for (ours, theirs) in [(0, wrong), (wrong, 0)] {
                let mut answers = Answers { last: VecDeque::new(), believed: None };
                let first: Vec<i64> = (0..FIRST).map(|_| hears(&mut answers, ours)).collect();
                // Three of one, then two of the other: as where requests are shared out unevenly.
                let ahead: Vec<i64> = (0..500).map(|answer| hears(&mut answers, if answer % 5 < 3 { theirs } else { ours })).collect();
                assert_eq!((first[FIRST - 1], ahead), (ours, vec![ours; 500]));
            }
        }
    }

    #[test]
    fn a_clock_that_jumps_is_known_although_two_api_servers_differ() {
        let mut answers = Answers { last: VecDeque::new(), believed: None };
        let mut hears = |from: i64| (0..40).map(|answer| hears(&mut answers, from + 10 * (answer % 2))).last();
        assert_eq!(hears(0), Some(0));
        assert!(hears(600).is_some_and(|ahead| [600, 610].contains(&ahead)));
        assert!(hears(-600).is_some_and(|ahead| [-600, -590].contains(&ahead)));
    }

    #[test]
    fn what_one_wrong_api_server_of_three_said_first_is_not_believed_for_long() {
        let mut answers = Answers { last: VecDeque::new(), believed: None };
        assert_eq!([600; FIRST].map(|told| hears(&mut answers, told)), [0, 0, 600]);
        // By dice: two thirds of the answers are of the others.
        let mut state = 1_u64;
        let ahead: Vec<i64> = (0..500)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                hears(&mut answers, if (state >> 33).is_multiple_of(3) { 600 } else { 0 })
            })
            .collect();
        let righted = ahead.iter().position(|ahead| *ahead == 0).expect("it is believed no longer");
        assert!(ahead[righted..].iter().all(|ahead| *ahead == 0), "and not again: {ahead:?}");
    }
}
