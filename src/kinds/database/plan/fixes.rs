//! Security fixes of PostgreSQL that matter to who runs it here: applications and tenants speak to the server, and what they have
//! made is dumped by the superuser. Each is in the notes of its release, and under <https://www.postgresql.org/support/security/>.

use super::version::MAJOR;

/// A fault that minor versions have fixed.
#[derive(Debug)]
pub struct Fix {
    /// Its number.
    pub cve: &'static str,
    /// What it lets whom do.
    pub lets: &'static str,
    /// The first minor version of each major one that has the fix.
    minors: &'static [(u32, u32)],
}

/// The newest first.
const FIXES: &[Fix] = &[
    Fix {
        cve: "CVE-2026-6460",
        lets: "who may make tables runs code in the server's pod",
        minors: &[(14, 25), (15, 20), (16, 16), (17, 12), (18, 7)],
    },
    Fix { cve: "CVE-2026-14680", lets: "any role runs code in the server's pod", minors: AUGUST_2026 },
    Fix { cve: "CVE-2026-15741", lets: "who owns a table or view runs SQL as the superuser that dumps it", minors: AUGUST_2026 },
    Fix { cve: "CVE-2026-6473", lets: "any role writes beyond the memory of its session", minors: MAY_2026 },
    Fix { cve: "CVE-2026-6475", lets: "a superuser of the primary writes files of the replica that is cloned", minors: MAY_2026 },
    Fix { cve: "CVE-2026-2006", lets: "any role runs code in the server's pod", minors: &[(14, 21), (15, 16), (16, 12), (17, 8), (18, 2)] },
    Fix {
        cve: "CVE-2025-8714",
        lets: "a superuser of the dumped server runs code where the dump is restored",
        minors: &[(13, 22), (14, 19), (15, 14), (16, 10), (17, 6)],
    },
    Fix {
        cve: "CVE-2024-7348",
        lets: "who may make tables runs SQL as the superuser that dumps them",
        minors: &[(12, 20), (13, 16), (14, 13), (15, 8), (16, 4)],
    },
];

const AUGUST_2026: &[(u32, u32)] = &[(14, 24), (15, 19), (16, 15), (17, 11), (18, 6)];
const MAY_2026: &[(u32, u32)] = &[(14, 23), (15, 18), (16, 14), (17, 10), (18, 4)];

/// The fixes that a version, 170011 say, lacks, the newest first. A major version that is older than all that have a fix never
/// gets it; one that is newer than those began with it.
pub fn lacking(version: u32) -> impl Iterator<Item = &'static Fix> {
    let (major, minor) = (version / MAJOR, version % MAJOR);
    FIXES.iter().filter(move |fix| match fix.minors.iter().find(|(of, _)| *of == major) {
        Some((_, first)) => minor < *first,
        None => fix.minors.first().is_some_and(|(oldest, _)| major < *oldest),
    })
}

/// The first minor version of the same major one that has every fix; nothing where the major version gets none any more.
pub fn whole(version: u32) -> Option<u32> {
    let major = version / MAJOR;
    let of = |fix: &Fix| fix.minors.iter().find(|(of, _)| *of == major).map(|(_, minor)| *minor);
    let gets_none = FIXES.first().and_then(|fix| fix.minors.first()).is_some_and(|(oldest, _)| major < *oldest);
    FIXES.iter().filter_map(of).max().filter(|_| !gets_none).map(|minor| major * MAJOR + minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(version: u32) -> Vec<&'static str> {
        lacking(version).map(|fix| fix.cve).collect()
    }

    #[test]
    fn a_version_lacks_what_later_minors_of_its_major_have_fixed() {
        assert_eq!(numbers(170_012), Vec::<&str>::new());
        assert_eq!(numbers(170_011), ["CVE-2026-6460"]);
        assert_eq!(numbers(170_010), ["CVE-2026-6460", "CVE-2026-14680", "CVE-2026-15741"]);
        assert_eq!(numbers(160_003).len(), FIXES.len());
        assert_eq!(numbers(170_000).len(), FIXES.len() - 1, "17 began with the fix of 2024");
        assert_eq!(numbers(190_000), Vec::<&str>::new(), "19 began with all of them");
        assert_eq!(numbers(130_023).len(), FIXES.len() - 2, "13 got the fixes of 2024 and 2025, and none since");
    }

    #[test]
    fn the_first_version_with_every_fix_lacks_none() {
        for (major, expected) in [(13, None), (14, Some(140_025)), (17, Some(170_012)), (18, Some(180_007)), (19, None)] {
            assert_eq!(whole(major * MAJOR), expected, "{major}");
            assert_eq!(expected.map_or(0, |version| lacking(version).count()), 0, "{major}");
        }
    }

    #[test]
    fn the_newest_stands_first_and_its_minors_are_the_latest() {
        for pair in FIXES.windows(2) {
            for (major, minor) in pair[1].minors {
                let newer = pair[0].minors.iter().find(|(of, _)| of == major);
                assert!(newer.is_none_or(|(_, newer)| newer >= minor), "{} before {}: {major}", pair[0].cve, pair[1].cve);
            }
        }
    }
}
