//! Passwords, and what the server keeps of them. Pure: the entropy is an argument.

use crate::kinds::digest::hex;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};
use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Bytes of entropy in a password: 160 bits, which nobody guesses.
pub const ENTROPY: usize = 20;
/// Bytes of salt, as many as PostgreSQL takes.
pub const SALT: usize = 16;
/// How often a password is hashed: as often as PostgreSQL does.
const ITERATIONS: NonZeroU32 = NonZeroU32::new(4096).unwrap();

/// The verifiers that were computed before, by a digest of password and salt: one takes a millisecond, and each look at a
/// Database asks for three.
static COMPUTED: LazyLock<Mutex<HashMap<[u8; digest::SHA256_OUTPUT_LEN], String>>> = LazyLock::new(Mutex::default);
/// How many are kept: those of ten thousand Databases.
const COMPUTED_AT_MOST: usize = 30_000;

/// A password. It is shown nowhere; whoever writes it into a Secret says so.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The password of this entropy: digits and letters alone, so that no place it is written to needs to quote it.
    pub fn of(entropy: &[u8; ENTROPY]) -> Self {
        Password(hex(entropy))
    }

    /// The password that a Secret holds. Those of this operator are ASCII; in others no letters are folded into one another.
    pub fn stored(text: String) -> Self {
        Password(text)
    }

    /// The password itself, for a Secret.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the server keeps of the password, as `ALTER ROLE ... PASSWORD` takes it.
    pub fn verifier(&self, salt: &[u8; SALT]) -> String {
        let mut asked = [0; digest::SHA256_OUTPUT_LEN];
        let salted = [salt, self.0.as_bytes()].concat();
        asked.copy_from_slice(digest::digest(&digest::SHA256, &salted).as_ref());
        let known = || COMPUTED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verifier) = known().get(&asked) {
            return verifier.clone();
        }
        let verifier = self.derived(salt);
        let mut known = known();
        if known.len() >= COMPUTED_AT_MOST {
            known.clear();
        }
        known.insert(asked, verifier.clone());
        verifier
    }

    fn derived(&self, salt: &[u8; SALT]) -> String {
        let mut salted = [0; digest::SHA256_OUTPUT_LEN];
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ITERATIONS, salt, self.0.as_bytes(), &mut salted);
        let key = |of: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, of), text);
        let stored = digest::digest(&digest::SHA256, key(&salted, b"Client Key").as_ref());
        let server = key(&salted, b"Server Key");
        let text = |bytes: &[u8]| STANDARD.encode(bytes);
        format!("SCRAM-SHA-256${ITERATIONS}:{}${}:{}", text(salt), text(stored.as_ref()), text(server.as_ref()))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Password(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        STANDARD.decode(text).expect("base64")
    }

    /// The conversation of RFC 7677, section 3.
    #[test]
    fn a_verifier_lets_in_who_knows_the_password_and_proves_the_server() {
        let salt = bytes("W22ZaJ0SNY7soEsUEjb6gQ==").try_into().expect("sixteen bytes");
        let verifier = Password::stored("pencil".to_owned()).verifier(&salt);
        let (head, keys) = verifier.rsplit_once('$').expect("keys");
        assert_eq!(head, "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==");
        let (stored, server) = keys.split_once(':').expect("two keys");
        let said = "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                    s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let sign = |key: &str| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &bytes(key)), said.as_bytes());
        assert_eq!(STANDARD.encode(sign(server)), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        // The proof is the client's key, hidden under a signature: taken off, its digest is the stored key.
        let proof = bytes("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        let key: Vec<u8> = proof.iter().zip(sign(stored).as_ref()).map(|(proof, signature)| proof ^ signature).collect();
        assert_eq!(STANDARD.encode(digest::digest(&digest::SHA256, &key)), stored);
    }

    #[test]
    fn a_password_is_as_long_as_its_entropy_and_is_not_shown() {
        let password = Password::of(&[0xa5; ENTROPY]);
        assert_eq!(password.reveal(), "a5".repeat(ENTROPY));
        assert_ne!(password, Password::of(&[0xa6; ENTROPY]));
        assert!(!format!("{password:?}").contains("a5"));
    }
}
