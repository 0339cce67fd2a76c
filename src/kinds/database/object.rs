//! The object, in both versions: what users write, what is remembered beside it, and how one version becomes the other.

pub mod convert;
pub mod dumps;
pub mod fields;
pub mod kept;
pub mod more;
pub mod parts;
pub mod rules;
pub mod v1;
pub mod v1alpha1;
