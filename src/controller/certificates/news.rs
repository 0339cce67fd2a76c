//! What the watches say: of the Secret, and of every place.

use super::bundle::Watched;
use crate::controller::names::SECRET;
use futures::stream::{BoxStream, SelectAll, StreamExt};
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, watch_object};

/// One object as it is now; nothing where it is gone.
pub(super) enum News {
    Secret(Option<Secret>),
    /// The place of this number.
    Place(usize, Option<DynamicObject>),
}

/// All of them; none ends.
pub(super) fn all(
    client: &Client,
    secrets: &Api<Secret>,
    places: &[Watched],
) -> SelectAll<BoxStream<'static, Result<News, watcher::Error>>> {
    let secret = watch_object(secrets.clone(), SECRET).map(|read| read.map(News::Secret));
    let mut news = SelectAll::from_iter([secret.default_backoff().boxed()]);
    for (index, Watched { place, .. }) in places.iter().enumerate() {
        let api = Api::all_with(client.clone(), &place.resource);
        let place = watch_object(api, &place.name).map(move |read| read.map(|object| News::Place(index, object)));
        news.push(place.default_backoff().boxed());
    }
    news
}
