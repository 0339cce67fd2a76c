//! Chance as an argument: read at the edge once a look, so that passwords are made where nothing else is read.

use ring::hmac;
use std::fmt;

/// Bytes of a seed: as many as nobody guesses.
pub const SEED: usize = 32;

/// What passwords of one look are made from. It is shown nowhere.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Entropy(Option<[u8; SEED]>);

impl Entropy {
    /// Of a seed that was read from the system.
    pub fn of(seed: [u8; SEED]) -> Self {
        Entropy(Some(seed))
    }

    /// Bytes for one purpose, which tell nothing of those for another; nothing where none was read: what has no chance in it
    /// is no password.
    pub fn bytes<const N: usize>(&self, purpose: &str) -> Option<[u8; N]> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0?);
        let mut bytes = [0; N];
        for (block, part) in (0_u64..).zip(bytes.chunks_mut(SEED)) {
            let mut signed = hmac::Context::with_key(&key);
            signed.update(&block.to_be_bytes());
            signed.update(purpose.as_bytes());
            part.copy_from_slice(&signed.sign().as_ref()[..part.len()]);
        }
        Some(bytes)
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Entropy(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_purpose_has_bytes_of_its_own() {
        let (one, other) = (Entropy::of([7; SEED]), Entropy::of([8; SEED]));
        let drawn = [(&one, "a"), (&one, "b"), (&other, "a")].map(|(entropy, purpose)| entropy.bytes::<40>(purpose));
        assert_eq!(BTreeSet::from(drawn).len(), 3);
        assert_eq!(one.bytes::<40>("a"), one.bytes::<40>("a"), "a look that decides twice makes the same password");
        let [first, second] = [0, 8].map(|at| one.bytes::<40>("a").expect("bytes")[at..at + 32].to_vec());
        assert_ne!(first, second);
    }

    #[test]
    fn where_none_was_read_there_is_none_and_it_is_not_shown() {
        assert_eq!(Entropy::default().bytes::<20>("a"), None);
        assert_eq!(format!("{:?} {:?}", Entropy::default(), Entropy::of([7; SEED])), "Entropy(not shown) Entropy(not shown)");
    }
}
