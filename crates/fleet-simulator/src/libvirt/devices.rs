//! Disks and interfaces of a domain: each active domain has one disk, `vda`, that works a little all the time; its interfaces are those
//! of the host's switch.

use libvirt_rpc::wire::encode;
use libvirt_rpc::{BlockInfo, BlockStats, DomainRef, InterfaceStats, TypedValue};

use super::failure::Failure;
use super::host_calls::read;
use crate::model::{Domain, Host, HostState, Interface};

/// The disk's name in the guest.
const DISK: &str = "vda";
/// Its size in bytes.
const DISK_BYTES: u64 = 20 << 30;
/// What an interface counts: libvirt's name, and the switch's of the same from its side (what it receives the guest has sent).
const COUNTERS: [(&str, &str); 8] = [
    ("rx.bytes", "tx_bytes"),
    ("rx.pkts", "tx_packets"),
    ("rx.errs", "tx_errors"),
    ("rx.drop", "tx_dropped"),
    ("tx.bytes", "rx_bytes"),
    ("tx.pkts", "rx_packets"),
    ("tx.errs", "rx_errors"),
    ("tx.drop", "rx_dropped"),
];

type Params = Vec<(String, TypedValue)>;

/// Answers `domain_get_block_info`.
pub(super) fn block_info(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (domain, disk, _flags): (DomainRef, String, u32) = read(arguments)?;
    host.read(|state| {
        find(state, &domain)?;
        is_disk(&disk)?;
        let info = BlockInfo { allocation: DISK_BYTES / 4, capacity: DISK_BYTES, physical: DISK_BYTES / 4 };
        Ok(encode(&info))
    })
}

/// Answers `domain_block_stats`.
pub(super) fn block_stats(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (domain, disk): (DomainRef, String) = read(arguments)?;
    host.read(|state| {
        let domain = active(find(state, &domain)?)?;
        is_disk(&disk)?;
        Ok(encode(&disk_counters(domain)))
    })
}

/// Answers `domain_interface_stats`.
pub(super) fn interface_stats(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (domain, name): (DomainRef, String) = read(arguments)?;
    host.read(|state| {
        let domain = active(find(state, &domain)?)?;
        let taps = taps(state, domain);
        let tap = taps.iter().find(|tap| tap.name == name).ok_or_else(|| {
            Failure::InvalidArgument(format!("invalid path, '{name}' is not a known interface"))
        })?;
        let [
            received_bytes,
            received_packets,
            received_errors,
            received_dropped,
            sent_bytes,
            sent_packets,
            sent_errors,
            sent_dropped,
        ] = COUNTERS.map(|(_, counter)| counted(tap, counter));
        Ok(encode(&InterfaceStats {
            received_bytes,
            received_packets,
            received_errors,
            received_dropped,
            sent_bytes,
            sent_packets,
            sent_errors,
            sent_dropped,
        }))
    })
}

/// Answers `domain_get_disk_errors`: there are none.
pub(super) fn disk_errors(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (domain, _most, _flags): (DomainRef, u32, u32) = read(arguments)?;
    host.read(|state| active(find(state, &domain)?).map(|_| encode(&(0_u32, 0_i32))))
}

/// `block.*` of bulk statistics.
pub(super) fn add_blocks(params: &mut Params, domain: &Domain) {
    let counters = disk_counters(domain);
    add(params, "block.count", TypedValue::Uint(1));
    add(params, "block.0.name", TypedValue::Text(DISK.to_owned()));
    for (field, value) in [
        ("rd.reqs", counters.read_requests),
        ("rd.bytes", counters.read_bytes),
        ("wr.reqs", counters.write_requests),
        ("wr.bytes", counters.write_bytes),
        ("allocation", Some(DISK_BYTES / 4)),
        ("capacity", Some(DISK_BYTES)),
        ("physical", Some(DISK_BYTES / 4)),
    ] {
        if let Some(value) = value {
            add(params, &format!("block.0.{field}"), TypedValue::Ulong(value));
        }
    }
}

/// `net.*` of bulk statistics.
pub(super) fn add_interfaces(params: &mut Params, state: &HostState, domain: &Domain) {
    let taps = taps(state, domain);
    add(params, "net.count", TypedValue::Uint(u32::try_from(taps.len()).unwrap_or(u32::MAX)));
    for (number, tap) in taps.into_iter().enumerate() {
        add(params, &format!("net.{number}.name"), TypedValue::Text(tap.name.clone()));
        for (field, counter) in COUNTERS {
            if let Some(value) = counted(tap, counter) {
                add(params, &format!("net.{number}.{field}"), TypedValue::Ulong(value));
            }
        }
    }
}

/// 20 reads and 50 writes a second, of 16 KiB each; a disk that does not fail counts no errors, and QEMU says so by -1.
fn disk_counters(domain: &Domain) -> BlockStats {
    let running = domain.running_since.map(|since| since.elapsed().as_millis()).unwrap_or_default();
    let running = u64::try_from(running).unwrap_or(u64::MAX);
    let (reads, writes) = (running / 50, running / 20);
    BlockStats {
        read_requests: Some(reads),
        read_bytes: Some(reads << 14),
        write_requests: Some(writes),
        write_bytes: Some(writes << 14),
        errors: None,
    }
}

fn counted(tap: &Interface, counter: &str) -> Option<u64> {
    tap.statistics.get(counter).and_then(|value| u64::try_from(*value).ok())
}

fn taps<'a>(state: &'a HostState, domain: &Domain) -> Vec<&'a Interface> {
    let uuid = domain.uuid.to_string();
    let ports = state.switch.bridges.iter().flat_map(|bridge| &bridge.ports);
    ports
        .flat_map(|port| &port.interfaces)
        .filter(|interface| interface.external_ids.get("vm-uuid") == Some(&uuid))
        .collect()
}

fn find<'a>(state: &'a HostState, domain: &DomainRef) -> Result<&'a Domain, Failure> {
    state.domains.get(&domain.uuid).ok_or(Failure::NoDomain(domain.uuid))
}

fn active(domain: &Domain) -> Result<&Domain, Failure> {
    if domain.state.is_active() { Ok(domain) } else { Err(Failure::Invalid("domain is not running")) }
}

fn is_disk(name: &str) -> Result<(), Failure> {
    if name == DISK {
        return Ok(());
    }
    Err(Failure::InvalidArgument(format!("invalid path {name} not assigned to domain")))
}

fn add(params: &mut Params, name: &str, value: TypedValue) {
    params.push((name.to_owned(), value));
}
