//! An answer on its way: it takes as much room as what was asked, so it keeps that until it has left.

use super::limits::Room;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use futures::{FutureExt, StreamExt, stream};
use http_body::{Frame, SizeHint};
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// How long it may take until all of it is on its way. The API server reads in one go.
const DEPARTURE: Duration = Duration::from_secs(5);

/// So much is handed on at once.
const PART: usize = 64 * 1024;

/// The answer, as it is where its request needed no room.
pub fn sent(answer: Response, room: Option<Room>) -> Response {
    match room {
        None => answer,
        Some(room) => answer.map(|body| kept(body, room)),
    }
}

fn kept(body: Body, room: Room) -> Body {
    let late = Box::pin(tokio::time::sleep(DEPARTURE));
    let parts = stream::unfold((body.into_data_stream(), Bytes::new(), late, room), |(mut whole, mut rest, mut late, room)| async move {
        if rest.is_empty() {
            rest = whole.next().await?.ok()?;
        }
        if late.as_mut().now_or_never().is_some() {
            return Some((Err(Error::from(ErrorKind::TimedOut)), (whole, Bytes::new(), late, room)));
        }
        let part = rest.split_to(PART.min(rest.len()));
        Some((Ok(part), (whole, rest, late, room)))
    });
    Body::from_stream(parts)
}

/// The same answer; `kept` is kept until all of its body was taken.
pub fn keeping<T: Unpin + Send + 'static>(answer: Response, kept: T) -> Response {
    answer.map(|body| Body::new(Keeping { body, _kept: kept }))
}

struct Keeping<T> {
    body: Body,
    _kept: T,
}

impl<T: Unpin> HttpBody for Keeping<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn what_is_kept_goes_with_the_last_of_the_body() {
        let kept = Arc::new(());
        let answer = keeping(Response::new(Body::from("allowed")), kept.clone());
        assert_eq!(answer.body().size_hint().exact(), Some(7), "its length is told");
        assert_eq!(Arc::strong_count(&kept), 2);
        let said = axum::body::to_bytes(answer.into_body(), 100).await.expect("a body");
        assert_eq!((said.as_ref(), Arc::strong_count(&kept)), (&b"allowed"[..], 1));
    }
}
