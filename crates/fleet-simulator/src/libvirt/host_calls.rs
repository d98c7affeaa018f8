//! Calls about the connection, the daemon and the host.

use libvirt_rpc::NodeInfo;
use libvirt_rpc::wire::{List, Procedure, Xdr, decode, encode};

use super::failure::Failure;
use super::session::Client;
use super::{documents, node};
use crate::model::Host;

/// The driver that a simulated host runs.
const URI: &str = "qemu:///system";
/// `VIR_CONNECT_RO`.
const READ_ONLY: u32 = 1;
/// `VIR_DRV_FEATURE_PROGRAM_KEEPALIVE`.
const FEATURE_KEEPALIVE: i32 = 10;
/// Features of the remote program itself: typed strings, keepalive, event and close callbacks.
const FEATURES_OF_DAEMON: [i32; 4] = [9, FEATURE_KEEPALIVE, 14, 15];

/// Arguments of a call.
pub(super) fn read<T: Xdr>(arguments: &[u8]) -> Result<T, Failure> {
    decode(arguments).map_err(|_| Failure::MalformedArguments)
}

/// Calls that need no open driver; `None` for all others.
pub(super) fn before_open(
    client: &mut Client,
    procedure: Procedure,
    arguments: &[u8],
) -> Option<Result<Vec<u8>, Failure>> {
    match procedure {
        Procedure::AuthList => Some(Ok(encode(&List::<i32, 20>(vec![0])))),
        Procedure::ConnectOpen => Some(open(client, arguments)),
        Procedure::ConnectClose => {
            client.closing = true;
            Some(Ok(Vec::new()))
        }
        Procedure::ConnectSupportsFeature => Some(read(arguments).map(|feature: i32| {
            client.keepalive |= feature == FEATURE_KEEPALIVE;
            encode(&i32::from(FEATURES_OF_DAEMON.contains(&feature)))
        })),
        _ => None,
    }
}

fn open(client: &mut Client, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (uri, flags): (Option<String>, u32) = read(arguments)?;
    if client.open {
        // As libvirtd does: the driver that was open is closed, too.
        client.open = false;
        return Err(Failure::AlreadyOpen);
    }
    match uri.as_deref() {
        None | Some("" | URI) => {
            client.open = true;
            client.read_only = flags & READ_ONLY != 0;
            Ok(Vec::new())
        }
        Some(other) => Err(Failure::NoDriver(other.to_owned())),
    }
}

/// Whether [`carry_out`] knows the call.
pub(super) fn is_known(procedure: Procedure) -> bool {
    matches!(
        procedure,
        Procedure::ConnectGetType
            | Procedure::ConnectGetVersion
            | Procedure::ConnectGetLibVersion
            | Procedure::ConnectGetHostname
            | Procedure::ConnectGetUri
            | Procedure::ConnectIsSecure
            | Procedure::NodeGetInfo
            | Procedure::NodeGetFreeMemory
            | Procedure::NodeGetCellsFreeMemory
            | Procedure::NodeGetFreePages
            | Procedure::NodeGetCpuStats
            | Procedure::NodeGetMemoryStats
            | Procedure::ConnectGetCapabilities
            | Procedure::ConnectGetDomainCapabilities
            | Procedure::ConnectGetSysinfo
            | Procedure::ConnectRegisterCloseCallback
            | Procedure::ConnectUnregisterCloseCallback
            | Procedure::ConnectDomainEventCallbackRegisterAny
            | Procedure::ConnectDomainEventCallbackDeregisterAny
    )
}

/// Carries out a call that [`is_known`].
pub(super) fn carry_out(
    host: &Host,
    client: &mut Client,
    procedure: Procedure,
    arguments: &[u8],
) -> Result<Vec<u8>, Failure> {
    match procedure {
        Procedure::ConnectGetType => Ok(encode(&"QEMU".to_owned())),
        Procedure::ConnectGetVersion => Ok(encode(&host.read(|state| state.hardware.hypervisor_version))),
        Procedure::ConnectGetLibVersion => Ok(encode(&host.read(|state| state.hardware.libvirt_version))),
        Procedure::ConnectGetHostname => Ok(encode(&host.name)),
        Procedure::ConnectGetUri => Ok(encode(&URI.to_owned())),
        Procedure::ConnectIsSecure => Ok(encode(&0_i32)),
        Procedure::NodeGetInfo => Ok(encode(&node_info(host))),
        Procedure::NodeGetFreeMemory => Ok(encode(&node::free_memory(host))),
        Procedure::NodeGetCellsFreeMemory => node::cells_free_memory(host, arguments),
        Procedure::NodeGetFreePages => node::free_pages(host, arguments),
        Procedure::NodeGetCpuStats => node::cpu_stats(host, arguments),
        Procedure::NodeGetMemoryStats => node::memory_stats(host, arguments),
        Procedure::ConnectGetCapabilities => Ok(encode(&documents::capabilities(host))),
        Procedure::ConnectGetDomainCapabilities => Ok(encode(&documents::domain_capabilities(host))),
        Procedure::ConnectGetSysinfo => Ok(encode(&documents::sysinfo(host))),
        Procedure::ConnectRegisterCloseCallback | Procedure::ConnectUnregisterCloseCallback => Ok(Vec::new()),
        Procedure::ConnectDomainEventCallbackRegisterAny => {
            let (kind, domain): (i32, Option<libvirt_rpc::DomainRef>) = read(arguments)?;
            client.registrations.add(kind, domain.map(|domain| domain.uuid)).map(|id| encode(&id))
        }
        Procedure::ConnectDomainEventCallbackDeregisterAny => {
            client.registrations.remove(read(arguments)?).map(|()| Vec::new())
        }
        other => Err(Failure::UnknownProcedure(other.raw())),
    }
}

fn node_info(host: &Host) -> NodeInfo {
    let hardware = host.read(|state| state.hardware.clone());
    let cells = hardware.numa_cells.max(1);
    let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    NodeInfo {
        model: hardware.arch,
        memory_kib: hardware.memory_kib,
        cpus: number(hardware.cpus),
        mhz: 2_900,
        nodes: number(cells),
        sockets: 1,
        cores: number((hardware.cpus / cells / 2).max(1)),
        threads: if hardware.cpus / cells >= 2 { 2 } else { 1 },
    }
}
