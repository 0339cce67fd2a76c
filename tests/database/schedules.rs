//! When the next backup is due.

use super::plan;
use jiff::Timestamp;
use serde_json::json;

fn next(schedule: &str, zone: &str, now: &str) -> String {
    let plan = plan(&json!({ "backup": { "schedule": schedule, "timeZone": zone } }));
    let now: Timestamp = now.parse().expect("a time");
    plan.backup.schedule.and_then(|schedule| schedule.next(now)).expect("a next time").to_string()
}

#[test]
fn the_next_time_is_after_now_in_the_time_zone() {
    let cases = [
        ("30 2 * * *", "UTC", "2026-01-01T02:30:00Z", "2026-01-02T02:30:00Z"),
        ("30 2 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", "2026-01-01T01:30:00Z"),
        ("*/15 * * * *", "UTC", "2026-01-01T00:01:00Z", "2026-01-01T00:15:00Z"),
        ("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 1 jan ?", "UTC", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("0 12 * * MON-fri", "UTC", "2026-01-02T12:00:00Z", "2026-01-05T12:00:00Z"),
        ("0 0 13 * 5", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ("0 0 13 * */2", "UTC", "2026-01-09T00:00:00Z", "2026-01-10T00:00:00Z"),
        ("0 0 13 * */1", "UTC", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z"),
        ("0 0 1,? * 5", "UTC", "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z"),
        ("5/20 1 * * *", "UTC", "2026-01-01T01:06:00Z", "2026-01-01T01:25:00Z"),
    ];
    for (schedule, zone, now, expected) in cases {
        assert_eq!(next(schedule, zone, now), expected, "{schedule} in {zone} after {now}");
    }
}

/// The clocks of Berlin go from 2:00 to 3:00 on 29 March 2026, and from 3:00 to 2:00 on 25 October.
#[test]
fn a_backup_is_made_once_where_the_clock_is_changed() {
    assert_eq!(next("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z"), "2026-10-26T01:30:00Z");
    let spring = next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z");
    assert!(spring.starts_with("2026-03-29T01:"), "{spring}");
}
