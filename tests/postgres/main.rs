//! The scripts of the Database kind on real `PostgreSQL` servers, without Kubernetes.
//!
//! Servers and Jobs are processes in the root file system of the test image, confined as pods are; folders are their
//! claims and `ConfigMaps`, addresses of the loopback network their pods' and Services'. Needs root. `tests/run` says
//! in `POINTSMAN_POSTGRES_ROOT` where the image was unpacked.

mod backups;
mod clusters;
mod jobs;
mod pods;
mod refusals;
mod secrets;
mod settings;
mod world;
