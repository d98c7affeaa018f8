//! What this crate sees of a cloud: `cargo run -p nova-client --example cloud -- CLOUDS_YAML CLOUD`.

use std::process::ExitCode;

use nova_client::{Cloud, Error, Service};

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(name)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: cloud CLOUDS_YAML CLOUD");
        return ExitCode::from(2);
    };
    match show(&path, &name).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error.report());
            ExitCode::FAILURE
        }
    }
}

async fn show(path: &str, name: &str) -> Result<(), Error> {
    let cloud = Cloud::from_clouds_yaml(path, name).await?;
    for service in [Service::Compute, Service::Placement] {
        println!("{service} {}", cloud.version(service).await?);
    }
    for service in cloud.compute_services().await? {
        println!(
            "service {}: {:?}, {:?}, reason {:?}",
            service.host.as_deref().unwrap_or("?"),
            service.state,
            service.status,
            service.disabled_reason
        );
    }
    for aggregate in cloud.aggregates().await? {
        println!("aggregate {}: {:?}", aggregate.name.as_deref().unwrap_or("?"), aggregate.hosts);
    }
    for hypervisor in cloud.hypervisors().await? {
        let host = hypervisor.service_host().unwrap_or("?");
        println!("hypervisor {host}: {:?} {:?}", hypervisor.hypervisor_type, hypervisor.hypervisor_version);
        if let Some(traits) = match hypervisor.id {
            Some(id) => cloud.provider_traits(id).await?,
            None => None,
        } {
            println!("  {} traits at generation {}", traits.traits.len(), traits.generation);
        }
        for server in cloud.servers_of_host(host).await? {
            println!("  server {} {:?} {:?}", server.id, server.name, server.vm_state);
        }
    }
    Ok(())
}
