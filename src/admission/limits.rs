//! What is read at all, and how long it is waited for.

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use futures::StreamExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::any::Any;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

const MIB: usize = 1024 * 1024;

/// The largest review of a write: the API server takes bodies of up to 3 MiB, and sends the object
/// before and after.
pub const REVIEW_BYTES: usize = 8 * MIB;

/// The largest review of a conversion. It may carry a list; the API server stores up to 1.5 MiB an
/// object and in practice sends one at a time.
pub const CONVERSION_BYTES: usize = 16 * MIB;

/// How much of bodies is held at once, over all requests: what bounds the memory that anybody who
/// reaches the port can take. Further requests wait.
const HELD_BYTES: usize = 16 * MIB;

/// So much of each body needs no room: connections bound it. Most reviews are no longer, and so wait for nobody, however many
/// bodies come slowly.
const FREE_BYTES: usize = 32 * 1024;

/// A body of up to so much is small, as nearly every review is.
const SMALL_BYTES: usize = 256 * 1024;

/// How much of small bodies is held at once: they have room of their own, so that large ones that come slowly keep none of
/// them waiting.
const SMALL_HELD_BYTES: usize = 8 * MIB;

/// How long a body may wait for room: twice what the API server waits for a verdict.
const TURN: Duration = Duration::from_secs(10);

/// How long it may take to arrive, before and after that. The API server sends it in one go; who is slower gives the room back soon.
const ARRIVAL: Duration = Duration::from_secs(3);

/// How much of a body is read in order to answer its sender.
const FORGOTTEN_BYTES: usize = 64 * MIB;

/// What one permit stands for.
const PERMIT_BYTES: usize = 16 * 1024;

static SMALL: Semaphore = Semaphore::const_new(SMALL_HELD_BYTES / PERMIT_BYTES);
static LARGE: Semaphore = Semaphore::const_new(HELD_BYTES / PERMIT_BYTES);

/// A request that gets no verdict, and the sentence that says why.
#[derive(Debug)]
pub struct Fault {
    status: StatusCode,
    text: String,
}

impl Fault {
    /// An error with its sentence.
    pub fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Fault { status, text: text.into() }
    }

    /// A body that does not say what it has to.
    pub fn malformed(text: impl Into<String>) -> Self {
        Fault::new(StatusCode::BAD_REQUEST, text)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response<Body> {
        tracing::debug!(status = self.status.as_u16(), text = ?self.text, "request not answered");
        (self.status, self.text + "\n").into_response()
    }
}

/// A part of what is held at once.
pub type Room = SemaphorePermit<'static>;

/// A body in memory, and the room that it takes.
pub struct Held {
    /// The body.
    pub bytes: Vec<u8>,
    /// Nothing where it is short.
    pub room: Option<Room>,
}

/// The JSON body of a request, of at most `limit` bytes.
///
/// # Errors
/// Why it was not read.
pub async fn read(request: Request, limit: usize) -> Result<Held, Fault> {
    let announced = announced(&request, limit);
    let mut body = Arriving::of(request.into_body());
    let late = |time: Duration, what: &str| Fault::new(StatusCode::REQUEST_TIMEOUT, format!("{what} within {} s", time.as_secs()));
    let slow = |_| late(ARRIVAL, "the body did not arrive");
    let announced = match announced {
        Ok(announced) => announced,
        Err(fault) => return timeout(ARRIVAL, body.collect(FORGOTTEN_BYTES, 0)).await.map_err(slow)?.and(Err(fault)),
    };
    timeout(ARRIVAL, body.collect(FREE_BYTES, limit)).await.map_err(slow)??;
    let mut held = None;
    if !body.ended {
        held = Some(timeout(TURN, room(announced)).await.map_err(|_| late(TURN, "there was no room for the body"))?);
        timeout(ARRIVAL, body.collect(FORGOTTEN_BYTES, limit)).await.map_err(slow)??;
    }
    if body.length > limit { Err(too_large(limit)) } else { Ok(Held { bytes: body.bytes, room: held }) }
}

/// Room for a body that says that it is so long.
async fn room(announced: usize) -> Room {
    let held = if announced <= SMALL_BYTES { &SMALL } else { &LARGE };
    // The quotient is at most CONVERSION_BYTES / PERMIT_BYTES.
    let permits = u32::try_from(announced.div_ceil(PERMIT_BYTES).max(1)).unwrap_or(u32::MAX);
    // Both semaphores are statics that nobody closes.
    held.acquire_many(permits).await.expect("the semaphore is open")
}

/// A body, as far as it is there.
struct Arriving {
    chunks: BodyDataStream,
    bytes: Vec<u8>,
    length: usize,
    ended: bool,
}

impl Arriving {
    fn of(body: Body) -> Self {
        Arriving { chunks: body.into_data_stream(), bytes: Vec::new(), length: 0, ended: false }
    }

    /// Reads until it ends, or more than `enough` is there. What is over `limit` is still read, and forgotten: a client that is
    /// answered while it sends may miss the answer.
    async fn collect(&mut self, enough: usize, limit: usize) -> Result<(), Fault> {
        while self.length <= enough {
            let Some(chunk) = self.chunks.next().await else {
                self.ended = true;
                break;
            };
            let chunk = chunk.map_err(|_| Fault::malformed("the body broke off"))?;
            self.length += chunk.len();
            if self.length > limit {
                self.bytes = Vec::new();
            } else {
                self.bytes.extend_from_slice(&chunk);
            }
        }
        Ok(())
    }
}

/// How long the body says that it is; where it does not, as long as it may be.
fn announced(request: &Request, limit: usize) -> Result<usize, Fault> {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let kind = header(CONTENT_TYPE).unwrap_or_default();
    if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
        let text = format!("a review is application/json, not {kind:?}");
        return Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let length = request.body().size_hint().upper();
    let announced = length.map_or(limit, |length| usize::try_from(length).unwrap_or(usize::MAX));
    if announced > limit { Err(too_large(limit)) } else { Ok(announced) }
}

fn too_large(limit: usize) -> Fault {
    Fault::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is over {} MiB", limit / MIB))
}

/// The request in a review of the given type.
///
/// # Errors
/// What the body is instead.
pub fn asked<'a, T: Deserialize<'a>>(body: &'a [u8], api_version: &str, kind: &str) -> Result<T, Fault> {
    let fault = |fault| Fault::malformed(format!("the body is no {kind}: {fault}"));
    let review: Review = serde_json::from_slice(body).map_err(fault)?;
    if (review.api_version.as_str(), review.kind.as_str()) != (api_version, kind) {
        let text = format!("this path takes {kind} of {api_version}, not {:?} of {:?}", review.kind, review.api_version);
        return Err(Fault::malformed(text));
    }
    let request = review.request.ok_or_else(|| Fault::malformed(format!("the {kind} holds no request")))?;
    serde_json::from_str(request.get()).map_err(fault)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
}

/// The answer to a request that met a bug of ours. What the panic said may quote the request, so it
/// stays out of the answer.
pub fn panicked(_: Box<dyn Any + Send>) -> Response<Body> {
    tracing::error!("a request met a bug: it was answered with 500");
    Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "this request met a bug in the operator; its log names the line").into_response()
}
