//! The clock of the election: that of the process, and the time for which the machine was suspended.
//!
//! A process's clock stands still while its machine sleeps. Another replica's does not: it may lead by then. Of a virtual machine
//! that its host stops, and does not tell, no clock of its own knows.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How long the machine had been suspended when this was first asked.
static BEFORE: LazyLock<Duration> = LazyLock::new(suspended);
/// For how many seconds it was suspended since.
static SINCE: AtomicU64 = AtomicU64::new(0);

/// This moment.
pub fn now() -> Instant {
    Instant::now() + asleep()
}

/// Returns at that moment, or later by as long as the machine is suspended meanwhile.
pub async fn sleep_until(moment: Instant) {
    tokio::time::sleep_until(moment.checked_sub(asleep()).unwrap_or(moment)).await;
}

fn asleep() -> Duration {
    let before = *BEFORE;
    counted(&SINCE, suspended().saturating_sub(before))
}

/// In whole seconds, and never less than before: between the readings of two clocks a busy machine may do something else.
fn counted(known: &AtomicU64, told: Duration) -> Duration {
    let told = told.as_secs();
    Duration::from_secs(known.fetch_max(told, Ordering::Relaxed).max(told))
}

/// For how long the machine was suspended since it booted: one clock counts that, and the other does not.
#[cfg(target_os = "linux")]
fn suspended() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let read = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
    let all = read(ClockId::Boottime);
    // Read last: what lies between the two makes it less.
    all.saturating_sub(read(ClockId::Monotonic))
}

#[cfg(not(target_os = "linux"))]
fn suspended() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspension_counts_and_a_busy_machine_does_not() {
        let known = AtomicU64::new(0);
        let told = [0, 900, 12_900, 12_100, 13_000, 12_950].map(|milliseconds| counted(&known, Duration::from_millis(milliseconds)));
        assert_eq!(told, [0, 0, 12, 12, 13, 13].map(Duration::from_secs));
    }

    #[test]
    fn a_machine_that_was_not_suspended_has_the_clock_of_the_process() {
        let before = Instant::now();
        let between = now();
        assert!(before <= between && between <= Instant::now() + asleep());
    }
}
