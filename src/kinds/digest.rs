//! Digests and sizes of values, stable across restarts and builds.

use serde::Serialize;

/// Sixteen hexadecimal digits that stand for a value.
pub fn of(value: &impl Serialize) -> String {
    // Every value digested here is a tree of strings, numbers and maps with string keys, which always serializes.
    let json = serde_json::to_value(value).unwrap_or_default();
    format!("{:016x}", fnv(json.to_string().as_bytes()))
}

/// FNV-1a over bytes, with a final mix so that the low bits depend on every byte.
pub fn fnv(bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
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
