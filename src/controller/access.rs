//! Who may do what: asked of the API server, which decides.

use super::calls::bounded;
use k8s_openapi::api::authentication::v1::UserInfo;
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};

/// Asks it. The client behind it writes nothing and belongs to every replica, whoever leads.
#[derive(Clone)]
pub struct Access(pub(super) Client);

impl Access {
    /// May `user` do what `attributes` say?
    ///
    /// # Errors
    /// Why that cannot be told.
    pub async fn may(self, user: UserInfo, attributes: ResourceAttributes) -> Result<bool, String> {
        let spec = SubjectAccessReviewSpec {
            user: user.username,
            groups: user.groups,
            uid: user.uid,
            extra: user.extra,
            resource_attributes: Some(attributes),
            ..SubjectAccessReviewSpec::default()
        };
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let reviews: Api<SubjectAccessReview> = Api::all(self.0);
        let answered = bounded(reviews.create(&PostParams::default(), &review)).await.map_err(|fault| fault.to_string())?;
        Ok(answered.status.is_some_and(|status| status.allowed))
    }
}
