//! What reading hypervisors costs here, and what it would cost as a CRD in kube-apiserver. Both hold the same objects and are
//! asked by the same client in the same run.
//!
//! ```text
//!  this process ──LIST, GET, 1000 watches──► ours: a process of its own (machinery, product's definition, no sources)
//!       │      └─the same────────────────► kube-apiserver of a rig, with the CRD that `c5c3-apiserver schema` prints
//!       └─changes: "publish" to the one, PATCH to the other, 100 a second
//! ```
//!
//! Ours publishes objects directly: what is compared is serving, not the way from a hypervisor, which benches/fleet measures.
//!
//! `cargo bench -p c5c3-apiserver --no-default-features --bench crd_comparison`, with the `rig.env` of `tests/rig/up kube` sourced.
//! Prints a table in Markdown; docs/benchmarks.md keeps what was measured when.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot go on ends"
)]

mod client;
mod cluster;
mod measure;
mod objects;
mod ours;
mod process;
mod watchers;

use std::process::ExitCode;

use clap::Parser;

#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// Hypervisors.
    #[arg(long, default_value_t = 5000)]
    objects: usize,
    /// LIST requests.
    #[arg(long, default_value_t = 30)]
    lists: usize,
    /// GET requests.
    #[arg(long, default_value_t = 3000)]
    gets: usize,
    /// Watches.
    #[arg(long, default_value_t = 1000)]
    watchers: usize,
    /// Changes a second.
    #[arg(long, default_value_t = 100)]
    rate: u32,
    /// Seconds of changes.
    #[arg(long, default_value_t = 20)]
    seconds: u32,
    /// Serve from this folder instead of measuring.
    #[arg(long, hide = true)]
    serve: Option<std::path::PathBuf>,
    /// Cargo says this to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Fails when it is done already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    if let Some(folder) = &arguments.serve {
        ours::serve(folder, arguments.objects).await;
        return ExitCode::SUCCESS;
    }
    if !arguments.bench {
        println!("not measured: this is a benchmark, `cargo bench --bench crd_comparison` runs it");
        return ExitCode::SUCCESS;
    }
    println!("{}", measure::HEADING);
    let ours = ours::Ours::start(&arguments).await;
    println!("{}", measure::row("c5c3-apiserver", &arguments, &ours).await);
    drop(ours);
    match cluster::Cluster::from_environment(&arguments).await {
        Some(cluster) => {
            println!("{}", measure::row("kube-apiserver, CRD", &arguments, &cluster).await);
            cluster.clear().await;
        }
        None => eprintln!("no comparison: C5C3_RIG_KUBECONFIG is not set, tests/rig/up kube sets it"),
    }
    ExitCode::SUCCESS
}
