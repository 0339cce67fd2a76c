//! Which version of PostgreSQL an image names: its major version decides whether the files on a volume can be read.

/// Majors that a tag can name.
const MAJORS: std::ops::RangeInclusive<u32> = 9..=99;

/// The major version that the tag of an image names, if it names one: `postgres:17.2-bookworm` names 17.
pub fn major(image: &str) -> Option<u32> {
    let tagged = image.split('@').next().unwrap_or_default();
    let (_, tag) = tagged.rsplit('/').next()?.split_once(':')?;
    let digits = tag.find(|c: char| !c.is_ascii_digit()).map_or(tag, |end| &tag[..end]);
    digits.parse().ok().filter(|major| MAJORS.contains(major))
}

#[cfg(test)]
mod tests {
    use super::major;

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
