//! The two Secrets: `NAME-app`, which applications connect with, and `NAME-internal`, which no user mounts.
//!
//! Passwords are made once. What is stored later must be what was made: a verifier that no longer fits its password, or a
//! key that is gone, means that somebody edited it, and nobody but a person may decide on new ones.

use super::credentials::{ENTROPY, Password, SALT};
use super::names;
use super::{kept, namespace};
use crate::kinds::database::object::v1::Database as Object;
use crate::kinds::database::plan::Plan;
use crate::kinds::entropy::Entropy as Chance;
use crate::kinds::rendered::Rendered;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use serde_json::{Map, Value, json};
use std::fmt;
use std::fmt::Write;

/// The role that applications connect as.
pub const APPLICATION: &str = "app";

const SUPERUSER: [&str; 2] = ["superuser-password", "superuser-verifier"];
const REPLICATION: [&str; 2] = ["replication-password", "replication-verifier"];
/// The application's own password stands in its own Secret alone.
const APP: [&str; 2] = ["password", "app-verifier"];

/// Entropy for one password and the salt of its verifier.
pub type Entropy = [u8; ENTROPY + SALT];

/// What the server keeps of a password. It is shown nowhere either.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier(String);

impl fmt::Debug for Verifier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Verifier(not shown)")
    }
}

/// A role's password, and what the server keeps of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    password: Password,
    verifier: Verifier,
}

impl Credential {
    /// A new password.
    pub fn of(entropy: &Entropy) -> Self {
        let (mut password, mut salt) = ([0; ENTROPY], [0; SALT]);
        password.copy_from_slice(&entropy[..ENTROPY]);
        salt.copy_from_slice(&entropy[ENTROPY..]);
        let password = Password::of(&password);
        let verifier = Verifier(password.verifier(&salt));
        Credential { password, verifier }
    }

    /// Is the verifier one of this very password?
    fn fits(&self) -> bool {
        salt(&self.verifier.0).is_some_and(|salt| self.password.verifier(&salt) == self.verifier.0)
    }
}

/// The salt of a verifier: `SCRAM-SHA-256$ITERATIONS:SALT$KEYS`.
fn salt(verifier: &str) -> Option<[u8; SALT]> {
    let (_, salt) = verifier.split('$').nth(1)?.split_once(':')?;
    STANDARD.decode(salt).ok()?.try_into().ok()
}

/// All that a Database has passwords for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The superuser.
    pub superuser: Credential,
    /// The role that replicas follow with.
    pub replication: Credential,
    /// The application's role.
    pub app: Credential,
}

/// What is wrong with the stored Secrets; it holds no value of theirs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Loss {
    /// A Secret is not there.
    #[error("Secret {secret} is gone")]
    Gone {
        /// Its name.
        secret: String,
    },
    /// A key is not there, or holds nothing that could be a password.
    #[error("Secret {secret} lacks the key {key}")]
    Missing {
        /// The Secret's name.
        secret: String,
        /// The key.
        key: &'static str,
    },
    /// The password is not the one that the verifier was made from.
    #[error("the key {key} of Secret {secret} no longer fits its verifier")]
    Edited {
        /// The name of the password's Secret.
        secret: String,
        /// The key of the password.
        key: &'static str,
    },
}

impl Credentials {
    /// New passwords.
    pub fn of(entropy: &[Entropy; 3]) -> Self {
        let [superuser, replication, app] = entropy.each_ref().map(Credential::of);
        Credentials { superuser, replication, app }
    }

    /// New passwords out of what was read of chance; nothing where none was.
    pub fn drawn(chance: &Chance) -> Option<Self> {
        let [superuser, replication, app] = ["superuser", "replication", "app"].map(|role| chance.bytes(role));
        Some(Credentials::of(&[superuser?, replication?, app?]))
    }

    /// The same, around the application's password as it is stored already.
    #[must_use]
    pub fn with_application(mut self, stored: &Secret) -> Self {
        let place = Place { secret: stored, name: String::new() };
        if let Ok(password) = place.key(APP[0]) {
            let password = Password::stored(password);
            // The salt of the password that is given up is as good as another.
            if let Some(salt) = salt(&self.app.verifier.0) {
                let verifier = Verifier(password.verifier(&salt));
                self.app = Credential { password, verifier };
            }
        }
        self
    }

