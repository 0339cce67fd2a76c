//! Which version of PostgreSQL an image names: its major version decides whether the files on a volume can be read.

/// What PostgreSQL's number of a version holds beside the major version.
pub const MAJOR: u32 = 10_000;

/// A version as people write it: 170011 is 17.11.
pub fn spelled(version: u32) -> String {
    format!("{}.{}", version / MAJOR, version % MAJOR)
}

/// Majors that a tag can name.
const MAJORS: std::ops::RangeInclusive<u32> = 9..=99;

/// The major version that the tag of an image names, if it names one: `postgres:17.2-bookworm` names 17.
pub fn major(image: &str) -> Option<u32> {
    let (major, _) = number(parts(image).1?)?;
    Some(major).filter(|major| MAJORS.contains(major))
}

/// Major and minor version, where the tag names both: `postgres:17.2-bookworm` names 17.2.
pub fn minor(image: &str) -> Option<(u32, u32)> {
    let (_, rest) = number(parts(image).1?)?;
    Some((major(image)?, number(rest.strip_prefix('.')?)?.0))
}

/// Are both the same image but for registry and tag?
pub fn is_alike(one: &str, other: &str) -> bool {
    parts(one).0 == parts(other).0
}

/// The same image with the tag of another version, where its tags are those of PostgreSQL's official image.
pub fn tagged(image: &str, version: &str) -> Option<String> {
    let (name, tag) = parts(image);
    let rest = number(tag.filter(|_| name == OFFICIAL)?)?.1;
    let rest = rest.strip_prefix('.').and_then(number).map_or(rest, |(_, rest)| rest);
    let (tagged, _) = image.split_once('@').unwrap_or((image, ""));
    Some(format!("{}:{version}{rest}", tagged.rsplit_once(':')?.0))
}

/// How the official image is called.
const OFFICIAL: &str = "postgres";

/// The last name in a reference, and its tag.
fn parts(image: &str) -> (&str, Option<&str>) {
    let tagged = image.split_once('@').map_or(image, |(tagged, _)| tagged);
    let last = tagged.rsplit_once('/').map_or(tagged, |(_, last)| last);
    last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)))
}

/// The number that a text begins with, and what comes after it.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::{is_alike, major, minor, tagged};

    #[test]
    fn the_official_image_has_a_tag_of_each_version() {
        let digest = format!("localhost:5000/postgres:17.2-bookworm@sha256:{}", "0a".repeat(32));
        let cases = [
            ("postgres:17", Some("postgres:17.12")),
            ("postgres:17.9-alpine", Some("postgres:17.12-alpine")),
            (&digest, Some("localhost:5000/postgres:17.12-bookworm")),
            ("postgres:latest", None),
            ("localhost:5000/postgres", None),
            ("postgis/postgis:17-3.5", None),
        ];
        for (image, expected) in cases {
            assert_eq!(tagged(image, "17.12").as_deref(), expected, "{image}");
        }
    }

    #[test]
    fn a_tag_names_its_minor_version_or_none() {
        let cases = [
            ("postgres:17", None),
            ("postgres:17.11", Some((17, 11))),
            ("localhost:5000/postgres:15.18-bookworm", Some((15, 18))),
            ("postgis/postgis:17-3.5", None),
            ("postgres:latest", None),
        ];
        for (image, expected) in cases {
            assert_eq!(minor(image), expected, "{image}");
        }
        assert!(is_alike("postgres:17.2", "registry.example.com:5000/library/postgres:17.11"));
        assert!(!is_alike("postgres:17.2", "postgis/postgis:17.11"));
    }

    #[test]
    fn a_tag_names_its_major_version_or_none() {
        let digest = format!("postgres:17.2@sha256:{}", "0a".repeat(32));
        let cases = [
            ("postgres:17", Some(17)),
            ("localhost:5000/postgres:15.18-bookworm", Some(15)),
            ("docker.io/postgis/postgis:17-3.5", Some(17)),
            (&digest, Some(17)),
            ("postgres", None),
            ("localhost:5000/postgres", None),
            ("postgres:latest", None),
            ("postgres:v17", None),
            ("postgres:20260101", None),
        ];
        for (image, expected) in cases {
            assert_eq!(major(image), expected, "{image}");
        }
    }
}
