//! What the operator's own objects are called.

/// The Secret of the webhooks' keys.
pub const SECRET: &str = "pointsman-certificates";