    /// What the Secrets of the object called `name` hold.
    ///
    /// # Errors
    /// All that was lost.
    pub fn stored(name: &str, internal: Option<&Secret>, application: Option<&Secret>) -> Result<Self, Vec<Loss>> {
        let gone = |found: Option<&Secret>, secret| found.is_none().then_some(Loss::Gone { secret });
        let losses: Vec<Loss> =
            gone(internal, names::internal(name)).into_iter().chain(gone(application, names::application(name))).collect();
        let (Some(internal), Some(application)) = (internal, application) else { return Err(losses) };
        let inside = Place { secret: internal, name: names::internal(name) };
        let outside = Place { secret: application, name: names::application(name) };
        let found = [(&inside, SUPERUSER), (&inside, REPLICATION), (&outside, APP)]
            .map(|(of, [password, verifier])| credential(of.key(password), inside.key(verifier), of, password));
        match found {
            [Ok(superuser), Ok(replication), Ok(app)] => Ok(Credentials { superuser, replication, app }),
            found => Err(found.into_iter().filter_map(Result::err).flatten().collect()),
        }
    }
}

fn credential(
    password: Result<String, Loss>,
    verifier: Result<String, Loss>,
    of: &Place,
    key: &'static str,
) -> Result<Credential, Vec<Loss>> {
    match (password, verifier) {
        (Ok(password), Ok(verifier)) => {
            let credential = Credential { password: Password::stored(password), verifier: Verifier(verifier) };
            if credential.fits() { Ok(credential) } else { Err(vec![Loss::Edited { secret: of.name.clone(), key }]) }
        }
        (password, verifier) => Err(password.err().into_iter().chain(verifier.err()).collect()),
    }
}

/// A stored Secret.
struct Place<'a> {
    secret: &'a Secret,
    name: String,
}

impl Place<'_> {
    fn key(&self, key: &'static str) -> Result<String, Loss> {
        let bytes = self.secret.data.as_ref().and_then(|data| data.get(key));
        let text = bytes.and_then(|bytes| String::from_utf8(bytes.0.clone()).ok()).filter(|text| !text.is_empty());
        text.ok_or_else(|| Loss::Missing { secret: self.name.clone(), key })
    }
}

/// The names of both.
pub fn both(object: &Object) -> Vec<String> {
    [names::application, names::internal].map(|name| name(&object.name_any())).into()
}

/// The Secret that no user mounts.
pub fn internal(object: &Object, credentials: &Credentials) -> Rendered {
    let Credentials { superuser, replication, app } = credentials;
    let values = [
        (SUPERUSER[0], superuser.password.reveal()),
        (SUPERUSER[1], &superuser.verifier.0),
        (REPLICATION[0], replication.password.reveal()),
        (REPLICATION[1], &replication.verifier.0),
        (APP[1], &app.verifier.0),
    ];
    secret(object, &names::internal(&object.name_any()), values)
}

/// The Secret that applications connect with, by the names of a service binding.
pub fn application(object: &Object, plan: &Plan, credentials: &Credentials) -> Rendered {
    let password = credentials.app.password.reveal();
    let host = format!("{}.{}.svc", names::own(&object.name_any()), namespace(object));
    let port = plan.port.to_string();
    let uri = format!("postgresql://{APPLICATION}:{}@{host}:{port}/{}", encoded(password), encoded(&plan.database));
    let values = [
        ("type", "postgresql"),
        ("host", &host),
        ("port", &port),
        ("username", APPLICATION),
        (APP[0], password),
        ("database", &plan.database),
        ("uri", &uri),
    ];
    secret(object, &names::application(&object.name_any()), values)
}

fn secret<const N: usize>(object: &Object, name: &str, values: [(&str, &str); N]) -> Rendered {
    let data: Map<String, Value> = values.into_iter().map(|(key, value)| (key.to_owned(), json!(STANDARD.encode(value)))).collect();
    kept::<Secret>(object, name, "server", json!({ "type": "Opaque", "data": data }))
}

