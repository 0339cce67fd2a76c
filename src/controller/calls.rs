//! One call to the API server, with its answer as a value.

use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::client::Body;
use kube::core::{PartialObjectMeta, Status};
use serde::de::DeserializeOwned;
use std::time::Duration;
use thiserror::Error;

/// How long a call may take: as long as the API server gives it.
const LIMIT: Duration = Duration::from_mins(1);

/// The API server's answer.
#[derive(Debug)]
pub enum Answer {
    /// It was done.
    Done {
        /// Was the object made by this call? It was there before otherwise.
        created: bool,
        /// The object's metadata afterwards; empty where the API server only says that it was done.
        meta: Box<ObjectMeta>,
    },
    /// It was refused, and why.
    Refused(Box<Status>),
}

/// There was no answer.
#[derive(Debug, Error)]
pub enum Unanswered {
    /// The call could not be made, or its answer could not be read, or is none that anybody expects here.
    #[error("{}", said(.0))]
    Call(#[from] kube::Error),
    /// The answer is not what was asked for.
    #[error("the API server's answer cannot be read")]
    Unreadable,
    /// What would be stored has no managedFields.
    #[error("nobody converts between versions now: a write would empty the object's managedFields")]
    Forgetful,
    /// The answer did not come in time.
    #[error("no answer from the API server within {} s", LIMIT.as_secs())]
    Late(#[from] tokio::time::error::Elapsed),
}

fn said(fault: &kube::Error) -> String {
    if let kube::Error::Api(status) = fault {
        return format!("the API server refused it: {}", status.message);
    }
    format!("no answer from the API server: {fault}")
}

/// The way a request is made: built, or not.
pub type Built = Result<http::Request<Vec<u8>>, kube::core::request::Error>;

/// Makes one call.
///
/// # Errors
/// Only when there was no answer; a refusal is an answer.
pub async fn call(client: &Client, request: Built) -> Result<Answer, Unanswered> {
    bounded(answer(client, request)).await
}

/// Bounds the time of a call.
///
/// # Errors
/// When the call fails or takes too long.
pub async fn bounded<T>(call: impl Future<Output = Result<T, kube::Error>>) -> Result<T, Unanswered> {
    tokio::time::timeout(LIMIT, call).await?.map_err(Unanswered::from)
}

/// Reads one object; nothing where it is not there. What cannot be read is not quoted: it may hold a secret.
///
/// # Errors
/// When the API server refuses to say, or does not answer.
pub async fn fetch<T: DeserializeOwned>(client: &Client, request: Built) -> Result<Option<T>, Unanswered> {
    let (code, body) = tokio::time::timeout(LIMIT, sent(client, request)).await??;
    if code.is_success() {
        return serde_json::from_slice(&body).map(Some).map_err(|_| Unanswered::Unreadable);
    }
    match failure(code, &body) {
        status if status.code == 404 => Ok(None),
        status => Err(Unanswered::Call(kube::Error::Api(status))),
    }
}

async fn answer(client: &Client, request: Built) -> Result<Answer, kube::Error> {
    let (code, body) = sent(client, request).await?;
    if code.is_success() {
        let object: PartialObjectMeta = serde_json::from_slice(&body).map_err(kube::Error::SerdeError)?;
        return Ok(Answer::Done { created: code == StatusCode::CREATED, meta: Box::new(object.metadata) });
    }
    Ok(Answer::Refused(failure(code, &body)))
}

async fn sent(client: &Client, request: Built) -> Result<(StatusCode, Vec<u8>), kube::Error> {
    let request = request.map_err(kube::Error::BuildRequest)?;
    let response = client.send(request.map(Body::from)).await?;
    let code = response.status();
    Ok((code, response.into_body().collect_bytes().await?.into()))
}

/// A proxy on the way may answer with something else than a Status.
fn failure(code: StatusCode, body: &[u8]) -> Box<Status> {
    let status = serde_json::from_slice::<Status>(body).unwrap_or_else(|_| Status::failure(&String::from_utf8_lossy(body), "Unknown"));
    Box::new(status.with_code(code.as_u16()))
}

impl Unanswered {
    /// What the API server says of a right that the operator lacks.
    pub fn missing_right(&self) -> Option<&str> {
        if let Unanswered::Call(kube::Error::Api(status)) = self { missing_right(status) } else { None }
    }
}

/// The same, in a refusal. A policy that refuses a request answers with 403, too.
pub fn missing_right(status: &Status) -> Option<&str> {
    (status.code == 403 && [" is forbidden: User ", " cannot "].iter().all(|word| status.message.contains(word)))
        .then_some(status.message.as_str())
}

/// A `test` that fails is answered with 422 and without a cause; a value that is not legal names its field.
pub fn failed_test(status: &Status) -> bool {
    status.code == 422 && status.details.as_ref().is_none_or(|details| details.causes.is_empty())
}
