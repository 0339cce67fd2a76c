//! Against a real API server with real controllers; the pods are played.

mod arrows;
mod attempts;
mod carrier;
mod certificates;
pub mod counts;
mod drift;
mod drives;
mod fights;
mod gone;
pub mod older;
mod plans;
mod questions;
mod readme;
mod refusal_cases;
mod refusals;
mod restored;
mod scale;
pub mod wait;