/// A part of a URI: whatever has a meaning in one is written by its number.
pub fn encoded(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing into a text never fails.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::database::object::v1::DatabaseSpec;
    use k8s_openapi::ByteString;

    fn object() -> Object {
        let mut object = Object::new("db", DatabaseSpec::default());
        object.metadata.namespace = Some("shop".to_owned());
        object
    }

    fn plan() -> Plan {
        let spec = json!({ "databaseName": "my-shop", "storage": { "size": "1Gi" } });
        let spec: DatabaseSpec = serde_json::from_value(spec).expect("a spec");
        crate::kinds::database::plan::parse(&spec, "postgres:17").expect("a legal spec")
    }

    fn credentials() -> Credentials {
        Credentials::of(&[[1; ENTROPY + SALT], [2; ENTROPY + SALT], [3; ENTROPY + SALT]])
    }

    fn stored() -> (Secret, Secret) {
        let read = |rendered: Rendered| serde_json::from_value(rendered.object).expect("a Secret");
        (read(internal(&object(), &credentials())), read(application(&object(), &plan(), &credentials())))
    }

    fn losses(internal: Option<&Secret>, application: Option<&Secret>) -> Vec<String> {
        let losses = Credentials::stored("db", internal, application).expect_err("something is lost");
        losses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_was_stored_is_read_back() {
        let (internal, application) = stored();
        assert_eq!(Credentials::stored("db", Some(&internal), Some(&application)), Ok(credentials()));
        let text = |key: &str| String::from_utf8(application.data.as_ref().expect("data")[key].0.clone()).expect("a text");
        assert_eq!(text("uri"), format!("postgresql://app:{}@db.shop.svc:5432/my-shop", "03".repeat(ENTROPY)));
    }

    #[test]
    fn each_loss_is_named_and_no_value_is() {
        let (internal, application) = stored();
        assert_eq!(losses(None, None), ["Secret db-internal is gone", "Secret db-app is gone"]);
        assert_eq!(losses(Some(&internal), None), ["Secret db-app is gone"]);
        let edited = |secret: &Secret, key: &str, value: Option<&str>| {
            let mut secret = secret.clone();
            let data = secret.data.as_mut().expect("data");
            match value {
                Some(value) => data.insert(key.to_owned(), ByteString(value.into())),
                None => data.remove(key),
            };
            secret
        };
        let other = edited(&application, "password", Some("hunter2"));
        assert_eq!(losses(Some(&internal), Some(&other)), ["the key password of Secret db-app no longer fits its verifier"]);
        for nonsense in ["md5", "SCRAM-SHA-256$4096:####$a:b", "SCRAM-SHA-256$1:QQ==$a:b", "$$$", "SCRAM-SHA-256$x"] {
            let other = edited(&internal, "superuser-verifier", Some(nonsense));
            assert_eq!(losses(Some(&other), Some(&application)).len(), 1, "{nonsense}");
        }
        let other = edited(&edited(&internal, "replication-password", None), "app-verifier", None);
        assert_eq!(
            losses(Some(&other), Some(&application)),
            ["Secret db-internal lacks the key replication-password", "Secret db-internal lacks the key app-verifier"]
        );
    }

    #[test]
    fn debugging_shows_no_value() {
        let shown = format!("{:?} {:?}", credentials(), internal(&object(), &credentials()));
        let (internal, _) = stored();
        for bytes in internal.data.expect("data").values() {
            let value = String::from_utf8(bytes.0.clone()).expect("a text");
            assert!(!shown.contains(&value) && !shown.contains(&STANDARD.encode(&value)), "{shown}");
        }
    }

    #[test]
    fn parts_of_a_uri_hold_nothing_that_has_a_meaning_in_one() {
        assert_eq!(encoded("a-Z_0.9~"), "a-Z_0.9~");
        assert_eq!(encoded("p@ss:w/rd?#[]%&=+ é\n"), "p%40ss%3Aw%2Frd%3F%23%5B%5D%25%26%3D%2B%20%C3%A9%0A");
    }
}
