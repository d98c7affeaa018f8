//! Moves a domain to another host, daemon to daemon, and shows how far it is.
//!
//! `cargo run -p libvirt-rpc --example migrate -- ENDPOINT DOMAIN DESTINATION`, e.g. `tcp://10.0.0.11 guest qemu+tcp://10.0.0.12/system`. Ctrl-C
//! aborts it.

use std::error::Error;
use std::time::Duration;

use libvirt_rpc::{Connection, Endpoint, MigrateFlags, MigrateParams, OpenOptions};

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(3600);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [endpoint, name, destination] = arguments.as_slice() else {
        return Err("usage: migrate ENDPOINT DOMAIN DESTINATION".into());
    };
    let endpoint: Endpoint = endpoint.parse()?;
    let (connection, _events) = Connection::open(&endpoint, OpenOptions::default()).await?;
    let domain = connection.lookup_by_name(name).await?;

    let patient = connection.with_call_timeout(PATIENCE);
    let (params, flags) = (MigrateParams::default(), MigrateFlags::LIVE | MigrateFlags::AUTO_CONVERGE);
    let mut migration = std::pin::pin!(patient.migrate_peer_to_peer(&domain, destination, &params, flags));
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            outcome = &mut migration => {
                outcome?;
                println!("{domain} is at {destination}");
                return Ok(());
            }
            _ = ticks.tick() => match connection.job_stats(&domain).await {
                Ok(job) if job.kind.is_running() => println!(
                    "pass {:?}: {:?} of {:?} bytes left",
                    job.memory_iteration(), job.memory_remaining(), job.memory_total(),
                ),
                // Not begun, or gone already; the migration itself says how it ended.
                _ => {}
            },
            _ = tokio::signal::ctrl_c() => connection.abort_job(&domain).await?,
        }
    }
}
