//! Service meshes: what they put into a Job's pod never ends, so each says that it wants nothing of them. A user says of the
//! servers' pods what he likes.

use crate::kinds::pod_template::Strings;

/// Istio's word, which it reads as a label, and in older releases as an annotation.
const ISTIO: &str = "sidecar.istio.io/inject";
/// Words of the service meshes for a pod that they leave alone, as annotations.
const DECLINED: [(&str, &str); 2] = [(ISTIO, "false"), ("linkerd.io/inject", "disabled")];

/// Declines them all.
pub fn decline(annotations: &mut Strings, labels: &mut Strings) {
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    annotations.extend(DECLINED.map(owned));
    labels.extend(DECLINED.into_iter().filter(|(key, _)| *key == ISTIO).map(owned));
}
