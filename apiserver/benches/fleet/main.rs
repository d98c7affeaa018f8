//! What a fleet costs: time from a host's event to a watching client, lists, reads, memory, processor.
//!
//! ```text
//!  this process, and one of its own           child process
//!  fleet-simulator ◄──libvirt, OVSDB, Nova──  c5c3-apiserver serve
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
mod simulator;

use std::process::ExitCode;

use c5c3_apiserver::simulation::Certificates;
use clap::Parser;

use self::measure::{Measured, Plan};
use self::server::Child;
use self::simulator::Simulator;

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
    /// Hosts that accept connections and never answer, out of each of the numbers above.
    #[arg(long, default_value_t = 0)]
    silent: usize,
    /// More arguments of fleet-simulator, e.g. `--simulator=--without-switches`.
    #[arg(long)]
    simulator: Vec<String>,
    /// Not through the kube-apiserver of a rig, though there is one.
    #[arg(long)]
    directly: bool,
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
        let Arguments { instances, events, silent, .. } = arguments;
        let plan = Plan { hosts, instances, events, silent, simulator: arguments.simulator.clone() };
        println!("{}", directly(&plan).await);
        if arguments.directly {
            continue;
        }
        if let Some(row) = aggregated::through_kube_apiserver(&plan).await {
            println!("{row}");
        }
    }
    ExitCode::SUCCESS
}

/// A standalone server, asked without anything in between.
async fn directly(plan: &Plan) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let mut fleet = plan.simulate(folder.path());
    let certificates = Certificates::make(folder.path()).unwrap();
    let simulator::Written { hosts, openstack } = fleet.written.clone();
    let port = server::free_port().await;
    let configuration =
        c5c3_apiserver::simulation::standalone(folder.path(), &certificates, hosts, openstack, port);
    let address = configuration.listen;
    let child = Child::start(folder.path(), &configuration);
    let client = server::client(serde_json::from_value(certificates.kubeconfig(address)).unwrap()).await;
    measure::measure("directly", plan, &mut fleet, &child, client).await
}

impl Plan {
    /// The fleet, with those silent that shall be.
    fn simulate(&self, folder: &std::path::Path) -> Simulator {
        let folder = folder.join("fleet");
        let mut fleet = Simulator::start(&folder, self.hosts, self.instances, &self.simulator);
        for number in 1..=self.silent {
            fleet.tell(&format!("fault host-{number} libvirt stall"));
            fleet.tell(&format!("fault host-{number} ovsdb stall"));
        }
        fleet
    }
}
