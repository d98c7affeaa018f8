//! What does not change while a connection lives: versions, capabilities, the machine.
//!
//! A driver or an old daemon that lacks a call, and a daemon that does not let us ask, leave their facts absent; every
//! other error ends the session.

use libvirt_rpc::{CallError, Connection, xml};

use crate::sources::Settings;
use crate::sources::observation::chain;
use crate::sources::picture::{Cell, DomainCapabilitiesPicture, LibvirtPicture, SystemPicture};

/// A picture with the facts and without domains.
pub(super) async fn read(connection: &Connection, settings: &Settings) -> Result<LibvirtPicture, CallError> {
    let capabilities =
        optional(connection.capabilities().await)?.and_then(|text| parsed(xml::Capabilities::parse(&text)));
    let node = optional(connection.node_info().await)?;
    let domain_capabilities = optional(connection.domain_capabilities().await)?
        .and_then(|text| parsed(xml::DomainCapabilities::parse(&text)));
    let system = optional(connection.sysinfo().await)?.and_then(|text| parsed(xml::SysInfo::parse(&text)));
    Ok(LibvirtPicture {
        hostname: optional(connection.hostname().await)?,
        libvirt_version: optional(connection.lib_version().await)?.map(|version| version.to_string()),
        hypervisor_version: optional(connection.hypervisor_version().await)?
            .map(|version| version.to_string()),
        cpu_arch: capabilities.as_ref().and_then(|found| found.arch.clone()),
        memory_kib: capabilities
            .as_ref()
            .and_then(xml::Capabilities::memory_kib)
            .or(node.as_ref().map(|node| node.memory_kib)),
        cpus: capabilities
            .as_ref()
            .and_then(xml::Capabilities::cpus)
            .or(node.as_ref().and_then(|node| u64::try_from(node.cpus).ok())),
        domain_capabilities: domain_capabilities.map(|found| {
            settings.one_of(DomainCapabilitiesPicture {
                arch: found.arch,
                hypervisor_type: found.domain_type,
                devices: found.devices,
                cpu_modes: found.cpu_modes,
                features: found.features,
            })
        }),
        system: system.map(|found| SystemPicture {
            vendor: found.system_manufacturer,
            model: found.system_product,
            serial: found.system_serial,
            firmware_vendor: found.bios_vendor,
            firmware_version: found.bios_version,
        }),
        cells: capabilities.iter().flat_map(|found| &found.cells).map(cell).collect(),
        ..LibvirtPicture::default()
    })
}

fn cell(found: &xml::NumaCell) -> Cell {
    Cell { id: found.id, memory_kib: found.memory_kib, cpus: found.cpus }
}

/// `None` for a call that is refused: not supported, not allowed, or without an answer on this machine (sysinfo without
/// SMBIOS). Only a daemon that does not answer ends the session.
fn optional<T>(result: Result<T, CallError>) -> Result<Option<T>, CallError> {
    match result {
        Err(error) if error.remote().is_some() => {
            tracing::debug!(error = %chain(&error), "fact is not to be had");
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// A document that cannot be read is as good as none; the log says which and why.
fn parsed<T, E: std::error::Error>(result: Result<T, E>) -> Option<T> {
    result.inspect_err(|error| tracing::warn!(%error, "document of libvirt could not be read")).ok()
}
