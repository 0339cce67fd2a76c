//! In which order the program ends.

/// How far it has come towards its end; each step is a part of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It listens, and does not act: another installation may be here.
    Starting,
    /// It runs.
    Running,
    /// It is not ready any more, and no look begins; reviews are answered.
    Stopping,
    /// No look runs any more: another replica may have its turn.
    Resting,
    /// No connection is accepted any more; reviews that run are answered.
    Closing,
}
