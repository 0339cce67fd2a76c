//! An answer on its way: it takes as much room as what was asked, so it keeps that until it has left.

use super::limits::Room;
use axum::body::{Body, Bytes};
use axum::response::Response;
use futures::{FutureExt, StreamExt, stream};
use std::io::{Error, ErrorKind};
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
