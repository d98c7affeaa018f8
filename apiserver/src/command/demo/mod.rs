//! `demo`: a simulated fleet, the server in front of it, a rendered topology, and things that happen.
//!
//! One process. The fleet speaks the real protocols on loopback, so the server does not know that it is simulated. All
//! that the demo leaves is in one folder.

mod story;
mod tables;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::configuration::Interval;
use crate::intent::{IntentKey, IntentStore, declaration};
use crate::simulation::{Certificates, RunningFleet, configuration, write_configuration};
use crate::wiring;

/// How long the server may take to show every host.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// What `demo` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Folder for the kubeconfig, the repository and everything else.
    #[arg(long, default_value = "demo")]
    directory: PathBuf,
    /// Number of simulated hosts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..=500))]
    hosts: u16,
    /// Instances on each of them.
    #[arg(long, default_value_t = 3)]
    instances: u16,
    /// Port to listen on; 0 is any free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// End by itself after this time (`30s`), for tests.
    #[arg(long)]
    run_for: Option<Interval>,
}

/// Runs until a signal.
pub(super) async fn demo(options: Options) -> Result<ExitCode, Failure> {
    let folder = prepare(&options.directory)?;
    let end = CancellationToken::new();
    wiring::end_on_signals(end.clone()).map_err(|error| Failure::other(&error))?;

    println!("starting {} simulated hosts with {} instances each", options.hosts, options.instances);
    let fleet = RunningFleet::start(&folder, options.hosts.into(), options.instances.into())
        .await
        .map_err(|error| Failure::other(&error))?;
    let certificates = Certificates::make(&folder).map_err(|error| Failure::other(&error))?;
    let configuration = configuration(&folder, &certificates, &fleet, options.port);
    write_configuration(folder.join("configuration.yaml"), &configuration)
        .map_err(|error| Failure::other(&error))?;
    let running = wiring::start(configuration, end.clone()).await.map_err(|error| Failure::other(&error))?;
    if let Some(last) = fleet.model().hosts.last() {
        seed(running.intents().as_ref(), &last.name).await?;
    }
    let kubeconfig = certificates
        .write_kubeconfig(folder.join("kubeconfig"), running.address())
        .map_err(|error| Failure::other(&error))?;

    let repository = folder.join("topology.git");
    let committed = render(repository.clone()).await?;

    if !until_ready(&running, &end).await {
        return Err(Failure::Other("the server did not become ready; see the log above".to_owned()));
    }
    println!();
    tables::print(&kubeconfig).await?;
    println!("{committed}\n");
    say_what_to_try(&options.directory);

    let story = tokio::spawn(story::tell(fleet.model().clone(), end.clone()));
    if let Some(span) = options.run_for {
        let end = end.clone();
        tokio::spawn(async move {
            tokio::time::sleep(span.duration()).await;
            end.cancel();
        });
    }
    end.cancelled().await;
    running.ended().await.map_err(|error| Failure::other(&error))?;
    // The story ends at its next step; a panic in it is a fault of the demo and is told.
    story.await.map_err(|error| Failure::other(&error))?;
    drop(fleet);
    println!("\nthe demo has ended; {} can be removed", options.directory.display());
    Ok(ExitCode::SUCCESS)
}

/// An empty folder for what runs; the repository of an earlier demo stays, its history grows.
fn prepare(directory: &Path) -> Result<PathBuf, Failure> {
    let failed =
        |error: std::io::Error| Failure::Other(format!("cannot use folder {}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(failed)?;
    let folder = directory.canonicalize().map_err(failed)?;
    for stale in ["run", "pki", "intent.redb", "kubeconfig"] {
        let path = folder.join(stale);
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    Ok(folder)
}

/// What somebody wants, so that there is intent to look at: one host in maintenance, with its eviction.
async fn seed(intents: &dyn IntentStore, host: &str) -> Result<(), Failure> {
    let maintenance = json!({"maintenance": "manual", "maintenanceReason": "memory module to be replaced", "lifecycleEnabled": true});
    let eviction = json!({"hypervisor": host, "reason": "memory module to be replaced"});
    for (kind, spec) in [("Hypervisor", maintenance), ("Eviction", eviction)] {
        let key = IntentKey::cluster(kind, host);
        let object = declaration(&key, &spec);
        intents.put(&key, None, object).await.map_err(|error| Failure::other(&error))?;
    }
    Ok(())
}

/// Renders the sample topology into a bare repository. Git blocks, so it has a thread of its own.
async fn render(repository: PathBuf) -> Result<String, Failure> {
    let outcome = tokio::task::spawn_blocking(move || c5c3_renderer::publish_sample(&repository))
        .await
        .map_err(|error| Failure::other(&error))?
        .map_err(|error| Failure::other(&error))?;
    Ok(match outcome {
        c5c3_renderer::Outcome::Committed { commit, added, .. } => {
            format!("rendered the sample topology: commit {commit}, {added} files added")
        }
        c5c3_renderer::Outcome::Unchanged { commit, .. } => {
            format!("the sample topology is as it was: commit {commit}")
        }
    })
}

async fn until_ready(running: &wiring::Running, end: &CancellationToken) -> bool {
    let limit = tokio::time::Instant::now() + READY_WITHIN;
    while !running.is_ready() {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
            () = end.cancelled() => return false,
        }
        if tokio::time::Instant::now() > limit {
            return false;
        }
    }
    true
}

fn say_what_to_try(directory: &Path) {
    let folder = directory.display();
    println!("in a second shell:");
    for line in [
        "get hypervisors,evictions,migrations,ovsnodes -A",
        "get hv -o wide",
        "get hv -w",
        "get migrations -A -w",
        "describe hv host-1",
        "explain hypervisor.status",
    ] {
        println!("  kubectl --kubeconfig {folder}/kubeconfig {line}");
    }
    println!("  git -C {folder}/topology.git log --stat");
    println!(
        "\na domain starts, migrates and stops, and a bond member flaps, over and over; Ctrl-C ends all of it"
    );
}
