//! What a fleet costs: time from a host's event to a watching client, lists, reads, memory, processor.
//!
//! ```text
//!  this process                               child process
//!  simulated fleet ◄──libvirt, OVSDB, Nova──  c5c3-apiserver serve
//!  client          ───get, list, watch─────►      ▲
//!      └─────────► kube-apiserver of a rig ───────┘   (where C5C3_RIG_KUBECONFIG says that there is one)
//! ```
//!
//! `cargo bench -p c5c3-apiserver --bench fleet -- --hosts 3,50,500`. Prints a table in Markdown; docs/benchmarks.md keeps
//! what was measured when.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that cannot go on ends"
)]

mod aggregated;
mod measure;
mod server;

use std::process::ExitCode;

use c5c3_apiserver::simulation::{Certificates, RunningFleet};
use clap::Parser;

use self::measure::{Measured, Plan};
use self::server::Child;

#[derive(Debug, Parser)]
struct Arguments {
    /// Numbers of hosts, one row each.
    #[arg(long, value_delimiter = ',', default_value = "3,50,500")]
    hosts: Vec<usize>,
    /// Instances on each host.
    #[arg(long, default_value_t = 10)]
    instances: usize,
    /// Events whose way is timed.
    #[arg(long, default_value_t = 200)]
    events: usize,
    /// Cargo says this to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !arguments.bench {
        println!("not measured: this is a benchmark, `cargo bench -p c5c3-apiserver --bench fleet` runs it");
        return ExitCode::SUCCESS;
    }
    // Fails when it is done already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    // Each row as soon as it is there: the large ones take a while.
    println!("{}", Measured::HEADING);
    for hosts in arguments.hosts.iter().copied() {
        let plan = Plan { hosts, instances: arguments.instances, events: arguments.events };
        println!("{}", directly(&plan).await);
        if let Some(row) = aggregated::through_kube_apiserver(&plan).await {
            println!("{row}");
        }
    }
    ExitCode::SUCCESS
}

/// A standalone server, asked without anything in between.
async fn directly(plan: &Plan) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let fleet = RunningFleet::start(folder.path(), plan.hosts, plan.instances).await.unwrap();
    let certificates = Certificates::make(folder.path()).unwrap();
    let configuration = c5c3_apiserver::simulation::configuration(
        folder.path(),
        &certificates,
        &fleet,
        server::free_port().await,
    );
    let address = configuration.listen;
    let child = Child::start(folder.path(), &configuration);
    let client = server::client(serde_json::from_value(certificates.kubeconfig(address)).unwrap()).await;
    measure::measure("directly", plan, &fleet, &child, client).await
}
