//! Changes one after another, each of another kind, and what has to be so after each.

use serde_json::{Value, json};

/// What was asked for so far.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// `spec.replicas`.
    pub replicas: u64,
    /// `spec.memory` in MiB.
    pub memory: u64,
    /// `spec.maxConnections`.
    pub connections: u64,
}

impl Wanted {
    /// What the first manifest asks for.
    pub const MANIFEST: &str = "{replicas: 2}";

    /// As that manifest says, the rest by default.
    pub fn first() -> Self {
        Wanted { replicas: 2, memory: 64, connections: 1024 }
    }

    /// The spec's change in this round.
    pub fn change(&mut self, round: u64) -> Value {
        match round % 3 {
            0 => {
                self.connections = 1024 + 16 * (round + 1);
                json!({ "maxConnections": self.connections })
            }
            1 => {
                self.memory = 64 + 8 * (round % 5);
                json!({ "memory": format!("{}Mi", self.memory) })
            }
            _ => {
                self.replicas = 1 + round % 4;
                json!({ "replicas": self.replicas })
            }
        }
    }
}
