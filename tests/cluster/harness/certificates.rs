//! The keys that are stored, and who believes them.

use super::{WEBHOOK, kubectl, repository};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::net::SocketAddr;
use tokio::net::{TcpSocket, TcpStream};

/// The Secret, with its namespace, as kubectl takes it.
pub const SECRET: [&str; 4] = ["--namespace", "pointsman-system", "secret", "pointsman-certificates"];

/// By which name the API server calls.
const SERVICE: &str = "pointsman.pointsman-system.svc";

/// Does something to the Secret: `patch`, with its arguments.
pub fn secret(verb: &str, arguments: &[&str]) -> String {
    let [namespace, of, secret, name] = SECRET;
    kubectl(&[&[namespace, of, verb, secret, name], arguments].concat()).ok()
}

/// One part of the Secret, as it is encoded there; empty where there is none.
pub fn stored(key: &str) -> String {
    secret("get", &["--ignore-not-found", "--output", &format!("jsonpath={{.data.{}}}", key.replace('.', "\\."))])
}

/// What such a part says; empty where it is no encoded text.
pub fn text(encoded: &str) -> String {
    String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap_or_default()).unwrap_or_default()
}

/// The bundle of each kind's definition and of each webhook, empty where there is none.
#[track_caller]
pub fn believed() -> Vec<String> {
    let each = |list: &str, bundle: &str| format!("jsonpath={{range {list}[*]}}{{{bundle}}}{{\"\\n\"}}{{end}}");
    let definitions = each(".items", ".spec.conversion.webhook.clientConfig.caBundle");
    let crds = repository().join("crds");
    let definitions = kubectl(&["get", "--filename", crds.to_str().unwrap(), "--output", &definitions]).ok();
    let webhooks = kubectl(&["get", WEBHOOK, "--output", &each(".webhooks", ".clientConfig.caBundle")]).ok();
    let bundles: Vec<String> = definitions.lines().chain(webhooks.lines()).map(text).collect();
    assert_eq!(bundles.len(), 2 * std::fs::read_dir(crds).unwrap().count(), "each kind has a definition and a webhook");
    bundles
}

/// The certificate that is presented there.
pub fn presented(address: &str) -> String {
    super::bash(&format!("openssl s_client -connect {address} -servername localhost </dev/null 2>/dev/null | openssl x509")).out
}

/// Whoever believes `bundle`, and nothing else, calls there by the name of the Service: why that fails, or nothing.
pub fn mistrusted(address: &str, bundle: &str) -> Option<String> {
    let call = format!("curl --silent --show-error --max-time 5 --cacert /dev/stdin --resolve {SERVICE}:9443:{address}");
    let answer = super::bash_with(&format!("{call} https://{SERVICE}:9443/"), bundle);
    (answer.code != 0).then(|| answer.text())
}

/// Connects to it as another host would, 127.0.0.`host`: the API server calls from 127.0.0.1.
pub async fn connected_from(host: u8) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, host], 0)))?;
    socket.connect(address().parse().unwrap()).await
}

/// Where the operator's process listens.
pub fn address() -> String {
    let offset = std::env::var("POINTSMAN_BED_OFFSET").map_or(0, |offset| offset.parse::<u16>().unwrap());
    format!("127.0.0.1:{}", 9443 + offset)
}
