//! Listening: HTTP/1.1 over TLS, with keys that may change while it runs. The API server calls webhooks with nothing newer, so
//! that its calls spread over replicas.

use super::connections::Limited;
use axum::Router;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::{self, Next};
use axum_server::Handle;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioTimer;
use rustls::ServerConfig;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long requests that run at shutdown may take: the API server waits 5 s for a verdict.
const GRACE: Duration = Duration::from_secs(10);

/// How long a client may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a client may take until its headers are sent, from the answer before on. The API server closes a connection that
/// it has not used for 90 s. Were this less, its next call could meet the connection in the moment of its end, and be lost.
const SILENCE: Duration = Duration::from_secs(100);

/// How much of headers, or of a body at once, is held of a connection: all of them may hold as much.
pub(super) const BUFFER: usize = 32 * 1024;

/// Listens on `address`. On a host without IPv6 the wildcard of IPv6 becomes that of IPv4.
///
/// # Errors
/// The address is taken, or is not this host's.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address).or_else(|fault| match fallback(address, &fault) {
        Some(other) => TcpListener::bind(other),
        None => Err(fault),
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn fallback(address: SocketAddr, fault: &io::Error) -> Option<SocketAddr> {
    // A kernel without IPv6 knows no such family (97 on Linux); one with it switched off no such address.
    let without = fault.raw_os_error() == Some(97) || matches!(fault.kind(), ErrorKind::AddrNotAvailable | ErrorKind::Unsupported);
    let any = address.is_ipv6() && address.ip().is_unspecified();
    (without && any).then(|| (Ipv4Addr::UNSPECIFIED, address.port()).into())
}

/// While `is_parting`, asks every client that calls to connect anew next time: soon it is to call another replica, and a
/// request that meets a connection in the moment of its end is lost.
pub fn parting(router: Router, is_parting: impl Fn() -> bool + Clone + Send + Sync + 'static) -> Router {
    router.layer(middleware::from_fn(move |request: Request, next: Next| {
        let parts = is_parting();
        async move {
            let mut response = next.run(request).await;
            if parts {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            response
        }
    }))
}

/// Serves until `shutdown`, then lets running requests end.
///
/// # Errors
/// The listener fails.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    mut keys: watch::Receiver<Arc<ServerConfig>>,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let config = RustlsConfig::from_config(keys.borrow_and_update().clone());
    let acceptor = RustlsAcceptor::new(config.clone()).handshake_timeout(HANDSHAKE).acceptor(Limited::default());
    let handle = Handle::new();
    let mut server = axum_server::from_tcp(listener)?.acceptor(acceptor).handle(handle.clone()).http1_only();
    server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(SILENCE).max_buf_size(BUFFER);
    let swap = async {
        while keys.changed().await.is_ok() {
            config.reload_from_config(keys.borrow_and_update().clone());
        }
        std::future::pending::<()>().await;
    };
    let serving = server.serve(router.into_make_service());
    tokio::pin!(serving);
    tokio::select! {
        ended = &mut serving => return ended,
        () = swap => {}
        () = shutdown => handle.graceful_shutdown(Some(GRACE)),
    }
    serving.await
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::crypto::ring::default_provider;
    use rustls::server::ResolvesServerCertUsingSni;
    use std::future::pending;
    use std::net::TcpStream;
    use tokio::io::AsyncReadExt;
    use tokio::time::timeout;

    /// Keys of nobody: who does not shake hands is shown none.
    fn keys() -> watch::Receiver<Arc<ServerConfig>> {
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
        let builder = builder.expect("versions of TLS").with_no_client_auth();
        watch::channel(Arc::new(builder.with_cert_resolver(Arc::new(ResolvesServerCertUsingSni::new())))).1
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_shakes_no_hands_is_closed() {
        let listener = bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(serve(listener, Router::new(), keys(), pending()));
        let mut silent = tokio::net::TcpStream::connect(address).await.expect("it is taken");
        let ended = timeout(HANDSHAKE * 2, silent.read_to_end(&mut Vec::new())).await;
        assert!(ended.is_ok(), "it is held for ever");
    }

    #[test]
    fn the_wildcard_takes_ipv4_too() {
        let listener = bind("[::]:0".parse().expect("an address")).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("reached by IPv4");
    }

    #[test]
    fn a_host_without_ipv6_gets_the_wildcard_of_ipv4() {
        let any: SocketAddr = "[::]:9443".parse().expect("an address");
        let without = io::Error::from_raw_os_error(97);
        assert_eq!(fallback(any, &without), Some("0.0.0.0:9443".parse().expect("an address")));
        assert_eq!(fallback("[::1]:9443".parse().expect("an address"), &without), None);
        assert_eq!(fallback(any, &ErrorKind::AddrInUse.into()), None);
    }
}
