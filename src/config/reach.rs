//! How the API server is reached: the file that is named, or as every client finds it.

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::path::Path;

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Reads how to reach the API server.
///
/// # Errors
/// What is wrong with the file, or that there is none.
pub async fn reach(kubeconfig: Option<&Path>) -> Result<Config, Fault> {
    Ok(match kubeconfig {
        Some(file) => Config::from_custom_kubeconfig(Kubeconfig::read_from(file)?, &KubeConfigOptions::default()).await?,
        None => Config::infer().await?,
    })
}
