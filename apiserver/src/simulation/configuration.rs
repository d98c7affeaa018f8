//! The configuration of a server for a simulated fleet.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::{Certificates, RunningFleet, SimulationError, write};
use crate::configuration::{
    Configuration, HostRules, Intent, Interval, Namespaces, OpenStack, Refresh, ServingCertificate, Shutdown,
    Standalone,
};

/// A standalone server on loopback for this fleet. Its store, and nothing else, is made in `folder`.
pub fn configuration(
    folder: &Path,
    certificates: &Certificates,
    fleet: &RunningFleet,
    port: u16,
) -> Configuration {
    let hosts = HostRules { known: fleet.addresses().clone(), ..HostRules::default() };
    let cloud = OpenStack { clouds: fleet.clouds().to_owned(), cloud: RunningFleet::CLOUD.to_owned() };
    let standalone = standalone(folder, certificates, hosts, cloud, port);
    Configuration {
        refresh: Refresh {
            slow_tick: Interval::seconds(10),
            migrations_kept: Interval::seconds(120),
            ..Refresh::default()
        },
        ..standalone
    }
}

/// A standalone server on loopback for these hosts and this cloud, with default ages. Its store, and nothing else, is made
/// in `folder`.
pub fn standalone(
    folder: &Path,
    certificates: &Certificates,
    hosts: HostRules,
    openstack: OpenStack,
    port: u16,
) -> Configuration {
    Configuration {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        serving: ServingCertificate {
            certificate: certificates.serving().to_owned(),
            key: certificates.serving_key().to_owned(),
        },
        kubernetes: None,
        standalone: Some(Standalone {
            client_ca: certificates.authority().to_owned(),
            reader_group: "c5c3:readers".to_owned(),
            admin_group: Certificates::ADMIN_GROUP.to_owned(),
        }),
        hosts,
        openstack: Some(openstack),
        refresh: Refresh::default(),
        namespaces: Namespaces::default(),
        intent: Intent { file: Some(folder.join("intent.redb")), ..Intent::default() },
        audit: None,
        shutdown: Shutdown { delay: Interval::milliseconds(1), grace: Interval::seconds(3) },
        replica: 0,
    }
}

/// Writes a configuration where a reader, or `serve --config`, finds it.
///
/// # Errors
/// When the file cannot be written.
pub fn write_configuration(file: PathBuf, configuration: &Configuration) -> Result<PathBuf, SimulationError> {
    let text =
        serde_saphyr::to_string(configuration).map_err(|error| SimulationError::Yaml(Box::new(error)))?;
    write(file, &text)
}
