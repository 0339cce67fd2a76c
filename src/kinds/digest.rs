//! Digests and sizes of values, stable across restarts and builds.

use fnv::FnvHasher;
use serde::Serialize;
use std::fmt::Write;
use std::hash::Hasher;

/// Sixteen hexadecimal digits that stand for a value.
pub fn of(value: &impl Serialize) -> String {
    // Every value digested here is a tree of strings, numbers and maps with string keys, which always serializes.
    let json = serde_json::to_value(value).unwrap_or_default();
    format!("{:016x}", fnv(json.to_string().as_bytes()))
}

/// SHA-256 of files with their names: nobody can make others of the same digest.
pub fn of_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for part in files.into_iter().flat_map(|(name, text)| [name, text]) {
        context.update(&part.len().to_be_bytes());
        context.update(part.as_bytes());
    }
    hex(context.finish().as_ref())
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing into a text never fails.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// FNV-1a over bytes, with a final mix so that the low bits depend on every byte.
pub fn fnv(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    let hash = hasher.finish();
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

/// How many bytes a value takes as JSON; nothing is allocated.
pub fn json_bytes(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting never fails, and what cannot be written has no size.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}
