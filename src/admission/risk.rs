//! An answer that can lose data: who may give it is asked of the API server, by a function that is handed in.

use crate::kinds::verdict::Verdict;
use crate::kinds::{Served, Violation};
use futures::future::BoxFuture;
use k8s_openapi::api::authentication::v1::UserInfo;
use kube::{Resource, ResourceExt};
use std::sync::Arc;

/// Somebody wants to answer a question of an object at the risk of data.
#[derive(Clone, Debug)]
pub struct Question {
    /// Who.
    pub user: UserInfo,
    /// The object's API group.
    pub group: String,
    /// Its resource.
    pub resource: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Tells who may, or why that cannot be told.
pub type MayAnswer = Arc<dyn Fn(Question) -> BoxFuture<'static, Result<bool, String>> + Send + Sync>;

/// Takes the answer from those alone who may give it; where nobody can tell, from nobody.
pub(super) async fn judged<K: Served>(
    may_answer: &MayAnswer,
    user: UserInfo,
    object: &K::Object,
    warnings: Vec<String>,
    mut otherwise: Violation,
) -> Verdict {
    let question = Question {
        user,
        group: K::Object::group(&()).into_owned(),
        resource: K::Object::plural(&()).into_owned(),
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
    };
    match may_answer(question).await {
        Ok(true) => return Verdict::Allow(warnings),
        Ok(false) => {}
        Err(fault) => {
            otherwise.text = format!("whether you may give this answer could not be asked, so it was not taken; try again: {fault}");
        }
    }
    Verdict::Deny(vec![otherwise])
}
