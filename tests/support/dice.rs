//! Dice with a fixed seed.

/// Xorshift: the same seed, the same run.
pub struct Dice(u64);

impl Dice {
    /// Dice of a seed.
    pub fn of(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// A number below `sides`.
    pub fn below(&mut self, sides: usize) -> usize {
        usize::try_from(self.roll() % u64::try_from(sides).expect("few sides")).expect("below sides")
    }

    /// True in `percent` of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
