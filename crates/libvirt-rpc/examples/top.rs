//! Shows what the domains of a host do, two seconds of it: CPU, disks, network.
//!
//! `cargo run -p libvirt-rpc --example top -- [ENDPOINT [URI]]`

use std::collections::HashMap;
use std::error::Error;
use std::time::{Duration, Instant};

use libvirt_rpc::{Connection, DomainStats, Endpoint, OpenOptions, StatsFlags, StatsGroups};

const BETWEEN: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let endpoint = arguments.next();
    let uri = arguments.next().unwrap_or("qemu:///system".to_owned());
    let endpoint: Endpoint = match endpoint {
        Some(text) => text.parse()?,
        None => Endpoint::local(&uri, true),
    };
    let (connection, _events) = Connection::open(&endpoint, OpenOptions::new(uri).read_only()).await?;
    let began = Instant::now();
    let before: HashMap<_, _> =
        read(&connection).await?.into_iter().map(|stats| (stats.domain.uuid, stats)).collect();
    tokio::time::sleep(BETWEEN).await;
    let after = read(&connection).await?;
    let seconds = began.elapsed().as_secs_f64();

    println!("{:<32} {:>8} {:>12} {:>12}", "domain", "cpu %", "disk B/s", "net B/s");
    for stats in after {
        let Some(earlier) = before.get(&stats.domain.uuid) else { continue };
        let cpu = rate(earlier.cpu_time_ns(), stats.cpu_time_ns(), seconds).map(|busy| busy / 10_000_000.0);
        let disk = rate(disk_bytes(earlier), disk_bytes(&stats), seconds);
        let net = rate(net_bytes(earlier), net_bytes(&stats), seconds);
        println!("{:<32} {:>8} {:>12} {:>12}", stats.domain.name, text(cpu), text(disk), text(net));
    }
    Ok(())
}

async fn read(connection: &Connection) -> Result<Vec<DomainStats>, Box<dyn Error>> {
    let groups = StatsGroups::CPU_TOTAL | StatsGroups::BLOCK | StatsGroups::INTERFACE;
    // NOWAIT: a domain that migrates is shown with what is known, and delays nobody.
    Ok(connection.all_domain_stats(&[], groups, StatsFlags::ACTIVE | StatsFlags::NOWAIT).await?)
}

fn disk_bytes(stats: &DomainStats) -> Option<u64> {
    stats.blocks().into_iter().map(|(_, disk)| Some(disk.read_bytes? + disk.write_bytes?)).sum()
}

fn net_bytes(stats: &DomainStats) -> Option<u64> {
    stats.interfaces().into_iter().map(|(_, net)| Some(net.received_bytes? + net.sent_bytes?)).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn rate(before: Option<u64>, after: Option<u64>, seconds: f64) -> Option<f64> {
    Some(after?.checked_sub(before?)? as f64 / seconds)
}

fn text(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}
