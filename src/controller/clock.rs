//! The time as the API server has it, which writes most of the times that decisions compare: this machine's own clock may be wrong.

use crate::telemetry;
use http::header::DATE;
use http::{HeaderMap, Response};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use std::sync::atomic::{AtomicI64, Ordering};

/// How many seconds this machine's clock is ahead of the API server's.
static AHEAD: AtomicI64 = AtomicI64::new(0);
/// An answer may take that long, and dates are of whole seconds: so little tells nothing of a clock.
const SLIGHT: i64 = 3;

/// The time as the API server has it.
pub fn now() -> Timestamp {
    let ours = Timestamp::now();
    ours.checked_sub(SignedDuration::from_secs(AHEAD.load(Ordering::Relaxed))).unwrap_or(ours)
}

/// Hears from an answer what time it is there.
pub fn heard<B>(answer: Response<B>) -> Response<B> {
    if let Some(ahead) = ahead(answer.headers(), Timestamp::now()) {
        let before = AHEAD.swap(ahead, Ordering::Relaxed);
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
    let ahead = ours.as_second() - theirs.as_second();
    Some(if ahead.abs() <= SLIGHT { 0 } else { ahead })
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
        assert_eq!(heard("Fri, 27 Nov 2026 19:01:58 GMT"), Some(0), "it took as long to arrive");
        assert_eq!(heard("Fri, 27 Nov 2026 18:56:01 GMT"), Some(360));
        assert_eq!(heard("Fri, 27 Nov 2026 19:08:01 GMT"), Some(-360));
        assert_eq!((heard("yesterday"), ahead(&HeaderMap::new(), ours)), (None, None));
    }
}
