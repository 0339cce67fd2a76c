//! Against a real API server with real controllers; the pods are played.

mod answer_cases;
mod answers;
mod arrows;
mod attempts;
mod broken;
mod carrier;
mod certificates;
pub mod counts;
mod databases;
mod deputy;
mod drift;
mod drives;
mod fights;
mod gone;
mod metrics;
pub mod migrate;
pub mod older;
mod plans;
mod protection;
mod questions;
mod readme;
mod refusal_cases;
mod refusals;
mod restored;
mod scale;
mod turns;
pub mod wait;
