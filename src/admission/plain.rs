//! Listening: HTTP/1.1 without TLS, for what any pod of the cluster may ask. It takes few connections, so that those of the
//! webhooks always find a file that is free.

use super::connections::Limited;
use super::tls::BUFFER;
use axum::Router;
use axum_server::Handle;
use hyper_util::rt::TokioTimer;
use std::io;
use std::net::TcpListener;
use std::time::Duration;

/// What one address may hold: a Prometheus holds one.
const EACH: usize = 8;

/// What all may hold together.
const ALL: usize = 4 * EACH;

/// How long a client may take until its headers are sent, from the answer before on.
const SILENCE: Duration = Duration::from_secs(10);

/// How long requests that run at shutdown may take.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until `shutdown`, then lets running requests end.
///
/// # Errors
/// The listener fails.
pub async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()> + Send) -> io::Result<()> {
    let handle = Handle::new();
    let limited = Limited::to(EACH, ALL, || tracing::debug!("a connection without TLS was one too many: it is closed"));
    let mut server = axum_server::from_tcp(listener)?.acceptor(limited).handle(handle.clone()).http1_only();
    server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(SILENCE).max_buf_size(BUFFER);
    let serving = server.serve(router.into_make_service());
    tokio::pin!(serving);
    tokio::select! {
        ended = &mut serving => return ended,
        () = shutdown => handle.graceful_shutdown(Some(GRACE)),
    }
    serving.await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::tls::bind;
    use axum::routing::get;
    use std::future::pending;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpSocket, TcpStream};
    use tokio::time::timeout;

    fn started() -> SocketAddr {
        let listener = bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(serve(listener, Router::new().route("/", get(async || "here")), pending()));
        address
    }

    async fn connect(from: &str, to: SocketAddr) -> TcpStream {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(from.parse().expect("an address")).expect("a free port");
        socket.connect(to).await.expect("the listener takes it")
    }

    async fn is_closed(one: &mut TcpStream) -> bool {
        timeout(Duration::from_millis(50), one.read(&mut [0])).await.is_ok_and(|read| read.ok().is_none_or(|length| length == 0))
    }

    #[tokio::test]
    async fn a_client_that_sits_on_its_connections_keeps_nobody_out() {
        let address = started();
        let mut held = Vec::new();
        for _ in 0..EACH + 3 {
            held.push(connect("127.0.0.2:0", address).await);
        }
        let mut closed = 0;
        for one in &mut held {
            closed += usize::from(is_closed(one).await);
        }
        assert_eq!(closed, 3, "what is too much is closed, and nothing else");
        let mut other = connect("127.0.0.1:0", address).await;
        other.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.expect("it is sent");
        let mut answer = String::new();
        other.read_to_string(&mut answer).await.expect("it is answered");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("here"), "{answer}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_asks_nothing_is_closed() {
        let mut silent = connect("127.0.0.1:0", started()).await;
        let ended = timeout(SILENCE * 2, silent.read_to_end(&mut Vec::new())).await;
        assert!(ended.is_ok(), "it is held for ever");
    }
}
