//! The webhooks as the API server meets them, without TLS: every verdict, and every bad request.

#[path = "admission/bodies.rs"]
mod bodies;
#[path = "admission/counted.rs"]
mod counted;
#[path = "admission/desk.rs"]
mod desk;
#[path = "admission/refusals.rs"]
mod refusals;
#[path = "admission/reviews.rs"]
mod reviews;
