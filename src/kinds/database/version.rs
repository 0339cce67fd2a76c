//! Which version of PostgreSQL an image names: its major version decides whether the files on a volume can be read.

/// Majors that a tag can name.
const MAJORS: std::ops::RangeInclusive<u32> = 9..=99;

/// The major version that the tag of an image names, if it names one: `postgres:17.2-bookworm` names 17.
pub fn major(image: &str) -> Option<u32> {
    let tag = tag(image)?;
    let digits = tag.find(|c: char| !c.is_ascii_digit()).map_or(tag, |end| &tag[..end]);
    digits.parse().ok().filter(|major| MAJORS.contains(major))
}

/// Major and minor version, where the tag names both: `postgres:17.2-bookworm` names 17.2.
pub fn minor(image: &str) -> Option<(u32, u32)> {
    let (tag, major) = (tag(image)?, major(image)?);
    let rest = tag.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('.')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
    Some((major, digits.parse().ok()?))
}

/// Are both the same image but for registry and tag?
pub fn is_alike(one: &str, other: &str) -> bool {
    let name = |image: &str| image.split('@').next().and_then(|tagged| tagged.rsplit('/').next()?.split(':').next().map(str::to_owned));
    name(one) == name(other)
}

fn tag(image: &str) -> Option<&str> {
    let tagged = image.split('@').next().unwrap_or_default();
    Some(tagged.rsplit('/').next()?.split_once(':')?.1)
}

#[cfg(test)]
mod tests {
    use super::{is_alike, major, minor};

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
