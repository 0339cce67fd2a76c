//! The same for longer, and with more objects.

mod attacks;
mod carrier;
mod edits;
mod kills;
mod meshes;
mod migrate;
mod rest;
mod thousand;
mod wait;

use crate::harness::outage::process;

/// What the operator has used.
struct Used {
    /// Seconds of CPU.
    cpu: f64,
    /// How much memory it holds, in MiB.
    now: f64,
    /// The most that it ever held.
    peak: f64,
}

fn used() -> Used {
    let pid = process("operator");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The program's name is in brackets and may hold blanks; user and system time are the 14th and 15th field.
    let fields: Vec<f64> = stat.rsplit(") ").next().unwrap().split(' ').map(|field| field.parse().unwrap_or_default()).collect();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let memory = |name: &str| -> f64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    };
    // Linux shows times to programs in hundredths of a second.
    Used { cpu: (fields[11] + fields[12]) / 100.0, now: memory("VmRSS:"), peak: memory("VmHWM:") }
}
