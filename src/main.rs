//! The program: reads its settings, then runs until it is told to stop. Or it takes an installation out of a cluster, or
//! migrates what is stored.

use futures::FutureExt;
use pointsman::config::Verb;
use pointsman::{migrate, program, telemetry, uninstall};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> ExitCode {
    // It is the first and only one: this process has just begun.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = match Verb::from_process() {
        Verb::Run(config) => *config,
        Verb::Uninstall(wish) => return uninstall::at_the_prompt(&wish).await,
        Verb::MigrateStorage(wish) => return migrate::at_the_prompt(&wish).await,
    };
    telemetry::log(&config.log_level, config.log_format);
    match program::run(&config, told_to_stop().boxed()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            tracing::error!(%fault, "pointsman ends");
            ExitCode::FAILURE
        }
    }
}

async fn told_to_stop() {
    let wait = |kind| async move {
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(fault) => tracing::error!(%fault, "signals are not heard"),
        }
    };
    tokio::select! {
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::interrupt()) => {}
    }
}
