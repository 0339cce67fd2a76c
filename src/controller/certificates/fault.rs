//! Why the certificates are not in order.

use super::keys;
use crate::controller::calls::Unanswered;
use crate::controller::names::SECRET;

/// Why the certificates are not in order.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The API server refused, or was not there.
    #[error("{0}: {1}")]
    Api(String, Unanswered),
    /// A key or certificate could not be made.
    #[error("cannot make certificates: {0}")]
    Keys(keys::Fault),
    /// Another is to write.
    #[error("the Secret {SECRET} holds no keys yet; they are made by {0}")]
    NoKeys(&'static str),
    /// Another writes, and would write again.
    #[error(
        "the Secret {SECRET} is not right ({1}), and is left to cert-manager, which writes it as the Certificate {0} says; run the operator with --certificates cert-manager, or delete that Certificate and then the Secret"
    )]
    Foreign(String, String),
    /// They are no use.
    #[error("the certificate in the Secret {SECRET} is not believed: {0}")]
    Unusable(keys::Fault),
}
