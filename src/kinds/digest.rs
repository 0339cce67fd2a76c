//! Short digests of values, stable across restarts and builds.

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
