//! Lists the domains of a host and follows what happens to them.
//!
//! `cargo run -p libvirt-rpc --example watch -- tcp://10.0.0.11:16509 [qemu:///system]`
//! `cargo run -p libvirt-rpc --example watch -- unix:/run/libvirt/libvirt-sock`

use std::error::Error;

use libvirt_rpc::{Connection, DomainFilter, Endpoint, Event, EventKind, OpenOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let endpoint: Endpoint =
        arguments.next().unwrap_or("unix:/run/libvirt/libvirt-sock".to_owned()).parse()?;
    let uri = arguments.next().unwrap_or("qemu:///system".to_owned());

    let (connection, mut events) = Connection::open(&endpoint, OpenOptions::new(uri).read_only()).await?;
    println!(
        "{} at {endpoint}: libvirt {}, {} {}",
        connection.hostname().await?,
        connection.lib_version().await?,
        connection.driver_type().await?,
        connection.hypervisor_version().await?,
    );

    // Register first, then list: nothing falls in between.
    let wanted = [
        EventKind::Lifecycle,
        EventKind::IoErrorReason,
        EventKind::MigrationIteration,
        EventKind::JobCompleted,
    ];
    for refused in connection.register_events(&wanted).await? {
        println!("no {refused} events here");
    }
    list(&connection).await?;
    while let Some(event) = events.next().await {
        match event {
            Event::Lifecycle { domain, event } => println!("{domain}: {event}"),
            Event::MigrationIteration { domain, iteration } => {
                println!("{domain}: pass {iteration} over memory")
            }
            Event::JobCompleted { domain, job } => {
                println!("{domain}: job {} after {:?} ms", job.kind, job.time_elapsed_ms());
            }
            Event::Lost { count } => {
                println!("{count} events were lost; listing again");
                list(&connection).await?;
            }
            other => println!("{other:?}"),
        }
    }
    println!("ended: {}", connection.closed().await);
    Ok(())
}

async fn list(connection: &Connection) -> Result<(), Box<dyn Error>> {
    for domain in connection.list_all_domains(DomainFilter::NONE).await? {
        match connection.domain_state(&domain).await {
            Ok(state) => println!("{domain}: {state}"),
            // Gone since it was listed.
            Err(error) if error.is_no_domain() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
