//! Follows what happens to the domains of a host, through restarts of its daemon.
//!
//! `cargo run -p libvirt-rpc --example watch -- [ENDPOINT [URI]]`, e.g. `tcp://10.0.0.11`, `tls://node-1`, `unix:/run/libvirt/libvirt-sock`. The
//! environment may hold LIBVIRT_USER and LIBVIRT_PASSWORD for a daemon that wants them.

use std::env;
use std::error::Error;

use libvirt_rpc::{
    Connection, Credentials, DomainFilter, Endpoint, Event, EventKind, Followed, Follower, OpenOptions,
};

const EVENTS: [EventKind; 4] =
    [EventKind::Lifecycle, EventKind::IoErrorReason, EventKind::MigrationIteration, EventKind::JobCompleted];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let endpoint = arguments.next();
    let uri = arguments.next().unwrap_or("qemu:///system".to_owned());
    let endpoint = match endpoint {
        Some(text) => text.parse()?,
        None => Endpoint::local(&uri, true),
    };
    let mut options = OpenOptions::new(uri).read_only();
    if let (Ok(user), Ok(password)) = (env::var("LIBVIRT_USER"), env::var("LIBVIRT_PASSWORD")) {
        options = options.with_credentials(Credentials::new(user, password));
    }

    let mut follower = Follower::new(endpoint, options, EVENTS);
    let mut current: Option<Connection> = None;
    loop {
        match follower.next().await {
            Followed::Opened { connection, refused } => {
                for kind in refused {
                    println!("no {kind} events here");
                }
                list(&connection).await?;
                current = Some(connection);
            }
            Followed::Missed { count } => {
                println!("{count} events were lost; listing again");
                if let Some(connection) = &current {
                    list(connection).await?;
                }
            }
            Followed::Event(event) => show(&event),
            Followed::Away { reason, pause } => {
                println!("{}; trying again in {pause:?}", chain(&reason));
                current = None;
            }
            other => println!("{other:?}"),
        }
    }
}

fn show(event: &Event) {
    match event {
        Event::Lifecycle { domain, event } => println!("{domain}: {event}"),
        Event::MigrationIteration { domain, iteration } => println!("{domain}: pass {iteration} over memory"),
        Event::JobCompleted { domain, job } => {
            println!("{domain}: job {} after {:?} ms", job.kind, job.time_elapsed_ms());
        }
        other => println!("{other:?}"),
    }
}

async fn list(connection: &Connection) -> Result<(), Box<dyn Error>> {
    println!("{}: libvirt {}", connection.hostname().await?, connection.lib_version().await?);
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

fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    std::iter::once(error.to_string()).chain(causes.map(ToString::to_string)).collect::<Vec<_>>().join(": ")
}
